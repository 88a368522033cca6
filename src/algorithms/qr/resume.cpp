// What the CPU does of geqrf() when the device has failed.
#include <algorithm>
#include <vector>

#include "algorithms/qr/qr.hpp"
#include "cpu/householder.hpp"

namespace overlapack::algorithms {
namespace {

/// Of the reflectors that are made into one.
constexpr Index kBlock = 32;

/// Memory for what reflect() needs, of block reflectors of m rows for n columns.
template <class T>
struct Workspace {
  Workspace(Index m, Index n)
      : v(at(m * kBlock)), t(at(kBlock * kBlock)), product(at(kBlock * n)), scaled(product) {}
  std::vector<T> v, t, product, scaled;
};

/// C := Q^H C for the reflectors in `a` (LAPACK's ?larfb).
template <class T>
void reflect(const cpu::Lapack<T>& cpu, HostView<const T> a, const T* tau, HostView<T> c,
             Workspace<T>& work) {
  if (c.empty()) return;
  const Index m = a.rows, k = a.cols;
  const HostView<T> v(work.v.data(), m, k, m), t(work.t.data(), k, k, k);
  const HostView<T> product(work.product.data(), k, c.cols, k);
  const HostView<T> scaled(work.scaled.data(), k, c.cols, k);
  reference::reflectors_of<T>(a, v);
  reference::block_reflector<T>(v, tau, t);
  cpu.gemm(Op::conj_trans, Op::none, T(1), v, c, T(0), product);
  cpu.gemm(Op::conj_trans, Op::none, T(1), t, product, T(0), scaled);
  cpu.gemm(Op::none, Op::none, T(-1), v, scaled, T(1), c);
}

}  // namespace

/// The textbook's steps, for blocks that are cut where the committed columns end. What is
/// committed is factored already, and is reflected into all else only.
template <class T>
void resume_geqrf(const cpu::Lapack<T>& cpu, HostView<T> a, T* tau, Index committed) {
  const Index steps = std::min(a.rows, a.cols);
  Workspace<T> work(a.rows, a.cols);
  Index b = 0;
  for (Index k = 0; k < steps; k += b) {
    const bool done = k < committed;
    b = std::min(kBlock, (done ? std::min(committed, steps) : steps) - k);
    const HostView<T> panel = a.block(k, k, a.rows - k, b);
    if (!done) reference::geqrf(panel, tau + k);
    const Index rest = std::max(committed, k + b);
    reflect<T>(cpu, panel, tau + k, a.block(k, rest, a.rows - k, a.cols - rest), work);
  }
}

#define OVERLAPACK_INSTANTIATE(T) \
  template void resume_geqrf<T>(const cpu::Lapack<T>&, HostView<T>, T*, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
