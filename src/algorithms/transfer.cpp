#include "algorithms/transfer.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "device/timeline.hpp"

namespace overlapack {
namespace {

constexpr Index kSlots = 12;                        // chunks under way in each direction
constexpr Index kUnitsPerChunk = 8;                 // pieces of a chunk that copy threads share
constexpr std::size_t kMinChunk = 512 << 10;        // smaller ones cost more to issue than to move
constexpr std::size_t kMaxChunk = 4 << 20;          // larger ones only lengthen the pipeline
constexpr std::size_t kMinEmulatedChunk = 4 << 10;  // small matrices turn the ring, too
constexpr std::size_t kMinUnit = 1 << 16;  // below this a hand-over costs more than the copy

/// Waiting for another thread: a few spins, then let others run, then sleep. Were the many copy
/// threads to stay on their cores while idle, a CPU LAPACK that works at the same time (the hybrid
/// algorithms, another thread of the application) would wait for its own threads at every step. The
/// issuing thread and the caller stay awake longer: every step of the device goes through them.
class Backoff {
 public:
  enum Patience { kShort = 512, kLong = 4096 };
  explicit Backoff(Patience patience) : patience_(patience) {}
  void operator()() {
    ++spins_;
    if (spins_ < 256) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    } else if (spins_ < patience_) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  void reset() { spins_ = 0; }

 private:
  Patience patience_;
  int spins_ = 0;
};

std::size_t size(Index n) { return static_cast<std::size_t>(n); }

}  // namespace

Index Region::first_row(Index j) const {
  return part == Part::lower ? std::clamp<Index>(j + diagonal, 0, rows) : 0;
}

Index Region::end_row(Index j) const {
  return part == Part::upper ? std::clamp<Index>(j + diagonal + 1, 0, rows) : rows;
}

Transfer::Transfer(Device& device, Index threads, Index& committed)
    : device_(device), threads_(std::max<Index>(threads, 1)), committed_(committed) {}

Transfer::~Transfer() {
  aborted_.store(true, std::memory_order_release);
  join();
}

Index Transfer::add_upload(const Region& region) {
  up_.regions.push_back(region);
  return static_cast<Index>(up_.regions.size()) - 1;
}

Index Transfer::add_download(const Region& region, std::vector<Sidecar> sidecars,
                             std::function<bool()> inspect) {
  down_.regions.push_back(region);
  downloads_.push_back({std::move(sidecars), std::move(inspect)});
  return static_cast<Index>(down_.regions.size()) - 1;
}

/// Cuts the regions of one direction into chunks of whole columns, and those into units.
void Transfer::cut(Direction& direction, std::size_t chunk_bytes) {
  for (std::size_t r = 0; r < direction.regions.size(); ++r) {
    const Region& region = direction.regions[r];
    Index first = 0;
    do {  // an empty region still has one (empty) chunk, which carries its sidecars
      const Index top = region.first_row(first);
      Index last = first, bottom = region.end_row(first);
      // Columns are added while the rectangle that holds them stays within the chunk size.
      while (last < region.cols) {
        const Index next_bottom = std::max(bottom, region.end_row(last));
        const std::size_t bytes = size(next_bottom - top) * region.element * size(last + 1 - first);
        if (last > first && bytes > chunk_bytes) break;
        bottom = next_bottom;
        ++last;
      }
      const std::size_t pitch = size(std::max<Index>(bottom - top, 0)) * region.element;
      slot_bytes_ = std::max(slot_bytes_, pitch * size(last - first));
      const auto chunk = static_cast<Index>(direction.chunks.size());
      const std::size_t per_unit =
          std::max(kMinUnit, chunk_bytes / static_cast<std::size_t>(kUnitsPerChunk));
      const Index width =
          std::max<Index>(1, static_cast<Index>(per_unit / std::max<std::size_t>(pitch, 1)));
      Index units = 0;
      for (Index c = first; c < last; c += width, ++units) {
        direction.units.push_back({chunk, c, std::min(c + width, last)});
      }
      direction.chunks.push_back(
          {static_cast<Index>(r), first, last, top, bottom, pitch, units, last >= region.cols});
      first = last;
    } while (first < region.cols);
  }
  direction.units_done = std::make_unique<std::atomic<Index>[]>(direction.chunks.size());
  for (std::size_t c = 0; c < direction.chunks.size(); ++c) direction.units_done[c] = 0;
}

void Transfer::start() {
  std::size_t total = 0;
  for (const Direction* direction : {&up_, &down_}) {
    for (const Region& region : direction->regions) {
      total = std::max(total, size(region.rows) * size(region.cols) * region.element *
                                  direction->regions.size());
    }
  }
  const std::size_t min_chunk = device_.emulated() ? kMinEmulatedChunk : kMinChunk;
  const std::size_t chunk_bytes = std::clamp(total / 128, min_chunk, kMaxChunk);
  cut(up_, chunk_bytes);
  cut(down_, chunk_bytes);
  slot_bytes_ = (slot_bytes_ + 255) / 256 * 256;
  for (Direction* direction : {&up_, &down_}) {
    const Index slots = std::min<Index>(kSlots, static_cast<Index>(direction->chunks.size()));
    direction->ring = Buffer<char>(device_, Space::host, static_cast<Index>(slot_bytes_) * slots);
    for (Index s = 0; s < slots; ++s) direction->slot_events.emplace_back(device_);
    for (std::size_t r = 0; r < 2 * direction->regions.size(); ++r) {
      direction->region_events.emplace_back(device_);
    }
    static constexpr const char* kNames[2][2] = {{"upload 0", "upload 1"},
                                                 {"download 0", "download 1"}};
    for (std::size_t q = 0; q < 2; ++q) {
      direction->queues[q] =
          std::make_unique<QueueLease>(device_, Priority::normal, kNames[direction == &down_][q]);
    }
  }
  // No more threads than there is work for: waking one takes as long as copying 100 KB.
  const std::size_t units = std::max(up_.units.size(), down_.units.size());
  threads_ = std::clamp<Index>(static_cast<Index>(units) / 2, 1, threads_);
  end_units_ = static_cast<Index>(down_.units.size());
  end_chunks_ = static_cast<Index>(down_.chunks.size());
  Workers::instance().start(threads_ + 1,
                            [this](Index id) { id == 0 ? issue_loop() : copy_loop(); });
  running_ = true;
}

char* Transfer::slot(Direction& direction, Index chunk) const {
  return direction.ring.data() + size(chunk % kSlots) * slot_bytes_;
}

// ---- the caller's side --------------------------------------------------------------------

bool Transfer::before(Queue& queue, Index id) {
  Backoff wait(Backoff::kLong);
  while (up_.regions_ready.load(std::memory_order_acquire) <= id) {
    throw_if_failed();
    if (stopped()) return false;
    wait();
  }
  for (Index q = 0; q < 2; ++q) queue.wait(*up_.region_events[size(2 * id + q)]);
  return true;
}

void Transfer::release(Queue& queue, Index id) {
  throw_if_failed();
  if (stopped()) return;
  queue.record(*down_.region_events[size(2 * id)]);
  down_.regions_ready.store(id + 1, std::memory_order_release);
}

void Transfer::finish() {
  join();
  throw_if_failed();
}

void Transfer::join() {
  if (!running_) return;
  Workers::instance().join();
  running_ = false;
  // Claimed units are always completed, and they are claimed in order.
  const Index units = std::min(down_.next_unit.load(), end_units_.load());
  for (Index u = 0; u < units; ++u) {
    committed_ += down_.units[size(u)].last - down_.units[size(u)].first;
  }
}

void Transfer::throw_if_failed() {
  if (aborted_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
}

bool Transfer::complete() const {
  const bool uploads_done = stopped() || up_.next_unit.load(std::memory_order_acquire) >=
                                             static_cast<Index>(up_.units.size());
  return uploads_done && down_.next_unit.load(std::memory_order_acquire) >=
                             end_units_.load(std::memory_order_acquire);
}

// ---- the issuing thread -------------------------------------------------------------------

void Transfer::issue_loop() {
  Backoff wait(Backoff::kLong);
  try {
    while (!aborted_.load(std::memory_order_acquire)) {
      const bool uploads_done =
          stopped() || (up_.chunks_issued == static_cast<Index>(up_.chunks.size()));
      if (uploads_done && down_.chunks_moved.load() >= end_chunks_.load()) return;
      // Downloads first: they free device results and end the call.
      bool progress = issue_download();
      progress |= poll_download();
      if (!uploads_done) {
        progress |= issue_upload();
        progress |= poll_upload();
      }
      if (progress) {
        wait.reset();
      } else {
        wait();
      }
    }
  } catch (...) {
    error_ = std::current_exception();
    aborted_.store(true, std::memory_order_release);
  }
}

bool Transfer::issue_upload() {
  const Index k = up_.chunks_issued;
  if (k >= static_cast<Index>(up_.chunks.size())) return false;
  const Chunk& chunk = up_.chunks[size(k)];
  if (up_.units_done[size(k)].load(std::memory_order_acquire) < chunk.units) return false;
  const Region& region = up_.regions[size(chunk.region)];
  Queue& queue = **up_.queues[k % 2];
  Span span(queue, "upload", chunk.region);
  queue.copy_to_device(
      region.device + size(chunk.top) * region.element + size(chunk.first) * region.device_pitch,
      region.device_pitch, slot(up_, k), chunk.pitch, chunk.pitch, size(chunk.last - chunk.first));
  span.end();
  queue.record(*up_.slot_events[size(k % kSlots)]);
  ++up_.chunks_issued;
  if (chunk.ends_region) {
    for (Index q = 0; q < 2; ++q) {
      (**up_.queues[q]).record(*up_.region_events[size(2 * chunk.region + q)]);
    }
    up_.regions_ready.store(chunk.region + 1, std::memory_order_release);
  }
  return true;
}

bool Transfer::poll_upload() {
  const Index k = up_.chunks_moved.load(std::memory_order_relaxed);
  // Only a slot that somebody waits for needs to be asked about.
  const bool wanted = k + kSlots < static_cast<Index>(up_.chunks.size());
  if (!wanted || k >= up_.chunks_issued || !up_.slot_events[size(k % kSlots)]->done()) {
    return false;
  }
  up_.chunks_moved.store(k + 1, std::memory_order_release);
  return true;
}

bool Transfer::issue_download() {
  const Index k = down_.chunks_issued;
  if (k >= end_chunks_.load(std::memory_order_relaxed)) return false;
  const Chunk& chunk = down_.chunks[size(k)];
  if (down_.regions_ready.load(std::memory_order_acquire) <= chunk.region) return false;
  // The slot is free once the chunk that used it before has been unpacked.
  const Index previous = k - kSlots;
  if (previous >= 0 && down_.units_done[size(previous)].load(std::memory_order_acquire) <
                           down_.chunks[size(previous)].units) {
    return false;
  }
  const Region& region = down_.regions[size(chunk.region)];
  Queue& queue = **down_.queues[k % 2];
  queue.wait(*down_.region_events[size(2 * chunk.region)]);
  Span span(queue, "download", chunk.region);
  if (chunk.first == 0) {
    for (const Sidecar& sidecar : downloads_[size(chunk.region)].sidecars) {
      queue.copy_to_host(sidecar.staging, sidecar.bytes, sidecar.device, sidecar.bytes,
                         sidecar.bytes, 1);
    }
  }
  queue.copy_to_host(
      slot(down_, k), chunk.pitch,
      region.device + size(chunk.top) * region.element + size(chunk.first) * region.device_pitch,
      region.device_pitch, chunk.pitch, size(chunk.last - chunk.first));
  span.end();
  queue.record(*down_.slot_events[size(k % kSlots)]);
  ++down_.chunks_issued;
  return true;
}

bool Transfer::poll_download() {
  const Index k = down_.chunks_moved.load(std::memory_order_relaxed);
  if (k >= down_.chunks_issued || !down_.slot_events[size(k % kSlots)]->done()) return false;
  const Chunk& chunk = down_.chunks[size(k)];
  const auto& inspect = downloads_[size(chunk.region)].inspect;
  if (chunk.first == 0 && inspect && !inspect()) {
    const auto first_unit = std::find_if(down_.units.begin(), down_.units.end(),
                                         [k](const Unit& unit) { return unit.chunk >= k; });
    end_units_.store(first_unit - down_.units.begin(), std::memory_order_release);
    end_chunks_.store(k, std::memory_order_release);
    stopped_.store(true, std::memory_order_release);
    return true;
  }
  down_.chunks_moved.store(k + 1, std::memory_order_release);
  return true;
}

// ---- the copy threads ---------------------------------------------------------------------

void Transfer::copy_loop() {
  Backoff wait(Backoff::kShort);
  while (!aborted_.load(std::memory_order_acquire) && !complete()) {
    if (copy_down() || copy_up()) {
      wait.reset();
    } else {
      wait();
    }
  }
}

bool Transfer::copy_up() {
  Index u = up_.next_unit.load(std::memory_order_relaxed);
  if (stopped() || u >= static_cast<Index>(up_.units.size())) return false;
  const Unit& unit = up_.units[size(u)];
  if (unit.chunk >= up_.chunks_moved.load(std::memory_order_acquire) + kSlots) return false;
  if (!up_.next_unit.compare_exchange_strong(u, u + 1, std::memory_order_acq_rel)) return true;
  const Chunk& chunk = up_.chunks[size(unit.chunk)];
  const Region& region = up_.regions[size(chunk.region)];
  const Span span(device_, "pack", chunk.region);
  char* const to = slot(up_, unit.chunk);
  for (Index c = unit.first; c < unit.last; ++c) {
    const Index first = region.first_row(c), rows = region.end_row(c) - first;
    if (rows <= 0) continue;
    std::memcpy(to + size(c - chunk.first) * chunk.pitch + size(first - chunk.top) * region.element,
                region.host + size(c) * region.host_pitch + size(first) * region.element,
                size(rows) * region.element);
  }
  up_.units_done[size(unit.chunk)].fetch_add(1, std::memory_order_acq_rel);
  return true;
}

bool Transfer::copy_down() {
  Index u = down_.next_unit.load(std::memory_order_relaxed);
  if (u >= end_units_.load(std::memory_order_acquire)) return false;
  const Unit& unit = down_.units[size(u)];
  if (unit.chunk >= down_.chunks_moved.load(std::memory_order_acquire)) return false;
  if (!down_.next_unit.compare_exchange_strong(u, u + 1, std::memory_order_acq_rel)) return true;
  const Chunk& chunk = down_.chunks[size(unit.chunk)];
  const Region& region = down_.regions[size(chunk.region)];
  const Span span(device_, "unpack", chunk.region);
  const char* const from = slot(down_, unit.chunk);
  for (Index c = unit.first; c < unit.last; ++c) {
    const Index first = region.first_row(c), rows = region.end_row(c) - first;
    if (rows <= 0) continue;
    std::memcpy(
        region.host + size(c) * region.host_pitch + size(first) * region.element,
        from + size(c - chunk.first) * chunk.pitch + size(first - chunk.top) * region.element,
        size(rows) * region.element);
  }
  down_.units_done[size(unit.chunk)].fetch_add(1, std::memory_order_acq_rel);
  return true;
}

}  // namespace overlapack
