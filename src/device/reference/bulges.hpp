// The operations of bulges.hpp as textbook loops; see blas.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include "cpu/householder.hpp"
#include "device/bulges.hpp"
#include "device/reference/panels.hpp"

namespace overlapack::reference {

/// C := C H for a reflector H, where v(0) is 1.
template <class T>
void apply_from_right(T tau, const T* v, HostView<T> c) {
  for (Index i = 0; i < c.rows; ++i) {
    T sum(0);
    for (Index j = 0; j < c.cols; ++j) sum += detail::multiply(c(i, j), v[j]);
    sum = detail::multiply(tau, sum);
    for (Index j = 0; j < c.cols; ++j) c(i, j) -= detail::multiply(sum, conj(v[j]));
  }
}

/// D := H^H D H for the lower triangle of a Hermitian matrix: with w = tau D v - alpha v / 2 and
/// alpha = |tau|^2 v^H D v, that is D - v w^H - w v^H.
template <class T>
void apply_from_both_sides(T tau, const T* v, HostView<T> d) {
  std::vector<T> w(static_cast<std::size_t>(d.rows));
  add_hermitian_product<T>(d, v, w.data());
  for (T& wi : w) wi = detail::multiply(tau, wi);
  const T half = conj(tau) / Real<T>(2);
  detail::subtract_scaled(d.rows, detail::multiply(half, detail::dot(d.rows, v, w.data())), v,
                          w.data());
  for (Index j = 0; j < d.cols; ++j) {
    const T wj = conj(w[static_cast<std::size_t>(j)]);
    detail::subtract_scaled(d.rows - j, wj, v + j, &d(j, j));
    detail::subtract_scaled(d.rows - j, conj(v[j]), w.data() + j, &d(j, j));
    d(j, j) = T(real(d(j, j)));
  }
}

/// Sweep by sweep. In band storage B(i, j) is element i + j (ld - 1), so it is a matrix like any
/// other, of which only a part is there.
///
/// A reflector is made of the first column of the block E in which there is a bulge (of the column
/// of the sweep, at first), and goes through the rest of E from the left, through the block D on
/// the diagonal from both sides, and from the right through the next E, below D.
template <class T>
void on_cpu(const ChaseBulges<T>& op) {
  const Index n = op.order(), width = op.bandwidth;
  const HostView<T> b(op.band.data, n, n, op.band.ld - 1), v = here(op.v);
  for (Index j = 0; j < n; ++j) b(j, j) = T(real(b(j, j)));
  std::vector<T> h(static_cast<std::size_t>(width));
  for (Index s = 0; s + 1 < n; ++s) {
    here(op.d)(s) = real(b(s, s));
    for (Index first = s + 1, column = s; first < n; column = first, first += width) {
      const Index size = std::min(width, n - first), below = std::min(width, n - first - size);
      T* const x = &b(first, column);
      const T tau = make_householder(size - 1, *x, x + 1);
      if (column == s) here(op.e)(s) = real(*x);
      h[0] = T(1);
      std::copy_n(x + 1, size - 1, h.begin() + 1);
      std::fill_n(x + 1, size - 1, T(0));
      if (!v.empty()) {
        std::copy_n(h.data(), size, &v(first, s));
        v(s, first) = tau;
      }
      const Index others = column == s ? 0 : first - column - 1;
      apply_householder<T>(conj(tau), h.data(), b.block(first, column + 1, size, others));
      apply_from_both_sides<T>(tau, h.data(), b.block(first, first, size, size));
      apply_from_right<T>(tau, h.data(), b.block(first + size, first, below, size));
    }
  }
  here(op.d)(n - 1) = real(b(n - 1, n - 1));
}

/// Reflectors k of a group of sweeps. They are in rows `first` to `last` - 1.
struct BulgeBlock {
  Index sweep, sweeps, first, last;

  /// Those that there are: the later ones of a group may begin below the last row.
  BulgeBlock(Index n, Index width, Index group, Index s, Index k)
      : sweep(s),
        sweeps(std::min(group, n - s - 1 - k * width)),
        first(s + 1 + k * width),
        last(std::min(first + width + sweeps - 1, n)) {}

  Range rows() const { return {first, last}; }
  Index size() const { return last - first; }
};

/// Calls f(block) for all blocks, in the order in which Q Z is made.
///
/// Q is the product of all reflectors by sweeps, the first sweep first. So the last sweep is the
/// first to be applied to Z, and groups go from the last to the first. Reflectors of one sweep have
/// no row in common, and commute. Of two sweeps s < t in a group, H(t, k) has the rows
///
///   t + 1 + k b, ..., t + (k + 1) b.
///
/// The first row of H(s, k + 1) is s + 1 + (k + 1) b, which is not beyond the last one of these. So
/// they have rows in common, and H(t, k) must be applied before H(s, k + 1). The last row of
/// H(s, k - 1) is s + k b, which is before the first one of these, so that H(t, k) and H(s, k - 1)
/// commute. In all that is satisfied, and within a block the order by sweeps is kept, if block k is
/// applied before block k + 1.
template <class F>
void for_each_bulge_block(Index n, Index width, Index group, F f) {
  for (Index s = (std::max<Index>(n - 2, 0)) / group * group; s >= 0; s -= group) {
    for (Index k = 0; s + 1 + k * width < n; ++k) f(BulgeBlock(n, width, group, s, k));
  }
}

/// The reflectors of a block as columns of a matrix, with zeros above and below.
template <class T>
Workspace<T> reflectors_of_block(HostView<const T> v, const BulgeBlock& block, Index width) {
  Workspace<T> result(block.size(), block.sweeps);
  for (Index j = 0; j < block.sweeps; ++j) {
    const Index first = block.first + j, size = std::min(width, block.last - first);
    std::copy_n(&v(first, block.sweep + j), size, &result.view()(j, j));
  }
  return result;
}

template <class T>
void on_cpu(const BulgeFactors<T>& op) {
  const HostView<T> v = here(op.v);
  for_each_bulge_block(v.rows, op.bandwidth, op.group, [&](const BulgeBlock& block) {
    const Workspace<T> w = reflectors_of_block<T>(v, block, op.bandwidth);
    const Index count = block.sweeps;
    const HostView<T> place = v.block(block.sweep, block.first, count, count);
    const Workspace<T> t(count, count);
    for (Index j = 0; j < count; ++j) t.view()(j, j) = place(j, j);
    block_reflector<T>(w.view(), t.view());
    lacpy<T>(t.view(), place, Part::upper);
  });
}

/// Z := Z - W (T (W^H Z)) for one block after the other.
template <class T>
void on_cpu(const ReflectBulges<T>& op) {
  const HostView<const T> v = here(op.v);
  const HostView<T> z = here(op.z);
  for_each_bulge_block(v.rows, op.bandwidth, op.group, [&](const BulgeBlock& block) {
    const Workspace<T> w = reflectors_of_block<T>(v, block, op.bandwidth);
    const Index count = block.sweeps;
    const Workspace<T> t(count, count), product(count, z.cols), scaled(count, z.cols);
    lacpy<T>(v.block(block.sweep, block.first, count, count), t.view(), Part::upper);
    const HostView<T> rows = z.block(block.rows(), {0, z.cols});
    gemm<T>(Op::conj_trans, Op::none, T(1), w.view(), rows, T(0), product.view());
    gemm<T>(Op::none, Op::none, T(1), t.view(), product.view(), T(0), scaled.view());
    gemm<T>(Op::none, Op::none, T(-1), w.view(), scaled.view(), T(1), rows);
  });
}

}  // namespace overlapack::reference
