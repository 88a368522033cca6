// The operations of tridiagonal.hpp as textbook loops; see blas.hpp.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "cpu/tridiagonal.hpp"
#include "device/reference/fused.hpp"
#include "device/tridiagonal.hpp"

namespace overlapack::reference {

namespace detail {

/// Of a merge.
struct Parts {
  Index first, middle, last;
  Index size() const { return last - first; }
};
inline Parts parts_of(DeviceView<const Index> parts, Index m) {
  const HostView<const Index> view = here(parts);
  return {view(0, m), view(1, m), view(2, m)};
}
/// The poles that remain of a merge.
inline Index poles_of(DeviceView<const Index> counts, Index m) {
  const HostView<const Index> view = here(counts);
  return view(0, m) + view(1, m) + view(2, m);
}

/// Of the terms of a sum, one after the other.
template <class R>
struct SumInOrder {
  template <class Term>
  tridiagonal::ValueAndSlope<R> operator()(Index first, Index last, Term term) const {
    tridiagonal::ValueAndSlope<R> sum{0, 0};
    for (Index i = first; i < last; ++i) {
      const auto one = term(i);
      sum.value += one.value, sum.slope += one.slope;
    }
    return sum;
  }
};

/// Notes what is found of a merge's poles.
template <class T>
class NoteDeflation {
 public:
  NoteDeflation(const Deflate<T>& op, Index m)
      : op_(op), m_(m), parts_(parts_of(op.parts, m)), end_(parts_.last) {}

  void keep(const tridiagonal::Pole<T>& pole) {
    here(op_.poles)(parts_.first + size(kept_)) = pole.d;
    here(op_.z)(parts_.first + size(kept_)) = pole.z;
    kept_.push_back(pole);
  }
  void drop(const tridiagonal::Pole<T>& pole) {
    here(op_.d)(--end_) = pole.d;
    here(op_.columns)(end_) = pole.column;
  }
  void rotate(Index p, Index q, T c, T s) {
    ++rotations_;
    const HostView<T> a = here(op_.q);
    for (Index i = parts_.first; i < parts_.last; ++i) {
      const T x = a(i, p), y = a(i, q);
      a(i, p) = c * x + s * y;
      a(i, q) = c * y - s * x;
    }
  }
  /// The groups of the remaining poles, one after the other.
  void finish() const {
    Index place = 0;
    for (int rows = 0; rows < tridiagonal::kKindsOfRows; ++rows) {
      const Index before = place;
      for (Index i = 0; i < size(kept_); ++i) {
        const auto& pole = kept_[static_cast<std::size_t>(i)];
        if (static_cast<int>(pole.rows) != rows) continue;
        here(op_.columns)(parts_.first + place) = pole.column;
        here(op_.places)(parts_.first + i) = place++;
      }
      here(op_.counts)(rows, m_) = place - before;
    }
    here(op_.counts)(tridiagonal::kKindsOfRows, m_) = rotations_;
  }

 private:
  template <class List>
  static Index size(const List& list) {
    return static_cast<Index>(list.size());
  }

  const Deflate<T>& op_;
  const Index m_;
  const Parts parts_;
  Index end_;  // those that are known stand from here on
  Index rotations_ = 0;
  std::vector<tridiagonal::Pole<T>> kept_;
};

}  // namespace detail

template <class T>
void on_cpu(const DiagonalizeLeaves<T>& op) {
  for (Index b = 0; b < op.count(); ++b) {
    const Index first = here(op.starts)(b), n = here(op.starts)(b + 1) - first;
    const HostView<T> q = here(op.q).block(first, first, n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) q(i, j) = T(i == j);
    }
    std::vector<T> e(static_cast<std::size_t>(n));
    std::copy_n(op.e.data + first, n - 1, e.begin());
    const auto rotate = [&](Index j, T c, T s) {
      for (Index i = 0; i < n; ++i) {
        const T x = q(i, j), y = q(i, j + 1);
        q(i, j) = c * x - s * y;
        q(i, j + 1) = s * x + c * y;
      }
    };
    if (!tridiagonal::iterate_ql(n, op.d.data + first, e.data(), rotate)) here(op.failed)(0) = 1;
  }
}

/// z is the last row of the first part's eigenvectors and the first row of the other's, over the
/// root of 2, which makes its norm 1.
template <class T>
void on_cpu(const Deflate<T>& op) {
  const HostView<const T> q = here(op.q), d = here(op.d);
  for (Index m = 0; m < op.parts.cols; ++m) {
    const detail::Parts parts = detail::parts_of(op.parts, m);
    const T beside = here(op.e)(parts.middle - 1), sign = beside < 0 ? T(-1) : T(1);
    std::vector<tridiagonal::Pole<T>> poles;
    T largest = 0;
    for (Index j = parts.first; j < parts.last; ++j) {
      const bool upper = j < parts.middle;
      const T element = upper ? q(parts.middle - 1, j) : sign * q(parts.middle, j);
      poles.push_back({d(j), element * std::sqrt(T(0.5)), j,
                       upper ? tridiagonal::Rows::upper : tridiagonal::Rows::lower});
      largest = std::max({largest, std::abs(d(j)), std::abs(poles.back().z)});
    }
    std::stable_sort(poles.begin(), poles.end(),
                     [](const auto& x, const auto& y) { return x.d < y.d; });
    detail::NoteDeflation<T> note(op, m);
    tridiagonal::Deflation<T> deflation(2 * std::abs(beside), largest);
    for (const auto& pole : poles) deflation.take(pole, note);
    deflation.finish(note);
    note.finish();
  }
}

template <class T>
void on_cpu(const SolveSecular<T>& op) {
  for (Index m = 0; m < op.parts.cols; ++m) {
    const detail::Parts parts = detail::parts_of(op.parts, m);
    const Index k = detail::poles_of(op.counts, m), first = parts.first;
    const T rho = 2 * std::abs(here(op.e)(parts.middle - 1));
    const tridiagonal::RankOne<T> problem{k, op.poles.data + first, op.z.data + first, rho};
    for (Index j = 0; j < k; ++j) {
      const tridiagonal::Root<T> root =
          tridiagonal::SecularRoot<T>(problem, j).find(detail::SumInOrder<T>());
      here(op.origins)(first + j) = root.origin;
      here(op.shifts)(first + j) = root.shift;
      here(op.d)(first + j) = problem.d[root.origin] + root.shift;
    }
  }
}

template <class T>
void on_cpu(const SecularVectors<T>& op) {
  for (Index m = 0; m < op.parts.cols; ++m) {
    const Index k = detail::poles_of(op.counts, m), first = detail::parts_of(op.parts, m).first;
    const T* const poles = op.poles.data + first;
    const HostView<T> s = here(op.s).block(first, first, k, k);
    const auto root = [&](Index j) {
      return tridiagonal::Root<T>{here(op.origins)(first + j), here(op.shifts)(first + j)};
    };
    for (Index i = 0; i < k; ++i) {
      T square = 1;
      for (Index j = 0; j < k; ++j) square *= tridiagonal::factor_of_square(poles, i, j, root(j));
      T& z = here(op.z)(first + i);
      z = std::copysign(std::sqrt(std::abs(square)), z);
    }
    for (Index j = 0; j < k; ++j) {
      T squares = 0;
      for (Index i = 0; i < k; ++i) {
        const T x = here(op.z)(first + i) / tridiagonal::difference(poles, i, root(j));
        s(here(op.places)(first + i), j) = x;
        squares += x * x;
      }
      for (Index i = 0; i < k; ++i) s(i, j) /= std::sqrt(squares);
    }
  }
}

template <class T>
void on_cpu(const TakeColumns<T>& op) {
  const HostView<const T> from = here(op.from);
  const HostView<T> to = here(op.to);
  const auto take = [&](Range rows, Range columns) {
    for (Index j = columns.first; j < columns.last; ++j) {
      for (Index i = rows.first; i < rows.last; ++i) {
        to(op.step * i, j) = from(i, here(op.columns)(j));
        if (op.step == 2) to(2 * i + 1, j) = T(0);
      }
    }
  };
  if (op.parts.empty()) return take({0, from.rows}, {0, to.cols});
  for (Index m = 0; m < op.parts.cols; ++m) {
    const detail::Parts parts = detail::parts_of(op.parts, m);
    take({parts.first, parts.last}, {parts.first, parts.last});
  }
}

template <class T>
void on_cpu(const MultiplyMerges<T>& op) {
  for (Index m = 0; m < op.parts.cols; ++m) {
    const detail::Parts parts = detail::parts_of(op.parts, m);
    const Range all = {parts.first, parts.last};
    const Range found = {parts.first, parts.first + detail::poles_of(op.counts, m)};
    const Range known = {found.last, parts.last};
    const HostView<const T> grouped = here(op.grouped);
    gemm<T>(Op::none, Op::none, T(1), grouped.block(all, found), here(op.s).block(found, found),
            T(0), here(op.q).block(all, found));
    lacpy<T>(grouped.block(all, known), here(op.q).block(all, known));
  }
}

template <class T>
void on_cpu(const Bisect<T>& op) {
  for (Index i = 0; i < op.values.rows; ++i) {
    here(op.values)(i) =
        tridiagonal::bisect(op.d.rows, op.d.data, op.squares.data, op.low, op.high, op.first + i);
  }
}

}  // namespace overlapack::reference
