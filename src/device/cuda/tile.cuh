// 8 x 8 tiles of double numbers, real or complex, each spread over the lanes of one warp and
// multiplied on the FP64 tensor cores.
//
// Lane 4 g + t holds elements (g, 2 t) and (g, 2 t + 1). This is the layout in which mma.m8n8k4
// keeps its 8 x 8 result. Of its operands A (8 x 4) and B (4 x 8) the same lane holds A(g, t) and
// B(t, g). A sum may be taken in any order, so one such product takes the even columns of a tile
// and a second one the odd columns: then operands have the layout of results, and no number ever
// changes lanes. It is also the order of a tile that lies row by row in memory.
#pragma once

#include "device/cuda/arithmetic.cuh"

namespace overlapack::cuda {

constexpr int kTile = 8;

/// The double precision counterpart of a kernel-side scalar.
template <class T>
struct DoubleOf {
  using type = double;
};
template <class R>
struct DoubleOf<Complex<R>> {
  using type = Complex<double>;
};

/// One lane's share of a tile.
template <class E>
struct Fragment {
  E value[2];
};

/// Row and first column of a lane's share.
__device__ inline int fragment_row(int lane) { return lane / 4; }
__device__ inline int fragment_column(int lane) { return lane % 4 * 2; }

/// A tile in shared memory. Consecutive lanes touch consecutive 16-byte words: no bank conflicts.
template <class E>
struct Tile;

template <>
struct Tile<double> {
  double2 row[kTile][kTile / 2];

  __device__ Fragment<double> load(int lane) const { return pair(lane / 4, lane % 4); }
  __device__ void store(int lane, const Fragment<double>& x) {
    row[lane / 4][lane % 4] = make_double2(x.value[0], x.value[1]);
  }
  /// Elements (i, 2 p) and (i, 2 p + 1).
  __device__ Fragment<double> pair(int i, int p) const { return {row[i][p].x, row[i][p].y}; }
  __device__ double get(int i, int j) const { return reinterpret_cast<const double*>(row[i])[j]; }
  __device__ void set(int i, int j, double x) { reinterpret_cast<double*>(row[i])[j] = x; }
};

template <>
struct Tile<Complex<double>> {
  Tile<double> re, im;

  __device__ Fragment<Complex<double>> load(int lane) const { return pair(lane / 4, lane % 4); }
  __device__ void store(int lane, const Fragment<Complex<double>>& x) {
    re.store(lane, {x.value[0].re, x.value[1].re});
    im.store(lane, {x.value[0].im, x.value[1].im});
  }
  __device__ Fragment<Complex<double>> pair(int i, int p) const {
    const Fragment<double> r = re.pair(i, p), m = im.pair(i, p);
    return {{{r.value[0], m.value[0]}, {r.value[1], m.value[1]}}};
  }
  __device__ Complex<double> get(int i, int j) const { return {re.get(i, j), im.get(i, j)}; }
  __device__ void set(int i, int j, Complex<double> x) {
    re.set(i, j, x.re);
    im.set(i, j, x.im);
  }
};

template <class E>
__device__ Fragment<E> zero_fragment() {
  return {{from_real<E>(0), from_real<E>(0)}};
}

template <class E>
__device__ Fragment<E> negated(const Fragment<E>& x) {
  return {{scale(x.value[0], -1.0), scale(x.value[1], -1.0)}};
}

/// The 8 x 8 matrix c += a b of an 8 x 4 and a 4 x 8 one.
__device__ inline void multiply_add_8x8x4(double& c0, double& c1, double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c0), "+d"(c1)
               : "d"(a), "d"(b));
}

/// C += A B^H.
__device__ inline void multiply_add(Fragment<double>& c, const Fragment<double>& a,
                                    const Fragment<double>& b) {
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    multiply_add_8x8x4(c.value[0], c.value[1], a.value[e], b.value[e]);
  }
}
__device__ inline void multiply_add(Fragment<Complex<double>>& c,
                                    const Fragment<Complex<double>>& a,
                                    const Fragment<Complex<double>>& b) {
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const Complex<double> x = a.value[e], y = b.value[e];
    multiply_add_8x8x4(c.value[0].re, c.value[1].re, x.re, y.re);
    multiply_add_8x8x4(c.value[0].im, c.value[1].im, x.im, y.re);
    multiply_add_8x8x4(c.value[0].re, c.value[1].re, x.im, y.im);
    multiply_add_8x8x4(c.value[0].im, c.value[1].im, -x.re, y.im);
  }
}

}  // namespace overlapack::cuda
