// Sizes of workspaces: as a library takes them, and as LAPACK says them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/scalar.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::cpu {

/// The size of a workspace as the library's integer. What is more than that holds is of no use.
template <class I, class T>
I narrow_size(Workspace<T> work) {
  return static_cast<I>(std::min<Index>(work.size, std::numeric_limits<I>::max()));
}

/// A size as LAPACK says it in the first element of WORK: rounded up, if the type cannot hold it.
template <class T>
T size_in_work(Index size) {
  auto number = static_cast<Real<T>>(size);
  if (static_cast<Index>(number) < size) {
    number = std::nextafter(number, std::numeric_limits<Real<T>>::infinity());
  }
  return T(number);
}

/// Says which size is wanted, if the CPU LAPACK has not said it, or has said less than it accepts.
template <class T>
void see_to_size(Workspace<T> work, Index least, bool said) {
  const T size = size_in_work<T>(least);
  if (!said || (work.is_query() && !(real(*work.data) >= real(size)))) *work.data = size;
}

}  // namespace overlapack::cpu
