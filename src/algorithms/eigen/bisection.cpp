#include "algorithms/eigen/bisection.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/tridiagonal.hpp"

namespace overlapack::algorithms {
namespace {

template <class R>
std::vector<R> squares_beside(const Tridiagonal<R>& t) {
  std::vector<R> squares = t.e();
  for (R& square : squares) square *= square;
  return squares;
}

/// Gershgorin's, and what roundings of the counts may add (LAPACK's ?stebz).
template <class R>
struct Bounds {
  R low, high;

  explicit Bounds(const Tridiagonal<R>& t) : low(t.d()[0]), high(t.d()[0]) {
    for (Index i = 0; i < t.order(); ++i) {
      const R beside = std::abs(t.e()[at(i)]) + (i > 0 ? std::abs(t.e()[at(i - 1)]) : R(0));
      low = std::min(low, t.d()[at(i)] - beside);
      high = std::max(high, t.d()[at(i)] + beside);
    }
    const R size = std::max(std::abs(low), std::abs(high)), n = static_cast<R>(t.order());
    const R margin = 5 * n * tridiagonal::kRoundoff<R> * size + 16 * tridiagonal::kSafeMin<R>;
    low -= margin;
    high += margin;
  }
};

/// Those that are not larger than x.
template <class R>
Index eigenvalues_up_to(const Tridiagonal<R>& t, R x) {
  const std::vector<R> squares = squares_beside(t);
  const R above = std::nextafter(t.scaled(x, 0), tridiagonal::kInfinity<R>);
  return tridiagonal::eigenvalues_below(t.order(), t.d().data(), squares.data(),
                                        tridiagonal::kLeastPivot<R>, above);
}

}  // namespace

template <class R>
std::vector<R> eigenvalues_by_number(Device& device, const Tridiagonal<R>& t, Range wanted) {
  const Index n = t.order(), count = wanted.size();
  if (wanted.empty()) return {};
  const Buffer<R> there(device, Space::device, 3 * n), here(device, Space::host, 2 * n);
  const QueueLease queue(device, Priority::normal, "bisection");
  const std::vector<R> squares = squares_beside(t);
  std::copy(t.d().begin(), t.d().end(), here.data());
  std::copy(squares.begin(), squares.end(), here.data() + n);
  queue->copy<R>(DeviceView<R>(there.data(), 2 * n), HostView<const R>(here.data(), 2 * n));
  const DeviceView<R> values(there.data() + 2 * n, count);
  const Bounds<R> bounds(t);
  queue->enqueue(Bisect<R>{DeviceView<const R>(there.data(), n),
                           DeviceView<const R>(there.data() + n, n), bounds.low, bounds.high,
                           wanted.first, values});
  queue->copy<R>(HostView<R>(here.data(), count), DeviceView<const R>(values));
  queue->synchronize();
  std::vector<R> result(here.data(), here.data() + count);
  for (R& value : result) value = t.unscaled(value, 0);
  return result;
}

template <class R>
Range eigenvalues_between(const Tridiagonal<R>& t, R low, R high) {
  return {eigenvalues_up_to(t, low), eigenvalues_up_to(t, high)};
}

#define OVERLAPACK_INSTANTIATE(R)                                                          \
  template std::vector<R> eigenvalues_by_number<R>(Device&, const Tridiagonal<R>&, Range); \
  template Range eigenvalues_between<R>(const Tridiagonal<R>&, R, R);
OVERLAPACK_INSTANTIATE(float)
OVERLAPACK_INSTANTIATE(double)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::algorithms
