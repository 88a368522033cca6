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

template <class R>
void require_finite(const std::vector<R>& numbers) {
  if (std::all_of(numbers.begin(), numbers.end(), [](R x) { return std::isfinite(x); })) return;
  throw DeviceError("a number of the tridiagonal matrix is not finite");
}

}  // namespace

template <class R>
Tridiagonal<R>::Tridiagonal(Device& device, Index n, const R* d, const R* e)
    : d_(read(device, n, d)),
      e_(read(device, std::max<Index>(n - 1, 0), e)),
      blocks_{{0, n}},
      exponents_{0} {
  require_finite(d_);
  require_finite(e_);
  e_.resize(at(n), R(0));
}

template <class R>
void Tridiagonal<R>::cut() {
  const Index n = order();
  blocks_.clear();
  for (Index first = 0, i = 0; i < n; ++i) {
    if (i + 1 < n && !is_negligible(e_[at(i)], d_[at(i)], d_[at(i + 1)])) continue;
    e_[at(i)] = 0;
    blocks_.push_back({first, i + 1});
    first = i + 1;
  }
  exponents_.assign(blocks_.size(), 0);
}

template <class R>
void Tridiagonal<R>::scale() {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    R largest = 0;
    for (Index i = blocks_[b].first; i < blocks_[b].last; ++i) {
      largest = std::max({largest, std::abs(d_[at(i)]), std::abs(e_[at(i)])});
    }
    exponents_[b] = largest > 0 ? std::ilogb(largest) : 0;
    for (Index i = blocks_[b].first; i < blocks_[b].last; ++i) {
      d_[at(i)] = std::ldexp(d_[at(i)], -exponents_[b]);
      e_[at(i)] = std::ldexp(e_[at(i)], -exponents_[b]);
    }
  }
}

template class Tridiagonal<float>;
template class Tridiagonal<double>;

}  // namespace overlapack::algorithms
