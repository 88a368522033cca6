// Rows of a Cholesky factor and of the vectors of its update, a strip of them at a time: as many
// rows as fill a few of the processor's vector registers. What happens to them, and why, says
// algorithms/chol_update.cpp.
#pragma once

#include <memory>

#include "core/scalar.hpp"
#include "core/view.hpp"

namespace overlapack::cpu {

/// Rows of a strip.
template <class T>
inline constexpr Index kStrip = 128 / static_cast<Index>(sizeof(Real<T>));
/// Columns that rows are taken through together, and columns of a panel at most.
inline constexpr Index kGroup = 4, kPanel = 64;

/// Columns of n rows in strips, in which rows lie side by side, real and imaginary parts apart.
template <class T>
class Strips {
 public:
  /// For up to `k` columns. Throws std::bad_alloc.
  Strips(Index n, Index k);

  /// Takes these columns in, no more than there is room for.
  void load(const T* const* columns, Index count);
  Index cols() const { return k_; }
  T get(Index i, Index q) const;
  void set(Index i, Index q, T x);
  /// The strip that row i is in: kStrip numbers for each part of each column.
  Real<T>* strip(Index i) const { return strips_ + i / kStrip<T> * size(); }

 private:
  static constexpr Index kParts = is_complex<T> ? 2 : 1;
  Index size() const { return kParts * kStrip<T> * k_; }

  Index n_, k_;
  std::unique_ptr<Real<T>[]> memory_;
  Real<T>* strips_;  // aligned
};

/// What rows are taken through: a group of kGroup columns, in terms of z_j (1 x k) for each.
template <class T>
struct Group {
  static constexpr Index kParts = is_complex<T> ? 2 : 1;
  /// Real numbers that one takes.
  static Index size(Index k) { return kParts * kGroup * (k + kGroup) + kGroup; }

  T z(Index q, Index j) const { return get(numbers + kParts * kGroup * q + j); }
  void set_z(Index q, Index j, T x) const { set(numbers + kParts * kGroup * q + j, x); }
  /// s z_i^H z_j for i < j.
  T product(Index i, Index j) const { return get(products() + kParts * kGroup * i + j); }
  void set_product(Index i, Index j, T x) const { set(products() + kParts * kGroup * i + j, x); }
  /// 1 / t_j
  Real<T>* scales() const { return products() + kParts * kGroup * kGroup; }
  Real<T>* products() const { return numbers + kParts * kGroup * k; }

  Real<T>* numbers;
  Index k;

 private:
  static T get(const Real<T>* x) {
    if constexpr (is_complex<T>) {
      return {x[0], x[kGroup]};
    } else {
      return *x;
    }
  }
  static void set(Real<T>* to, T x) {
    to[0] = overlapack::real(x);
    if constexpr (is_complex<T>) to[kGroup] = x.imag();
  }
};

/// Groups, one after the other in memory.
template <class T>
struct Panel {
  Group<T> group(Index g) const { return {numbers + g * Group<T>::size(k), k}; }

  Real<T>* numbers;
  Index groups;
  Index k;
  int sign;  // s
};

/// Takes rows of L and V through all groups of a panel, one after the other:
///
///   reflect:    w_j = (l_j + s V z_j) / t_j,  l_j := w_j - l_j,  V := V - w_j z_j^H
///   eliminate:  V := V - l_j z_j^H
///
/// for column j of L. `a` has the rows of L (upper factor: their columns), kGroup columns for each
/// group, and `v` the strips of V from that of the first row on, which is lane `lane` of its strip.
template <class T>
using TakeRows = void (*)(const Panel<T>& panel, Uplo uplo, HostView<T> a, Index lane, Real<T>* v);

/// Instructions that there are versions for.
enum class Instructions { baseline, avx2, avx512 };
/// The best that the processor has.
Instructions best_instructions();

template <class T>
TakeRows<T> reflect_rows(Instructions instructions);
template <class T>
TakeRows<T> eliminate_rows(Instructions instructions);

}  // namespace overlapack::cpu
