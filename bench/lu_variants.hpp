// LU factorization with partial pivoting on data that lie on the device, P A = L U, in the forms
// that textbooks know. All of them do the same operations, in different orders: Golub and Van Loan,
// Matrix Computations, 4th ed., 3.2 and 3.4; LAPACK's SRC/VARIANTS/lu has them as LL and CR, and
// the right-looking one as dgetrf.
//
// The right-looking form is the library's own textbook page (src/algorithms/lu/textbook.hpp). What
// the library runs is that form with lookahead and with transfers in step with it
// (src/algorithms/lu/schedule.cpp). These variants show what that choice is worth, and they build
// on the same parts: panel kernel, panel on the CPU, interchanges, large products.
#pragma once

#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::bench {

enum class LuVariant { unblocked, left_looking, crout, right_looking };
inline constexpr const char* kLuVariantNames[] = {"unblocked", "left-looking", "crout",
                                                  "right-looking"};
inline const char* name_of(LuVariant variant) { return kLuVariantNames[static_cast<int>(variant)]; }

/// Factors `a`, m x n with m >= n, in place and returns when that is complete. `pivots` receives n
/// interchanges, 1-based as LAPACK's ipiv. Returns LAPACK's info: 0, or the first k with U(k, k)
/// exactly zero; the factorization is completed all the same.
///
/// options.nb is the width of a panel (1 for the unblocked form, whatever it says). With
/// options.hybrid each panel goes to the host, is factored by the CPU LAPACK and comes back.
template <class T>
Index factor_lu(LuVariant variant, Device& device, const cpu::Lapack<T>& cpu,
                algorithms::Options options, DeviceView<T> a, std::vector<Index>& pivots);

}  // namespace overlapack::bench
