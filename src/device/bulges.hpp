// The second stage of a reduction to tridiagonal form: from a Hermitian band matrix to a
// tridiagonal one, by bulge chasing, and the way back of eigenvectors. A device that has no kernels
// for it does it by a trip to the CPU (device/defaults.cpp).
//
// Sweep s makes column s of the band that of a tridiagonal matrix, by a reflector in rows s + 1 to
// s + b. That makes a bulge below, of which the next reflector takes the first column away, b rows
// further down, and so on to the last row. Reflector k of sweep s,
//
//   H(s, k) = I - tau(s, k) v(s, k) v(s, k)^H,   in rows s + 1 + k b, ..., s + (k + 1) b,
//
// and all reflectors of a sweep fill one column below the diagonal. So V, n x n, holds all of them:
// column s from row s + 1 on has v(s, 0), v(s, 1) and so on, with their ones, and tau(s, k) is in
// row s across from the one of v(s, k): V(s, s + 1 + k b) and V(s + 1 + k b, s).
//
// On the way back reflectors k of a group of sweeps are one block reflector I - W T W^H (a compact
// WY form). T has the tau on its diagonal, and where these stand in V it fits in: T(i, j) of the
// group that begins with sweep s is V(s + i, s + j + 1 + k b), for i <= j. Groups have b sweeps at
// most, so blocks do not overlap.
#pragma once

#include "device/fused.hpp"

namespace overlapack {

template <class T>
class Bulges;

/// Q^H B Q for a Hermitian band matrix B of order n, with Q = H(0, 0) H(0, 1) ... H(1, 0) ...: a
/// tridiagonal matrix, which is real. All sweeps are made, n - 1 of them.
///   Operands  band, of n columns: B(i, j) in row i - j of column j, for 0 <= i - j <= bandwidth,
///             which is at most Limits::chase_bandwidth; it has 2 * bandwidth rows at least, and
///             zeros behind the first bandwidth + 1 of these. Elements beyond the last row of B
///             are not referenced. Imaginary parts of the diagonal are ignored.
///             work: work space (chase_work())
///   Writes    band: it is spoilt; d, e; v, unless empty: reflectors and tau. Its diagonal, and
///             what is above but for tau, stay as they are
template <class T>
struct ChaseBulges {
  using Scalar = T;
  using Group = Bulges<T>;
  static constexpr const char* kName = "chase_bulges";

  Index bandwidth;
  DeviceView<T> band;
  DeviceView<Real<T>> d, e;
  DeviceView<T> v, work;

  Index order() const { return band.cols; }
  bool empty() const { return band.empty(); }
  bool fits() const {
    const Index n = order();
    return bandwidth > 0 && band.rows >= 2 * bandwidth && operation::is_column(d, n) &&
           e.rows == n - 1 && (v.empty() || (operation::is_square(v) && v.rows == n));
  }
  /// A reflector goes through three blocks of the bandwidth's order.
  double flops() const {
    return operation::flops<T>(3 * operation::product(order(), order(), bandwidth));
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.band), visit(self.d), visit(self.e), visit(self.v), visit(self.work);
  }
};

/// The T of all blocks of reflectors.
///   Operands  v: as ChaseBulges leaves it; groups have `group` sweeps, at most the bandwidth and
///             Limits::bulge_group
///   Writes    v: what is above the diagonal of the T's, and only for reflectors that there are
template <class T>
struct BulgeFactors {
  using Scalar = T;
  using Group = Bulges<T>;
  static constexpr const char* kName = "bulge_factors";

  Index bandwidth, group;
  DeviceView<T> v;

  bool empty() const { return v.empty(); }
  bool fits() const { return operation::is_square(v) && group > 0 && group <= bandwidth; }
  double flops() const {
    return operation::flops<T>(operation::product(v.rows, v.rows, group) / 4);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.v);
  }
};

/// Z := Q Z for some columns.
///   Operands  v: as BulgeFactors leaves it; work: work space, empty or of reflect_work() elements.
///             With it, and if a column of Z has an even number of elements, it is faster
///   Writes    z
template <class T>
struct ReflectBulges {
  using Scalar = T;
  using Group = Bulges<T>;
  static constexpr const char* kName = "reflect_bulges";

  Index bandwidth, group;
  DeviceView<const T> v;
  DeviceView<T> work, z;

  bool empty() const { return z.empty(); }
  bool fits() const {
    return operation::is_square(v) && group > 0 && group <= bandwidth && z.rows == v.rows;
  }
  /// Of the reflectors, one by one.
  double flops() const { return operation::flops<T>(operation::product(v.rows, v.rows, z.cols)); }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.v), visit(self.work), visit(self.z);
  }
};

/// Enqueues what is above, by default by a trip to the CPU.
template <class T>
class Bulges : public Fused<T> {
 public:
  using Fused<T>::Fused;

  /// Elements of ChaseBulges::work.
  virtual Index chase_work() const;
  /// Elements of ReflectBulges::work.
  virtual Index reflect_work(Index n, Index bandwidth) const;

 protected:
  friend class Queue;
  using Fused<T>::run;
  virtual void run(Queue&, const ChaseBulges<T>&);
  virtual void run(Queue&, const BulgeFactors<T>&);
  virtual void run(Queue&, const ReflectBulges<T>&);
};

}  // namespace overlapack
