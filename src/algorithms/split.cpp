#include "algorithms/split.hpp"

namespace overlapack::algorithms {
namespace {

/// Uninitialised memory for the split form of a factor with n rows (left) or columns (right).
template <class T>
DeviceMatrix<Real<T>> split_matrix(Device& device, Side side, Index k, Index n) {
  return {device, Kernels<T>::split_rows(k), Kernels<T>::split_cols(side, n)};
}

/// The part of a split form that holds the summands k of its rows (left) or columns (right) n.
template <class T>
DeviceView<Real<T>> split_block(const DeviceMatrix<Real<T>>& matrix, Side side, Range k, Range n) {
  using K = Kernels<T>;
  return matrix.view().block(K::split_rows(k.first), K::split_cols(side, n.first),
                             K::split_rows(k.size()), K::split_cols(side, n.size()));
}

}  // namespace

template <class T>
Subtraction<T>::Subtraction(Device& device, const Options& options, Index m, Index n, Index k)
    : kernels_(device.kernels<T>()) {
  if (options.split && kernels_.split_pays(m, n, k)) {
    split_.emplace(Workspace{split_matrix<T>(device, Side::left, k, m),
                             split_matrix<T>(device, Side::right, k, n)});
  }
}

template <class T>
void Subtraction<T>::operator()(Queue& queue, DeviceView<const T> a, DeviceView<const T> b,
                                DeviceView<T> c) const {
  if (!split_ || !kernels_.split_pays(c.rows, c.cols, a.cols)) {
    kernels_.gemm(queue, Op::none, Op::none, T(-1), a, b, T(1), c);
    return;
  }
  const auto left = split_block<T>(split_->a, Side::left, {0, a.cols}, {0, c.rows});
  const auto right = split_block<T>(split_->b, Side::right, {0, a.cols}, {0, c.cols});
  kernels_.split(queue, Side::left, Op::none, a, left);
  kernels_.split(queue, Side::right, Op::none, b, right);
  kernels_.split_gemm(queue, -1, left, right, 1, c);
}

template <class T>
Updates<T>::Updates(Device& device, const Options& options, const Triangle<T>& triangle,
                    DeviceView<const T> factor, Index rows)
    : triangle_(triangle),
      wide_(triangle.lower() ? Side::left : Side::right),
      narrow_(triangle.lower() ? Side::right : Side::left),
      factor_(factor),
      rows_(rows) {
  const Index n = triangle.lower() ? factor.cols : factor.rows, nb = std::min(options.nb, n);
  if (options.split && n > 2 * nb && triangle_.kernels.split_pays(n, nb, n)) {
    split_.emplace(split_matrix<T>(device, wide_, n, rows));
  }
}

template <class T>
typename Updates<T>::Workspace Updates<T>::workspace(Device& device, Index k, Index columns) const {
  Workspace workspace;
  if (split_) workspace.narrow_.emplace(split_matrix<T>(device, narrow_, k, columns));
  return workspace;
}

template <class T>
void Updates<T>::append(Queue& queue, Range block) {
  if (!split_) return;
  const Range below{block.last, rows_};
  triangle_.kernels.split(queue, wide_, Op::none, triangle_.block(factor_, below, block),
                          split_block<T>(*split_, wide_, block, below));
}

template <class T>
void Updates<T>::subtract(Queue& queue, const Workspace& workspace, Range rows, Range columns,
                          Range k, Real<T> beta, DeviceView<T> c) const {
  if (!split_ || !triangle_.kernels.split_pays(rows.size(), columns.size(), k.size())) {
    triangle_.subtract(queue, triangle_.block(factor_, rows, k),
                       triangle_.block(factor_, columns, k), T(beta), c);
    return;
  }
  const DeviceView<Real<T>> wide = split_block<T>(*split_, wide_, k, rows);
  const DeviceView<Real<T>> narrow =
      split_block<T>(*workspace.narrow_, narrow_, {0, k.size()}, {0, columns.size()});
  triangle_.kernels.split(queue, narrow_, Op::conj_trans, triangle_.block(factor_, columns, k),
                          narrow);
  triangle_.kernels.split_gemm(queue, -1, triangle_.lower() ? wide : narrow,
                               triangle_.lower() ? narrow : wide, beta, c);
}

#define OVERLAPACK_INSTANTIATE(T) \
  template class Subtraction<T>;  \
  template class Updates<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
