// Mixed precision: ?sgesv (?cgesv) and ?sposv (?cposv).
#include "algorithms/refine/refine.hpp"

#include <algorithm>

#include "algorithms/cholesky/cholesky.hpp"
#include "algorithms/lu/lu.hpp"
#include "algorithms/shared/finite.hpp"
#include "cpu/reference.hpp"
#include "dispatch/calls/interchanges.hpp"
#include "dispatch/route.hpp"

namespace overlapack::dispatch {
namespace {

using cpu::Family;
using cpu::Lapack;
using cpu::Pivots;

/// A mixed-precision solve by the CPU LAPACK, refine(), and solve() in double precision with X in
/// the place of B. LAPACK's stopping test lets a NaN or infinity pass that the factors in single
/// precision have brought about, and OpenBLAS's Cholesky a NaN in A (of which a triangle is given).
template <class T, class Refine, class Solve>
Index refine_on_cpu(Part part, HostView<const T> a, HostView<const T> b, HostView<T> x, Index& iter,
                    Refine refine, Solve solve) {
  const auto finite = [](Part of, HostView<const T> m) {
    if (of == Part::all) return algorithms::all_finite(of, m, 1);
    // Of the diagonal only the real parts count.
    const Index below = std::max<Index>(m.rows - 1, 0), lower = of == Part::lower ? 1 : 0;
    if (!algorithms::all_finite(of, m.block(lower, 1 - lower, below, below), 1)) return false;
    for (Index j = 0; j < m.rows; ++j) {
      if (!algorithms::finite(real(m(j, j)))) return false;
    }
    return true;
  };
  const Index info = refine();
  if (info != 0 || iter < 0) return info;
  if (b.cols > 0 ? finite(Part::all, x) : finite(part, a)) return info;
  if (!finite(Part::all, b) || (part == Part::all && !finite(part, a))) return info;
  reference::lacpy(b, x);
  const Index in_double = solve();
  iter = in_double == 0 ? algorithms::kNoConvergence : algorithms::kNotFactored;
  return in_double;
}

/// A mixed-precision solve. solve(device, options, refined) is one of algorithms/refine/refine.hpp;
/// resume(options, committed) finishes its factorization in double precision on the CPU. As long as
/// nothing of that is committed A is as it was, and the CPU does the whole call.
template <class OnCpu, class Solve, class Resume>
Index refine(Call call, Index& iter, OnCpu on_cpu, Solve solve, Resume resume) {
  algorithms::Refinement refinement;
  call.iter = &iter;
  call.refinement = &refinement;
  return route(
      call, on_cpu,
      [&](Device& device, const algorithms::Options& options, Index& committed) {
        const Index info = solve(device, options, refinement, committed);
        iter = refinement.iter;
        return info;
      },
      [&](const algorithms::Options& options, Index committed) {
        if (!refinement.fell_back || committed == 0) {
          call.refinement = nullptr;
          return on_cpu();
        }
        iter = refinement.iter;
        return resume(options, committed);
      });
}

}  // namespace

template <class T>
Index mixed_gesv(Family family, HostView<T> a, Pivots ipiv, HostView<const T> b, HostView<T> x,
                 cpu::MixedWork<T> work, Index& iter) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  const Lapack<Single<T>>& single = cpu_lapack<Single<T>>(family);
  constexpr Routine routine = is_complex<T> ? Routine::cgesv : Routine::sgesv;
  algorithms::Interchanges interchanges;
  return refine(
      make_call<T>(routine, a, b, x), iter,
      [&] {
        return refine_on_cpu<T>(
            Part::all, a, b, x, iter, [&] { return cpu.mixed_gesv(a, ipiv, b, x, work, iter); },
            [&] { return cpu.gesv(a, ipiv, x); });
      },
      [&](Device& device, const algorithms::Options& options, algorithms::Refinement& refinement,
          Index& committed) {
        return store(algorithms::mixed_gesv<T>(device, {cpu, single}, options, {a, b, x},
                                               interchanges, refinement, committed),
                     interchanges.pivots, ipiv);
      },
      [&](const algorithms::Options&, Index committed) {
        return store(algorithms::resume_gesv(cpu, a, interchanges, x, committed),
                     interchanges.pivots, ipiv);
      });
}

template <class T>
Index mixed_posv(Family family, Uplo uplo, HostView<T> a, HostView<const T> b, HostView<T> x,
                 cpu::MixedWork<T> work, Index& iter) {
  const Lapack<T>& cpu = cpu_lapack<T>(family);
  const Lapack<Single<T>>& single = cpu_lapack<Single<T>>(family);
  Call call = make_call<T>(is_complex<T> ? Routine::cposv : Routine::sposv, a, b, x);
  call.uplo = static_cast<char>(uplo);
  return refine(
      call, iter,
      [&] {
        return refine_on_cpu<T>(
            part_of(uplo), a, b, x, iter, [&] { return cpu.mixed_posv(uplo, a, b, x, work, iter); },
            [&] { return cpu.posv(uplo, a, x); });
      },
      [&](Device& device, const algorithms::Options& options, algorithms::Refinement& refinement,
          Index& committed) {
        return algorithms::mixed_posv<T>(device, {cpu, single}, options, uplo, {a, b, x},
                                         refinement, committed);
      },
      [&](const algorithms::Options& options, Index committed) {
        return algorithms::resume_posv(cpu, options, uplo, a, x, committed);
      });
}

#define OVERLAPACK_INSTANTIATE(T)                                                           \
  template Index mixed_gesv<T>(Family, HostView<T>, Pivots, HostView<const T>, HostView<T>, \
                               cpu::MixedWork<T>, Index&);                                  \
  template Index mixed_posv<T>(Family, Uplo, HostView<T>, HostView<const T>, HostView<T>,   \
                               cpu::MixedWork<T>, Index&);
OVERLAPACK_INSTANTIATE(double)
OVERLAPACK_INSTANTIATE(std::complex<double>)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::dispatch
