// What LAPACK leaves of a matrix that is not positive definite.
#pragma once

#include "algorithms/shared/triangle.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::algorithms {

/// Copies the triangle of `factor` to the caller's `a`, which a fault on the way leaves as it was.
template <class T>
void bring_triangle_home(Device& device, Queue& queue, const Triangle<T>& triangle,
                         DeviceView<const T> factor, HostView<T> a);

/// Row k of L, in whose pivot the factorization has ended, from column `from` on, and what is left
/// of that pivot. `a` holds all of L before. LAPACK leaves both, and programs look at them: SciPy's
/// minimizer "trust-exact" finds a direction of negative curvature in them.
template <class T>
void complete_failing_row(Device& device, const cpu::Lapack<T>& cpu, Queue& queue,
                          const Triangle<T>& triangle, HostView<T> a, Index from, Index k);

}  // namespace overlapack::algorithms
