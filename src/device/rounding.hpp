// Rounding between double and single precision, for mixed-precision solvers. A device may have
// none.
#pragma once

#include "device/format.hpp"

namespace overlapack {

template <class T>
class Rounding;

/// Whether T can be rounded to single precision. All that follows is for such T.
template <class T>
inline constexpr bool kRounds = std::is_same_v<Real<T>, double>;

/// Rounds a part of a matrix (?lag2?, ?lat2?).
///   Operands  with row_sizes or column_sizes or both, element (i, j) is divided by p(row_sizes(i))
///             and p(column_sizes(j)) before it is rounded; p(x) is the smallest power of two above
///             |x|, but from 2^-500 to 2^500; for 0 and what is not finite it is 1
///   Writes    the part of `to`; *overflow becomes 1 if a number of the part, as it was, is beyond
///             single precision's largest, and stays as it is otherwise (NaNs are not)
template <class T>
struct Round {
  using Scalar = T;
  using Group = Rounding<T>;
  static constexpr const char* kName = "round";

  Part part;
  DeviceView<const T> from;
  DeviceView<Single<T>> to;
  DeviceView<Index> overflow;
  DeviceView<const Real<T>> row_sizes = {}, column_sizes = {};

  bool empty() const { return from.empty(); }
  bool fits() const {
    return operation::same_shape(from, to) && overflow.rows == 1 &&
           (row_sizes.data == nullptr || operation::is_column(row_sizes, from.rows)) &&
           (column_sizes.data == nullptr || operation::is_column(column_sizes, from.cols));
  }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.from), visit(self.to), visit(self.overflow);
    visit(self.row_sizes), visit(self.column_sizes);
  }
};

/// Round without sizes, of numbers of which only the high words are there: those of one number lie
/// where its rounded form would. The others count as zero, so that what is rounded has 21
/// significant bits. Nothing is said of overflow: Join knows.
///   Writes   the part of `to`
template <class T>
struct RoundHigh {
  using Scalar = T;
  using Group = Rounding<T>;
  static constexpr const char* kName = "round high words";

  Part part;
  DeviceView<const Single<T>> high;
  DeviceView<Single<T>> to;

  bool empty() const { return high.empty(); }
  bool fits() const { return operation::same_shape(high, to); }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.high), visit(self.to);
  }
};

/// Makes numbers of their high and low words.
///   Writes   the part of `to`; *overflow as by Round
template <class T>
struct Join {
  using Scalar = T;
  using Group = Rounding<T>;
  static constexpr const char* kName = "join words";

  Part part;
  DeviceView<const Single<T>> high, low;
  DeviceView<T> to;
  DeviceView<Index> overflow;

  bool empty() const { return high.empty(); }
  bool fits() const {
    return operation::same_shape(high, to) && operation::same_shape(high, low) &&
           overflow.rows == 1;
  }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.high), visit(self.low), visit(self.to), visit(self.overflow);
  }
};

/// to := from + beta to, with row i of `from` divided by p(row_sizes(i)) if there are sizes
/// (Round).
///   Writes   to
template <class T>
struct Widen {
  using Scalar = T;
  using Group = Rounding<T>;
  static constexpr const char* kName = "widen";

  DeviceView<const Single<T>> from;
  T beta;
  DeviceView<T> to;
  DeviceView<const Real<T>> row_sizes = {};

  bool empty() const { return from.empty(); }
  bool fits() const {
    return operation::same_shape(from, to) &&
           (row_sizes.data == nullptr || operation::is_column(row_sizes, from.rows));
  }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.from), visit(self.to), visit(self.row_sizes);
  }
};

/// Enqueues the operations above.
template <class T>
class Rounding {
 public:
  virtual ~Rounding() = default;

 protected:
  friend class Queue;
  virtual void run(Queue&, const Round<T>&) = 0;
  virtual void run(Queue&, const RoundHigh<T>&) = 0;
  virtual void run(Queue&, const Join<T>&) = 0;
  virtual void run(Queue&, const Widen<T>&) = 0;
};

}  // namespace overlapack
