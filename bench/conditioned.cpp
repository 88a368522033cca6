#include "conditioned.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

#include "host/workers.hpp"

namespace overlapack::bench {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// A number of modulus 1.
template <class T>
T random_phase(std::mt19937_64& random) {
  std::uniform_real_distribution<Real<T>> angle(0, Real<T>(2 * M_PI));
  if constexpr (is_complex<T>) {
    return std::polar(Real<T>(1), angle(random));
  } else {
    return 1;
  }
}

template <class T>
T uniform(std::mt19937_64& random) {
  std::uniform_real_distribution<Real<T>> number(-1, 1);
  if constexpr (is_complex<T>) {
    const Real<T> re = number(random);
    return {re, number(random)};
  } else {
    return number(random);
  }
}

/// The sums of the moduli of all rows, and b - A x for a vector x, from one pass over A.
template <class T>
struct RowSums {
  std::vector<Real<T>> moduli;
  std::vector<T> residual;
};

template <class T>
RowSums<T> row_sums(HostView<const T> a, const T* x, const T* b) {
  constexpr Index kRows = 256;  // per task
  const Index n = a.rows;
  RowSums<T> sums{std::vector<Real<T>>(at(n)), {b, b + n}};
  share_out(available_cores(), quotient_up(n, kRows), [&](Index part) {
    const Index end = std::min(n, (part + 1) * kRows);
    for (Index j = 0; j < n; ++j) {
      for (Index i = part * kRows; i < end; ++i) {
        sums.moduli[at(i)] += std::abs(a(i, j));
        sums.residual[at(i)] -= a(i, j) * x[j];
      }
    }
  });
  return sums;
}

template <class X>
double largest(const X* begin, Index count) {
  double result = 0;
  for (Index i = 0; i < count; ++i) {
    const double size = static_cast<double>(std::abs(begin[i]));
    if (!(size <= result)) result = size;  // keeps a NaN
  }
  return result;
}

}  // namespace

template <class T>
Butterfly<T>::Butterfly(Index n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<Real<T>> angle(0, Real<T>(2 * M_PI));
  for (Index stride = 1; stride < n; stride *= 2) {
    for (Index i = 0; i + stride < n; ++i) {
      if ((i & stride) != 0) continue;
      const Real<T> turn = angle(random);
      rotations_.push_back(
          {i, i + stride, std::cos(turn), std::sin(turn) * random_phase<T>(random)});
    }
  }
}

template <class T>
void Butterfly<T>::apply(T* x) const {
  for (const Rotation& r : rotations_) {
    const T first = x[r.first], second = x[r.second];
    x[r.first] = r.c * first + r.s * second;
    x[r.second] = r.c * second - conj(r.s) * first;
  }
}

template <class T>
void Butterfly<T>::apply_adjoint(T* x) const {
  for (auto r = rotations_.rbegin(); r != rotations_.rend(); ++r) {
    const T first = x[r->first], second = x[r->second];
    x[r->first] = r->c * first - r->s * second;
    x[r->second] = r->c * second + conj(r->s) * first;
  }
}

template <class T>
ConditionedSystem<T>::ConditionedSystem(Index n, Index nrhs, double condition,
                                        bool positive_definite, std::uint64_t seed)
    : n_(n), nrhs_(nrhs), a_(at(n * n)), b_(at(n * nrhs)) {
  const Butterfly<T> p(n, 2 * seed), q(n, 2 * seed + 1);
  std::vector<Real<T>> d(at(n));
  for (Index i = 0; i < n; ++i) {
    const double exponent = static_cast<double>(i) / static_cast<double>(std::max<Index>(1, n - 1));
    d[at(i)] = static_cast<Real<T>>(std::pow(condition, -exponent));
  }
  share_out(available_cores(), n, [&](Index j) {
    T* const column = &a_[at(j * n)];
    column[j] = T(1);
    (positive_definite ? p : q).apply_adjoint(column);
    for (Index i = 0; i < n; ++i) column[i] *= d[at(i)];
    p.apply(column);
  });
  if (positive_definite) {  // in spite of rounding
    share_out(available_cores(), n, [&](Index j) {
      T* const column = &a_[at(j * n)];
      column[j] = T(real(column[j]));
      for (Index i = 0; i < j; ++i) column[i] = conj(a_[at(i * n + j)]);
    });
  }
  std::mt19937_64 random(seed);
  for (T& element : b_) element = uniform<T>(random);
}

template <class T>
double ConditionedSystem<T>::backward_error(HostView<const T> x) const {
  double worst = 0;
  for (Index j = 0; j < nrhs_; ++j) {
    const RowSums<T> sums = row_sums(a(), &x(0, j), &b()(0, j));
    const double error =
        largest(sums.residual.data(), n_) /
        (largest(sums.moduli.data(), n_) * largest(&x(0, j), n_) + largest(&b()(0, j), n_));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

template class Butterfly<double>;
template class Butterfly<std::complex<double>>;
template class ConditionedSystem<double>;
template class ConditionedSystem<std::complex<double>>;

}  // namespace overlapack::bench
