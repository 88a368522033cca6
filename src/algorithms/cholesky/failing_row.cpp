#include "algorithms/cholesky/failing_row.hpp"

#include <new>

#include "algorithms/cholesky/on_cpu.hpp"
#include "cpu/reference.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

template <class T>
void bring_triangle_home(Device& device, Queue& queue, const Triangle<T>& triangle,
                         DeviceView<const T> factor, HostView<T> a) {
  if (a.empty()) return;
  const Index n = factor.rows;
  if (device.kind_of(a.data) == MemoryKind::device) {
    queue.copy<T>(on_device(a), factor, part_of(triangle.uplo));
    queue.synchronize();
    return;
  }
  const Buffer<T> staging(device, Space::host, n * n);
  const HostView<T> here(staging.data(), n, n, n);
  queue.copy(here, factor);
  queue.synchronize();
  reference::lacpy<T>(here, a, part_of(triangle.uplo));
}

template <class T>
void complete_failing_row(Device& device, const cpu::Lapack<T>& cpu, Queue& queue,
                          const Triangle<T>& triangle, HostView<T> a, Index from, Index k) {
  const Range row{k, k + 1}, before{0, from}, good{from, k}, all{0, k};
  // L(k, good) := (A(k, good) - L(k, before) L(good, before)^H) L(good, good)^-H, and the pivot.
  if (device.kind_of(a.data) == MemoryKind::device) {
    const auto l = [&](Range i, Range j) { return triangle.block(on_device(a), i, j); };
    triangle.subtract(queue, l(row, before), l(good, before), l(row, good));
    queue.enqueue(Trsm<T>{triangle.lower() ? Side::right : Side::left, triangle.uplo,
                          Op::conj_trans, Diag::non_unit, T(1), l(good, good), l(row, good)});
    queue.enqueue(Herk<T>{triangle.uplo, triangle.direct(), Real<T>(-1), l(row, all), Real<T>(1),
                          l(row, row)});
    queue.synchronize();
    return;
  }
  try {
    finish_below(cpu, triangle, a, {row, good});
    cpu.herk(triangle.uplo, triangle.direct(), Real<T>(-1), triangle.block(a, row, all), Real<T>(1),
             triangle.block(a, row, row));
  } catch (const std::bad_alloc&) {  // of a CPU LAPACK; nobody may go on from what A is now
  }
}

#define OVERLAPACK_INSTANTIATE(T)                                                                \
  template void bring_triangle_home<T>(Device&, Queue&, const Triangle<T>&, DeviceView<const T>, \
                                       HostView<T>);                                             \
  template void complete_failing_row<T>(Device&, const cpu::Lapack<T>&, Queue&,                  \
                                        const Triangle<T>&, HostView<T>, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
