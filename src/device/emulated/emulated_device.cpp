#include "device/emulated/emulated_device.hpp"

#include <complex>
#include <mutex>

#include "device/emulated/emulated_kernels.hpp"
#include "device/emulated/machine.hpp"

namespace overlapack {
namespace emulated {
namespace {

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(const EmulatedOptions& options)
      : Device("host", "emulated device", options.memory, true, emulated_tuning()),
        machine_(*this, options),
        s_(make_kernels<float>(*this, machine_, options.core_only)),
        d_(make_kernels<double>(*this, machine_, options.core_only)),
        c_(make_kernels<std::complex<float>>(*this, machine_, options.core_only)),
        z_(make_kernels<std::complex<double>>(*this, machine_, options.core_only)) {
    set_kernels(*s_.kernels, *d_.kernels, *c_.kernels, *z_.kernels);
    set_shortcoming(options.shortcoming);
  }
  ~EmulatedDevice() override { clear_pools(); }

 private:
  void* do_allocate(Space space, std::size_t bytes) override {
    const Machine::Lock lock(machine_);
    return machine_.memory.allocate(space, bytes);
  }
  void do_free(Space space, void* memory) noexcept override {
    const Machine::Lock lock(machine_);
    machine_.memory.free(space, memory);
  }
  std::size_t do_free_memory() override {
    const Machine::Lock lock(machine_);
    return machine_.memory.free_bytes();
  }
  void do_reuse(Space, void* memory, std::size_t bytes) override { Memory::poison(memory, bytes); }
  MemoryKind do_kind_of(const void* memory) override {
    const Machine::Lock lock(machine_);
    if (machine_.memory.holds(Space::device, memory, 1)) return MemoryKind::device;
    if (machine_.memory.holds(Space::host, memory, 1)) return MemoryKind::pinned;
    return MemoryKind::pageable;
  }
  std::unique_ptr<Queue> do_make_queue(Priority) override {
    return std::make_unique<EmulatedQueue>(*this, machine_);
  }
  std::shared_ptr<void> do_make_current() override { return {}; }
  void do_await_all() override {
    const Machine::Lock lock(machine_);
    machine_.run_all();
  }
  std::unique_ptr<Event> do_make_event(Timed timed) override {
    return std::make_unique<EmulatedEvent>(*this, machine_, timed);
  }
  Machine machine_;
  const OwnedKernels<float> s_;
  const OwnedKernels<double> d_;
  const OwnedKernels<std::complex<float>> c_;
  const OwnedKernels<std::complex<double>> z_;
};

}  // namespace
}  // namespace emulated

std::unique_ptr<Device> make_emulated_device(EmulatedOptions options) {
  return std::make_unique<emulated::EmulatedDevice>(options);
}

}  // namespace overlapack
