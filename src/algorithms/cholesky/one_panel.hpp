// A Cholesky factorization that is one kernel.
#pragma once

#include "algorithms/shared/triangle.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::algorithms {

/// ?potrf of a matrix of the host's that is one panel: one kernel, which reads staging memory and
/// writes it by itself. Copies and the waits between them would take longer than all of it.
template <class T>
Index potrf_one_panel(Device& device, const cpu::Lapack<T>& cpu, const Triangle<T>& triangle,
                      HostView<T> a);

}  // namespace overlapack::algorithms
