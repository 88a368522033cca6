#include "algorithms/strided_copy.hpp"

#include <algorithm>

#include "algorithms/new_memory.hpp"
#include "algorithms/workers.hpp"

namespace overlapack::algorithms {
namespace {

template <class T>
void copy_part(Index first, Index last, const T* x, Index incx, T* y, Index incy) {
  if (incx == 1 && incy == 1) {
    std::copy(x + first, x + last, y + first);
    return;
  }
  for (Index i = first; i < last; ++i) y[i * incy] = x[i * incx];
}

}  // namespace

template <class T>
void copy(Index n, const T* x, Index incx, T* y, Index incy, Index threads) {
  if (incx < 0) x -= (n - 1) * incx;
  if (incy < 0) y -= (n - 1) * incy;
  const Index size = sizeof(T);
  // Threads that are the first to write to the same page would wait for each other.
  const Index parts = std::min({threads, n * size / kPage, Workers::kMostParts});
  // An element that all are written to must become the last one.
  if (parts <= 1 || incy == 0) return copy_part(0, n, x, incx, y, incy);
  compute_parts(parts,
                [=](Index p) { copy_part(n * p / parts, n * (p + 1) / parts, x, incx, y, incy); });
}

#define OVERLAPACK_INSTANTIATE(T) template void copy<T>(Index, const T*, Index, T*, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
