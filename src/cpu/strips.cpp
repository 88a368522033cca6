#include "cpu/strips.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

// The loops are written for vectors of kBytes bytes. How many there are abreast is what the
// registers of that size hold: kGroup sums for each of them.

namespace overlapack::cpu {

template <class T>
Strips<T>::Strips(Index n, Index k) : n_(n), k_(k) {
  constexpr std::size_t kAlignment = alignof(FactorStrip<T>), kSpare = kAlignment / sizeof(Real<T>);
  const Index count = quotient_up(n, kStrip<T>) * size();
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
      Real<T>* const to = strip(first) + q * kColumn;
      for (Index i = 0; i < lanes; ++i) store_parts<T>(columns[q][first + i], to + i, kStrip<T>);
      for (Index part = 0; part < kParts<T>; ++part) {
        std::fill_n(to + part * kStrip<T> + lanes, kStrip<T> - lanes, Real<T>(0));
      }
    }
  }
}

namespace {

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

/// What will be needed next: a strip of L, whose columns (upper: rows) are so far apart in memory
/// that no core sees them coming. There is a share of it for each group of a panel that is computed
/// with in the meantime; more at once than a core can wait for would make it wait.
template <class T>
struct Next {
  static constexpr Index kLine = 64 / static_cast<Index>(sizeof(T));
  const T* first = nullptr;
  Index ld = 0, lines = 0, length = 0;  // of a share: lines of so many elements

  [[gnu::always_inline]] void prefetch(Index group) const {
    for (Index j = 0; j < lines; ++j) {
      const T* const line = first + (group * lines + j) * ld;
      for (Index i = 0; i < length; i += kLine) __builtin_prefetch(line + i, 0, 2);
    }
  }
};

/// Rows first, ..., first + count - 1 of L, up to a strip of them, to or from a piece, whose other
/// lanes become zero.
template <class T>
[[gnu::always_inline]] inline void load(Uplo uplo, HostView<const T> a, Index first, Index count,
                                        Index columns, FactorStrip<T>& piece) {
  using R = Real<T>;
  if constexpr (!is_complex<T>) {
    if (count == kStrip<T> && uplo == Uplo::lower) {
      for (Index j = 0; j < columns; ++j) {
        std::memcpy(piece.at(0, j), &a(first, j), sizeof(R) * kStrip<T>);
      }
      return;
    }
    if (count == kStrip<T>) {
      for (Index r = 0; r < kStrip<T>; r += kGroup) {
        for (Index j = 0; j < columns; j += kGroup) {
          transpose<R>(&a(j, first + r), a.ld, piece.at(r, j), kStrip<T>);
        }
      }
      return;
    }
  }
  if (count < kStrip<T>) std::fill_n(piece.numbers, columns * kParts<T> * kStrip<T>, R(0));
  for (Index j = 0; j < columns; ++j) {
    for (Index r = 0; r < count; ++r) {
      piece.set(r, j, uplo == Uplo::lower ? a(first + r, j) : conj(a(j, first + r)));
    }
  }
}

template <class T>
[[gnu::always_inline]] inline void store(Uplo uplo, HostView<T> a, Index first, Index count,
                                         Index columns, FactorStrip<T>& piece) {
  using R = Real<T>;
  if constexpr (!is_complex<T>) {
    if (uplo == Uplo::lower) {
      for (Index j = 0; j < columns; ++j) {
        std::memcpy(&a(first, j), piece.at(0, j), sizeof(R) * static_cast<std::size_t>(count));
      }
      return;
    }
    if (count == kStrip<T>) {
      for (Index r = 0; r < kStrip<T>; r += kGroup) {
        for (Index j = 0; j < columns; j += kGroup) {
          transpose<R>(piece.at(r, j), kStrip<T>, &a(j, first + r), a.ld);
        }
      }
      return;
    }
  }
  for (Index j = 0; j < columns; ++j) {
    for (Index r = 0; r < count; ++r) {
      if (uplo == Uplo::lower) {
        a(first + r, j) = piece.get(r, j);
      } else {
        a(j, first + r) = conj(piece.get(r, j));
      }
    }
  }
}

/// What happens to as many lanes of a strip at a time as kVectorsAbreast vectors of kBytes bytes
/// hold: the sums of a group are to fit into the registers. All loops but those over q are
/// unrolled.
template <class T, int kBytes>
struct Lanes {
  using R = Real<T>;
  using Vector [[gnu::vector_size(kBytes), gnu::may_alias]] = R;
  static constexpr int kVectorsAbreast = is_complex<T> ? 1 : 2;
  static constexpr Index kStep = kBytes / sizeof(R), kCount = kVectorsAbreast * kStep;
  static constexpr Index kColumn = kParts<T> * kStrip<T>;

  [[gnu::always_inline]] static Vector& at(R* x, int part, int u) {
    return *reinterpret_cast<Vector*>(x + part * kStrip<T> + u * kStep);
  }

  /// `l` has the columns of the group.
  template <Pass kPass>
  [[gnu::always_inline]] static void take(const Group<T>& group, R sign, R* l, R* v) {
    Vector w[kGroup][kParts<T>][kVectorsAbreast];
    if constexpr (kPass == Pass::reflect) {
      multiply(group, v, w);
      solve(group, sign, l, w);
    } else {
#pragma GCC unroll 4
      for (int c = 0; c < kGroup; ++c) {
#pragma GCC unroll 2
        for (int i = 0; i < kParts<T> * kVectorsAbreast; ++i) {
          w[c][i / kVectorsAbreast][i % kVectorsAbreast] =
              at(l + c * kColumn, i / kVectorsAbreast, i % kVectorsAbreast);
        }
      }
    }
    subtract(group, w, v);
  }

 private:
  using Columns = Vector[kGroup][kParts<T>][kVectorsAbreast];

  /// w_c = V z_c
  [[gnu::always_inline]] static void multiply(const Group<T>& group, R* v, Columns& w) {
#pragma GCC unroll 4
    for (int c = 0; c < kGroup; ++c) {
#pragma GCC unroll 2
      for (int i = 0; i < kParts<T> * kVectorsAbreast; ++i)
        w[c][i / kVectorsAbreast][i % kVectorsAbreast] = Vector{};
    }
    for (Index q = 0; q < group.k; ++q) {
      const R* const z = group.numbers + kParts<T> * kGroup * q;
      R* const x = v + kColumn * q;
#pragma GCC unroll 2
      for (int u = 0; u < kVectorsAbreast; ++u) {
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
    for (int u = 0; u < kVectorsAbreast; ++u) {
#pragma GCC unroll 4
      for (int c = 0; c < kGroup; ++c) {
        R* const column = l + c * kColumn;
#pragma GCC unroll 2
        for (int part = 0; part < kParts<T>; ++part) {
          w[c][part][u] = at(column, part, u) + w[c][part][u] * sign;
        }
#pragma GCC unroll 4
        for (int b = 0; b < c; ++b) {
          const R re = products[kParts<T> * kGroup * b + c];
          w[c][0][u] -= w[b][0][u] * re;
          if constexpr (is_complex<T>) {
            const R im = products[kParts<T> * kGroup * b + kGroup + c];
            w[c][0][u] += w[b][1][u] * im;
            w[c][1][u] -= w[b][0][u] * im;
            w[c][1][u] -= w[b][1][u] * re;
          }
        }
#pragma GCC unroll 2
        for (int part = 0; part < kParts<T>; ++part) {
          w[c][part][u] *= scales[c];
          at(column, part, u) = w[c][part][u] - at(column, part, u);
        }
      }
    }
  }

  /// V := V - sum of w_c z_c^H
  [[gnu::always_inline]] static void subtract(const Group<T>& group, const Columns& w, R* v) {
    for (Index q = 0; q < group.k; ++q) {
      const R* const z = group.numbers + kParts<T> * kGroup * q;
      R* const x = v + kColumn * q;
#pragma GCC unroll 2
      for (int u = 0; u < kVectorsAbreast; ++u) {
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

template <class T, int kBytes, Pass kPass>
[[gnu::always_inline]] inline void take_piece(const Panel<T>& panel, Real<T>* l, Real<T>* v,
                                              const Next<T>* next) {
  using Taken = Lanes<T, kBytes>;
  for (Index g = 0; g < panel.groups; ++g) {
    if (next != nullptr) next->prefetch(g);
    for (Index lane = 0; lane < kStrip<T>; lane += Taken::kCount) {
      Taken::template take<kPass>(panel.group(g), static_cast<Real<T>>(panel.sign),
                                  l + kGroup * g * Taken::kColumn + lane, v + lane);
    }
  }
}

template <class T, int kBytes, Pass kPass>
[[gnu::always_inline]] inline void take_pieces(const Panel<T>& panel, Index count, Real<T>* l,
                                               Real<T>* v) {
  for (Index i = 0; i < count; ++i) {
    take_piece<T, kBytes, kPass>(panel,
                                 l + i * static_cast<Index>(sizeof(FactorStrip<T>) / sizeof *l),
                                 v + i * Lanes<T, kBytes>::kColumn * panel.k, nullptr);
  }
}

template <class T, int kBytes, Pass kPass>
[[gnu::always_inline]] inline void take_rows(const Panel<T>& panel, Uplo uplo, HostView<T> a,
                                             Real<T>* v) {
  const Index rows = uplo == Uplo::lower ? a.rows : a.cols, columns = kGroup * panel.groups;
  FactorStrip<T> piece;
  Next<T> next;
  for (Index first = 0; first < rows; first += kStrip<T>) {
    const Index count = std::min(kStrip<T>, rows - first);
    load<T>(uplo, a, first, count, columns, piece);
    if (uplo == Uplo::lower) {
      next = {&a(first, 0) + columns * a.ld, a.ld, kGroup, kStrip<T>};
    } else {
      next = {&a(0, first) + columns, a.ld, kStrip<T> * kGroup / kPanel, columns};
    }
    take_piece<T, kBytes, kPass>(panel, piece.numbers, v, &next);
    if (kPass == Pass::reflect) store<T>(uplo, a, first, count, columns, piece);
    v += Lanes<T, kBytes>::kColumn * panel.k;
  }
}

// Functions of their own, because only a function may ask for instructions.

template <class T, Pass kPass>
void rows_baseline(const Panel<T>& panel, Uplo uplo, HostView<T> a, Real<T>* v) {
  take_rows<T, 16, kPass>(panel, uplo, a, v);
}
template <class T, Pass kPass>
void pieces_baseline(const Panel<T>& panel, Index count, Real<T>* l, Real<T>* v) {
  take_pieces<T, 16, kPass>(panel, count, l, v);
}
#if defined(__x86_64__)
template <class T, Pass kPass>
[[gnu::target("avx2,fma")]] void rows_avx2(const Panel<T>& panel, Uplo uplo, HostView<T> a,
                                           Real<T>* v) {
  take_rows<T, 32, kPass>(panel, uplo, a, v);
}
template <class T, Pass kPass>
[[gnu::target("avx2,fma")]] void pieces_avx2(const Panel<T>& panel, Index count, Real<T>* l,
                                             Real<T>* v) {
  take_pieces<T, 32, kPass>(panel, count, l, v);
}
template <class T, Pass kPass>
[[gnu::target("avx512f,avx2,fma")]] void rows_avx512(const Panel<T>& panel, Uplo uplo,
                                                     HostView<T> a, Real<T>* v) {
  take_rows<T, 64, kPass>(panel, uplo, a, v);
}
template <class T, Pass kPass>
[[gnu::target("avx512f,avx2,fma")]] void pieces_avx512(const Panel<T>& panel, Index count,
                                                       Real<T>* l, Real<T>* v) {
  take_pieces<T, 64, kPass>(panel, count, l, v);
}
#endif

template <class T, Pass kPass>
Passes<T> version(Instructions instructions) {
#if defined(__x86_64__)
  if (instructions == Instructions::avx512) {
    return {rows_avx512<T, kPass>, pieces_avx512<T, kPass>};
  }
  if (instructions == Instructions::avx2) return {rows_avx2<T, kPass>, pieces_avx2<T, kPass>};
#else
  static_cast<void>(instructions);
#endif
  return {rows_baseline<T, kPass>, pieces_baseline<T, kPass>};
}

}  // namespace

template <class T>
Passes<T> passes(Pass pass, Instructions instructions) {
  return pass == Pass::reflect ? version<T, Pass::reflect>(instructions)
                               : version<T, Pass::eliminate>(instructions);
}

#define OVERLAPACK_INSTANTIATE(T) \
  template class Strips<T>;       \
  template Passes<T> passes<T>(Pass, Instructions);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::cpu
