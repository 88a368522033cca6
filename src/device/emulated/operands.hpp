// How operations of the emulated device reach their operands: memory is checked before it is used.
#pragma once

#include <utility>

#include "device/device.hpp"
#include "device/emulated/machine.hpp"

namespace overlapack::emulated {

/// Shared by what enqueues the operations of one device. A GPU would read beyond an operand without
/// a word; here that is an error.
class Operands {
 public:
  Operands(const Device& device, Machine& machine) : device_(device), machine_(machine) {}

  /// compute(operation) when the queue comes to it, once all operands are known to be where they
  /// should. The operation must know its operands().
  template <class Operation, class Compute>
  void run(Queue& queue, const Operation& operation, Compute compute) const {
    enqueue(queue, Operation::kName, [*this, operation, compute] {
      Operation::operands(operation, [&](const auto& view, Staging staging = Staging::forbidden) {
        open(Operation::kName, view, staging);
      });
      compute(operation);
    });
  }

  template <class Work>
  void enqueue(Queue& queue, const char* name, Work work) const {
    require(&queue.device() == &device_, name, "the queue is one of another device");
    static_cast<EmulatedQueue&>(queue).enqueue(std::move(work));
  }

  /// The view as this machine's CPU sees it, once it is known to lie in device memory, or perhaps
  /// in staging memory.
  template <class U>
  HostView<U> open(const char* name, const DeviceView<U>& view,
                   Staging staging = Staging::forbidden) const {
    if (!view.empty()) {
      require(view.ld >= view.rows, name, "a leading dimension is less than the rows");
      const bool staged =
          staging == Staging::allowed && machine_.memory.holds(Space::host, view.data, sizeof(U));
      const auto elements = static_cast<std::size_t>((view.cols - 1) * view.ld + view.rows);
      machine_.memory.check(name, staged ? Space::host : Space::device, view.data,
                            elements * sizeof(U));
    }
    return as_argument(view);
  }

 private:
  const Device& device_;
  Machine& machine_;
};

}  // namespace overlapack::emulated
