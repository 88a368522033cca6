#include "algorithms/eigen/tridiagonal.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/tridiagonal.hpp"

namespace overlapack::algorithms {
namespace {

template <class R>
std::vector<R> read(Device& device, Index n, const R* from) {
  if (n == 0 || device.kind_of(from) != MemoryKind::device) return {from, from + n};
  const Buffer<R> staging(device, Space::host, n);
  const QueueLease queue(device);
  queue->copy<R>(HostView<R>(staging.data(), n), DeviceView<const R>(from, n));
  queue->synchronize();
  return {staging.data(), staging.data() + n};
}

/// LAPACK's rule in ?stedc. A product of the two might overflow or underflow.
template <class R>
bool is_negligible(R e, R above, R below) {
  return std::abs(e) <=
         tridiagonal::kRoundoff<R> * std::sqrt(std::abs(above)) * std::sqrt(std::abs(below));
}

}  // namespace

template <class R>
Tridiagonal<R> read_tridiagonal(Device& device, Index n, const R* d, const R* e) {
  Tridiagonal<R> t{read(device, n, d), read(device, std::max<Index>(n - 1, 0), e), {}, {}};
  const auto finite = [](R x) { return std::isfinite(x); };
  if (!std::all_of(t.d.begin(), t.d.end(), finite) ||
      !std::all_of(t.e.begin(), t.e.end(), finite)) {
    throw DeviceError("a number of the tridiagonal matrix is not finite");
  }
  t.e.resize(at(n), R(0));
  for (Index first = 0, i = 0; i < n; ++i) {
    if (i + 1 < n && !is_negligible(t.e[at(i)], t.d[at(i)], t.d[at(i + 1)])) continue;
    t.e[at(i)] = 0;
    t.blocks.push_back({first, i + 1});
    first = i + 1;
  }
  for (const Range& block : t.blocks) {
    R largest = 0;
    for (Index i = block.first; i < block.last; ++i) {
      largest = std::max({largest, std::abs(t.d[at(i)]), std::abs(t.e[at(i)])});
    }
    const int exponent = largest > 0 ? std::ilogb(largest) : 0;
    for (Index i = block.first; i < block.last; ++i) {
      t.d[at(i)] = std::ldexp(t.d[at(i)], -exponent);
      t.e[at(i)] = std::ldexp(t.e[at(i)], -exponent);
    }
    t.exponents.push_back(exponent);
  }
  return t;
}

#define OVERLAPACK_INSTANTIATE(R) \
  template Tridiagonal<R> read_tridiagonal<R>(Device&, Index, const R*, const R*);
OVERLAPACK_INSTANTIATE(float)
OVERLAPACK_INSTANTIATE(double)

}  // namespace overlapack::algorithms
