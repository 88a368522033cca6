// potrf and posv.
#include "algorithms/cholesky/cholesky.hpp"

#include "dispatch/route.hpp"

namespace overlapack::dispatch {
namespace {

using cpu::Family;
using cpu::Lapack;

/// potrf and, if B has columns, posv.
template <class T, class OnCpu>
Index cholesky(Call call, const Lapack<T>& cpu, Uplo uplo, HostView<T> a, HostView<T> b,
               OnCpu on_cpu) {
  call.uplo = static_cast<char>(uplo);
  return route(
      call, on_cpu,
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        return algorithms::posv(device, cpu, options, uplo, a, b, committed);
      },
      [&](const algorithms::Options& options, Index committed) {
        if (committed == 0) return on_cpu();  // which takes no memory of ours
        return algorithms::resume_posv(cpu, options, uplo, a, b, committed);
      });
}

}  // namespace

template <class T>
Index potrf(Family family, Uplo uplo, HostView<T> a) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  return cholesky<T>(make_call<T>(Routine::potrf, a), cpu, uplo, a, {},
                     [&] { return cpu.potrf(uplo, a); });
}

template <class T>
Index posv(Family family, Uplo uplo, HostView<T> a, HostView<T> b) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  return cholesky<T>(make_call<T>(Routine::posv, a, b), cpu, uplo, a, b,
                     [&] { return cpu.posv(uplo, a, b); });
}

#define OVERLAPACK_INSTANTIATE(T)                     \
  template Index potrf<T>(Family, Uplo, HostView<T>); \
  template Index posv<T>(Family, Uplo, HostView<T>, HostView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::dispatch
