// What the routines of the symmetric eigenproblem take of workspaces at least.
#pragma once

#include <algorithm>

#include "core/scalar.hpp"

namespace overlapack::cpu {

/// The drivers: ?syev (?heev), ?syevd, ?syevr, ?syevx. Generalized, there are ?sygv, ?sygvd and
/// ?sygvx.
enum class EigenDriver { ev, evd, evr, evx };

/// The least sizes of WORK, RWORK (of complex numbers) and IWORK, in elements. For larger orders
/// than any memory holds they are those of that order.
struct EigenSizes {
  Index work = 1;
  Index rwork = 1;
  Index iwork = 1;
};
inline constexpr Index kLargestOrder = Index{1} << 30;

/// Those of a driver. LAPACK's versions differ in what they ask for where n is 1; this is the least
/// of it, and each checks by itself.
inline EigenSizes least_sizes(EigenDriver driver, bool generalized, bool of_complex, bool vectors,
                              Index order) {
  const Index n = std::min(order, kLargestOrder);
  if (driver == EigenDriver::ev) {
    return {std::max<Index>(of_complex ? 2 * n - 1 : 3 * n - 1, 1)};
  }
  if (driver == EigenDriver::evx) {
    return {n > 1 || generalized ? std::max<Index>(of_complex ? 2 * n : 8 * n, 1) : 1};
  }
  if (n <= 1) return {};
  if (driver == EigenDriver::evr) return {of_complex ? 2 * n : 26 * n, 24 * n, 10 * n};
  if (!vectors) return {of_complex ? n + 1 : 2 * n + 1, n, 1};
  const Index iwork = 3 + 5 * n;
  return of_complex ? EigenSizes{2 * n + n * n, 1 + 5 * n + 2 * n * n, iwork}
                    : EigenSizes{1 + 6 * n + 2 * n * n, 1, iwork};
}

/// Those of ?stedc, whose COMPZ is N, V or I.
inline EigenSizes least_sizes_of_stedc(char compz, bool of_complex, Index order) {
  constexpr Index kSmall = 25;  // the order up to which it goes by QR iteration
  const Index n = std::min(order, kLargestOrder);
  if (n <= 1 || compz == 'N') return {};
  const auto of_reals = [&](Index work, Index rwork, Index complex_work, Index iwork) {
    return of_complex ? EigenSizes{complex_work, rwork, iwork} : EigenSizes{work, 1, iwork};
  };
  if (n <= kSmall) return of_reals(2 * (n - 1), 2 * (n - 1), 1, 1);
  if (compz == 'I') return of_reals(1 + 4 * n + n * n, 1 + 4 * n + 2 * n * n, 1, 3 + 5 * n);
  Index levels = 0;
  while ((Index{1} << levels) < n) ++levels;
  const Index of_merges = 1 + 3 * n + 2 * n * levels + 4 * n * n;
  return of_reals(of_merges, of_merges, n * n, 6 + 6 * n + 5 * n * levels);
}

}  // namespace overlapack::cpu
