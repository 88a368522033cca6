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
Updates<T>::Updates(Device& device, const Options& options, Uplo uplo, DeviceView<const T> factor)
    : kernels_(device.kernels<T>()),
      lower_(uplo == Uplo::lower),
      wide_(lower_ ? Side::left : Side::right),
      narrow_(lower_ ? Side::right : Side::left),
      nb_(options.nb),
      factor_(factor) {
  const Index n = factor.rows, nb = std::min(nb_, n);
  if (options.split && n > 2 * nb && kernels_.split_pays(n, nb, n)) {
    split_.emplace(
        Parts{split_matrix<T>(device, wide_, n, n), split_matrix<T>(device, narrow_, n, nb)});
  }
}

template <class T>
void Updates<T>::append(Queue& queue, Range block) {
  if (!split_) return;
  const Range rest{block.last, factor_.rows};
  const auto panel = lower_ ? factor_.block(rest.first, block.first, rest.size(), block.size())
                            : factor_.block(block.first, rest.first, block.size(), rest.size());
  kernels_.split(queue, wide_, Op::none, panel, split_block<T>(split_->factor, wide_, block, rest));
}

template <class T>
void Updates<T>::subtract(Queue& queue, Range rows, Range columns, Range k, DeviceView<T> c) const {
  const auto block = [&](Range range) {
    return lower_ ? factor_.block(range.first, k.first, range.size(), k.size())
                  : factor_.block(k.first, range.first, k.size(), range.size());
  };
  if (!split_ || k.size() <= nb_ || !kernels_.split_pays(c.rows, c.cols, k.size())) {
    if (lower_) {
      kernels_.gemm(queue, Op::none, Op::conj_trans, T(-1), block(rows), block(columns), T(1), c);
    } else {
      kernels_.gemm(queue, Op::conj_trans, Op::none, T(-1), block(columns), block(rows), T(1), c);
    }
    return;
  }
  const DeviceView<Real<T>> wide = split_block<T>(split_->factor, wide_, k, rows);
  const DeviceView<Real<T>> narrow =
      split_block<T>(split_->workspace, narrow_, {0, k.size()}, {0, columns.size()});
  kernels_.split(queue, narrow_, Op::conj_trans, block(columns), narrow);
  kernels_.split_gemm(queue, -1, lower_ ? wide : narrow, lower_ ? narrow : wide, 1, c);
}

#define OVERLAPACK_INSTANTIATE(T) \
  template class Subtraction<T>;  \
  template class Updates<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
