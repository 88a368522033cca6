#include "algorithms/solve/solve.hpp"

#include "algorithms/shared/substitution.hpp"
#include "algorithms/shared/triangle.hpp"
#include "algorithms/solve/out_of_core.hpp"
#include "algorithms/solve/solve_with.hpp"

namespace overlapack::algorithms {

template <class T>
void potrs(Device& device, const Options& options, Uplo uplo, HostView<const T> a, HostView<T> b,
           Index& committed) {
  if (options.out_of_core) {
    return potrs_out_of_core(device, options, uplo, a, b, committed);
  }
  const Triangle<T> triangle{{uplo}, device.kernels<T>()};
  solve_with<T>(device, options, {a, part_of(uplo)}, b, committed,
                [&](Queue& queue, DeviceView<const T> A, DeviceView<T> B) {
                  for (const Op op : {triangle.direct(), triangle.adjoint()}) {  // L, then L^H
                    queue.enqueue(Trsm<T>{Side::left, uplo, op, Diag::non_unit, T(1), A, B});
                  }
                });
}

template <class T>
void getrs(Device& device, const Options& options, Op op, HostView<const T> a,
           const std::vector<Index>& pivots, HostView<T> b, Index& committed) {
  if (options.out_of_core) {
    return getrs_out_of_core(device, options, op, a, pivots, b, committed);
  }
  const Index n = a.rows;
  const Buffer<Index> interchanges(device, Space::device, n), staged(device, Space::host, n);
  std::copy(pivots.begin(), pivots.end(), staged.data());
  const DeviceView<Index> p(interchanges.data(), n);
  Substitution<T> solve_with_l(device, Uplo::lower, Diag::unit),
      solve_with_u(device, Uplo::upper, Diag::non_unit);
  const auto solve = [&](Queue& queue, DeviceView<const T> A, DeviceView<T> B) {
    queue.copy<Index>(p, HostView<const Index>(staged.data(), n));
    if (op == Op::none) {  // A = P^T L U
      queue.enqueue(SwapRows<T>{B, p, 0});
      solve_with_l(queue, A, B);
      solve_with_u(queue, A, B);
    } else {
      queue.enqueue(Trsm<T>{Side::left, Uplo::upper, op, Diag::non_unit, T(1), A, B});
      queue.enqueue(Trsm<T>{Side::left, Uplo::lower, op, Diag::unit, T(1), A, B});
      queue.enqueue(SwapRows<T>{B, p, 0, false});
    }
  };
  solve_with<T>(device, options, {a}, b, committed, solve);
}

template <class T>
std::size_t potrs_bytes(Index n, Index nrhs) {
  return solve_with_bytes<T>(n, nrhs);
}

/// The triangles of L and U take what few right-hand sides need for each.
template <class T>
std::size_t getrs_bytes(Device& device, Index n, Index nrhs) {
  return solve_with_bytes<T>(n, nrhs) + Buffer<Index>::bytes(n) +
         2 * Substitution<T>::bytes(device, n, nrhs);
}

#define OVERLAPACK_INSTANTIATE(T)                                                                \
  template std::size_t potrs_bytes<T>(Index, Index);                                             \
  template std::size_t getrs_bytes<T>(Device&, Index, Index);                                    \
  template void potrs<T>(Device&, const Options&, Uplo, HostView<const T>, HostView<T>, Index&); \
  template void getrs<T>(Device&, const Options&, Op, HostView<const T>,                         \
                         const std::vector<Index>&, HostView<T>, Index&);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
