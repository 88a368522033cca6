// Norms of matrices in the host's memory, by the CPU.
#pragma once

#include "core/scalar.hpp"
#include "core/view.hpp"

namespace overlapack::algorithms {

/// A matrix is shared out among threads by tiles of so many rows and columns. Results depend on
/// them, but not on the threads.
struct Tiles {
  Index rows, cols;
};
template <class T>
Tiles tiles_for(const NormOf& of, HostView<const T> a);

/// The norm of a matrix that is not empty, as accurate as LAPACK's, by up to `threads` threads. One
/// with a symmetry is square. Throws std::bad_alloc.
template <class T>
Real<T> norm_on_cpu(const NormOf& of, HostView<const T> a, Index threads, Tiles tiles);
/// By as many of these threads as there is enough to do for.
template <class T>
Real<T> norm_on_cpu(const NormOf& of, HostView<const T> a, Index threads);

}  // namespace overlapack::algorithms
