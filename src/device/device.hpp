// The contract between the algorithms and a device. device/cuda and device/emulated implement it
// and pass the same contract test (tests/device/test_device_contract.cpp).
//
//   runtime.hpp   Device, Queue, Event: memory, copies, order
//   blas.hpp      the core: what every device implements
//   panels.hpp    factorizations of narrow block columns, by default on the CPU
//   fused.hpp     operations that are faster as one kernel, by default made of the others
//   bulges.hpp    from a band matrix to a tridiagonal one, by default on the CPU
//   tridiagonal.hpp   what eigenproblems of tridiagonal matrices take, by default on the CPU
//   formats.hpp   products in other number formats, which a device may do without
//
// operation.hpp says what an operation is, and defaults.cpp has the defaults.
#pragma once

#include "device/bulges.hpp"
#include "device/formats.hpp"
#include "device/fused.hpp"
#include "device/tridiagonal.hpp"
#include "device/tuning.hpp"

namespace overlapack {

/// The matrix operations of a device for one precision. They are called by Queue::enqueue().
template <class T>
class Kernels : public Tridiagonals<T> {
 public:
  Kernels(Device& device, const Limits& limits, Formats<T> formats = {})
      : Tridiagonals<T>(device, limits), formats_(formats) {}

  /// Null where the device has none.
  SplitProducts<T>* split_products() const { return formats_.split_products; }
  ResidueProducts<T>* residue_products() const { return formats_.residue_products; }
  Rounding<T>* rounding() const { return formats_.rounding; }

  /// Whether a product of an m x k and a k x n matrix is faster by split operands, the work of
  /// splitting them included.
  bool split_pays(Precision precision, Index m, Index n, Index k) const {
    return split_products() != nullptr &&
           overlapack::split_pays<T>(this->device_.tuning().rates, precision, m, n, k);
  }
  /// Whether there are products of residues for sums whose length is a multiple of nb.
  bool has_residues_for(Index nb) const {
    return residue_products() != nullptr && nb % residue_products()->residue_unit() == 0;
  }
  /// Whether C - A B^H, for matrices of m x k and n x k, is faster by residues, of which those of m
  /// times n numbers must be found for it.
  bool residues_pay(Index m, Index n, Index k) const {
    return residue_products() != nullptr &&
           overlapack::residues_pay<T>(this->device_.tuning().rates, m, n, k);
  }
  /// The same for FindScaledResidues, where the residues of both factors must be found.
  bool scaled_residues_pay(Index m, Index n, Index k) const {
    return residue_products() != nullptr &&
           overlapack::scaled_residues_pay<T>(this->device_.tuning().rates, m, n, k);
  }

 private:
  friend class Queue;
  /// The part of the contract that an operation belongs to.
  template <class Group>
  Group& group() {
    if constexpr (std::is_same_v<Group, SplitProducts<T>>) {
      return *formats_.split_products;
    } else if constexpr (std::is_same_v<Group, ResidueProducts<T>>) {
      return *formats_.residue_products;
    } else if constexpr (std::is_same_v<Group, Rounding<T>>) {
      return *formats_.rounding;
    } else {
      return *this;
    }
  }

  const Formats<T> formats_;
};

template <class Operation>
void Queue::enqueue(const Operation& operation) {
  if (operation.empty()) return;
  if (device_.emulated()) operation::require_fit(operation.fits(), Operation::kName);
  device_.before(Action::kernel, Operation::kName, operation.flops());
  using Group = typename Operation::Group;
  device_.kernels<typename Operation::Scalar>().template group<Group>().run(*this, operation);
}

}  // namespace overlapack
