// Solves with a given factor, potrs and getrs, or triangle, trtrs.
#include "algorithms/solve/solve.hpp"

#include <vector>

#include "algorithms/solve/trtrs.hpp"
#include "cpu/trtrs.hpp"
#include "dispatch/calls/interchanges.hpp"
#include "dispatch/route.hpp"

namespace overlapack::dispatch {
namespace {

using cpu::Family;
using cpu::Lapack;
using cpu::Pivots;

}  // namespace

template <class T>
Index potrs(Family family, Uplo uplo, HostView<const T> a, HostView<T> b) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  Call call = make_call<T>(Routine::potrs, a, b);
  call.uplo = static_cast<char>(uplo);
  return route(
      call, [&] { return cpu.potrs(uplo, a, b); },
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        algorithms::potrs(device, options, uplo, a, b, committed);
        return Index{0};
      },
      [&](const algorithms::Options&, Index committed) {
        return cpu.potrs(uplo, a, b.block(0, committed, b.rows, b.cols - committed));
      });
}

template <class T>
Index getrs(Family family, Op op, HostView<const T> a, Pivots ipiv, HostView<T> b) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  Call call = make_call<T>(Routine::getrs, a, b);
  call.trans = static_cast<char>(op);
  return route(
      call, [&] { return cpu.getrs(op, a, ipiv, b); },
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        const std::vector<Index> pivots = valid_pivots(ipiv, a.rows);
        algorithms::getrs(device, options, op, a, pivots, b, committed);
        return Index{0};
      },
      [&](const algorithms::Options&, Index committed) {
        return cpu.getrs(op, a, ipiv, b.block(0, committed, b.rows, b.cols - committed));
      });
}

template <class T>
Index trtrs(Family family, Uplo uplo, Op op, Diag diag, HostView<const T> a, HostView<T> b) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  Call call = make_call<T>(Routine::trtrs, a, b);
  call.uplo = static_cast<char>(uplo);
  call.trans = static_cast<char>(op);
  return route(
      call, [&] { return cpu::trtrs<T>(cpu, uplo, op, diag, a, b); },
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        return algorithms::trtrs(device, options, uplo, op, diag, a, b, committed);
      },
      [&](const algorithms::Options&, Index committed) {
        return cpu::trtrs<T>(cpu, uplo, op, diag, a,
                             b.block(0, committed, b.rows, b.cols - committed));
      });
}

#define OVERLAPACK_INSTANTIATE(T)                                                  \
  template Index trtrs<T>(Family, Uplo, Op, Diag, HostView<const T>, HostView<T>); \
  template Index potrs<T>(Family, Uplo, HostView<const T>, HostView<T>);           \
  template Index getrs<T>(Family, Op, HostView<const T>, Pivots, HostView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::dispatch
