// Inverses on the device, in place: of a triangle, and from the factors of an earlier call.
#pragma once

#include <vector>

#include "algorithms/shared/blocks.hpp"

namespace overlapack::algorithms {

// A may lie in the host's memory or the device's. Those that return something return 0, or k if
// A(k, k), counted from 1, is the first exact zero on the diagonal; A is unchanged then. All may
// throw DeviceError. What A holds then, `committed` says: see below.

/// The inverse of the `uplo` triangle A: LAPACK's ?trtri.
template <class T>
Index trtri(Device& device, const Options& options, Uplo uplo, Diag diag, HostView<T> a,
            Index& committed);
/// L^H L from a lower triangle L, or U U^H from an upper one: LAPACK's ?lauum.
template <class T>
void lauum(Device& device, const Options& options, Uplo uplo, HostView<T> a, Index& committed);
/// The `uplo` triangle of A^-1 from A's Cholesky factor: LAPACK's ?potri.
template <class T>
Index potri(Device& device, const Options& options, Uplo uplo, HostView<T> a, Index& committed);

/// How many columns of a lower triangle, or rows of an upper one, are final after a fault, from the
/// first one on. What is left is the same problem for the triangle behind them, which is unchanged.
Index final_lines(const Options& options, Uplo uplo, Index n, Index committed);

/// A^-1 from getrf's factors and pivots (1-based, from j + 1 to n for column j): LAPACK's ?getri.
/// After a fault, the last `committed` columns of A are those of the inverse before the columns'
/// interchanges, and all others are unchanged.
template <class T>
Index getri(Device& device, const Options& options, HostView<T> a, const std::vector<Index>& pivots,
            Index& committed);
/// X := A^-1, in the host's memory, from getrf's factors on the device, with all interchanges in L
/// and no zero on U's diagonal. A X - I is as small as by ?getrs. After a fault nothing is known of
/// X. Takes the device memory of trtri().
template <class T>
void solve_unit(Device& device, const Options& options, DeviceView<const T> factors,
                const std::vector<Index>& pivots, HostView<T> x);

/// Bytes of device memory that these take.
template <class T>
std::size_t triangle_in_place_bytes(const Options& options, Index n);
template <class T>
std::size_t getri_bytes(const Options& options, Index n);

}  // namespace overlapack::algorithms
