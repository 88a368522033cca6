#include "cpu/reductions.hpp"

#include <algorithm>
#include <limits>

// The loops are written for vectors of kBytes bytes and for kAbreast of them at a time: an addition
// waits for the one before, so a single sum would be slower than memory.

namespace overlapack::cpu {
namespace {

constexpr int kAbreast = 4;

template <class R, int kBytes>
struct Loops {
  using Vector [[gnu::vector_size(kBytes), gnu::aligned(sizeof(R)), gnu::may_alias]] = R;
  using Bits = std::conditional_t<sizeof(R) == sizeof(std::int32_t), std::int32_t, std::int64_t>;
  using BitVector [[gnu::vector_size(kBytes)]] = Bits;
  static constexpr Index kLanes = kBytes / sizeof(R), kStep = kAbreast * kLanes;

  [[gnu::always_inline]] static void load_moduli(const R* x, Vector& v) {
    const auto bits = reinterpret_cast<BitVector>(*reinterpret_cast<const Vector*>(x));
    v = reinterpret_cast<Vector>(bits & std::numeric_limits<Bits>::max());
  }

  /// Calls step(i, u) for each whole vector: x[i], ..., in the place u of kAbreast. Returns where
  /// the rest begins.
  template <class Step>
  [[gnu::always_inline]] static Index for_each_vector(Index n, Step step) {
    Index i = 0;
    for (; i + kStep <= n; i += kStep) {
#pragma GCC unroll 4
      for (int u = 0; u < kAbreast; ++u) step(i + u * kLanes, u);
    }
    for (; i + kLanes <= n; i += kLanes) step(i, 0);
    return i;
  }

  [[gnu::always_inline]] static R total(const Vector (&sums)[kAbreast]) {
    const Vector sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    R result(0);
    for (Index lane = 0; lane < kLanes; ++lane) result += sum[lane];
    return result;
  }

  /// A sum of moduli is a NaN if, and only if, one of them is.
  [[gnu::always_inline]] static R largest(const R* x, Index n) {
    Vector most[kAbreast] = {}, sums[kAbreast] = {};
    Index i = for_each_vector(n, [&](Index k, int u) {
      Vector v;
      load_moduli(x + k, v);
      most[u] = v > most[u] ? v : most[u];
      sums[u] += v;
    });
    R sum = total(sums), result(0);
    for (const Vector& one : most) {
      for (Index lane = 0; lane < kLanes; ++lane) result = std::max(result, one[lane]);
    }
    for (; i < n; ++i) {
      sum += std::abs(x[i]);
      result = std::max(result, std::abs(x[i]));
    }
    return std::isnan(sum) ? sum : result;
  }

  [[gnu::always_inline]] static R sum(const R* x, Index n) {
    Vector sums[kAbreast] = {};
    Index i = for_each_vector(n, [&](Index k, int u) {
      Vector v;
      load_moduli(x + k, v);
      sums[u] += v;
    });
    R result = total(sums);
    for (; i < n; ++i) result += std::abs(x[i]);
    return result;
  }

  [[gnu::always_inline]] static R add(const R* x, Index n, R* to) {
    Vector sums[kAbreast] = {};
    Index i = for_each_vector(n, [&](Index k, int u) {
      Vector v;
      load_moduli(x + k, v);
      *reinterpret_cast<Vector*>(to + k) += v;
      sums[u] += v;
    });
    R result = total(sums);
    for (; i < n; ++i) {
      to[i] += std::abs(x[i]);
      result += std::abs(x[i]);
    }
    return result;
  }

  [[gnu::always_inline]] static R squares(const R* x, Index n, R factor) {
    Vector sums[kAbreast] = {};
    Index i = for_each_vector(n, [&](Index k, int u) {
      const Vector v = *reinterpret_cast<const Vector*>(x + k) * factor;
      sums[u] += v * v;
    });
    R result = total(sums);
    for (; i < n; ++i) result += (factor * x[i]) * (factor * x[i]);
    return result;
  }
};

/// The compiler makes vectors of this one, with the file's option for roots (src/CMakeLists.txt).
template <class R>
[[gnu::always_inline]] inline void moduli(const std::complex<R>* x, Index n, R factor, R* to) {
  const R* const parts = reinterpret_cast<const R*>(x);
  const R back = 1 / factor;
  for (Index i = 0; i < n; ++i) {
    const R re = factor * parts[2 * i], im = factor * parts[2 * i + 1];
    to[i] = back * std::sqrt(re * re + im * im);
  }
}

// Functions of their own, because only a function may ask for instructions.

template <class R>
struct Baseline {
  using L = Loops<R, 16>;
  static R largest(const R* x, Index n) { return L::largest(x, n); }
  static R sum(const R* x, Index n) { return L::sum(x, n); }
  static R add(const R* x, Index n, R* sums) { return L::add(x, n, sums); }
  static R squares(const R* x, Index n, R factor) { return L::squares(x, n, factor); }
  static void moduli(const std::complex<R>* x, Index n, R factor, R* to) {
    cpu::moduli(x, n, factor, to);
  }
};
#if defined(__x86_64__)
#  define OVERLAPACK_AVX2 [[gnu::target("avx2,fma")]] static
template <class R>
struct Avx2 {
  using L = Loops<R, 32>;
  OVERLAPACK_AVX2 R largest(const R* x, Index n) { return L::largest(x, n); }
  OVERLAPACK_AVX2 R sum(const R* x, Index n) { return L::sum(x, n); }
  OVERLAPACK_AVX2 R add(const R* x, Index n, R* sums) { return L::add(x, n, sums); }
  OVERLAPACK_AVX2 R squares(const R* x, Index n, R factor) { return L::squares(x, n, factor); }
  OVERLAPACK_AVX2 void moduli(const std::complex<R>* x, Index n, R factor, R* to) {
    cpu::moduli(x, n, factor, to);
  }
};
#  undef OVERLAPACK_AVX2
#endif

template <class Version, class R>
Reductions<R> version() {
  return {Version::largest, Version::sum, Version::add, Version::squares, Version::moduli};
}

}  // namespace

template <class R>
Reductions<R> reductions(Instructions instructions) {
#if defined(__x86_64__)
  // Longer vectors gain nothing: these are as fast as memory.
  if (instructions != Instructions::baseline) return version<Avx2<R>, R>();
#else
  static_cast<void>(instructions);
#endif
  return version<Baseline<R>, R>();
}

template Reductions<float> reductions(Instructions);
template Reductions<double> reductions(Instructions);

}  // namespace overlapack::cpu
