#include "device/device.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>

namespace overlapack {
namespace {

/// Page-locked memory is taken from the whole machine: no more than this is kept while nobody uses
/// it.
constexpr std::size_t kMaxIdleStaging = std::size_t{512} << 20;

/// Keeps a queue or an event that is not in use; without memory for that it is destroyed.
template <class T>
void keep(std::vector<std::unique_ptr<T>>& idle, std::unique_ptr<T> object) noexcept {
  try {
    idle.push_back(std::move(object));
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace

void operation::require_fit(bool fits, const char* name) {
  if (!fits) throw std::logic_error(std::string(name) + ": the shapes do not fit");
}

// ---- Event and Queue ----------------------------------------------------------------------

void Event::synchronize() {
  device_.before(Action::synchronize, "event");
  do_synchronize();
}

bool Event::done() {
  device_.before(Action::synchronize, "event");
  return do_done();
}

double Event::since(Event& earlier) {
  const auto has_time = [](const Event& event) {
    return event.timed_ == Timed::yes && event.recorded_;
  };
  if (!has_time(earlier) || !has_time(*this)) {
    throw std::logic_error("the time of an event that notes none");
  }
  device_.before(Action::synchronize, "event");
  return do_since(earlier);
}

void Queue::copy_to_device(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                           std::size_t bytes, std::size_t count) {
  if (bytes == 0 || count == 0) return;
  device_.before(Action::copy_to_device, "copy", static_cast<double>(bytes * count));
  do_copy_to_device(to, to_pitch, from, from_pitch, bytes, count);
}

void Queue::copy_to_host(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t bytes, std::size_t count) {
  if (bytes == 0 || count == 0) return;
  device_.before(Action::copy_to_host, "copy", static_cast<double>(bytes * count));
  do_copy_to_host(to, to_pitch, from, from_pitch, bytes, count);
}

void Queue::copy_on_device(const PartCopy& copy) {
  if (copy.rows <= 0 || copy.cols <= 0) return;
  device_.before(Action::kernel, "copy on device");
  do_copy_on_device(copy);
}

void Queue::zero(void* device_memory, std::size_t pitch, std::size_t bytes, std::size_t count) {
  if (bytes == 0 || count == 0) return;
  device_.before(Action::kernel, "zero");
  do_zero(device_memory, pitch, bytes, count);
}

void Queue::signal(Flag& flag, std::uint32_t value) {
  device_.before(Action::record, "signal");
  do_signal(flag, value);
}

void Queue::poll() {
  device_.before(Action::synchronize, "queue");
  do_poll();
}

void Queue::record(Event& event) {
  device_.before(Action::record, "event");
  do_record(event);
  event.recorded_ = true;
}

void Queue::wait(Event& event) {
  device_.before(Action::wait, "event");
  do_wait(event);
}

void Queue::synchronize() {
  device_.before(Action::synchronize, "queue");
  do_synchronize();
}

void Queue::drain() noexcept {
  if (!device_.at_end()) do_drain();
}

// ---- Device -------------------------------------------------------------------------------

void Device::before(Action action, const char* name, double amount) {
  refuse_at_end();
  if (observer_ != nullptr) observer_->before(action, name, amount);
  if (action == Action::copy_to_device) {
    counters_.bytes_to_device += static_cast<std::size_t>(amount);
    own_traffic.up += static_cast<std::size_t>(amount);
  } else if (action == Action::copy_to_host) {
    counters_.bytes_to_host += static_cast<std::size_t>(amount);
    own_traffic.down += static_cast<std::size_t>(amount);
  } else if (action == Action::kernel) {
    count_kernel();
  }
}

/// A device's libraries register handlers at exit, too: when they are loaded and started, and when
/// some of their functions are first called. The last one registered runs first, and that is to be
/// ours. What has not been called for long is less and less likely to be called.
void Device::count_kernel() {
  const std::size_t number = ++counters_.kernels;
  const bool is_power_of_two = (number & (number - 1)) == 0;
  if (is_power_of_two && end_->handler != nullptr) std::atexit(end_->handler);
}

/// At the end of the process the memory is left to the system.
void Device::free(Space space, void* memory) noexcept {
  if (!at_end()) do_free(space, memory);
}

void Device::free_idle(MemoryPool& pool, Space space) noexcept {
  for (const Block& block : pool.idle) {
    free(space, block.memory);
    pool.use.held -= block.bytes;
  }
  pool.idle.clear();
  if (space == Space::device && !at_end()) do_trim();
}

void* Device::acquire(Space space, std::size_t bytes) {
  before(Action::allocate, space == Space::device ? "device memory" : "staging memory",
         static_cast<double>(bytes));
  std::lock_guard<std::mutex> lock(mutex_);
  MemoryPool& from = pool(space);
  const auto lease = [&from](const Block& block) {
    from.leased[block.memory] = block.bytes;
    from.use.leased += block.bytes;
    from.use.peak = std::max(from.use.peak, from.use.leased);
  };
  // The smallest idle block that fits without wasting more than half of itself; among equals the
  // one used last.
  auto best = from.idle.end();
  for (auto it = from.idle.begin(); it != from.idle.end(); ++it) {
    const bool fits = it->bytes >= bytes && it->bytes / 2 <= bytes;
    if (fits && (best == from.idle.end() || it->bytes <= best->bytes)) best = it;
  }
  if (best != from.idle.end()) {
    const Block block = *best;
    lease(block);
    from.idle.erase(best);
    do_reuse(space, block.memory, block.bytes);
    return block.memory;
  }
  if (space == Space::device && memory_limit_ > 0 && from.use.held + bytes > memory_limit_) {
    free_idle(from, space);
    if (from.use.held + bytes > memory_limit_) {
      throw OutOfDeviceMemory("more device memory is needed than OVERLAPACK_MEMORY_LIMIT allows");
    }
  }
  void* const memory = allocate(from, space, bytes);
  try {
    lease({memory, bytes});
  } catch (const std::bad_alloc&) {
    free(space, memory);
    throw;
  }
  from.use.held += bytes;
  return memory;
}

void* Device::allocate(MemoryPool& pool, Space space, std::size_t bytes) {
  try {
    try {
      return do_allocate(space, bytes);
    } catch (const DeviceError& error) {
      if (error.lost() || pool.idle.empty()) throw;
      free_idle(pool, space);  // the memory that other shapes left behind may be what is missing
      return do_allocate(space, bytes);
    }
  } catch (const DeviceError& error) {
    if (error.lost() || space == Space::host) throw;
    throw OutOfDeviceMemory(error.what());
  }
}

void Device::give_back(Space space, void* memory) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  MemoryPool& to = pool(space);
  const auto it = to.leased.find(memory);
  const std::size_t bytes = it->second;
  to.leased.erase(it);
  to.use.leased -= bytes;
  try {
    to.idle.push_back({memory, bytes});
  } catch (const std::bad_alloc&) {  // then it cannot be kept
    free(space, memory);
    to.use.held -= bytes;
  }
  if (space == Space::device) return;
  while (to.idle_bytes() > kMaxIdleStaging) {  // what has been idle for the longest time goes
    free(space, to.idle.front().memory);
    to.use.held -= to.idle.front().bytes;
    to.idle.erase(to.idle.begin());
  }
}

std::unique_ptr<Queue> Device::acquire_queue(Priority priority) {
  before(Action::create, "queue");
  std::lock_guard<std::mutex> lock(mutex_);
  auto& idle = idle_queues_[static_cast<int>(priority)];
  if (idle.empty()) return do_make_queue(priority);
  auto queue = std::move(idle.back());
  idle.pop_back();
  return queue;
}

void Device::give_back(Priority priority, std::unique_ptr<Queue> queue) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  keep(idle_queues_[static_cast<int>(priority)], std::move(queue));
}

std::unique_ptr<Event> Device::acquire_event(Timed timed) {
  before(Action::create, "event");
  std::lock_guard<std::mutex> lock(mutex_);
  auto& idle = idle_events_[static_cast<int>(timed)];
  if (idle.empty()) return do_make_event(timed);
  auto event = std::move(idle.back());
  idle.pop_back();
  return event;
}

void Device::give_back(std::unique_ptr<Event> event) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto timed = static_cast<int>(event->timed());
  keep(idle_events_[timed], std::move(event));
}

PoolUse Device::pool_use(Space space) {
  std::lock_guard<std::mutex> lock(mutex_);
  return pool(space).use;
}

void Device::reset_peak_use() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (MemoryPool* pool : {&device_pool_, &staging_pool_}) pool->use.peak = pool->use.leased;
}

void Device::release_idle_memory() {
  std::lock_guard<std::mutex> lock(mutex_);
  free_idle(device_pool_, Space::device);
}

std::size_t Device::obtainable_memory() {
  std::lock_guard<std::mutex> lock(mutex_);
  return device_pool_.use.held + do_free_memory();
}

void Device::set_memory_limit(std::size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  memory_limit_ = bytes;
  if (bytes > 0 && device_pool_.use.held > bytes) free_idle(device_pool_, Space::device);
}

void Device::give_back_idle_memory() {
  before(Action::give_back, "idle device memory");
  std::lock_guard<std::mutex> lock(mutex_);
  free_idle(device_pool_, Space::device);
}

void Device::clear_pools() noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto& idle : idle_queues_) idle.clear();
  for (auto& idle : idle_events_) idle.clear();
  free_idle(device_pool_, Space::device);
  free_idle(staging_pool_, Space::host);
}

}  // namespace overlapack
