// ?geqrf, ?orgqr (?ungqr of complex numbers) and ?ormqr (?unmqr) by the CPU LAPACK, or by textbook
// loops where no library has the routine.
//
// A LAPACK's own drivers call these by their names, and look at no `info`: ?gesvd, ?gels, ?geev.
// So nothing here may need memory. The CPU LAPACK gets the caller's workspace, and the loops need
// none.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "cpu/calling.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::cpu {
namespace textbook {

/// A matrix, or the adjoint of one, element by element.
template <class T>
struct Elements {
  using Value = std::remove_const_t<T>;
  HostView<T> a;
  bool adjoint = false;

  Index rows() const { return adjoint ? a.cols : a.rows; }
  Index cols() const { return adjoint ? a.rows : a.cols; }
  Value get(Index i, Index j) const { return adjoint ? conj(Value(a(j, i))) : a(i, j); }
  void set(Index i, Index j, Value x) const {
    (adjoint ? a(j, i) : a(i, j)) = adjoint ? conj(x) : x;
  }
};

/// Its range holds the squares of all doubles.
template <class T>
using Long = std::conditional_t<is_complex<T>, std::complex<long double>, long double>;

/// Of column j from the diagonal down, x, the reflector H = I - tau v v^H that makes a multiple
/// beta e1 of it, H^H x. In place of x there are beta and v then, without the 1 that v begins with.
/// Returns tau, which is 0 if x is such a multiple already (?larfg).
template <class T>
T make_reflector(const Elements<T>& a, Index j) {
  long double squares = 0;
  for (Index i = j + 1; i < a.rows(); ++i) squares += std::norm(Long<T>(a.get(i, j)));
  const Long<T> alpha = a.get(j, j);
  if (squares == 0 && std::imag(alpha) == 0) return T(0);
  const long double beta = -std::copysign(std::sqrt(std::norm(alpha) + squares), std::real(alpha));
  for (Index i = j + 1; i < a.rows(); ++i) {
    a.set(i, j, T(Long<T>(a.get(i, j)) / (alpha - beta)));
  }
  a.set(j, j, T(Long<T>(beta)));
  return T((beta - alpha) / beta);
}

/// (I - tau v v^H) C for some columns of C, where v is column j of `reflectors`.
template <class T, class V>
void reflect(const Elements<V>& reflectors, Index j, T tau, const Elements<T>& c, Range columns) {
  if (tau == T(0)) return;
  for (Index l = columns.first; l < columns.last; ++l) {
    T sum = c.get(j, l);
    for (Index i = j + 1; i < c.rows(); ++i) sum += conj(reflectors.get(i, j)) * c.get(i, l);
    sum *= tau;
    c.set(j, l, c.get(j, l) - sum);
    for (Index i = j + 1; i < c.rows(); ++i) {
      c.set(i, l, c.get(i, l) - reflectors.get(i, j) * sum);
    }
  }
}

/// A = Q R, where Q is the product of reflectors, the first one on the left.
template <class T>
void geqrf(const Elements<T>& a, T* tau) {
  for (Index j = 0; j < std::min(a.rows(), a.cols()); ++j) {
    tau[j] = make_reflector(a, j);
    reflect(a, j, conj(tau[j]), a, {j + 1, a.cols()});
  }
}

/// The first columns of Q in place of `count` reflectors, from the last one on.
template <class T>
void orgqr(const Elements<T>& a, Index count, const T* tau) {
  for (Index j = count; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) a.set(i, j, T(i == j));
  }
  for (Index j = count - 1; j >= 0; --j) {
    reflect(a, j, tau[j], a, {j + 1, a.cols()});
    for (Index i = 0; i < j; ++i) a.set(i, j, T(0));
    a.set(j, j, T(1) - tau[j]);
    for (Index i = j + 1; i < a.rows(); ++i) a.set(i, j, -tau[j] * a.get(i, j));
  }
}

/// C := op(Q) C for the Q of `count` reflectors.
template <class T>
void ormqr(Op op, const Elements<const T>& reflectors, Index count, const T* tau,
           const Elements<T>& c) {
  const bool direct = op == Op::none;
  for (Index k = 0; k < count; ++k) {
    const Index j = direct ? count - 1 - k : k;
    reflect(reflectors, j, direct ? tau[j] : conj(tau[j]), c, {0, c.cols()});
  }
}

}  // namespace textbook

/// The size of a workspace as the library's integer. What is more than that holds is of no use.
template <class I, class T>
I narrow_size(Workspace<T> work) {
  return static_cast<I>(std::min<Index>(work.size, std::numeric_limits<I>::max()));
}

/// A size as LAPACK says it in the first element of WORK: rounded up, if the type cannot hold it.
template <class T>
T size_in_work(Index size) {
  auto number = static_cast<Real<T>>(size);
  if (static_cast<Index>(number) < size) {
    number = std::nextafter(number, std::numeric_limits<Real<T>>::infinity());
  }
  return T(number);
}

/// Says which size is wanted, if the CPU LAPACK has not said it, or has said less than it accepts.
template <class T>
void see_to_size(Workspace<T> work, Index least, bool said) {
  const T size = size_in_work<T>(least);
  if (!said || (work.is_query() && !(real(*work.data) >= real(size)))) *work.data = size;
}

// Of each of these the arguments are valid, and info is LAPACK's. The first element of the
// workspace becomes the size that is wanted; a query does nothing else.

template <class T>
Index geqrf(const Lapack<T>& lapack, HostView<T> a, T* tau, Workspace<T> work) {
  Index result = 0;
  const bool done = call(lapack, "geqrf", {a.rows, a.cols, a.ld}, [&](auto width, void* f) {
    using I = decltype(width);
    const I m = narrow<I>(a.rows), n = narrow<I>(a.cols), lda = narrow<I>(a.ld);
    const I lwork = narrow_size<I>(work);
    I info = 0;
    as<typename Signature<T, I>::geqrf>(f)(&m, &n, a.data, &lda, tau, work.data, &lwork, &info);
    result = info;
  });
  if (!done && !work.is_query()) textbook::geqrf<T>({a}, tau);
  see_to_size(work, std::max<Index>(a.cols, 1), done);
  return result;
}

/// ?orgqr, or ?ungqr.
template <class T>
Index orgqr(const Lapack<T>& lapack, HostView<T> a, Index count, const T* tau, Workspace<T> work) {
  Index result = 0;
  const char* const name = is_complex<T> ? "ungqr" : "orgqr";
  const bool done = call(lapack, name, {a.rows, a.cols, a.ld}, [&](auto width, void* f) {
    using I = decltype(width);
    const I m = narrow<I>(a.rows), n = narrow<I>(a.cols), k = narrow<I>(count);
    const I lda = narrow<I>(a.ld), lwork = narrow_size<I>(work);
    I info = 0;
    as<typename Signature<T, I>::orgqr>(f)(&m, &n, &k, a.data, &lda, tau, work.data, &lwork, &info);
    result = info;
  });
  if (!done && !work.is_query()) textbook::orgqr<T>({a}, count, tau);
  see_to_size(work, std::max<Index>(a.cols, 1), done);
  return result;
}

/// ?ormqr, or ?unmqr: C := op(Q) C or C op(Q), where `a` has the reflectors that Q is made of. `op`
/// is not Op::trans.
template <class T>
Index ormqr(const Lapack<T>& lapack, Side side, Op op, HostView<const T> a, const T* tau,
            HostView<T> c, Workspace<T> work) {
  Index result = 0;
  const bool left = side == Side::left;
  const char* const name = is_complex<T> ? "unmqr" : "ormqr";
  const bool done =
      call(lapack, name, {a.cols, a.ld, c.rows, c.cols, c.ld}, [&](auto width, void* f) {
        using I = decltype(width);
        const char s = static_cast<char>(side), t = character<T>(op);
        const I m = narrow<I>(c.rows), n = narrow<I>(c.cols), k = narrow<I>(a.cols);
        const I lda = narrow<I>(a.ld), ldc = narrow<I>(c.ld), lwork = narrow_size<I>(work);
        I info = 0;
        as<typename Signature<T, I>::ormqr>(f)(&s, &t, &m, &n, &k, a.data, &lda, tau, c.data, &ldc,
                                               work.data, &lwork, &info, 1, 1);
        result = info;
      });
  if (!done && !work.is_query()) {
    // C Q is the adjoint of Q^H C^H.
    const Op of_adjoint = op == Op::none ? Op::conj_trans : Op::none;
    textbook::ormqr<T>(left ? op : of_adjoint, {a}, a.cols, tau, {c, !left});
  }
  see_to_size(work, std::max<Index>(left ? c.cols : c.rows, 1), done);
  return result;
}

/// What is left of ?geqrf when the first `done` columns, and their part of tau, are final, and all
/// others are as they were.
template <class T>
Index finish_geqrf(const Lapack<T>& lapack, HostView<T> a, T* tau, Index done, Workspace<T> work) {
  const Index reflectors = std::min({done, a.rows, a.cols});
  const HostView<T> rest = a.block(0, done, a.rows, a.cols - done);
  if (reflectors > 0 && !rest.empty()) {
    ormqr<T>(lapack, Side::left, Op::conj_trans, a.block(0, 0, a.rows, reflectors), tau, rest,
             work);
  }
  if (done < std::min(a.rows, a.cols)) {
    geqrf(lapack, a.block(done, done, a.rows - done, a.cols - done), tau + done, work);
  }
  return geqrf(lapack, a, tau, Workspace<T>{work.data, Workspace<T>::kQuery});
}

}  // namespace overlapack::cpu
