#include "algorithms/split.hpp"

namespace overlapack::algorithms {
namespace {

/// Uninitialised memory for the split form of a factor with n rows (left) or columns (right).
template <class T>
DeviceMatrix<Real<T>> split_matrix(Device& device, SplitForm form, Side side, Index k, Index n) {
  return {device, Kernels<T>::split_rows(form, k), Kernels<T>::split_cols(side, n)};
}

/// The part of a split form that holds the summands k of its rows (left) or columns (right) n. It
/// begins and ends with sections.
template <class T>
DeviceView<Real<T>> split_block(const DeviceMatrix<Real<T>>& matrix, SplitForm form, Side side,
                                Range k, Range n) {
  using K = Kernels<T>;
  return matrix.view().block(K::split_rows(form, k.first), K::split_cols(side, n.first),
                             K::split_rows(form, k.size()), K::split_cols(side, n.size()));
}

}  // namespace

template <class T>
Subtraction<T>::Subtraction(Device& device, const Options& options, Index m, Index n, Index k)
    : kernels_(device.kernels<T>()), form_{options.precision, Kernels<T>::kSplitSection} {
  if (options.split && kernels_.split_pays(form_.precision, m, n, k)) {
    const Index longer = std::max(m, n);  // L and U^H are left factors, U and L^H right ones
    split_.emplace(Workspace{split_matrix<T>(device, form_, Side::left, k, longer),
                             split_matrix<T>(device, form_, Side::right, k, longer),
                             DeviceMatrix<Real<T>>(device, k, 1)});
  }
}

template <class T>
void Subtraction<T>::operator()(Queue& queue, DeviceView<const T> l, DeviceView<const T> u,
                                DeviceView<T> c) const {
  if (splits(c, l.cols)) {
    subtract_split(queue, l, Side::left, u, c);
  } else {
    kernels_.gemm(queue, Op::none, Op::none, T(-1), l, u, T(1), c);
  }
}

template <class T>
void Subtraction<T>::by_rows(Queue& queue, DeviceView<const T> l, DeviceView<const T> l_adjoint,
                             DeviceView<const T> u, DeviceView<T> c) const {
  if (splits(c, l.cols)) {
    subtract_split(queue, l, Side::right, u, c);
  } else {
    kernels_.gemm(queue, Op::none, Op::none, T(-1), u, l_adjoint, T(1), c);
  }
}

template <class T>
bool Subtraction<T>::splits(DeviceView<T> c, Index k) const {
  return split_ && kernels_.split_pays(form_.precision, c.rows, c.cols, k);
}

/// Of the product's factors one is L or, on the right, L^H; the other one is given as it is.
template <class T>
void Subtraction<T>::subtract_split(Queue& queue, DeviceView<const T> l, Side side_of_l,
                                    DeviceView<const T> other, DeviceView<T> c) const {
  const bool is_left = side_of_l == Side::left;
  const Index k = l.cols;
  const auto left = split_block<T>(split_->left, form_, Side::left, {0, k}, {0, c.rows});
  const auto right = split_block<T>(split_->right, form_, Side::right, {0, k}, {0, c.cols});
  DeviceView<Real<T>> sizes;
  if (form_.precision == Precision::fp32) {
    sizes = split_->sizes.view().block(0, 0, k, 1);
    kernels_.column_norms(queue, l, sizes);
  }
  kernels_.split(queue, form_, side_of_l, is_left ? Op::none : Op::conj_trans, l,
                 is_left ? left : right, sizes, Weigh::divide);
  kernels_.split(queue, form_, is_left ? Side::right : Side::left, Op::none, other,
                 is_left ? right : left, sizes, Weigh::multiply);
  kernels_.split_gemm(queue, form_, k, -1, left, right, 1, c);
}

template <class T>
Updates<T>::Updates(Device& device, const Options& options, const Triangle<T>& triangle,
                    DeviceView<const T> factor, Index rows)
    : triangle_(triangle),
      wide_(triangle.lower() ? Side::left : Side::right),
      narrow_(triangle.lower() ? Side::right : Side::left),
      form_{options.precision, std::min(options.nb, Kernels<T>::kSplitSection)},
      factor_(factor) {
  const Index n = triangle.lower() ? factor.cols : factor.rows, nb = std::min(options.nb, n);
  const bool whole = options.nb % form_.section == 0;  // blocks are whole sections
  if (options.split && whole && n > 2 * nb &&
      triangle_.kernels.split_pays(form_.precision, n, nb, n)) {
    split_.emplace(split_matrix<T>(device, form_, wide_, n, rows));
  }
}

template <class T>
typename Updates<T>::Workspace Updates<T>::workspace(Device& device, Index k, Index columns) const {
  Workspace workspace;
  if (!split_) return workspace;
  workspace.narrow_.emplace(split_matrix<T>(device, form_, narrow_, k, columns));
  return workspace;
}

template <class T>
void Updates<T>::append(Queue& queue, Range rows, Range block) {
  if (!split_ || rows.empty()) return;
  triangle_.kernels.split(queue, form_, wide_, Op::none, triangle_.block(factor_, rows, block),
                          split_block<T>(*split_, form_, wide_, block, rows));
}

template <class T>
void Updates<T>::subtract(Queue& queue, const Workspace& workspace, Range rows, Range columns,
                          Range k, DeviceView<T> c) const {
  if (!split_ ||
      !triangle_.kernels.split_pays(form_.precision, rows.size(), columns.size(), k.size())) {
    triangle_.subtract(queue, triangle_.block(factor_, rows, k),
                       triangle_.block(factor_, columns, k), T(1), c);
    return;
  }
  const DeviceView<Real<T>> wide = split_block<T>(*split_, form_, wide_, k, rows);
  const DeviceView<Real<T>> narrow =
      split_block<T>(*workspace.narrow_, form_, narrow_, {0, k.size()}, {0, columns.size()});
  triangle_.kernels.split(queue, form_, narrow_, Op::conj_trans,
                          triangle_.block(factor_, columns, k), narrow);
  triangle_.kernels.split_gemm(queue, form_, k.size(), -1, triangle_.lower() ? wide : narrow,
                               triangle_.lower() ? narrow : wide, 1, c);
}

#define OVERLAPACK_INSTANTIATE(T) \
  template class Subtraction<T>;  \
  template class Updates<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
