// Rows of a Cholesky factor and of the vectors of its update, a strip of them at a time: as many
// rows as fill a few of the processor's vector registers. What happens to them, and why, says
// algorithms/update/on_cpu.cpp.
#pragma once

#include <memory>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "cpu/instructions.hpp"

namespace overlapack::cpu {

/// Rows of a strip.
template <class T>
inline constexpr Index kStrip = 128 / static_cast<Index>(sizeof(Real<T>));
/// Real numbers that an element is kept as.
template <class T>
inline constexpr Index kParts = is_complex<T> ? 2 : 1;
/// Columns that rows are taken through together, and columns of a panel at most.
inline constexpr Index kGroup = 4, kPanel = 64;

/// A number whose parts are `apart` from each other.
template <class T>
T load_parts(const Real<T>* x, Index apart) {
  if constexpr (is_complex<T>) {
    return {x[0], x[apart]};
  } else {
    return *x;
  }
}
template <class T>
void store_parts(T x, Real<T>* to, Index apart) {
  to[0] = real(x);
  if constexpr (is_complex<T>) to[apart] = x.imag();
}

/// Columns of n rows in strips, in which rows lie side by side, real and imaginary parts apart.
template <class T>
class Strips {
 public:
  /// For up to `k` columns. Throws std::bad_alloc.
  Strips(Index n, Index k);

  /// Takes these columns in, no more than there is room for.
  void load(const T* const* columns, Index count);
  Index cols() const { return k_; }
  /// Element (i, q) is kColumn numbers behind (i, q - 1), its imaginary part kStrip behind its real
  /// one.
  static constexpr Index kColumn = kParts<T> * kStrip<T>;
  Real<T>* row(Index i) const { return strip(i) + i % kStrip<T>; }
  T get(Index i, Index q) const { return load_parts<T>(row(i) + q * kColumn, kStrip<T>); }
  /// The strip that row i is in: kStrip numbers for each part of each column.
  Real<T>* strip(Index i) const { return strips_ + i / kStrip<T> * size(); }

 private:
  Index size() const { return kColumn * k_; }

  Index n_, k_;
  std::unique_ptr<Real<T>[]> memory_;
  Real<T>* strips_;  // aligned
};

/// What rows are taken through: a group of kGroup columns, in terms of z_j (1 x k) for each.
template <class T>
struct Group {
  /// Real numbers that one takes.
  static Index size(Index k) { return kParts<T> * kGroup * (k + kGroup) + kGroup; }

  void set_z(Index q, Index j, T x) const {
    store_parts<T>(x, numbers + kParts<T> * kGroup * q + j, kGroup);
  }
  /// s z_i^H z_j for i < j.
  void set_product(Index i, Index j, T x) const {
    store_parts<T>(x, products() + kParts<T> * kGroup * i + j, kGroup);
  }
  /// 1 / t_j
  Real<T>* scales() const { return products() + kParts<T> * kGroup * kGroup; }
  Real<T>* products() const { return numbers + kParts<T> * kGroup * k; }

  Real<T>* numbers;
  Index k;
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

/// A strip of L: kPanel columns of its rows.
template <class T>
struct FactorStrip {
  alignas(64) Real<T> numbers[kPanel * kParts<T> * kStrip<T>];

  Real<T>* at(Index lane, Index j) { return numbers + j * kParts<T> * kStrip<T> + lane; }
  T get(Index lane, Index j) { return load_parts<T>(at(lane, j), kStrip<T>); }
  void set(Index lane, Index j, T x) { store_parts<T>(x, at(lane, j), kStrip<T>); }
};

/// Versions for some instructions of what takes rows of L and V through the groups of a panel, one
/// after the other:
///
///   reflect:    w_j = (l_j + s V z_j) / t_j,  l_j := w_j - l_j,  V := V - w_j z_j^H
///   eliminate:  V := V - l_j z_j^H
///
/// for column j of L.
template <class T>
struct Passes {
  /// `a`: the rows of L (upper factor: their columns), kGroup columns for each group. `v`: strips
  /// of V, from the first row on, which is the first one of its strip. The next columns of these
  /// rows are supposed to be needed next.
  void (*rows)(const Panel<T>& panel, Uplo uplo, HostView<T> a, Real<T>* v);
  /// `l`: where the first column of the panel is in the first one of `count` pieces. `v`: their
  /// strips.
  void (*pieces)(const Panel<T>& panel, Index count, Real<T>* l, Real<T>* v);
};

/// What happens to rows of L and V.
enum class Pass {
  reflect,   ///< L becomes the factor of A + s V V^H, and V zero
  eliminate  ///< X becomes L^-1 V
};
template <class T>
Passes<T> passes(Pass pass, Instructions instructions);

}  // namespace overlapack::cpu
