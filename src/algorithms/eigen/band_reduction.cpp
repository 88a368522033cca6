#include "algorithms/eigen/band_reduction.hpp"

#include <algorithm>

#include "device/timeline.hpp"

namespace overlapack::algorithms {

/// A number of panels.
template <class T>
Index BandReduction<T>::accumulated_columns(const Device& device, Index bandwidth) {
  return std::max<Index>(device.tuning().eigen.update_columns / bandwidth, 1) * bandwidth;
}

template <class T>
Index BandReduction<T>::work_rows(Index accumulated, Index bandwidth) {
  return std::max(accumulated, 2 * bandwidth);
}

template <class T>
BandReduction<T>::BandReduction(Device& device, Index n, Index bandwidth)
    : device_(device),
      n_(n),
      bandwidth_(bandwidth),
      accumulated_(accumulated_columns(device, bandwidth)),
      matrix_(device, n + bandwidth, n),
      v_(device, n, accumulated_),
      w_(device, n, accumulated_),
      y_(device, n, bandwidth),
      t_(device, bandwidth, bandwidth),
      work_(device, work_rows(accumulated_, bandwidth), bandwidth),
      reflection_(device, bandwidth, bandwidth),
      staged_tau_(device, Space::host, columns().size()) {}

template <class T>
std::size_t BandReduction<T>::bytes(const Device& device, Index n, Index bandwidth) {
  const Index accumulated = accumulated_columns(device, bandwidth);
  return DeviceMatrix<T>::bytes(n + bandwidth, n) + 2 * DeviceMatrix<T>::bytes(n, accumulated) +
         DeviceMatrix<T>::bytes(n, bandwidth) + DeviceMatrix<T>::bytes(bandwidth, bandwidth) +
         DeviceMatrix<T>::bytes(work_rows(accumulated, bandwidth), bandwidth) +
         Reflection<T>::bytes(bandwidth, bandwidth);
}

template <class T>
void BandReduction<T>::reduce(Queue& queue) const {
  const DeviceView<T> a = matrix();
  set_zero(queue, t_.view());
  for (const Range& group : partition(columns(), accumulated_)) {
    const Range from = {group.first, n_}, rest = behind(group);
    queue.enqueue(Mirror<T>{Uplo::lower, a.block(from, from)});
    for (const Range& j : partition(group, bandwidth_)) {
      bring_up_to_date(queue, j);
      factor(queue, j);
      find_y(queue, j);
      find_w(queue, j);
    }
    const Span span(queue, "update", group.first / bandwidth_);
    queue.enqueue(Her2k<T>{Uplo::lower, T(-1), part(v_, rest, group), part(w_, rest, group),
                           Real<T>(1), a.block(rest, rest)});
  }
}

/// A := A - V' W'^H - W' V'^H in the columns of the panel.
template <class T>
void BandReduction<T>::bring_up_to_date(Queue& queue, Range j) const {
  const Range rows = {j.first, n_}, old = before(j);
  if (old.empty()) return;
  const DeviceView<T> a = matrix().block(rows, j);
  const auto subtract = [&](const DeviceMatrix<T>& x, const DeviceMatrix<T>& y) {
    queue.enqueue(
        Gemm<T>{Op::none, Op::conj_trans, T(-1), part(x, rows, old), part(y, j, old), T(1), a});
  };
  subtract(v_, w_);
  subtract(w_, v_);
}

/// QR of what is below the band, by panels as wide as the device has them. Each gets the reflectors
/// of the one before it by the operation that factors it.
template <class T>
void BandReduction<T>::factor(Queue& queue, Range j) const {
  const Span span(queue, "panel", j.first / bandwidth_);
  const DeviceView<T> a = matrix().block(below(j), j), v = part(v_, below(j), j), t = this->t(j),
                      tau(staged_tau_.data() + j.first, j.size());
  // V begins with zeros: in what is right of the panel, and above its diagonal.
  set_zero(queue, part(v_, {j.last, below(j).first + j.size()}, j));
  Range earlier, i;
  for (; i.last < a.cols; earlier = i) {
    const Index width = device_.kernels<T>().geqrf_panel_width(a.rows - i.last);
    i = {i.last, std::min(i.last + width, a.cols)};
    const Range down = {i.first, a.rows}, from = {earlier.first, a.rows};
    const DeviceView<T> own_v = v.block(down, i), own_t = t.block(i, i),
                        own_tau = tau.block(i, {0, 1});
    if (earlier.empty()) {
      queue.enqueue(GeqrfPanel<T>{a.block(down, i), own_v, own_t, own_tau});
      continue;
    }
    const BlockReflector<T> q = {v.block(from, earlier), t.block(earlier, earlier)};
    queue.enqueue(ReflectAndFactor<T>{q.v, q.t, a.block(from, i), own_v, own_t, own_tau,
                                      work_.view().block(0, 0, 2 * earlier.size(), i.size())});
    reflection_(queue, Op::conj_trans, q, a.block(from, {i.last, a.cols}));
    const Range all = {0, i.first};
    reflection_.join(queue, {v.block({0, a.rows}, all), t.block(all, all)}, {own_v, own_t}, i.first,
                     t.block(all, i));
  }
}

/// Y := (A - V' W'^H - W' V'^H) V.
template <class T>
void BandReduction<T>::find_y(Queue& queue, Range j) const {
  const Range rows = behind(j), old = before(j);
  const Span span(queue, "product", j.first / bandwidth_);
  const DeviceView<T> v = part(v_, rows, j), y = this->y(j);
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(1), matrix().block(rows, rows), v, T(0), y});
  if (old.empty()) return;
  const DeviceView<T> product = work_.view().block(0, 0, old.size(), j.size());
  const auto subtract = [&](const DeviceView<T>& x, const DeviceView<T>& z) {
    queue.enqueue(Gemm<T>{Op::conj_trans, Op::none, T(1), z, v, T(0), product});
    queue.enqueue(Gemm<T>{Op::none, Op::none, T(-1), x, product, T(1), y});
  };
  subtract(part(v_, rows, old), part(w_, rows, old));
  subtract(part(w_, rows, old), part(v_, rows, old));
}

/// W := Y T - 1/2 V T^H (V^H Y T).
template <class T>
void BandReduction<T>::find_w(Queue& queue, Range j) const {
  const DeviceView<T> v = part(v_, behind(j), j), w = part(w_, behind(j), j), t = this->t(j);
  const DeviceView<T> product = work_.view().block(0, 0, j.size(), j.size());
  const DeviceView<T> square = work_.view().block(j.size(), 0, j.size(), j.size());
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(1), y(j), t, T(0), w});
  queue.enqueue(Gemm<T>{Op::conj_trans, Op::none, T(1), v, w, T(0), product});
  queue.enqueue(Gemm<T>{Op::conj_trans, Op::none, T(1), t, product, T(0), square});
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(-0.5), v, square, T(1), w});
}

/// A column of the band matrix is a part of one of A, from the diagonal down: below are vectors.
template <class T>
void BandReduction<T>::copy_band(Queue& queue, DeviceView<T> b) const {
  const DeviceView<T> a = matrix_.view();
  clear_imaginary_diagonal(queue, matrix());
  set_zero(queue, a.block({n_, a.rows}, {columns().last, n_}));
  queue.copy<T>(b.block(0, 0, bandwidth_ + 1, n_),
                DeviceView<const T>(a.data, bandwidth_ + 1, n_, a.ld + 1));
}

#define OVERLAPACK_INSTANTIATE(T) template class BandReduction<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
