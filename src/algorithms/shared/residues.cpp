#include "algorithms/shared/residues.hpp"

#include <cmath>

#include "device/residues.hpp"

namespace overlapack::algorithms {
namespace {

/// The smallest power of two for a row of which the square of the norm is not above x.
template <class T>
Real<T> scale_of(T x) {
  int exponent;  // above x / kMaxSquares
  std::frexp(real(x) * residues::kRounding / residues::kMaxSquares, &exponent);
  return std::ldexp(Real<T>(1), exponent > 0 ? (exponent + 1) / 2 : exponent / 2);
}

}  // namespace

/// Neither planes nor rows are a power of two apart.
template <class T>
ResidueLayout<T>::ResidueLayout(const Kernels<T>& kernels, Index n, Index k) {
  const Index unit = kernels.residue_products()->residue_unit(), plane = round_up(k, unit) + unit;
  next_plane = is_complex<T> ? plane : 0;
  ld = ResidueForm<T>::kPlanes * plane;
  stride = ld * round_up(n, unit);
}

template <class T>
ResidueUpdates<T>::ResidueUpdates(Device& device, const Options& options,
                                  const Triangle<T>& triangle, DeviceView<T> factor, Index n)
    : triangle_(triangle), factor_(factor), n_(n), nb_(options.nb) {
  if (!pay(device, options, n)) return;
  layout_ = {triangle.kernels, n, n};
  try_to_allocate([&] {  // or else sums are plain ones
    form_.emplace(
        Form{Buffer<std::int8_t>(device, Space::device, layout_.bytes()),
             DeviceMatrix<Real<T>>(device, n, n / nb_), Buffer<Real<T>>(device, Space::device, n),
             Buffer<Real<T>>(device, Space::host, n), Buffer<Index>(device, Space::device, 1),
             Buffer<Index>(device, Space::host, 1),
             Buffer<std::int32_t>(device, Space::device, work(device, triangle.uplo, n, nb_))});
  });
}

template <class T>
bool ResidueUpdates<T>::pay(Device& device, const Options& options, Index n) {
  const Kernels<T>& kernels = device.kernels<T>();
  const Index nb = options.nb, middle = n / 2 / nb * nb;
  return options.residues && kernels.has_residues_for(nb) &&
         kernels.residues_pay(middle, nb, middle);
}

template <class T>
std::size_t ResidueUpdates<T>::bytes(Device& device, const Options& options, Uplo uplo, Index n) {
  if (!pay(device, options, n)) return 0;
  return Buffer<std::int8_t>::bytes(ResidueLayout<T>(device.kernels<T>(), n, n).bytes()) +
         DeviceMatrix<Real<T>>::bytes(n, n / options.nb) + Buffer<Real<T>>::bytes(n) +
         Buffer<Index>::bytes(1) + Buffer<std::int32_t>::bytes(work(device, uplo, n, options.nb));
}

template <class T>
void ResidueUpdates<T>::begin(Queue& queue, const std::vector<T>& diagonal) {
  constexpr double kSmallestDiagonal = 0x1p-900;  // the squares of what is much smaller underflow
  if (!std::all_of(diagonal.begin(), diagonal.end(),
                   [](T x) { return real(x) >= kSmallestDiagonal && std::isfinite(real(x)); })) {
    form_.reset();
    return;
  }
  std::transform(diagonal.begin(), diagonal.end(), form_->staged_scales.data(), scale_of<T>);
  queue.copy<Real<T>>(DeviceView<Real<T>>(form_->scales.data(), n_),
                      HostView<const Real<T>>(form_->staged_scales.data(), n_));
  *form_->staged_order.data() = n_;
  queue.copy<Index>(DeviceView<Index>(form_->first_long.data(), 1),
                    HostView<const Index>(form_->staged_order.data(), 1));
}

template <class T>
void ResidueUpdates<T>::append(Queue& queue, Range rows, Range block) {
  const Range below{std::max(rows.first, block.last), rows.last};
  if (below.empty()) return;
  const Index number = block.first / nb_;
  DeviceView<const Real<T>> before;
  if (number > 0) before = form_->squares.view().block(below.first, number - 1, below.size(), 1);
  queue.enqueue(FindResidues<T>{form(below, block), before});
}

template <class T>
bool ResidueUpdates<T>::pay(Range rows, Range columns, Range k) const {
  return used() && triangle_.kernels.residues_pay(rows.size(), columns.size(), k.size());
}

template <class T>
void ResidueUpdates<T>::subtract(Queue& queue, Range rows, Range columns, Range k,
                                 DeviceView<T> c) const {
  const ResidueForm<T> wide = form(rows, k), narrow = form(columns, k);
  const bool lower = triangle_.lower();
  queue.enqueue(ResidueGemm<T>{lower ? wide : narrow,
                               lower ? narrow : wide,
                               T(1),
                               c,
                               {form_->work.data(), form_->work.size()}});
}

/// Rows of L, and columns k of them.
template <class T>
ResidueForm<T> ResidueUpdates<T>::form(Range rows, Range k) const {
  const DeviceView<std::int8_t> numbers(form_->numbers.data() + k.first + rows.first * layout_.ld,
                                        k.size(), rows.size(), layout_.ld);
  const auto part = [&](const DeviceView<Real<T>>& of_rows) {
    return of_rows.block(rows.first, 0, rows.size(), 1);
  };
  const Index last = k.last / nb_ - 1;
  return {triangle_.lower() ? Op::none : Op::conj_trans,
          triangle_.block(factor_, rows, k),
          part({form_->scales.data(), n_}),
          numbers,
          layout_.stride,
          part(form_->squares.view().block(0, last, n_, 1)),
          rows.first,
          {form_->first_long.data(), 1},
          layout_.next_plane};
}

template <class T>
ResidueSubtraction<T>::Residues::Residues(Device& device, Index n, Index k)
    : layout_(device.kernels<T>(), n, k),
      numbers_(device, Space::device, layout_.bytes()),
      scales_(device, Space::device, n) {}

template <class T>
std::size_t ResidueSubtraction<T>::Residues::bytes(Device& device, Index n, Index k) {
  return Buffer<std::int8_t>::bytes(ResidueLayout<T>(device.kernels<T>(), n, k).bytes()) +
         Buffer<Real<T>>::bytes(n);
}

template <class T>
ResidueForm<T> ResidueSubtraction<T>::Residues::form(DeviceView<const T> matrix,
                                                     Index first) const {
  const Index n = matrix.rows, k = matrix.cols;
  return {Op::none,
          matrix,
          {scales_.data() + first, n},
          {numbers_.data() + first * layout_.ld, k, n, layout_.ld},
          layout_.stride,
          {},
          0,
          {},
          layout_.next_plane};
}

template <class T>
ResidueSubtraction<T>::Workspace::Workspace(Device& device, Index m, Index n, Index k)
    : columns(n),
      u(device, n, k),
      sums(device, Space::device,
           device.kernels<T>().residue_products()->residue_work(
               device.tuning().lu.residue_product_columns, m)) {}

template <class T>
std::size_t ResidueSubtraction<T>::Workspace::bytes(Device& device, Index m, Index n, Index k) {
  return Residues::bytes(device, n, k) +
         Buffer<std::int32_t>::bytes(device.kernels<T>().residue_products()->residue_work(
             device.tuning().lu.residue_product_columns, m));
}

template <class T>
ResidueSubtraction<T>::ResidueSubtraction(Device& device, Index m, Index k)
    : kernels_(device.kernels<T>()),
      columns_(device.tuning().lu.residue_product_columns),
      l_(device, m, k),
      sizes_(device, k, 1) {}

template <class T>
std::size_t ResidueSubtraction<T>::bytes(Device& device, Index m, Index k) {
  return Residues::bytes(device, m, k) + DeviceMatrix<Real<T>>::bytes(k, 1);
}

template <class T>
void ResidueSubtraction<T>::give(Queue& queue, DeviceView<const T> l) {
  matrix_ = l;
  queue.enqueue(ColumnNorms<T>{l, sizes_.view()});
  queue.enqueue(FindScaledResidues<T>{Weigh::divide, l_.form(l), sizes_.view()});
}

template <class T>
void ResidueSubtraction<T>::operator()(Queue& queue, const Workspace& workspace,
                                       DeviceView<const T> u, DeviceView<T> c) const {
  const auto rows = [](const auto& x, Range i) { return x.block(i.first, 0, i.size(), x.cols); };
  const ResidueForm<T> l = l_.form(matrix_);
  for (const Range row_range : partition(c.rows, workspace.columns)) {
    const DeviceView<const T> some = rows(u, row_range);
    queue.enqueue(FindScaledResidues<T>{Weigh::multiply, workspace.u.form(some), sizes_.view()});
    for (const Range part : partition(row_range.size(), columns_)) {
      queue.enqueue(ResidueGemm<T>{workspace.u.form(rows(some, part), part.first),
                                   l,
                                   T(1),
                                   rows(rows(c, row_range), part),
                                   {workspace.sums.data(), workspace.sums.size()}});
    }
  }
}

#define OVERLAPACK_INSTANTIATE(T)   \
  template struct ResidueLayout<T>; \
  template class ResidueUpdates<T>; \
  template class ResidueSubtraction<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
