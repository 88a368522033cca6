// An operation by the CPU: its operands make a trip to staging memory and back.
#pragma once

#include <cstring>
#include <type_traits>
#include <vector>

#include "device/buffer.hpp"

namespace overlapack {

/// The trip of one operation. Unlike other operations it is done when it returns: it waits for all
/// that the queue was given before, and for its results to be back. If it fails, the queue
/// does not use the staging memory any more.
class HostTrip {
 public:
  HostTrip(Device& device, Queue& queue) : device_(device), queue_(queue) {}

  /// compute(operation) for the same operation on copies of its operands.
  template <class Operation, class Compute>
  void run(Operation operation, Compute compute) {
    std::vector<Stay> stays;
    Operation::operands(operation, [&](auto& view, Staging = Staging::forbidden) {
      if (is_there(view)) stays.push_back(stay_for(view));
    });
    try {
      for (const Stay& stay : stays) fetch(stay);
      queue_.do_synchronize();
      compute(static_cast<const Operation&>(operation));
      for (const Stay& stay : stays) {
        if (stay.is_result) send_back(stay);
      }
      queue_.do_synchronize();
    } catch (...) {
      finish();
      throw;
    }
  }

 private:
  /// A matrix as bytes, there and here.
  struct Stay {
    void* there;
    std::size_t pitch, bytes, columns;
    bool is_result;
    Buffer<char> here;
  };

  template <class U>
  bool is_there(DeviceView<U> view) const {
    return !view.empty() && device_.kind_of(view.data) == MemoryKind::device;
  }

  /// Room for the operand here. `view` becomes one of its copy.
  template <class U>
  Stay stay_for(DeviceView<U>& view) {
    using Number = std::remove_const_t<U>;
    const auto rows = static_cast<std::size_t>(view.rows),
               columns = static_cast<std::size_t>(view.cols);
    Stay stay{const_cast<Number*>(view.data),
              sizeof(U) * static_cast<std::size_t>(view.ld),
              sizeof(U) * rows,
              columns,
              !std::is_const_v<U>,
              Buffer<char>(device_, Space::host, static_cast<Index>(sizeof(U) * rows * columns))};
    view = {reinterpret_cast<Number*>(stay.here.data()), view.rows, view.cols, view.rows};
    return stay;
  }

  void fetch(const Stay& stay) {
    queue_.do_copy_to_host(stay.here.data(), stay.bytes, stay.there, stay.pitch, stay.bytes,
                           stay.columns);
  }

  void send_back(const Stay& stay) {
    queue_.do_copy_to_device(stay.there, stay.pitch, stay.here.data(), stay.bytes, stay.bytes,
                             stay.columns);
  }

  /// Ends what the queue does with staging memory. Other queues may wait for what it did before the
  /// trip, so that is completed if it can be.
  void finish() noexcept {
    try {
      queue_.do_synchronize();
    } catch (...) {
      queue_.do_drain();
    }
  }

  Device& device_;
  Queue& queue_;
};

}  // namespace overlapack
