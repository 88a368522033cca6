#include "algorithms/shared/split.hpp"

namespace overlapack::algorithms {
namespace {

/// Uninitialised memory for the split form of a factor with n rows (left) or columns (right).
template <class T>
DeviceMatrix<Real<T>> split_matrix(Device& device, SplitForm form, Side side, Index k, Index n) {
  return {device, split_rows<T>(form, k), split_cols<T>(side, n)};
}

template <class T>
std::size_t bytes_of_split(SplitForm form, Side side, Index k, Index n) {
  return DeviceMatrix<Real<T>>::bytes(split_rows<T>(form, k), split_cols<T>(side, n));
}

/// The part of a split form that holds the summands k of its rows (left) or columns (right) n. It
/// begins and ends with sections.
template <class T>
DeviceView<Real<T>> split_block(const DeviceMatrix<Real<T>>& matrix, SplitForm form, Side side,
                                Range k, Range n) {
  return matrix.view().block(split_rows<T>(form, k.first), split_cols<T>(side, n.first),
                             split_rows<T>(form, k.size()), split_cols<T>(side, n.size()));
}

/// Splits L, a left factor, or its adjoint, a right one. The columns of L are made equal in size
/// where that matters; their sizes are in `sizes` then, which is empty elsewhere.
template <class T>
void split_l(Queue& queue, SplitForm form, Side side, DeviceView<const T> l, DeviceView<Real<T>> to,
             DeviceView<Real<T>> sizes) {
  if (!sizes.empty()) queue.enqueue(ColumnNorms<T>{l, sizes});
  queue.enqueue(Split<T>{form, side, side == Side::left ? Op::none : Op::conj_trans, l, to, sizes,
                         Weigh::divide});
}

/// The sizes of k columns, in `memory`.
template <class T>
DeviceView<Real<T>> sizes_in(const DeviceMatrix<Real<T>>& memory, SplitForm form, Index k) {
  if (form.precision != Precision::fp32) return {};
  return memory.view().block(0, 0, k, 1);
}

template <class T>
SplitForm form_of(const Options& options) {
  return {options.precision, kSplitSection<T>};
}

}  // namespace

template <class T>
SplitAdjoint<T>::SplitAdjoint(Device& device, const Options& options, Index m, Index k)
    : form_(form_of<T>(options)),
      memory_(split_matrix<T>(device, form_, Side::right, k, m)),
      memory_for_sizes_(device, k, 1),
      done_(device) {}

template <class T>
std::size_t SplitAdjoint<T>::bytes(const Options& options, Index m, Index k) {
  return bytes_of_split<T>(form_of<T>(options), Side::right, k, m) +
         DeviceMatrix<Real<T>>::bytes(k, 1);
}

template <class T>
void SplitAdjoint<T>::split(Queue& queue, DeviceView<const T> l) {
  numbers_ = split_block<T>(memory_, form_, Side::right, {0, l.cols}, {0, l.rows});
  sizes_ = sizes_in<T>(memory_for_sizes_, form_, l.cols);
  split_l<T>(queue, form_, Side::right, l, numbers_, sizes_);
  queue.record(*done_);
}

template <class T>
Subtraction<T>::Subtraction(Device& device, const Options& options, Index m, Index n, Index k)
    : kernels_(device.kernels<T>()), form_(form_of<T>(options)) {
  if (pays(device, options, m, n, k)) {
    const Index longer = std::max(m, n);  // L and U^H are left factors, U and L^H right ones
    try_to_allocate([&] {                 // or else products are of floats
      split_.emplace(Workspace{split_matrix<T>(device, form_, Side::left, k, longer),
                               split_matrix<T>(device, form_, Side::right, k, longer),
                               DeviceMatrix<Real<T>>(device, k, 1)});
    });
  }
}

template <class T>
std::size_t Subtraction<T>::bytes(Device& device, const Options& options, Index m, Index n,
                                  Index k) {
  if (!pays(device, options, m, n, k)) return 0;
  const SplitForm form = form_of<T>(options);
  const Index longer = std::max(m, n);
  return bytes_of_split<T>(form, Side::left, k, longer) +
         bytes_of_split<T>(form, Side::right, k, longer) + DeviceMatrix<Real<T>>::bytes(k, 1);
}

template <class T>
bool Subtraction<T>::pays(Device& device, const Options& options, Index m, Index n, Index k) {
  return options.split && device.kernels<T>().split_pays(options.precision, m, n, k);
}

template <class T>
void Subtraction<T>::operator()(Queue& queue, DeviceView<const T> l, DeviceView<const T> u,
                                DeviceView<T> c) const {
  const Index k = l.cols;
  if (!splits(c, k)) {
    queue.enqueue(Gemm<T>{Op::none, Op::none, T(-1), l, u, T(1), c});
    return;
  }
  const DeviceView<Real<T>> left = place(Side::left, k, c), right = place(Side::right, k, c);
  const DeviceView<Real<T>> sizes = sizes_in<T>(split_->sizes, form_, k);
  split_l<T>(queue, form_, Side::left, l, left, sizes);
  queue.enqueue(Split<T>{form_, Side::right, Op::none, u, right, sizes, Weigh::multiply});
  queue.enqueue(SplitGemm<T>{form_, k, -1, left, right, 1, c});
}

template <class T>
void Subtraction<T>::by_rows(Queue& queue, DeviceView<const T> l, DeviceView<const T> u,
                             DeviceView<T> c, const SplitAdjoint<T>* split) const {
  const Index k = l.cols;
  if (!splits(c, k)) {
    queue.enqueue(Gemm<T>{Op::none, Op::conj_trans, T(-1), u, l, T(1), c});
    return;
  }
  const DeviceView<Real<T>> left = place(Side::left, k, c);
  DeviceView<const Real<T>> right, sizes;
  if (split != nullptr) {
    split->wait(queue);
    right = split->numbers();
    sizes = split->sizes();
  } else {
    const DeviceView<Real<T>> to = place(Side::right, k, c),
                              to_sizes = sizes_in<T>(split_->sizes, form_, k);
    split_l<T>(queue, form_, Side::right, l, to, to_sizes);
    right = to;
    sizes = to_sizes;
  }
  queue.enqueue(Split<T>{form_, Side::left, Op::none, u, left, sizes, Weigh::multiply});
  queue.enqueue(SplitGemm<T>{form_, k, -1, left, right, 1, c});
}

template <class T>
bool Subtraction<T>::splits(DeviceView<T> c, Index k) const {
  return split_ && kernels_.split_pays(form_.precision, c.rows, c.cols, k);
}

template <class T>
DeviceView<Real<T>> Subtraction<T>::place(Side side, Index k, DeviceView<T> c) const {
  const bool left = side == Side::left;
  return split_block<T>(left ? split_->left : split_->right, form_, side, {0, k},
                        {0, left ? c.rows : c.cols});
}

template <class T>
Updates<T>::Updates(Device& device, const Options& options, const Triangle<T>& triangle,
                    DeviceView<const T> factor, Index rows)
    : triangle_(triangle),
      wide_(wide(triangle.uplo)),
      narrow_(narrow(triangle.uplo)),
      form_(form(options)),
      factor_(factor) {
  const Index n = triangle.lower() ? factor.cols : factor.rows;
  if (pays(device, options, n)) {
    try_to_allocate([&] { split_.emplace(split_matrix<T>(device, form_, wide_, n, rows)); });
  }
}

template <class T>
bool Updates<T>::pays(Device& device, const Options& options, Index n) {
  const Index nb = std::min(options.nb, n);
  const bool whole = options.nb % form(options).section == 0;  // blocks are whole sections
  return options.split && whole && n > 2 * nb &&
         device.kernels<T>().split_pays(options.precision, n, nb, n);
}

template <class T>
std::size_t Updates<T>::bytes(Device& device, const Options& options, Uplo uplo, Index n,
                              Index rows, Index workspaces, Index columns) {
  if (!pays(device, options, n)) return 0;
  return bytes_of_split<T>(form(options), wide(uplo), n, rows) +
         at(workspaces) * bytes_of_split<T>(form(options), narrow(uplo), n, columns);
}

template <class T>
typename Updates<T>::Workspace Updates<T>::workspace(Device& device, Index k, Index columns) const {
  Workspace workspace;
  if (!split_) return workspace;
  try_to_allocate(
      [&] { workspace.narrow_.emplace(split_matrix<T>(device, form_, narrow_, k, columns)); });
  return workspace;
}

template <class T>
void Updates<T>::append(Queue& queue, Range rows, Range block) {
  if (!split_ || rows.empty()) return;
  queue.enqueue(Split<T>{form_, wide_, Op::none, triangle_.block(factor_, rows, block),
                         split_block<T>(*split_, form_, wide_, block, rows)});
}

template <class T>
void Updates<T>::subtract(Queue& queue, const Workspace& workspace, Range rows, Range columns,
                          Range k, DeviceView<T> c) const {
  if (!workspace.narrow_ ||
      !triangle_.kernels.split_pays(form_.precision, rows.size(), columns.size(), k.size())) {
    triangle_.subtract(queue, triangle_.block(factor_, rows, k),
                       triangle_.block(factor_, columns, k), c);
    return;
  }
  const DeviceView<Real<T>> wide = split_block<T>(*split_, form_, wide_, k, rows);
  const DeviceView<Real<T>> narrow =
      split_block<T>(*workspace.narrow_, form_, narrow_, {0, k.size()}, {0, columns.size()});
  queue.enqueue(
      Split<T>{form_, narrow_, Op::conj_trans, triangle_.block(factor_, columns, k), narrow});
  queue.enqueue(SplitGemm<T>{form_, k.size(), -1, triangle_.lower() ? wide : narrow,
                             triangle_.lower() ? narrow : wide, 1, c});
}

#define OVERLAPACK_INSTANTIATE(T) \
  template class SplitAdjoint<T>; \
  template class Subtraction<T>;  \
  template class Updates<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
