// Linear systems of a given condition number.
#pragma once

#include <cstdint>
#include <vector>

#include "core/view.hpp"

namespace overlapack::bench {

/// A random orthogonal (unitary) matrix of any order that is applied in O(n log n): for every power
/// of two s < n, rotations of the elements i and i + s of each pair by random angles. All elements
/// of a vector are mixed with all others (a butterfly, as in a fast Fourier transform).
template <class T>
class Butterfly {
 public:
  Butterfly(Index n, std::uint64_t seed);
  void apply(T* x) const;
  /// x := Q^H x.
  void apply_adjoint(T* x) const;

 private:
  struct Rotation {
    Index first, second;
    Real<T> c;
    T s;
  };
  std::vector<Rotation> rotations_;
};

/// A X = B with A = P D Q^H, or P D P^H, which is positive definite, for butterflies P and Q. The
/// singular values in D fall from 1 to 1 / condition in geometric progression. B is uniform in
/// [-1, 1). A column of A costs O(n log n): Q^H, D and P applied to a unit vector.
template <class T>
class ConditionedSystem {
 public:
  ConditionedSystem(Index n, Index nrhs, double condition, bool positive_definite,
                    std::uint64_t seed);

  HostView<const T> a() const { return {a_.data(), n_, n_, n_}; }
  HostView<const T> b() const { return {b_.data(), n_, nrhs_, n_}; }
  /// The largest ||b - A x|| / (||A|| ||x|| + ||b||) of all columns, in the infinity norm: how far,
  /// relatively, A and b must be changed for x to solve the system (Rigal and Gaches, 1967).
  double backward_error(HostView<const T> x) const;

 private:
  Index n_, nrhs_;
  std::vector<T> a_, b_;
};

}  // namespace overlapack::bench
