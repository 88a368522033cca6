#include "cpu/strips.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

// The loops are written for vectors of kBytes bytes. How many there are abreast is what the
// registers of that size hold: kGroup sums for each of them.

namespace overlapack::cpu {

namespace {
constexpr std::size_t kAlignment = 64;
}

template <class T>
Strips<T>::Strips(Index n, Index k) : n_(n), k_(k) {
  constexpr std::size_t kSpare = kAlignment / sizeof(Real<T>);
  const Index count = (n + kStrip<T> - 1) / kStrip<T> * size();
  memory_.reset(new Real<T>[static_cast<std::size_t>(count) + kSpare]);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
  strips_ = memory_.get() + (kAlignment - address % kAlignment) % kAlignment / sizeof(Real<T>);
}

template <class T>
void Strips<T>::load(const T* const* columns, Index count) {
  k_ = count;
  for (Index first = 0; first < n_; first += kStrip<T>) {
    const Index lanes = std::min(kStrip<T>, n_ - first);
    for (Index q = 0; q < k_; ++q) {
      for (Index i = 0; i < lanes; ++i) set(first + i, q, columns[q][first + i]);
      Real<T>* const x = strip(first) + kParts * kStrip<T> * q;
      for (Index part = 0; part < kParts; ++part) {
        std::fill_n(x + part * kStrip<T> + lanes, kStrip<T> - lanes, Real<T>(0));
      }
    }
  }
}

template <class T>
T Strips<T>::get(Index i, Index q) const {
  const Real<T>* const x = strip(i) + kParts * kStrip<T> * q + i % kStrip<T>;
  if constexpr (is_complex<T>) {
    return {x[0], x[kStrip<T>]};
  } else {
    return *x;
  }
}

template <class T>
void Strips<T>::set(Index i, Index q, T value) {
  Real<T>* const x = strip(i) + kParts * kStrip<T> * q + i % kStrip<T>;
  x[0] = overlapack::real(value);
  if constexpr (is_complex<T>) x[kStrip<T>] = value.imag();
}

namespace {

/// Some lanes of a strip of L, `columns` columns: the others are zero. Element (j, part) of a lane
/// is kStrip numbers away from the next one.
template <class T>
struct Piece {
  static constexpr Index kParts = is_complex<T> ? 2 : 1;
  alignas(kAlignment) Real<T> numbers[kPanel * kParts * kStrip<T>];

  Real<T>* at(Index j, Index lane) { return numbers + j * kParts * kStrip<T> + lane; }
};

template <class R>
using Four [[gnu::vector_size(4 * sizeof(R)), gnu::aligned(sizeof(R)), gnu::may_alias]] = R;

/// Transposes a block of 4 x 4 numbers.
template <class R>
[[gnu::always_inline]] inline void transpose(const R* from, Index from_ld, R* to, Index to_ld) {
  using V = Four<R>;
  const V a = *reinterpret_cast<const V*>(from), b = *reinterpret_cast<const V*>(from + from_ld),
          c = *reinterpret_cast<const V*>(from + 2 * from_ld),
          d = *reinterpret_cast<const V*>(from + 3 * from_ld);
  const V ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
          ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7),
          cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5),
          cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  *reinterpret_cast<V*>(to) = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  *reinterpret_cast<V*>(to + to_ld) = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  *reinterpret_cast<V*>(to + 2 * to_ld) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  *reinterpret_cast<V*>(to + 3 * to_ld) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

/// Rows first, ..., first + count - 1 of L to or from lanes lane, ... of a piece.
template <class T>
[[gnu::always_inline]] inline void load(Uplo uplo, HostView<const T> a, Index first, Index count,
                                        Index columns, Index lane, Piece<T>& piece) {
  using R = Real<T>;
  const bool all = count == kStrip<T>;
  if (!all) std::fill_n(piece.numbers, columns * Piece<T>::kParts * kStrip<T>, R(0));
  if constexpr (!is_complex<T>) {
    if (all && uplo == Uplo::lower) {
      for (Index j = 0; j < columns; ++j) {
        std::memcpy(piece.at(j, 0), &a(first, j), sizeof(R) * kStrip<T>);
        __builtin_prefetch(&a(first, j) + kStrip<T>);
        __builtin_prefetch(&a(first, j) + 3 * kStrip<T> / 2);
      }
      return;
    }
    if (all && uplo == Uplo::upper) {
      for (Index r = 0; r < kStrip<T>; r += 4) {
        for (Index j = 0; j < columns; j += 4) {
          transpose<R>(&a(j, first + r), a.ld, piece.at(j, r), kStrip<T>);
        }
      }
      return;
    }
  }
  for (Index j = 0; j < columns; ++j) {
    for (Index r = 0; r < count; ++r) {
      const T x = uplo == Uplo::lower ? a(first + r, j) : conj(a(j, first + r));
      R* const to = piece.at(j, lane + r);
      to[0] = overlapack::real(x);
      if constexpr (is_complex<T>) to[kStrip<T>] = x.imag();
    }
  }
}

template <class T>
[[gnu::always_inline]] inline void store(Uplo uplo, HostView<T> a, Index first, Index count,
                                         Index columns, Index lane, Piece<T>& piece) {
  using R = Real<T>;
  if constexpr (!is_complex<T>) {
    if (count == kStrip<T> && uplo == Uplo::upper) {
      for (Index r = 0; r < kStrip<T>; r += 4) {
        for (Index j = 0; j < columns; j += 4) {
          transpose<R>(piece.at(j, r), kStrip<T>, &a(j, first + r), a.ld);
        }
      }
      return;
    }
    if (uplo == Uplo::lower) {
      for (Index j = 0; j < columns; ++j) {
        std::memcpy(&a(first, j), piece.at(j, lane), sizeof(R) * static_cast<std::size_t>(count));
      }
      return;
    }
  }
  for (Index j = 0; j < columns; ++j) {
    for (Index r = 0; r < count; ++r) {
      const R* const from = piece.at(j, lane + r);
      T x;
      if constexpr (is_complex<T>) {
        x = {from[0], from[kStrip<T>]};
      } else {
        x = *from;
      }
      (uplo == Uplo::lower ? a(first + r, j) : a(j, first + r)) = conj(x);
      if (uplo == Uplo::lower) a(first + r, j) = x;
    }
  }
}

enum class Action { reflect, eliminate };

/// What happens to as many lanes of a strip at a time as kAbreast vectors of kBytes bytes hold:
/// the sums of a group are to fit into the registers. All loops but those over q are unrolled.
template <class T, int kBytes>
struct Lanes {
  using R = Real<T>;
  using Vector [[gnu::vector_size(kBytes), gnu::may_alias]] = R;
  static constexpr int kParts = is_complex<T> ? 2 : 1, kAbreast = is_complex<T> ? 1 : 2;
  static constexpr Index kStep = kBytes / sizeof(R), kCount = kAbreast * kStep;
  static constexpr Index kColumn = kParts * kStrip<T>;

  [[gnu::always_inline]] static Vector& at(R* x, int part, int u) {
    return *reinterpret_cast<Vector*>(x + part * kStrip<T> + u * kStep);
  }

  /// `l` has the columns of the group.
  template <Action kAction>
  [[gnu::always_inline]] static void take(const Group<T>& group, R sign, R* l, R* v) {
    Vector w[kGroup][kParts][kAbreast];
    if constexpr (kAction == Action::reflect) {
      multiply(group, v, w);
      solve(group, sign, l, w);
    } else {
#pragma GCC unroll 4
      for (int c = 0; c < kGroup; ++c) {
#pragma GCC unroll 2
        for (int i = 0; i < kParts * kAbreast; ++i) {
          w[c][i / kAbreast][i % kAbreast] = at(l + c * kColumn, i / kAbreast, i % kAbreast);
        }
      }
    }
    subtract(group, w, v);
  }

 private:
  using Columns = Vector[kGroup][kParts][kAbreast];

  /// w_c = V z_c
  [[gnu::always_inline]] static void multiply(const Group<T>& group, R* v, Columns& w) {
#pragma GCC unroll 4
    for (int c = 0; c < kGroup; ++c) {
#pragma GCC unroll 2
      for (int i = 0; i < kParts * kAbreast; ++i) w[c][i / kAbreast][i % kAbreast] = Vector{};
    }
    for (Index q = 0; q < group.k; ++q) {
      const R* const z = group.numbers + kParts * kGroup * q;
      R* const x = v + kColumn * q;
#pragma GCC unroll 2
      for (int u = 0; u < kAbreast; ++u) {
#pragma GCC unroll 4
        for (int c = 0; c < kGroup; ++c) {
          w[c][0][u] += at(x, 0, u) * z[c];
          if constexpr (is_complex<T>) {
            w[c][0][u] -= at(x, 1, u) * z[kGroup + c];
            w[c][1][u] += at(x, 0, u) * z[kGroup + c];
            w[c][1][u] += at(x, 1, u) * z[c];
          }
        }
      }
    }
  }

  /// w_c := (l_c + s w_c - sum over b < c of w_b (s z_b^H z_c)) / t_c,  l_c := w_c - l_c
  [[gnu::always_inline]] static void solve(const Group<T>& group, R sign, R* l, Columns& w) {
    const R *const products = group.products(), *const scales = group.scales();
#pragma GCC unroll 2
    for (int u = 0; u < kAbreast; ++u) {
#pragma GCC unroll 4
      for (int c = 0; c < kGroup; ++c) {
        R* const column = l + c * kColumn;
#pragma GCC unroll 2
        for (int part = 0; part < kParts; ++part) {
          w[c][part][u] = at(column, part, u) + w[c][part][u] * sign;
        }
#pragma GCC unroll 4
        for (int b = 0; b < c; ++b) {
          const R re = products[kParts * kGroup * b + c];
          w[c][0][u] -= w[b][0][u] * re;
          if constexpr (is_complex<T>) {
            const R im = products[kParts * kGroup * b + kGroup + c];
            w[c][0][u] += w[b][1][u] * im;
            w[c][1][u] -= w[b][0][u] * im;
            w[c][1][u] -= w[b][1][u] * re;
          }
        }
#pragma GCC unroll 2
        for (int part = 0; part < kParts; ++part) {
          w[c][part][u] *= scales[c];
          at(column, part, u) = w[c][part][u] - at(column, part, u);
        }
      }
    }
  }

  /// V := V - sum of w_c z_c^H
  [[gnu::always_inline]] static void subtract(const Group<T>& group, const Columns& w, R* v) {
    for (Index q = 0; q < group.k; ++q) {
      const R* const z = group.numbers + kParts * kGroup * q;
      R* const x = v + kColumn * q;
#pragma GCC unroll 2
      for (int u = 0; u < kAbreast; ++u) {
        Vector re = at(x, 0, u);
#pragma GCC unroll 4
        for (int c = 0; c < kGroup; ++c) {
          re -= w[c][0][u] * z[c];
          if constexpr (is_complex<T>) re -= w[c][1][u] * z[kGroup + c];
        }
        at(x, 0, u) = re;
        if constexpr (is_complex<T>) {
          Vector im = at(x, 1, u);
#pragma GCC unroll 4
          for (int c = 0; c < kGroup; ++c) {
            im -= w[c][1][u] * z[c];
            im += w[c][0][u] * z[kGroup + c];
          }
          at(x, 1, u) = im;
        }
      }
    }
  }
};

template <class T, int kBytes, Action kAction>
[[gnu::always_inline]] inline void take_rows(const Panel<T>& panel, Uplo uplo, HostView<T> a,
                                             Index lane, Real<T>* v) {
  constexpr Index kParts = is_complex<T> ? 2 : 1;
  using Abreast = Lanes<T, kBytes>;
  const Index rows = uplo == Uplo::lower ? a.rows : a.cols, columns = kGroup * panel.groups;
  Piece<T> piece;
  for (Index first = 0; first < rows; v += kParts * kStrip<T> * panel.k, lane = 0) {
    const Index count = std::min(kStrip<T> - lane, rows - first);
    load<T>(uplo, a, first, count, columns, lane, piece);
    for (Index g = 0; g < panel.groups; ++g) {
      for (Index u = 0; u < kStrip<T>; u += Abreast::kCount) {
        Abreast::template take<kAction>(panel.group(g), static_cast<Real<T>>(panel.sign),
                                        piece.at(kGroup * g, u), v + u);
      }
    }
    if (kAction == Action::reflect) store<T>(uplo, a, first, count, columns, lane, piece);
    first += count;
  }
}

template <class T, Action kAction>
void baseline(const Panel<T>& panel, Uplo uplo, HostView<T> a, Index lane, Real<T>* v) {
  take_rows<T, 16, kAction>(panel, uplo, a, lane, v);
}
#if defined(__x86_64__)
template <class T, Action kAction>
[[gnu::target("avx2,fma")]] void avx2(const Panel<T>& panel, Uplo uplo, HostView<T> a, Index lane,
                                      Real<T>* v) {
  take_rows<T, 32, kAction>(panel, uplo, a, lane, v);
}
template <class T, Action kAction>
[[gnu::target("avx512f,avx2,fma")]] void avx512(const Panel<T>& panel, Uplo uplo, HostView<T> a,
                                                Index lane, Real<T>* v) {
  take_rows<T, 64, kAction>(panel, uplo, a, lane, v);
}
#endif

template <class T, Action kAction>
TakeRows<T> version(Instructions instructions) {
#if defined(__x86_64__)
  if (instructions == Instructions::avx512) return avx512<T, kAction>;
  if (instructions == Instructions::avx2) return avx2<T, kAction>;
#else
  static_cast<void>(instructions);
#endif
  return baseline<T, kAction>;
}

}  // namespace

Instructions best_instructions() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0) return Instructions::avx512;
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    return Instructions::avx2;
  }
#endif
  return Instructions::baseline;
}

template <class T>
TakeRows<T> reflect_rows(Instructions instructions) {
  return version<T, Action::reflect>(instructions);
}
template <class T>
TakeRows<T> eliminate_rows(Instructions instructions) {
  return version<T, Action::eliminate>(instructions);
}

#define OVERLAPACK_INSTANTIATE(T)                     \
  template class Strips<T>;                           \
  template TakeRows<T> reflect_rows<T>(Instructions); \
  template TakeRows<T> eliminate_rows<T>(Instructions);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::cpu
