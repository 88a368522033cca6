// The runtime part of the contract between the algorithms and a device: memory, queues, events.
//
// Public functions are non-virtual: they tell the observer, then call the private virtual one.
// Everything that a queue does is asynchronous: it is enqueued and may run at any time until
// somebody waits for it. Every function may throw DeviceError unless it is noexcept.
#pragma once

#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/error.hpp"
#include "core/observer.hpp"
#include "core/scalar.hpp"
#include "core/view.hpp"
#include "device/tuning.hpp"

namespace overlapack {

class Device;
class HostTrip;
class Timeline;
template <class T>
class Kernels;

/// Whether an event notes the time at which its queue reaches it. Noting costs the device a little.
enum class Timed { no, yes };

/// A point in a queue that other queues and the host can wait for. Recording again moves it.
/// An event that was never recorded counts as reached.
class Event {
 public:
  Event(Device& device, Timed timed) : device_(device), timed_(timed) {}
  virtual ~Event() = default;
  Timed timed() const { return timed_; }
  /// The host waits until the work recorded before the event is complete.
  void synchronize();
  /// Asks without waiting. On a lazy device asking makes the work before the event run.
  bool done();
  /// Microseconds of the device's clock from `earlier` to this event, negative if the device
  /// reached this one first. Waits until it has reached both. NaN if one was dropped with its
  /// queue's work. Both must have been recorded and note the time, else std::logic_error.
  double since(Event& earlier);
  /// For a device whose kernel has recorded the event by itself (GetrfPanel::begun).
  void recorded_by_kernel() { recorded_ = true; }

 protected:
  Device& device_;

 private:
  friend class Queue;
  virtual void do_synchronize() = 0;
  virtual bool do_done() = 0;
  virtual double do_since(Event& earlier) = 0;

  const Timed timed_;
  bool recorded_ = false;
};

/// Which work a busy device starts first.
enum class Priority { normal, high };

/// What a pointer of the caller points to: ordinary memory (a GPU's managed memory counts as such),
/// page-locked memory, memory of the device at hand.
enum class MemoryKind { pageable, pinned, device };

/// A word of staging memory by which a queue tells the host how far it is; see Queue::signal().
/// Make it with placement new.
using Flag = std::atomic<std::uint32_t>;
static_assert(sizeof(Flag) == sizeof(std::uint32_t) && Flag::is_always_lock_free,
              "a device writes it as a plain word");

/// What Queue::copy_on_device() copies: a part of a rows x cols matrix. Its columns lie `to_pitch`
/// and `from_pitch` bytes apart.
struct PartCopy {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch;
  std::size_t element;  ///< bytes, a multiple of 4
  Index rows, cols;
  Part part = Part::all;
  Index diagonal = 0;
};

/// An in-order stream of operations.
class Queue {
 public:
  explicit Queue(Device& device) : device_(device) {}
  virtual ~Queue() = default;
  Device& device() const { return device_; }
  /// What its work is called in a timeline.
  const char* name() const { return name_; }

  /// Enqueues an operation of blas.hpp, panels.hpp, fused.hpp, bulges.hpp, tridiagonal.hpp or
  /// formats.hpp. One that has nothing to do is no action. An emulated device throws
  /// std::logic_error if the shapes do not fit.
  template <class Operation>
  void enqueue(const Operation& operation);

  /// Copies `count` columns of `bytes` bytes each; consecutive columns lie `to_pitch` and
  /// `from_pitch` bytes apart. Host memory must be staging memory of this device or otherwise
  /// MemoryKind::pinned and must not be touched until the copy is complete.
  void copy_to_device(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t bytes, std::size_t count);
  void copy_to_host(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                    std::size_t bytes, std::size_t count);
  template <class T>
  void copy(DeviceView<T> to, HostView<const T> from);
  template <class T>
  void copy(HostView<T> to, DeviceView<const T> from);
  template <class T>
  void copy(DeviceView<T> to, DeviceView<const T> from, Part part = Part::all);
  /// Copies a part of a matrix from one place in device memory to another. Nothing outside the part
  /// is touched.
  void copy_on_device(const PartCopy& copy);
  /// Sets `bytes` bytes of device memory to zero.
  void zero(void* device_memory, std::size_t bytes) { zero(device_memory, bytes, bytes, 1); }
  /// `count` pieces of so many bytes, `pitch` bytes apart.
  void zero(void* device_memory, std::size_t pitch, std::size_t bytes, std::size_t count);

  /// `flag` becomes `value` once the work enqueued before is complete; whoever reads the value
  /// (acquire) sees that work's results in staging memory. The flag must live until the queue is
  /// drained. Reading it costs nothing, but whoever waits for it must poll() now and then.
  void signal(Flag& flag, std::uint32_t value);
  /// For a host that waits for a signal of this queue: throws if the device has failed (no signal
  /// would ever come), and makes a lazy device work up to the next signal. Costs a driver call on a
  /// real one: ask rarely.
  void poll();

  void record(Event& event);
  /// Work enqueued from now on starts only after `event`'s last recording is complete.
  void wait(Event& event);
  /// The host waits until the queue is empty.
  void synchronize();
  /// Ends all use of memory by this queue: waits for work under way; work that has not started
  /// may be dropped. For clean-up after success and failure alike. At the end of the process it
  /// waits for nothing: nobody uses the memory again.
  void drain() noexcept;

 protected:
  Device& device_;

 private:
  friend class Device;
  friend class QueueLease;
  friend class HostTrip;
  const char* name_ = "";

  virtual void do_copy_to_device(void*, std::size_t, const void*, std::size_t, std::size_t,
                                 std::size_t) = 0;
  virtual void do_copy_to_host(void*, std::size_t, const void*, std::size_t, std::size_t,
                               std::size_t) = 0;
  virtual void do_copy_on_device(const PartCopy& copy) = 0;
  virtual void do_zero(void*, std::size_t pitch, std::size_t bytes, std::size_t count) = 0;
  virtual void do_signal(Flag&, std::uint32_t) = 0;
  virtual void do_poll() = 0;
  virtual void do_record(Event&) = 0;
  virtual void do_wait(Event&) = 0;
  virtual void do_synchronize() = 0;
  virtual void do_drain() noexcept = 0;
};

/// Bytes of one pool of memory. A lease counts with the whole block that it was given.
struct PoolUse {
  std::size_t leased = 0;  ///< in use now
  std::size_t peak = 0;    ///< the most in use at a time since Device::reset_peak_use()
  std::size_t held = 0;    ///< in use, or kept for later
};

/// The end of the process, as a device sees it: whoever calls exit() goes on to what its libraries
/// do at exit, beside threads that may be in the middle of a call.
struct ProcessEnd {
  /// The device is not to be used any more. Operations fail, and waits for it end.
  std::atomic<bool> begun{false};
  /// The handler at exit that sets it, if there is one, and waits for those who use the device.
  void (*handler)() = nullptr;
};

/// One accelerator. Thread-safe; the queues and events it makes are not.
/// Memory, queues and events come from pools that keep what is given back.
class Device {
 public:
  virtual ~Device() = default;

  const std::string& name() const { return name_; }    ///< "cuda:0", "host"
  const std::string& model() const { return model_; }  ///< "NVIDIA H200", "emulated device"
  std::size_t memory() const { return memory_; }       ///< total bytes of device memory
  /// Why it is slower than it could be, as a phrase; empty if nothing is missing.
  const std::string& shortcoming() const { return shortcoming_; }
  bool emulated() const { return emulated_; }
  /// Whether nothing that is enqueued runs until somebody asks or waits for it, as on an emulated
  /// device: who wants progress must go on asking.
  bool works_when_asked() const { return emulated_; }
  /// What was measured of its generation.
  const Tuning& tuning() const { return tuning_; }

  /// The matrix operations for one precision.
  template <class T>
  Kernels<T>& kernels() const {
    return *std::get<Kernels<T>*>(kernels_);
  }

  /// Throws DeviceError if `memory` belongs to another device.
  MemoryKind kind_of(const void* memory) { return do_kind_of(memory); }
  /// As long as the calling thread holds the result, operations need not make the device current
  /// one by one. Only saves time, where the program has another device or none.
  std::shared_ptr<void> make_current() {
    refuse_at_end();
    return do_make_current();
  }
  /// Waits for all that has been enqueued on the device, in queues of ours or in the program's own
  /// streams, which our queues take no notice of.
  void await_all() { do_await_all(); }

  /// The device heeds the end of the process from now on. `end` is never destroyed. Set it before
  /// the device is used.
  void heed(const ProcessEnd& end) { end_ = &end; }
  /// Whether the process ends. Whoever waits for the device asks, and gives up.
  bool at_end() const { return end_->begun.load(); }
  /// Throws DeviceError then.
  void refuse_at_end() const {
    if (at_end()) throw DeviceError("the process ends");
  }

  void set_observer(Observer* observer) { observer_ = observer; }
  DeviceCounters& counters() { return counters_; }
  /// The timeline that the spans of algorithms go to (device/timeline.hpp); none by default. Set it
  /// while no call is under way.
  void set_timeline(Timeline* timeline) { timeline_ = timeline; }
  Timeline* timeline() const { return timeline_; }
  /// Whether a profiler shows those spans, too (device/nvtx.hpp). Set like a timeline.
  void set_nvtx_blocks(bool wanted) { nvtx_blocks_ = wanted; }
  bool nvtx_blocks() const { return nvtx_blocks_; }
  /// Memory that the leases of buffer.hpp take. What the driver and its libraries take for
  /// themselves is not in it.
  PoolUse pool_use(Space space);
  void reset_peak_use();
  /// Gives device memory that is not leased back to the driver, so that leases of other sizes get
  /// all that there is.
  void release_idle_memory();
  /// Bytes of device memory that leases can have together, as far as the driver and other
  /// processes leave some now. What is leased counts, too.
  std::size_t obtainable_memory();
  /// From now on leases of device memory, and what is kept idle, are at most so many bytes
  /// together; more is refused. 0: no limit.
  void set_memory_limit(std::size_t bytes);
  /// Gives all device memory that is not leased back to the driver. Does not wait for work on the
  /// device, nor holds it up. Staging memory stays: to lock pages takes longer than most calls. So
  /// does what queues have for their own work.
  void give_back_idle_memory();
  /// Tells the observer and counts. Called by every public operation.
  void before(Action action, const char* name, double amount = 0);

 protected:
  Device(std::string name, std::string model, std::size_t memory, bool emulated,
         const Tuning& tuning)
      : name_(std::move(name)),
        model_(std::move(model)),
        memory_(memory),
        emulated_(emulated),
        tuning_(tuning) {}
  /// For the constructor of a subclass, which owns them.
  void set_kernels(Kernels<float>& s, Kernels<double>& d, Kernels<std::complex<float>>& c,
                   Kernels<std::complex<double>>& z) {
    kernels_ = {&s, &d, &c, &z};
  }
  /// For the constructor of a subclass.
  void set_shortcoming(std::string shortcoming) { shortcoming_ = std::move(shortcoming); }
  /// Gives every pooled block, queue and event back to the driver. A subclass whose objects live
  /// only as long as itself calls it in its destructor.
  void clear_pools() noexcept;

 private:
  template <class T>
  friend class Buffer;
  friend class QueueLease;
  friend class EventLease;

  // Pooled acquisition, used by the leases in buffer.hpp.
  void* acquire(Space space, std::size_t bytes);
  void give_back(Space space, void* memory) noexcept;
  std::unique_ptr<Queue> acquire_queue(Priority priority);
  void give_back(Priority priority, std::unique_ptr<Queue> queue) noexcept;
  std::unique_ptr<Event> acquire_event(Timed timed);
  void give_back(std::unique_ptr<Event> event) noexcept;

  /// Space::host means staging memory: page-locked, so that copies to and from it run
  /// asynchronously at the speed of the link.
  virtual void* do_allocate(Space space, std::size_t bytes) = 0;
  virtual void do_free(Space space, void* memory) noexcept = 0;
  /// Called when several blocks of device memory have been freed: they are to leave the process.
  virtual void do_trim() noexcept {}
  /// Bytes of device memory that nobody has allocated.
  virtual std::size_t do_free_memory() = 0;
  /// Called when pooled memory is handed out again; the emulated device poisons it.
  virtual void do_reuse(Space, void*, std::size_t) {}
  virtual MemoryKind do_kind_of(const void* memory) = 0;
  virtual std::unique_ptr<Queue> do_make_queue(Priority priority) = 0;
  virtual std::unique_ptr<Event> do_make_event(Timed timed) = 0;
  virtual std::shared_ptr<void> do_make_current() = 0;
  virtual void do_await_all() = 0;

  struct Block {
    void* memory;
    std::size_t bytes;
  };
  struct MemoryPool {
    std::vector<Block> idle;
    std::unordered_map<void*, std::size_t> leased;
    PoolUse use;
    std::size_t idle_bytes() const { return use.held - use.leased; }
  };
  MemoryPool& pool(Space space) { return space == Space::device ? device_pool_ : staging_pool_; }
  void free(Space space, void* memory) noexcept;
  void free_idle(MemoryPool& pool, Space space) noexcept;
  void* allocate(MemoryPool& pool, Space space, std::size_t bytes);
  void count_kernel();

  std::string name_, model_, shortcoming_;
  std::size_t memory_;
  bool emulated_;
  const Tuning tuning_;
  std::tuple<Kernels<float>*, Kernels<double>*, Kernels<std::complex<float>>*,
             Kernels<std::complex<double>>*>
      kernels_;
  Observer* observer_ = nullptr;
  Timeline* timeline_ = nullptr;
  bool nvtx_blocks_ = false;
  static inline const ProcessEnd kNoEnd{};
  const ProcessEnd* end_ = &kNoEnd;
  DeviceCounters counters_;
  std::mutex mutex_;  // guards the pools
  MemoryPool device_pool_, staging_pool_;
  std::size_t memory_limit_ = 0;
  std::vector<std::unique_ptr<Queue>> idle_queues_[2];  // by Priority
  std::vector<std::unique_ptr<Event>> idle_events_[2];  // by Timed
};

// ---- implementation of templates ----------------------------------------------------------

template <class T>
void Queue::copy(DeviceView<T> to, HostView<const T> from) {
  copy_to_device(to.data, sizeof(T) * static_cast<std::size_t>(to.ld), from.data,
                 sizeof(T) * static_cast<std::size_t>(from.ld),
                 sizeof(T) * static_cast<std::size_t>(from.rows),
                 static_cast<std::size_t>(from.cols));
}

template <class T>
void Queue::copy(HostView<T> to, DeviceView<const T> from) {
  copy_to_host(to.data, sizeof(T) * static_cast<std::size_t>(to.ld), from.data,
               sizeof(T) * static_cast<std::size_t>(from.ld),
               sizeof(T) * static_cast<std::size_t>(from.rows),
               static_cast<std::size_t>(from.cols));
}

template <class T>
void Queue::copy(DeviceView<T> to, DeviceView<const T> from, Part part) {
  const PartCopy operands = {to.data,   sizeof(T) * static_cast<std::size_t>(to.ld),
                             from.data, sizeof(T) * static_cast<std::size_t>(from.ld),
                             sizeof(T), from.rows,
                             from.cols, part};
  copy_on_device(operands);
}

}  // namespace overlapack
