// What the emulated device is made of: memory that is checked and poisoned, and queued work that
// runs when somebody waits for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "device/emulated/emulated_device.hpp"

namespace overlapack::emulated {

/// A bug of the calling algorithm, not a fault of the device.
inline void require(bool condition, const char* operation, const char* rule) {
  if (!condition) {
    throw std::logic_error("emulated device, " + std::string(operation) + ": " + rule);
  }
}

/// The blocks of device and staging memory that exist. Guarded by Machine's mutex.
class Memory {
 public:
  explicit Memory(std::size_t capacity) : capacity_(capacity) {}

  void* allocate(Space space, std::size_t bytes) {
    if (space == Space::device && bytes > capacity_ - in_use_) {
      throw DeviceError("emulated device: out of memory (" + std::to_string(bytes) +
                        " bytes asked for, " + std::to_string(capacity_ - in_use_) + " free)");
    }
    Block block{bytes, {}};
    block.memory.reset(static_cast<Word*>(
        ::operator new[](words(bytes) * sizeof(Word), kAlignment, std::nothrow)));
    if (block.memory == nullptr) throw DeviceError("emulated device: the host is out of memory");
    void* const memory = block.memory.get();
    poison(memory, bytes);
    blocks(space).emplace(memory, std::move(block));
    if (space == Space::device) in_use_ += bytes;
    return memory;
  }

  void free(Space space, void* memory) noexcept {
    const auto it = blocks(space).find(memory);
    if (space == Space::device) in_use_ -= it->second.bytes;
    blocks(space).erase(it);
  }

  /// Of device memory.
  std::size_t free_bytes() const { return capacity_ - in_use_; }

  /// Fills memory with a pattern that is a NaN as float and as double and that is a huge number as
  /// an Index, so that whoever uses what nobody has written will notice.
  static void poison(void* memory, std::size_t bytes) {
    std::fill_n(static_cast<Word*>(memory), words(bytes), Word{0x7fffffff7fffffff});
  }

  /// Throws unless [first, first + bytes) lies inside one block.
  void check(const char* operation, Space space, const void* first, std::size_t bytes) const {
    require(holds(space, first, bytes), operation,
            space == Space::device ? "an operand is not device memory of this device"
                                   : "the host operand is not staging memory of this device");
  }

  /// Whether [first, first + bytes) lies inside one block.
  bool holds(Space space, const void* first, std::size_t bytes) const {
    const char* const begin = static_cast<const char*>(first);
    const auto& all = blocks_[static_cast<int>(space)];
    auto it = all.upper_bound(first);
    if (it == all.begin()) return false;
    --it;
    const char* const start = static_cast<const char*>(it->first);
    return begin - start <= static_cast<std::ptrdiff_t>(it->second.bytes) &&
           bytes <= it->second.bytes - static_cast<std::size_t>(begin - start);
  }

 private:
  using Word = std::uint64_t;
  static constexpr std::align_val_t kAlignment{256};  // as that of a GPU's memory
  struct Delete {
    void operator()(Word* memory) const { ::operator delete[](memory, kAlignment); }
  };
  struct Block {
    std::size_t bytes;
    std::unique_ptr<Word[], Delete> memory;
  };
  // std::less orders pointers into different blocks, which < does not promise.
  using Blocks = std::map<const void*, Block, std::less<const void*>>;

  static std::size_t words(std::size_t bytes) { return (bytes + sizeof(Word) - 1) / sizeof(Word); }
  Blocks& blocks(Space space) { return blocks_[static_cast<int>(space)]; }

  std::size_t capacity_, in_use_ = 0;
  Blocks blocks_[2];  // by Space
};

struct Stream;

/// A point in a stream; with no stream, a point that was always reached.
struct Recording {
  Stream* stream = nullptr;
  std::uint64_t position = 0;
  bool reached() const;
};

/// What one queue was given and has not done yet. Positions count operations from the start.
struct Stream {
  struct Operation {
    Recording after;  // of another queue
    std::function<void()> run;
    bool signals = false;
  };
  std::deque<Operation> pending;
  std::uint64_t finished = 0;
  std::uint64_t rank = 0;  // of those that are ready the least is next; for Schedule::shuffle

  Recording now() { return {this, finished + pending.size()}; }
  /// After the first pending signal; reached if there is none.
  Recording next_signal() {
    const auto signal = std::find_if(pending.begin(), pending.end(),
                                     [](const Operation& operation) { return operation.signals; });
    if (signal == pending.end()) return {};
    return {this, finished + static_cast<std::uint64_t>(signal - pending.begin()) + 1};
  }
  bool ready() const { return !pending.empty() && pending.front().after.reached(); }
  /// Runs the first pending operation. One that throws counts as finished.
  void step() {
    const Operation operation = std::move(pending.front());
    pending.pop_front();
    ++finished;
    if (operation.run) operation.run();
  }
  void drop_pending() {
    finished += pending.size();
    pending.clear();
  }
};

inline bool Recording::reached() const { return stream == nullptr || stream->finished >= position; }

/// The memory and the queues of one device. Work runs in the thread that waits for it. Whoever
/// holds the mutex may run any of it, so that host threads may enqueue and wait at once.
///
/// As a driver does, it registers a handler at exit when it is started, and is gone once that has
/// run. Whatever uses it afterwards is a mistake that a GPU may punish by a crash.
class Machine {
 public:
  Machine(const Device& device, const EmulatedOptions& options)
      : memory(options.memory - options.taken),
        device_(device),
        schedule_(options.schedule),
        random_(options.seed) {
    static const int registered = std::atexit([] { gone_ = true; });
    static_cast<void>(registered);
  }

  /// The mutex, of a machine that is not gone.
  class Lock {
   public:
    explicit Lock(Machine& machine) : lock_(machine.mutex_) { require_driver(); }

   private:
    const std::lock_guard<std::mutex> lock_;
  };

  Stream& add_stream() {
    const Lock lock(*this);
    return streams_.emplace_back();
  }

  void enqueue(Stream& stream, Stream::Operation operation) {
    const Lock lock(*this);
    stream.pending.push_back(std::move(operation));
    if (schedule_ == Schedule::eager) run_to(stream.now());
  }

  /// Runs work until `target` is reached. This ends, because a recording is always made before the
  /// operations that wait for it: among the operations that `target` depends on, the one enqueued
  /// first is ready.
  void run_to(Recording target) {
    while (!target.reached()) {
      device_.refuse_at_end();
      require_driver();
      if (schedule_ == Schedule::shuffle) {
        random_ready_stream().step();
      } else {
        run_to(target.stream->pending.front().after);
        target.stream->step();
      }
    }
  }

  void run_all() {
    for (Stream& stream : streams_) run_to(stream.now());
  }

  Memory memory;

 private:
  static void require_driver() {
    if (!gone_) return;
    std::fputs("emulated device: used at exit, when its driver is gone\n", stderr);
    std::abort();
  }

  /// For a while the same queues go before others, so that work falls far behind now and then.
  Stream& random_ready_stream() {
    if (steps_until_shuffled_-- == 0) {
      for (Stream& stream : streams_) stream.rank = random_();
      steps_until_shuffled_ = std::uniform_int_distribution<int>(0, 50)(random_);
    }
    Stream* next = nullptr;
    for (Stream& stream : streams_) {
      if (stream.ready() && (next == nullptr || stream.rank < next->rank)) next = &stream;
    }
    return *next;
  }

  static inline std::atomic<bool> gone_{false};
  const Device& device_;
  std::mutex mutex_;  // guards all members
  const Schedule schedule_;
  std::mt19937_64 random_;
  int steps_until_shuffled_ = 0;
  std::deque<Stream> streams_;  // one per queue; addresses are stable
};

class EmulatedEvent final : public Event {
 public:
  EmulatedEvent(Device& device, Machine& machine, Timed timed)
      : Event(device, timed), machine_(machine) {}
  // Guarded by the machine's mutex:
  Recording recording;
  std::shared_ptr<double> time;  // of that recording, in microseconds; the queued work has it, too

 private:
  void do_synchronize() override {
    const Machine::Lock lock(machine_);
    machine_.run_to(recording);
  }
  bool do_done() override {
    do_synchronize();
    return true;
  }
  double do_since(Event& earlier) override {
    const auto& from = static_cast<EmulatedEvent&>(earlier);
    const Machine::Lock lock(machine_);
    machine_.run_to(from.recording);
    machine_.run_to(recording);
    return *time - *from.time;
  }

  Machine& machine_;
};

class EmulatedQueue final : public Queue {
 public:
  EmulatedQueue(Device& device, Machine& machine)
      : Queue(device), machine_(machine), stream_(machine.add_stream()) {}

  void enqueue(std::function<void()> run) { machine_.enqueue(stream_, {{}, std::move(run)}); }

 private:
  void do_copy_to_device(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t bytes, std::size_t count) override {
    copy("copy to device", {Space::device, to, to_pitch}, {Space::host, from, from_pitch}, bytes,
         count);
  }
  void do_copy_to_host(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                       std::size_t bytes, std::size_t count) override {
    copy("copy to host", {Space::host, to, to_pitch}, {Space::device, from, from_pitch}, bytes,
         count);
  }
  /// Where the columns of a copy begin, `pitch` bytes apart.
  template <class Pointer>
  struct Columns {
    Space space;
    Pointer data;
    std::size_t pitch;
  };
  void copy(const char* operation, const Columns<void*>& to, const Columns<const void*>& from,
            std::size_t bytes, std::size_t count) {
    enqueue([=] {
      require(count == 1 || (bytes <= to.pitch && bytes <= from.pitch), operation,
              "a column is longer than its pitch");
      machine_.memory.check(operation, to.space, to.data, (count - 1) * to.pitch + bytes);
      machine_.memory.check(operation, from.space, from.data, (count - 1) * from.pitch + bytes);
      for (std::size_t j = 0; j < count; ++j) {
        std::memcpy(static_cast<char*>(to.data) + j * to.pitch,
                    static_cast<const char*>(from.data) + j * from.pitch, bytes);
      }
    });
  }
  void do_copy_on_device(const PartCopy& operands) override {
    enqueue([this, x = operands] {
      const char* const operation = "copy on device";
      require(x.element % 4 == 0, operation, "the size of an element is no multiple of 4");
      for (Index j = 0; j < x.cols; ++j) {
        const Range column = rows_of_column(x.part, x.diagonal, x.rows, j);
        if (column.first >= column.last) continue;
        const auto column_index = static_cast<std::size_t>(j);
        const std::size_t first = x.element * static_cast<std::size_t>(column.first);
        const std::size_t bytes = x.element * static_cast<std::size_t>(column.last - column.first);
        char* const to_column = static_cast<char*>(x.to) + column_index * x.to_pitch + first;
        const char* const from_column =
            static_cast<const char*>(x.from) + column_index * x.from_pitch + first;
        machine_.memory.check(operation, Space::device, to_column, bytes);
        machine_.memory.check(operation, Space::device, from_column, bytes);
        std::memmove(to_column, from_column, bytes);
      }
    });
  }
  void do_zero(void* device_memory, std::size_t pitch, std::size_t bytes,
               std::size_t count) override {
    enqueue([=] {
      for (std::size_t i = 0; i < count; ++i) {
        char* const piece = static_cast<char*>(device_memory) + i * pitch;
        machine_.memory.check("zero", Space::device, piece, bytes);
        std::memset(piece, 0, bytes);
      }
    });
  }
  void do_signal(Flag& flag, std::uint32_t value) override {
    const auto run = [this, &flag, value] {
      machine_.memory.check("signal", Space::host, &flag, sizeof flag);
      flag.store(value, std::memory_order_release);
    };
    machine_.enqueue(stream_, {{}, run, true});
  }
  void do_poll() override {
    const Machine::Lock lock(machine_);
    machine_.run_to(stream_.next_signal());
  }
  void do_record(Event& event) override {
    std::shared_ptr<double> time;
    if (event.timed() == Timed::yes) {
      time = std::make_shared<double>(std::numeric_limits<double>::quiet_NaN());
      enqueue([time] {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        *time = std::chrono::duration<double, std::micro>(now).count();
      });
    }
    const Machine::Lock lock(machine_);
    static_cast<EmulatedEvent&>(event).recording = stream_.now();
    static_cast<EmulatedEvent&>(event).time = time;
  }
  void do_wait(Event& event) override {
    Recording recording;
    {
      const Machine::Lock lock(machine_);
      recording = static_cast<EmulatedEvent&>(event).recording;
    }
    machine_.enqueue(stream_, {recording, nullptr});
  }
  void do_synchronize() override {
    const Machine::Lock lock(machine_);
    machine_.run_to(stream_.now());
  }
  void do_drain() noexcept override {
    // What nobody has waited for is dropped: a result that was read without a wait stays poison.
    const Machine::Lock lock(machine_);
    stream_.drop_pending();
  }

  Machine& machine_;
  Stream& stream_;
};

}  // namespace overlapack::emulated
