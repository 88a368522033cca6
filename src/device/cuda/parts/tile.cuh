// 16 x 16 tiles of double numbers, real or complex, each spread over the lanes of one warp and
// multiplied on the FP64 tensor cores.
//
// Lane 4 g + t holds elements (8 h + g, 8 j + 2 t + e) for h, j, e = 0, 1. This is the layout in
// which mma.m16n8k16 keeps the two halves j of a result. Of its operands A (16 x 16) and B (16 x 8)
// the same lane holds A(8 h + g, 4 i + t) and B(4 i + t, g) for i = 0, ..., 3. A sum may be taken
// in any order, so let summand 4 i + t be column 8 j + 2 t + e with i = 2 j + e: then operands have
// the layout of results, and no number ever changes lanes.
#pragma once

#include "device/cuda/parts/arithmetic.cuh"

namespace overlapack::cuda {

constexpr int kTile = 16;

/// Tiles in a row of a block: as many as fit in the registers of a warp that owns the row.
template <class E>
constexpr int kTiles = sizeof(E) == sizeof(double) ? 8 : 4;

/// Row and column of element (h, j, e) of a lane.
__device__ inline int fragment_row(int lane, int h) { return 8 * h + lane / 4; }
__device__ inline int fragment_column(int lane, int j, int e) { return 8 * j + lane % 4 * 2 + e; }

/// One lane's share of a tile.
template <class E>
struct Fragment;

template <>
struct Fragment<double> {
  double value[2][2][2];  // h, j, e

  __device__ double get(int h, int j, int e) const { return value[h][j][e]; }
  __device__ void set(int h, int j, int e, double x) { value[h][j][e] = x; }
};

template <>
struct Fragment<Complex<double>> {
  Fragment<double> re, im;

  __device__ Complex<double> get(int h, int j, int e) const {
    return {re.get(h, j, e), im.get(h, j, e)};
  }
  __device__ void set(int h, int j, int e, Complex<double> x) {
    re.set(h, j, e, x.re);
    im.set(h, j, e, x.im);
  }
};

/// Calls f(h, j, e) for every element of a lane.
template <class F>
__device__ void for_each_element(F f) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
#pragma unroll
      for (int e = 0; e < 2; ++e) f(h, j, e);
    }
  }
}

/// A lane's elements of a tile as they lie in memory: what is not converted yet need not have
/// arrived.
template <class T>
struct RawFragment {
  T value[2][2][2];  // h, j, e
};

template <class E, class T>
__device__ Fragment<E> converted(const RawFragment<T>& x, bool conjugated) {
  Fragment<E> y;
  for_each_element([&](int h, int j, int e) {
    E value;
    convert(value, x.value[h][j][e]);
    y.set(h, j, e, conjugated ? conjugate(value) : value);
  });
  return y;
}

/// A tile in shared memory, row by row. The padding keeps rows in different banks.
template <class E>
struct Rows {
  static constexpr int kStride = kTile + 2;
  struct alignas(16) Pair {
    E x, y;
  };
  Pair pair[kTile][kStride / 2];

  __device__ E* row(int i) { return &pair[i][0].x; }
  __device__ const E* row(int i) const { return &pair[i][0].x; }

  __device__ Fragment<E> load(int lane) const {
    Fragment<E> x;
    for_each_element([&](int h, int j, int e) {
      const Pair p = pair[fragment_row(lane, h)][fragment_column(lane, j, 0) / 2];
      x.set(h, j, e, e == 0 ? p.x : p.y);
    });
    return x;
  }
  __device__ void store(int lane, const Fragment<E>& x) {
    for_each_element([&](int h, int j, int e) {
      if (e == 1) return;
      pair[fragment_row(lane, h)][fragment_column(lane, j, 0) / 2] = {x.get(h, j, 0),
                                                                      x.get(h, j, 1)};
    });
  }
};

template <class E>
__device__ Fragment<E> zero_fragment() {
  Fragment<E> x;
  for_each_element([&](int h, int j, int e) { x.set(h, j, e, from_real<E>(0)); });
  return x;
}

template <class E>
__device__ Fragment<E> negated(const Fragment<E>& x) {
  Fragment<E> y;
  for_each_element([&](int h, int j, int e) { y.set(h, j, e, negate(x.get(h, j, e))); });
  return y;
}

/// A tile in shared memory, in the order of fragments: consecutive lanes touch consecutive 16-byte
/// words, without bank conflicts.
template <class E>
struct Tile;

template <>
struct Tile<double> {
  double2 pairs[2][2][32];  // h, j, lane

  __device__ Fragment<double> load(int lane) const {
    Fragment<double> x;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const double2 pair = pairs[h][j][lane];
        x.value[h][j][0] = pair.x;
        x.value[h][j][1] = pair.y;
      }
    }
    return x;
  }
  /// The same for a tile that is the left operand of many products. Of it the hardware wants
  /// elements h = 0 and h = 1 in neighbouring registers, but of results and right operands e = 0
  /// and e = 1. Loaded one by one they need not be rearranged for every product.
  __device__ Fragment<double> load_left_operand(int lane) const {
    Fragment<double> x;
    for_each_element([&](int h, int j, int e) {
      x.value[h][j][e] = static_cast<const volatile double*>(&pairs[h][j][lane].x)[e];
    });
    return x;
  }
  __device__ void store(int lane, const Fragment<double>& x) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        pairs[h][j][lane] = make_double2(x.value[h][j][0], x.value[h][j][1]);
      }
    }
  }
};

template <>
struct Tile<Complex<double>> {
  Tile<double> re, im;

  __device__ Fragment<Complex<double>> load(int lane) const {
    return {re.load(lane), im.load(lane)};
  }
  __device__ Fragment<Complex<double>> load_left_operand(int lane) const {
    return {re.load_left_operand(lane), im.load_left_operand(lane)};
  }
  __device__ void store(int lane, const Fragment<Complex<double>>& x) {
    re.store(lane, x.re);
    im.store(lane, x.im);
  }
};

/// Columns 8 n to 8 n + 7 of d = c + a b^H, where only the first 8 (kHalves + 1) columns of a and b
/// count. Hopper has this as one instruction, at twice the rate of Ampere's 8 x 8 x 4.
template <int kHalves>
__device__ void multiply_add_half(int n, Fragment<double>& d, const Fragment<double>& a,
                                  const Fragment<double>& b, const Fragment<double>& c) {
  double &d0 = d.value[0][n][0], &d1 = d.value[0][n][1];
  double &d2 = d.value[1][n][0], &d3 = d.value[1][n][1];
  const double c0 = c.value[0][n][0], c1 = c.value[0][n][1];
  const double c2 = c.value[1][n][0], c3 = c.value[1][n][1];
#if __CUDA_ARCH__ >= 900
  if constexpr (kHalves == 1) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=d"(d0), "=d"(d1), "=d"(d2), "=d"(d3)
        : "d"(a.value[0][0][0]), "d"(a.value[1][0][0]), "d"(a.value[0][0][1]),
          "d"(a.value[1][0][1]), "d"(b.value[n][0][0]), "d"(b.value[n][0][1]), "d"(c0), "d"(c1),
          "d"(c2), "d"(c3));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "
        "{%16, %17, %18, %19};"
        : "=d"(d0), "=d"(d1), "=d"(d2), "=d"(d3)
        : "d"(a.value[0][0][0]), "d"(a.value[1][0][0]), "d"(a.value[0][0][1]),
          "d"(a.value[1][0][1]), "d"(a.value[0][1][0]), "d"(a.value[1][1][0]),
          "d"(a.value[0][1][1]), "d"(a.value[1][1][1]), "d"(b.value[n][0][0]),
          "d"(b.value[n][0][1]), "d"(b.value[n][1][0]), "d"(b.value[n][1][1]), "d"(c0), "d"(c1),
          "d"(c2), "d"(c3));
  }
#else
  d0 = c0, d1 = c1, d2 = c2, d3 = c3;
#  pragma unroll
  for (int j = 0; j < kHalves; ++j) {
#  pragma unroll
    for (int e = 0; e < 2; ++e) {
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+d"(d0), "+d"(d1)
                   : "d"(a.value[0][j][e]), "d"(b.value[n][j][e]));
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+d"(d2), "+d"(d3)
                   : "d"(a.value[1][j][e]), "d"(b.value[n][j][e]));
    }
  }
#endif
}

/// D = C + A B^H.
__device__ inline void multiply_add(Fragment<double>& d, const Fragment<double>& a,
                                    const Fragment<double>& b, const Fragment<double>& c) {
  multiply_add_half<2>(0, d, a, b, c);
  multiply_add_half<2>(1, d, a, b, c);
}
/// The same with a lower triangular B.
__device__ inline void multiply_add_lower(Fragment<double>& d, const Fragment<double>& a,
                                          const Fragment<double>& b, const Fragment<double>& c) {
  multiply_add_half<1>(0, d, a, b, c);
  multiply_add_half<2>(1, d, a, b, c);
}

__device__ inline void multiply_add(Fragment<Complex<double>>& d,
                                    const Fragment<Complex<double>>& a,
                                    const Fragment<Complex<double>>& b,
                                    const Fragment<Complex<double>>& c) {
  multiply_add(d.re, a.re, b.re, c.re);
  multiply_add(d.im, a.im, b.re, c.im);
  multiply_add(d.re, a.im, b.im, d.re);
  multiply_add(d.im, a.re, negated(b.im), d.im);
}
__device__ inline void multiply_add_lower(Fragment<Complex<double>>& d,
                                          const Fragment<Complex<double>>& a,
                                          const Fragment<Complex<double>>& b,
                                          const Fragment<Complex<double>>& c) {
  multiply_add_lower(d.re, a.re, b.re, c.re);
  multiply_add_lower(d.im, a.im, b.re, c.im);
  multiply_add_lower(d.re, a.im, b.im, d.re);
  multiply_add_lower(d.im, a.re, negated(b.im), d.im);
}

}  // namespace overlapack::cuda
