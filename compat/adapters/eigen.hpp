// The symmetric eigenproblem, of Hermitian matrices, too: drivers (?syev, ?syevd, ?syevr, ?syevx;
// generalized ?sygv, ?sygvd, ?sygvx), and what they are made of (?sytrd, ?orgtr, ?ormtr, ?stedc).
// From Fortran arguments to checks, to what the dispatcher asks, and to the CPU LAPACK with the
// same arguments.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <tuple>
#include <type_traits>

#include "adapters/call.hpp"
#include "adapters/qr.hpp"
#include "cpu/eigen.hpp"
#include "cpu/forward.hpp"
#include "cpu/workspace.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::compat {

/// The workspaces of a routine that have sizes among its arguments.
template <class T, class I>
struct Works {
  T* work;
  const I* lwork;
  I* iwork = nullptr;
  const I* liwork = nullptr;
  Real<T>* rwork = nullptr;
  const I* lrwork = nullptr;

  std::array<const void*, 3> all() const { return {work, rwork, iwork}; }
  /// A query asks for all sizes at once.
  bool is_query() const {
    return *lwork == -1 || (lrwork != nullptr && *lrwork == -1) ||
           (liwork != nullptr && *liwork == -1);
  }
  /// The position of the first size that is too small, or 0. Each stands two places behind the one
  /// before it, and that of WORK at `position`.
  int first_too_small(int position, const cpu::EigenSizes& least) const {
    const int next = lrwork != nullptr ? 2 : 0;
    return first_invalid({{position, *lwork >= least.work},
                          {position + 2, lrwork == nullptr || *lrwork >= least.rwork},
                          {position + next + 2, liwork == nullptr || *liwork >= least.iwork}});
  }
  /// LWORK as an argument.
  cpu::WorkSize<I> size() const { return {lwork}; }
  /// Says sizes in the first elements where the CPU LAPACK has not said them (`said`), or has said
  /// less.
  void see_to_sizes(const cpu::EigenSizes& sizes, bool said) const {
    constexpr Index kQuery = cpu::Workspace<T>::kQuery;
    cpu::see_to_size<T>({work, kQuery}, sizes.work, said);
    if (lrwork != nullptr) cpu::see_to_size<Real<T>>({rwork, kQuery}, sizes.rwork, said);
    if (liwork == nullptr || (said && *iwork >= sizes.iwork)) return;
    *iwork = static_cast<I>(std::min<Index>(sizes.iwork, std::numeric_limits<I>::max()));
  }
  /// IWORK as an argument. What it is to hold where its size is none of the arguments, `room` says.
  cpu::Integers<I> integers(Index room = 1) const {
    return {iwork, liwork == nullptr ? room : std::max<Index>(*liwork, 1), liwork != nullptr};
  }
};

/// A call whose arguments have been looked at, but for the sizes of workspaces.
template <class T, class I>
struct Checked {
  int first_wrong;  ///< of the arguments, or 0
  Works<T, I> works;
  int position_of_lwork;
  cpu::EigenSizes least;
  bool is_nothing;  ///< there is nothing to do
  dispatch::EigenCall<T> call;
  I* m = nullptr;  ///< becomes the number of eigenvalues that are found, if a routine says it
};

/// What the CPU LAPACK is told to be integers, as the caller has given it.
template <class Argument>
Argument as_given(Argument argument) {
  return argument;
}
template <class I>
I* as_given(cpu::Integers<I> argument) {
  return argument.data;
}
template <class I>
const I* as_given(cpu::WorkSize<I> argument) {
  return argument.size;
}

/// What a query has in its place.
template <class Argument>
Argument as_query(Argument argument) {
  return argument;
}
template <class I>
cpu::WorkSize<I> as_query(cpu::WorkSize<I>) {
  static constexpr I kQuery = -1;
  return {&kQuery};
}

/// Does a call with these arguments, the last of which is info. Where they are right, and there is
/// something to do, on_its_way(on_cpu, say_sizes) does it and returns info. on_cpu() has the CPU
/// LAPACK do it; say_sizes() writes to the workspaces what LAPACK leaves there.
template <class T, class I, class OnItsWay, class... Arguments>
void serve_by(OnItsWay on_its_way, const Caller& caller, const Checked<T, I>& checked,
              Arguments... arguments) {
  const Works<T, I>& works = checked.works;
  const cpu::EigenSizes& least = checked.least;
  const dispatch::EigenCall<T>& call = checked.call;
  I& info = *std::get<sizeof...(Arguments) - 1>(std::make_tuple(arguments...)).data;
  int wrong = checked.first_wrong;
  if (wrong == 0 && !works.is_query()) {
    // The CPU LAPACK would take the size that it asks for to be a negative one, and all to be
    // right.
    if (std::max({least.work, least.rwork, least.iwork}) > std::numeric_limits<I>::max()) {
      info = static_cast<I>(dispatch::kNoMemory);
      return;
    }
    wrong = works.first_too_small(checked.position_of_lwork, least);
  }
  info = static_cast<I>(-wrong);
  if (wrong != 0) return report<T>(caller, info, as_given(arguments)...);
  if (checked.is_nothing && !works.is_query()) {
    if (checked.m != nullptr) *checked.m = 0;
    return works.see_to_sizes({}, false);
  }
  const auto by_cpu_lapack = [&](auto... passed) {
    return cpu::forward(dispatch::cpu_lapack<T>(caller.family), caller.row,
                        {call.a.rows, call.a.ld, call.b.rows, call.b.cols, call.b.ld, call.z.ld,
                         least.work, least.rwork, least.iwork},
                        passed...);
  };
  const auto say_sizes = [&] {
    works.see_to_sizes(least, by_cpu_lapack(as_query(arguments)...));
    info = 0;
  };
  if (works.is_query()) return say_sizes();
  const auto on_cpu = [&]() -> Index {
    return by_cpu_lapack(arguments...) ? info : dispatch::kNoMemory;
  };
  info = static_cast<I>(on_its_way(on_cpu, say_sizes));
}

/// The same of a call that the device has no algorithm for.
template <class T, class I, class... Arguments>
void serve(const Caller& caller, const Checked<T, I>& checked, Arguments... arguments) {
  serve_by(
      [&](const auto& on_cpu, const auto&) {
        return dispatch::eigen<T>(caller.row, checked.call, std::cref(on_cpu));
      },
      caller, checked, arguments...);
}

// ---- Drivers ------------------------------------------------------------------------------------

/// Of A x = lambda B x, A B x = lambda x or B A x = lambda x.
template <class T, class I>
struct Generalized {
  const I* itype = nullptr;
  T* b = nullptr;
  const I* ldb = nullptr;
};

/// Of drivers that can be asked for some of the eigenvalues: those in (vl, vu], or number il to iu.
template <class T, class I>
struct Subset {
  const char* range = nullptr;
  const Real<T>*vl = nullptr, *vu = nullptr;
  const I *il = nullptr, *iu = nullptr;
  I* m = nullptr;
  T* z = nullptr;
  const I* ldz = nullptr;

  bool is(char letter) const { return range != nullptr && same_letter(*range, letter); }
  bool is_any() const { return range == nullptr || is('A') || is('V') || is('I'); }
  /// At most.
  Index count(Index n) const { return is('I') ? Index{*iu} - *il + 1 : n; }
};

/// The arguments that are looked at.
template <class T, class I>
struct Driver {
  cpu::EigenDriver kind;
  const char *jobz, *uplo;
  const I* n;
  T* a;
  const I* lda;
  Real<T>* w;
  Works<T, I> works;
  Generalized<T, I> generalized = {};
  Subset<T, I> subset = {};
  I* marks = nullptr;  ///< ISUPPZ or IFAIL

  bool is_generalized() const { return generalized.itype != nullptr; }
  bool has_subset() const { return subset.range != nullptr; }
  bool vectors() const { return same_letter(*jobz, 'V'); }

  /// The first wrong argument before the workspaces, in LAPACK's order.
  int first_wrong() const {
    const auto& [itype, b, ldb] = generalized;
    const I order = at_least_one(*n);
    const int g = is_generalized(), r = has_subset(), behind_b = 3 * g;
    const bool by_value = subset.is('V'), by_index = subset.is('I');
    return first_invalid(
        {{1, g == 0 || (*itype >= 1 && *itype <= 3)},
         {1 + g, vectors() || same_letter(*jobz, 'N')},
         {2 + g, subset.is_any()},
         {2 + g + r, is_uplo(*uplo)},
         {3 + g + r, *n >= 0},
         {5 + g + r, *lda >= order},
         {7 + g + r, g == 0 || *ldb >= order},
         {8 + behind_b, !by_value || *n == 0 || !(*subset.vu <= *subset.vl)},
         {9 + behind_b, !by_index || (*subset.il >= 1 && *subset.il <= order)},
         {10 + behind_b, !by_index || (*subset.iu >= std::min(*n, *subset.il) && *subset.iu <= *n)},
         {15 + behind_b, r == 0 || *subset.ldz >= (vectors() ? order : I(1))}});
  }
  int position_of_lwork() const {
    const bool has_support = kind == cpu::EigenDriver::evr;  // ISUPPZ
    return (has_subset() ? 17 + has_support : 8) + 3 * is_generalized();
  }

  Checked<T, I> check() const {
    const int wrong = first_wrong();
    const cpu::EigenSizes least =
        cpu::least_sizes(kind, is_generalized(), is_complex<T>, vectors(), std::max<Index>(*n, 0));
    dispatch::EigenCall<T> call{HostView<const T>(a, *n, *n, *lda)};
    if (is_generalized()) call.b = {generalized.b, *n, *n, *generalized.ldb};
    if (wrong == 0 && vectors()) {
      call.vectors = subset.count(*n);
      if (has_subset()) call.z = {subset.z, *n, call.vectors, *subset.ldz};
    }
    call.uplo = static_cast<char>(to_uplo(*uplo));
    return {wrong, works, position_of_lwork(), least, *n == 0, call, subset.m};
  }

  /// For the device. `found` is as there.
  dispatch::DriverCall<T> call(Index* found) const {
    const HostView<T> matrix(a, *n, *n, *lda);
    algorithms::Eigenproblem<T> problem{to_uplo(*uplo), matrix, w, {0, *n}, {}};
    if (is_generalized()) {
      problem.type = static_cast<int>(*generalized.itype);
      problem.b = {generalized.b, *n, *n, *generalized.ldb};
    }
    if (subset.is('I')) problem.numbers = {Index{*subset.il} - 1, *subset.iu};
    if (subset.is('V')) problem.interval = {*subset.vl, *subset.vu};
    if (vectors()) {
      problem.z = has_subset() ? HostView<T>(subset.z, *n, subset.count(*n), *subset.ldz) : matrix;
    }
    return {problem, works.all(), marks, found};
  }
  /// Says what LAPACK does of so many eigenvalues, all eigenvectors of which are right and dense.
  void say(Index found) const {
    if (!has_subset()) return;
    *subset.m = static_cast<I>(found);
    if (kind == cpu::EigenDriver::evx) {
      std::fill_n(marks, vectors() ? found : 0, I(0));
    } else if (has_supports()) {
      for (Index j = 0; j < found; ++j) {
        marks[2 * j] = 1;
        marks[2 * j + 1] = *n;
      }
    }
  }

  /// ISUPPZ, which LAPACK sets where all eigenvectors are asked for; and IFAIL.
  bool has_supports() const { return vectors() && !subset.is('V') && subset.count(*n) == *n; }
  cpu::Integers<I> support() const {
    return {marks, 2 * Index{*n}, has_supports() ? 2 * Index{*n} : 0};
  }
  cpu::Integers<I> failures() const { return {marks, *n, vectors() ? Index{*n} : 0}; }
};

/// Does a call of a driver. Of order 1 versions of LAPACK want workspaces of different sizes, and
/// say different things of supports and failures.
template <class T, class I, class... Arguments>
void drive(const Caller& caller, const Driver<T, I>& driver, Arguments... arguments) {
  if (driver.has_subset() && *driver.n == 1) return serve(caller, driver.check(), arguments...);
  constexpr Index kNotByDevice = -1;
  Index found = kNotByDevice;
  const dispatch::DriverCall<T> call = driver.call(&found);
  serve_by(
      [&](const auto& on_cpu, const auto& say_sizes) {
        const Index info =
            dispatch::eigen_driver<T>(caller.row, call, std::cref(on_cpu), std::cref(say_sizes));
        if (found != kNotByDevice) driver.say(found);
        return info;
      },
      caller, driver.check(), arguments...);
}

/// ?syev and ?heev. `rwork` is RWORK, of complex numbers; and here and below LRWORK.
template <class T, class I, class... RWork>
void ev(const Caller& caller, const char* jobz, const char* uplo, const I* n, T* a, const I* lda,
        Real<T>* w, T* work, const I* lwork, I* info, RWork... rwork) {
  const Works<T, I> works{work, lwork};
  const Driver<T, I> driver{cpu::EigenDriver::ev, jobz, uplo, n, a, lda, w, works};
  drive(caller, driver, jobz, uplo, n, a, lda, w, work, works.size(), rwork...,
        cpu::Integers<I>{info});
}

template <class T, class I>
void syev(Caller caller, const char* jobz, const char* uplo, const I* n, T* a, const I* lda,
          Real<T>* w, T* work, const I* lwork, I* info) {
  ev<T, I>(caller, jobz, uplo, n, a, lda, w, work, lwork, info);
}

template <class T, class I>
void heev(Caller caller, const char* jobz, const char* uplo, const I* n, T* a, const I* lda,
          Real<T>* w, T* work, const I* lwork, Real<T>* rwork, I* info) {
  ev<T, I>(caller, jobz, uplo, n, a, lda, w, work, lwork, info, rwork);
}

/// ?syevd and ?heevd.
template <class T, class I, class... RWork>
void evd(const Caller& caller, const char* jobz, const char* uplo, const I* n, T* a, const I* lda,
         Real<T>* w, T* work, const I* lwork, I* iwork, const I* liwork, I* info, RWork... rwork) {
  const Works<T, I> works{work, lwork, iwork, liwork, rwork...};
  const Driver<T, I> driver{cpu::EigenDriver::evd, jobz, uplo, n, a, lda, w, works};
  drive(caller, driver, jobz, uplo, n, a, lda, w, work, works.size(), rwork..., works.integers(),
        liwork, cpu::Integers<I>{info});
}

template <class T, class I>
void syevd(Caller caller, const char* jobz, const char* uplo, const I* n, T* a, const I* lda,
           Real<T>* w, T* work, const I* lwork, I* iwork, const I* liwork, I* info) {
  evd<T, I>(caller, jobz, uplo, n, a, lda, w, work, lwork, iwork, liwork, info);
}

template <class T, class I>
void heevd(Caller caller, const char* jobz, const char* uplo, const I* n, T* a, const I* lda,
           Real<T>* w, T* work, const I* lwork, Real<T>* rwork, const I* lrwork, I* iwork,
           const I* liwork, I* info) {
  evd<T, I>(caller, jobz, uplo, n, a, lda, w, work, lwork, iwork, liwork, info, rwork, lrwork);
}

/// ?syevr and ?heevr.
template <class T, class I, class... RWork>
void evr(const Caller& caller, const char* jobz, const char* range, const char* uplo, const I* n,
         T* a, const I* lda, const Real<T>* vl, const Real<T>* vu, const I* il, const I* iu,
         const Real<T>* abstol, I* m, Real<T>* w, T* z, const I* ldz, I* isuppz, T* work,
         const I* lwork, I* iwork, const I* liwork, I* info, RWork... rwork) {
  const Subset<T, I> subset{range, vl, vu, il, iu, m, z, ldz};
  const Works<T, I> works{work, lwork, iwork, liwork, rwork...};
  const Driver<T, I> driver{
      cpu::EigenDriver::evr, jobz, uplo, n, a, lda, w, works, {}, subset, isuppz};
  drive(caller, driver, jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, cpu::Integers<I>{m},
        w, z, ldz, driver.support(), work, works.size(), rwork..., works.integers(), liwork,
        cpu::Integers<I>{info});
}

template <class T, class I>
void syevr(Caller caller, const char* jobz, const char* range, const char* uplo, const I* n, T* a,
           const I* lda, const Real<T>* vl, const Real<T>* vu, const I* il, const I* iu,
           const Real<T>* abstol, I* m, Real<T>* w, T* z, const I* ldz, I* isuppz, T* work,
           const I* lwork, I* iwork, const I* liwork, I* info) {
  evr<T, I>(caller, jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, isuppz,
            work, lwork, iwork, liwork, info);
}

template <class T, class I>
void heevr(Caller caller, const char* jobz, const char* range, const char* uplo, const I* n, T* a,
           const I* lda, const Real<T>* vl, const Real<T>* vu, const I* il, const I* iu,
           const Real<T>* abstol, I* m, Real<T>* w, T* z, const I* ldz, I* isuppz, T* work,
           const I* lwork, Real<T>* rwork, const I* lrwork, I* iwork, const I* liwork, I* info) {
  evr<T, I>(caller, jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, isuppz,
            work, lwork, iwork, liwork, info, rwork, lrwork);
}

/// ?syevx and ?heevx.
template <class T, class I, class... RWork>
void evx(const Caller& caller, const char* jobz, const char* range, const char* uplo, const I* n,
         T* a, const I* lda, const Real<T>* vl, const Real<T>* vu, const I* il, const I* iu,
         const Real<T>* abstol, I* m, Real<T>* w, T* z, const I* ldz, T* work, const I* lwork,
         I* iwork, I* ifail, I* info, RWork... rwork) {
  const Subset<T, I> subset{range, vl, vu, il, iu, m, z, ldz};
  const Works<T, I> works{work, lwork, iwork};
  const Driver<T, I> driver{
      cpu::EigenDriver::evx, jobz, uplo, n, a, lda, w, works, {}, subset, ifail};
  drive(caller, driver, jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, cpu::Integers<I>{m},
        w, z, ldz, work, works.size(), rwork..., works.integers(5 * Index{*n}), driver.failures(),
        cpu::Integers<I>{info});
}

template <class T, class I>
void syevx(Caller caller, const char* jobz, const char* range, const char* uplo, const I* n, T* a,
           const I* lda, const Real<T>* vl, const Real<T>* vu, const I* il, const I* iu,
           const Real<T>* abstol, I* m, Real<T>* w, T* z, const I* ldz, T* work, const I* lwork,
           I* iwork, I* ifail, I* info) {
  evx<T, I>(caller, jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, work, lwork,
            iwork, ifail, info);
}

template <class T, class I>
void heevx(Caller caller, const char* jobz, const char* range, const char* uplo, const I* n, T* a,
           const I* lda, const Real<T>* vl, const Real<T>* vu, const I* il, const I* iu,
           const Real<T>* abstol, I* m, Real<T>* w, T* z, const I* ldz, T* work, const I* lwork,
           Real<T>* rwork, I* iwork, I* ifail, I* info) {
  evx<T, I>(caller, jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, work, lwork,
            iwork, ifail, info, rwork);
}

/// ?sygv and ?hegv.
template <class T, class I, class... RWork>
void gv(const Caller& caller, const I* itype, const char* jobz, const char* uplo, const I* n, T* a,
        const I* lda, T* b, const I* ldb, Real<T>* w, T* work, const I* lwork, I* info,
        RWork... rwork) {
  const Works<T, I> works{work, lwork};
  const Driver<T, I> driver{cpu::EigenDriver::ev, jobz, uplo, n, a, lda, w, works, {itype, b, ldb}};
  drive(caller, driver, itype, jobz, uplo, n, a, lda, b, ldb, w, work, works.size(), rwork...,
        cpu::Integers<I>{info});
}

template <class T, class I>
void sygv(Caller caller, const I* itype, const char* jobz, const char* uplo, const I* n, T* a,
          const I* lda, T* b, const I* ldb, Real<T>* w, T* work, const I* lwork, I* info) {
  gv<T, I>(caller, itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork, info);
}

template <class T, class I>
void hegv(Caller caller, const I* itype, const char* jobz, const char* uplo, const I* n, T* a,
          const I* lda, T* b, const I* ldb, Real<T>* w, T* work, const I* lwork, Real<T>* rwork,
          I* info) {
  gv<T, I>(caller, itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork, info, rwork);
}

/// ?sygvd and ?hegvd.
template <class T, class I, class... RWork>
void gvd(const Caller& caller, const I* itype, const char* jobz, const char* uplo, const I* n, T* a,
         const I* lda, T* b, const I* ldb, Real<T>* w, T* work, const I* lwork, I* iwork,
         const I* liwork, I* info, RWork... rwork) {
  const Works<T, I> works{work, lwork, iwork, liwork, rwork...};
  const Driver<T, I> driver{cpu::EigenDriver::evd, jobz, uplo, n, a, lda, w, works,
                            {itype, b, ldb}};
  drive(caller, driver, itype, jobz, uplo, n, a, lda, b, ldb, w, work, works.size(), rwork...,
        works.integers(), liwork, cpu::Integers<I>{info});
}

template <class T, class I>
void sygvd(Caller caller, const I* itype, const char* jobz, const char* uplo, const I* n, T* a,
           const I* lda, T* b, const I* ldb, Real<T>* w, T* work, const I* lwork, I* iwork,
           const I* liwork, I* info) {
  gvd<T, I>(caller, itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork, iwork, liwork, info);
}

template <class T, class I>
void hegvd(Caller caller, const I* itype, const char* jobz, const char* uplo, const I* n, T* a,
           const I* lda, T* b, const I* ldb, Real<T>* w, T* work, const I* lwork, Real<T>* rwork,
           const I* lrwork, I* iwork, const I* liwork, I* info) {
  gvd<T, I>(caller, itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork, iwork, liwork, info,
            rwork, lrwork);
}

/// ?sygvx and ?hegvx.
template <class T, class I, class... RWork>
void gvx(const Caller& caller, const I* itype, const char* jobz, const char* range,
         const char* uplo, const I* n, T* a, const I* lda, T* b, const I* ldb, const Real<T>* vl,
         const Real<T>* vu, const I* il, const I* iu, const Real<T>* abstol, I* m, Real<T>* w, T* z,
         const I* ldz, T* work, const I* lwork, I* iwork, I* ifail, I* info, RWork... rwork) {
  const Subset<T, I> subset{range, vl, vu, il, iu, m, z, ldz};
  const Works<T, I> works{work, lwork, iwork};
  const Driver<T, I> driver{cpu::EigenDriver::evx, jobz,   uplo, n, a, lda, w, works,
                            {itype, b, ldb},       subset, ifail};
  drive(caller, driver, itype, jobz, range, uplo, n, a, lda, b, ldb, vl, vu, il, iu, abstol,
        cpu::Integers<I>{m}, w, z, ldz, work, works.size(), rwork..., works.integers(5 * Index{*n}),
        driver.failures(), cpu::Integers<I>{info});
}

template <class T, class I>
void sygvx(Caller caller, const I* itype, const char* jobz, const char* range, const char* uplo,
           const I* n, T* a, const I* lda, T* b, const I* ldb, const Real<T>* vl, const Real<T>* vu,
           const I* il, const I* iu, const Real<T>* abstol, I* m, Real<T>* w, T* z, const I* ldz,
           T* work, const I* lwork, I* iwork, I* ifail, I* info) {
  gvx<T, I>(caller, itype, jobz, range, uplo, n, a, lda, b, ldb, vl, vu, il, iu, abstol, m, w, z,
            ldz, work, lwork, iwork, ifail, info);
}

template <class T, class I>
void hegvx(Caller caller, const I* itype, const char* jobz, const char* range, const char* uplo,
           const I* n, T* a, const I* lda, T* b, const I* ldb, const Real<T>* vl, const Real<T>* vu,
           const I* il, const I* iu, const Real<T>* abstol, I* m, Real<T>* w, T* z, const I* ldz,
           T* work, const I* lwork, Real<T>* rwork, I* iwork, I* ifail, I* info) {
  gvx<T, I>(caller, itype, jobz, range, uplo, n, a, lda, b, ldb, vl, vu, il, iu, abstol, m, w, z,
            ldz, work, lwork, iwork, ifail, info, rwork);
}

// ---- Reduction to a tridiagonal matrix, and eigenvectors of one ---------------------------------

/// ?sytrd and ?hetrd.
template <class T, class I>
void reduce(const Caller& caller, const char* uplo, const I* n, T* a, const I* lda, Real<T>* d,
            Real<T>* e, T* tau, T* work, const I* lwork, I* info) {
  const int wrong =
      first_invalid({{1, is_uplo(*uplo)}, {2, *n >= 0}, {4, *lda >= at_least_one(*n)}});
  const HostView<T> matrix(a, *n, *n, *lda);
  const Works<T, I> works{work, lwork};
  serve_by(
      [&](const auto& on_cpu, const auto& say_sizes) {
        return dispatch::sytrd<T>(to_uplo(*uplo), matrix, d, e, tau, work, std::cref(on_cpu),
                                  std::cref(say_sizes));
      },
      caller, Checked<T, I>{wrong, works, 9, {}, *n == 0, {matrix}}, uplo, n, a, lda, d, e, tau,
      work, works.size(), cpu::Integers<I>{info});
}

template <class T, class I>
void sytrd(Caller caller, const char* uplo, const I* n, T* a, const I* lda, Real<T>* d, Real<T>* e,
           T* tau, T* work, const I* lwork, I* info) {
  reduce(caller, uplo, n, a, lda, d, e, tau, work, lwork, info);
}

template <class T, class I>
void hetrd(Caller caller, const char* uplo, const I* n, T* a, const I* lda, Real<T>* d, Real<T>* e,
           T* tau, T* work, const I* lwork, I* info) {
  reduce(caller, uplo, n, a, lda, d, e, tau, work, lwork, info);
}

/// ?orgtr and ?ungtr.
template <class T, class I>
void make_q_of_reduction(const Caller& caller, const char* uplo, const I* n, T* a, const I* lda,
                         const T* tau, T* work, const I* lwork, I* info) {
  const int wrong =
      first_invalid({{1, is_uplo(*uplo)}, {2, *n >= 0}, {4, *lda >= at_least_one(*n)}});
  dispatch::EigenCall<T> call{HostView<const T>(a, *n, *n, *lda)};
  call.uplo = static_cast<char>(to_uplo(*uplo));
  const Works<T, I> works{work, lwork};
  const cpu::EigenSizes least{std::max<Index>(Index{*n} - 1, 1)};
  serve_by(
      [&](const auto& on_cpu, const auto& say_sizes) {
        if (*n == 1 || to_uplo(*uplo) == Uplo::upper) {
          return dispatch::eigen<T>(caller.row, call, std::cref(on_cpu));
        }
        return dispatch::orgtr<T>(caller.family, HostView<T>(a, *n, *n, *lda), tau,
                                  cpu::Workspace<T>{work, *lwork}, std::cref(on_cpu),
                                  std::cref(say_sizes));
      },
      caller, Checked<T, I>{wrong, works, 7, least, *n == 0, call}, uplo, n, a, lda, tau, work,
      works.size(), cpu::Integers<I>{info});
}

template <class T, class I>
void orgtr(Caller caller, const char* uplo, const I* n, T* a, const I* lda, const T* tau, T* work,
           const I* lwork, I* info) {
  make_q_of_reduction(caller, uplo, n, a, lda, tau, work, lwork, info);
}

template <class T, class I>
void ungtr(Caller caller, const char* uplo, const I* n, T* a, const I* lda, const T* tau, T* work,
           const I* lwork, I* info) {
  make_q_of_reduction(caller, uplo, n, a, lda, tau, work, lwork, info);
}

/// ?ormtr and ?unmtr.
template <class T, class I>
void multiply_by_q_of_reduction(const Caller& caller, const char* side, const char* uplo,
                                const char* trans, const I* m, const I* n, const T* a, const I* lda,
                                const T* tau, T* c, const I* ldc, T* work, const I* lwork,
                                I* info) {
  const bool left = same_letter(*side, 'L');
  const I order = left ? *m : *n, others = left ? *n : *m;
  const int wrong = first_invalid({{1, is_side(*side)},
                                   {2, is_uplo(*uplo)},
                                   {3, is_plain_or_adjoint<T>(*trans)},
                                   {4, *m >= 0},
                                   {5, *n >= 0},
                                   {7, *lda >= at_least_one(order)},
                                   {10, *ldc >= at_least_one(*m)}});
  dispatch::EigenCall<T> call{HostView<const T>(a, order, order, *lda),
                              HostView<const T>(c, *m, *n, *ldc)};
  call.vectors = others;
  call.uplo = static_cast<char>(to_uplo(*uplo));
  call.trans = static_cast<char>(to_adjoint(*trans));
  const Works<T, I> works{work, lwork};
  const cpu::EigenSizes least{at_least_one(others)};
  const bool is_nothing = std::min(*m, *n) == 0;
  serve_by(
      [&](const auto& on_cpu, const auto& say_sizes) {
        if (order == 1 || to_uplo(*uplo) == Uplo::upper) {
          return dispatch::eigen<T>(caller.row, call, std::cref(on_cpu));
        }
        return dispatch::ormtr<T>(caller.family, to_side(*side), to_adjoint(*trans), call.a, tau,
                                  HostView<T>(c, *m, *n, *ldc), cpu::Workspace<T>{work, *lwork},
                                  std::cref(on_cpu), std::cref(say_sizes));
      },
      caller, Checked<T, I>{wrong, works, 12, least, is_nothing, call}, side, uplo, trans, m, n, a,
      lda, tau, c, ldc, work, works.size(), cpu::Integers<I>{info});
}

template <class T, class I>
void ormtr(Caller caller, const char* side, const char* uplo, const char* trans, const I* m,
           const I* n, const T* a, const I* lda, const T* tau, T* c, const I* ldc, T* work,
           const I* lwork, I* info) {
  multiply_by_q_of_reduction(caller, side, uplo, trans, m, n, a, lda, tau, c, ldc, work, lwork,
                             info);
}

template <class T, class I>
void unmtr(Caller caller, const char* side, const char* uplo, const char* trans, const I* m,
           const I* n, const T* a, const I* lda, const T* tau, T* c, const I* ldc, T* work,
           const I* lwork, I* info) {
  multiply_by_q_of_reduction(caller, side, uplo, trans, m, n, a, lda, tau, c, ldc, work, lwork,
                             info);
}

/// ?stedc.
template <class T, class I, class... RWork>
void divide_and_conquer(const Caller& caller, const char* compz, const I* n, Real<T>* d, Real<T>* e,
                        T* z, const I* ldz, T* work, const I* lwork, I* iwork, const I* liwork,
                        I* info, RWork... rwork) {
  const char letter = upper_case(*compz);
  const bool vectors = letter == 'V' || letter == 'I';
  const I order = at_least_one(*n);
  const int wrong = first_invalid(
      {{1, vectors || letter == 'N'}, {2, *n >= 0}, {6, *ldz >= (vectors ? order : I(1))}});
  dispatch::EigenCall<T> call{HostView<const T>(vectors ? z : nullptr, *n, *n, *ldz)};
  call.vectors = vectors ? *n : 0;
  const Works<T, I> works{work, lwork, iwork, liwork, rwork...};
  const cpu::EigenSizes least = cpu::least_sizes_of_stedc(letter, is_complex<T>, *n);
  const dispatch::TridiagonalCall<T> tridiagonal{letter == 'V' && *n > 1, d, e,
                                                 HostView<T>(z, *n, *n, *ldz), works.all()};
  const auto say_sizes = [&] { works.see_to_sizes(least, false); };
  serve_by(
      [&](const auto& on_cpu, const auto&) {
        return vectors ? dispatch::stedc<T>(tridiagonal, std::cref(on_cpu), std::cref(say_sizes))
                       : dispatch::eigen<T>(caller.row, call, std::cref(on_cpu));
      },
      caller, Checked<T, I>{wrong, works, 8, least, *n == 0, call}, compz, n, d, e, z, ldz, work,
      lwork, rwork..., works.integers(), liwork, cpu::Integers<I>{info});
}

template <class T, class I>
std::enable_if_t<!is_complex<T>> stedc(Caller caller, const char* compz, const I* n, Real<T>* d,
                                       Real<T>* e, T* z, const I* ldz, T* work, const I* lwork,
                                       I* iwork, const I* liwork, I* info) {
  divide_and_conquer<T, I>(caller, compz, n, d, e, z, ldz, work, lwork, iwork, liwork, info);
}

template <class T, class I>
std::enable_if_t<is_complex<T>> stedc(Caller caller, const char* compz, const I* n, Real<T>* d,
                                      Real<T>* e, T* z, const I* ldz, T* work, const I* lwork,
                                      Real<T>* rwork, const I* lrwork, I* iwork, const I* liwork,
                                      I* info) {
  divide_and_conquer<T, I>(caller, compz, n, d, e, z, ldz, work, lwork, iwork, liwork, info, rwork,
                           lrwork);
}

}  // namespace overlapack::compat
