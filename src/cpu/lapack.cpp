#include "cpu/lapack.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "cpu/calling.hpp"
#include "cpu/loader.hpp"
#include "cpu/reference.hpp"
#include "routines.hpp"

namespace overlapack::cpu {
namespace {

/// Calls body(I{}) with the integer type of the symbol and returns true; returns false if there is
/// no such routine or its integers are too narrow for the sizes.
template <class Body>
bool call(const Symbol& symbol, std::initializer_list<Index> sizes, Body body) {
  if (symbol.address == nullptr) return false;
  if (symbol.wide) {
    body(std::int64_t{});
    return true;
  }
  if (!fits_32_bits(sizes)) return false;
  body(std::int32_t{});
  return true;
}

}  // namespace

/// The routines that are looked for: all of the table that are LAPACK's, so that none is kept from
/// a library that it must be handed on to, and what they need of the BLAS. The other rows of the
/// table have a number, too, but no name here.
enum class Wanted {
#define OVERLAPACK_ROUTINE(kind, types, name, parameters, arguments) name,
#include "routines.def"
#undef OVERLAPACK_ROUTINE
  gemm,
  herk,
  trsm,
};

namespace {

constexpr const char* kBlasNames[] = {"gemm", "herk", "trsm"};
constexpr std::size_t kWantedCount = kRoutineRowCount + std::size(kBlasNames);

/// What a routine is called for type T, or null if it does not exist or is not looked for.
template <class T>
const char* name_for(Wanted routine) {
  if (!is_complex<T> && routine == Wanted::herk) return "syrk";
  if (!is_complex<T> && routine == Wanted::lanhe) return "lansy";
  const auto i = static_cast<std::size_t>(routine);
  if (i >= kRoutineRowCount) return kBlasNames[i - kRoutineRowCount];
  const RoutineRow& row = kRoutineRows[i];
  return is_lapack(row.kind) && row.exists_for(ScalarTraits<T>::letter) ? row.name : nullptr;
}

/// Whether the configured library has any routine for type T.
template <class T>
bool has_any_configured() {
  for (std::size_t i = 0; i < kWantedCount; ++i) {
    const char* const name = name_for<T>(static_cast<Wanted>(i));
    if (name == nullptr) continue;
    if (find_configured(Family::lp64, ScalarTraits<T>::letter, name).address != nullptr) {
      return true;
    }
  }
  return false;
}

}  // namespace

namespace {
void (*tell_of_excluded)(const std::string& routine) = nullptr;
std::atomic<std::size_t> excluded_so_far{0};
}  // namespace

bool is_configured() { return has_configured(); }

std::size_t excluded_count() { return excluded_so_far.load(std::memory_order_acquire); }

std::string configure(const std::string& path, void (*excluded)(const std::string&)) {
  tell_of_excluded = excluded;
  if (path.empty()) return {};
  std::string error = open_configured(path);
  if (!error.empty()) return error;
  if (has_any_configured<double>() || has_any_configured<float>() ||
      has_any_configured<std::complex<double>>() || has_any_configured<std::complex<float>>()) {
    return {};
  }
  close_configured();
  return "it has no routine of LAPACK, or is this library";
}

template <class T>
Lapack<T>::Lapack(Family family) : family_(family), instead_(kWantedCount) {
  const Search search;
  for (std::size_t i = 0; i < kWantedCount; ++i) {
    const char* const name = name_for<T>(static_cast<Wanted>(i));
    in_process_.push_back(name != nullptr ? search.find(family, ScalarTraits<T>::letter, name)
                                          : Symbol{});
  }
}

template <class T>
const Symbol& Lapack<T>::symbol(Wanted routine) const {
  const auto i = static_cast<std::size_t>(routine);
  if (const Symbol* const other = instead_[i].load(std::memory_order_acquire)) return *other;
  if (in_process_[i].address != nullptr) return in_process_[i];
  const std::vector<Symbol>& last_resort = at_build_time_.get([this] {
    auto found = std::make_unique<std::vector<Symbol>>();
    for (std::size_t k = 0; k < kWantedCount; ++k) {
      const char* const name = name_for<T>(static_cast<Wanted>(k));
      const bool missing = name != nullptr && in_process_[k].address == nullptr;
      found->push_back(missing ? find_at_build_time(family_, ScalarTraits<T>::letter, name)
                               : Symbol{});
    }
    return found.release();
  });
  return last_resort[i];
}

/// info of a Cholesky factorization, which a library says to be `info`. LAPACK reports a NaN as a
/// pivot that is not positive; OpenBLAS lets it pass, and may stop at a later one.
template <class T>
Index info_of_factor(HostView<const T> factor, Index info) {
  const Index factored = info == 0 ? factor.rows : info - 1;
  for (Index j = 0; j < factored; ++j) {
    if (std::isnan(real(factor(j, j)))) return j + 1;
  }
  return info;
}

template <class T>
Index Lapack<T>::potrf(Uplo uplo, HostView<T> a) const {
  Index result = 0;
  const Symbol& f = symbol(Wanted::potrf);
  if (!call(f, {a.rows, a.ld}, [&](auto width) {
        using I = decltype(width);
        const char u = static_cast<char>(uplo);
        const I n = narrow<I>(a.rows), lda = narrow<I>(a.ld);
        I info = 0;
        as<typename Signature<T, I>::potrf>(f.address)(&u, &n, a.data, &lda, &info, 1);
        result = info;
      })) {
    result = reference::potrf(uplo, a);
  }
  return info_of_factor<T>(a, result);
}

template <class T>
Index Lapack<T>::potrs(Uplo uplo, HostView<const T> a, HostView<T> b) const {
  const Symbol& f = symbol(Wanted::potrs);
  if (!call(f, {a.rows, a.ld, b.cols, b.ld}, [&](auto width) {
        using I = decltype(width);
        const char u = static_cast<char>(uplo);
        const SolveSizes<I> s(a, b);
        I info = 0;
        as<typename Signature<T, I>::potrs>(f.address)(&u, &s.n, &s.nrhs, a.data, &s.lda, b.data,
                                                       &s.ldb, &info, 1);
      })) {
    const bool lower = uplo == Uplo::lower;
    trsm(Side::left, uplo, lower ? Op::none : Op::conj_trans, Diag::non_unit, T(1), a, b);
    trsm(Side::left, uplo, lower ? Op::conj_trans : Op::none, Diag::non_unit, T(1), a, b);
  }
  return 0;
}

template <class T>
Index Lapack<T>::posv(Uplo uplo, HostView<T> a, HostView<T> b) const {
  const Index result = potrf(uplo, a);
  if (result == 0) potrs(uplo, a, b);
  return result;
}

/// Columns from which on a matrix with fewer rows is not given to the library's getrf: OpenBLAS's
/// threads (0.3.21, 0.3.26) read beyond the end of matrices of some 60000 columns, and crash.
constexpr Index kWideFromColumns = 32768;

template <class T>
Index Lapack<T>::getrf(HostView<T> a, Pivots ipiv) const {
  Index result = 0;
  const Index count = std::min(a.rows, a.cols);
  if (a.cols >= kWideFromColumns && a.rows < a.cols) {  // its square, and what follows from that
    const HostView<T> left = a.block(0, 0, count, count);
    const HostView<T> right = a.block(0, count, count, a.cols - count);
    result = getrf(left, ipiv);
    reference::laswp(right, 0, count, PivotArray<Index>(ipiv, count, true).data());
    trsm(Side::left, Uplo::lower, Op::none, Diag::unit, T(1), left, right);
    return result;
  }
  const Symbol& f = symbol(Wanted::getrf);
  if (!call(f, {a.rows, a.cols, a.ld}, [&](auto width) {
        using I = decltype(width);
        const I m = narrow<I>(a.rows), n = narrow<I>(a.cols), lda = narrow<I>(a.ld);
        I info = 0;
        PivotArray<I> pivots(ipiv, count, false);
        as<typename Signature<T, I>::getrf>(f.address)(&m, &n, a.data, &lda, pivots.data(), &info);
        pivots.copy_out();
        result = info;
      })) {
    PivotArray<Index> pivots(ipiv, count, false);
    result = reference::getrf(a, pivots.data());
    pivots.copy_out();
  }
  return result;
}

template <class T>
Index Lapack<T>::getrs(Op op, HostView<const T> a, Pivots ipiv, HostView<T> b) const {
  const Symbol& f = symbol(Wanted::getrs);
  if (!call(f, {a.rows, a.ld, b.cols, b.ld}, [&](auto width) {
        using I = decltype(width);
        const char t = static_cast<char>(op);
        const SolveSizes<I> s(a, b);
        I info = 0;
        PivotArray<I> pivots(ipiv, a.rows, true);
        as<typename Signature<T, I>::getrs>(f.address)(&t, &s.n, &s.nrhs, a.data, &s.lda,
                                                       pivots.data(), b.data, &s.ldb, &info, 1);
      })) {
    PivotArray<Index> pivots(ipiv, a.rows, true);
    if (op == Op::none) {
      reference::laswp(b, 0, a.rows, pivots.data());
      trsm(Side::left, Uplo::lower, op, Diag::unit, T(1), a, b);
      trsm(Side::left, Uplo::upper, op, Diag::non_unit, T(1), a, b);
    } else {
      trsm(Side::left, Uplo::upper, op, Diag::non_unit, T(1), a, b);
      trsm(Side::left, Uplo::lower, op, Diag::unit, T(1), a, b);
      reference::laswp(b, 0, a.rows, pivots.data(), false);
    }
  }
  return 0;
}

template <class T>
Index Lapack<T>::gesv(HostView<T> a, Pivots ipiv, HostView<T> b) const {
  if (b.cols == 0) return getrf(a, ipiv);  // OpenBLAS's gesv does nothing then
  Index result = 0;
  const Symbol& f = symbol(Wanted::gesv);
  if (!call(f, {a.rows, a.ld, b.cols, b.ld}, [&](auto width) {
        using I = decltype(width);
        const SolveSizes<I> s(a, b);
        I info = 0;
        PivotArray<I> pivots(ipiv, a.rows, false);
        as<typename Signature<T, I>::gesv>(f.address)(&s.n, &s.nrhs, a.data, &s.lda, pivots.data(),
                                                      b.data, &s.ldb, &info);
        pivots.copy_out();
        result = info;
      })) {
    result = getrf(a, ipiv);
    if (result == 0) getrs(Op::none, a, ipiv, b);
  }
  return result;
}

namespace {
/// LAPACK's mixed-precision solvers take n elements of `work` even if there are no right-hand
/// sides, and it has n nrhs: then they get some of `own`.
template <class T>
void see_to_work(Index n, Index nrhs, std::vector<T>& own, MixedWork<T>& work) {
  if (nrhs > 0) return;
  own.resize(static_cast<std::size_t>(n));
  work.work = own.data();
}
}  // namespace

template <class T>
Index Lapack<T>::mixed_gesv(HostView<T> a, Pivots ipiv, HostView<const T> b, HostView<T> x,
                            MixedWork<T> work, Index& iter) const {
  std::vector<T> own;
  see_to_work(a.rows, b.cols, own, work);
  Index result = 0;
  const Symbol& f = symbol(is_complex<T> ? Wanted::cgesv : Wanted::sgesv);
  if (!call(f, {a.rows, a.ld, b.cols, b.ld, x.ld}, [&](auto width) {
        using I = decltype(width);
        const SolveSizes<I> s(a, b);
        const I ldx = narrow<I>(x.ld);
        I iterations = 0, info = 0;
        PivotArray<I> pivots(ipiv, a.rows, false);
        if constexpr (is_complex<T>) {
          as<typename Signature<T, I>::cgesv>(f.address)(
              &s.n, &s.nrhs, a.data, &s.lda, pivots.data(), b.data, &s.ldb, x.data, &ldx, work.work,
              work.swork, work.rwork, &iterations, &info);
        } else {
          as<typename Signature<T, I>::sgesv>(f.address)(
              &s.n, &s.nrhs, a.data, &s.lda, pivots.data(), b.data, &s.ldb, x.data, &ldx, work.work,
              work.swork, &iterations, &info);
        }
        pivots.copy_out();
        iter = iterations;
        result = info;
      })) {
    iter = -1;
    reference::lacpy(b, x);
    result = gesv(a, ipiv, x);
  }
  return result;
}

template <class T>
Index Lapack<T>::mixed_posv(Uplo uplo, HostView<T> a, HostView<const T> b, HostView<T> x,
                            MixedWork<T> work, Index& iter) const {
  std::vector<T> own;
  see_to_work(a.rows, b.cols, own, work);
  Index result = 0;
  const Symbol& f = symbol(is_complex<T> ? Wanted::cposv : Wanted::sposv);
  if (!call(f, {a.rows, a.ld, b.cols, b.ld, x.ld}, [&](auto width) {
        using I = decltype(width);
        const char u = static_cast<char>(uplo);
        const SolveSizes<I> s(a, b);
        const I ldx = narrow<I>(x.ld);
        I iterations = 0, info = 0;
        if constexpr (is_complex<T>) {
          as<typename Signature<T, I>::cposv>(f.address)(
              &u, &s.n, &s.nrhs, a.data, &s.lda, b.data, &s.ldb, x.data, &ldx, work.work,
              work.swork, work.rwork, &iterations, &info, 1);
        } else {
          as<typename Signature<T, I>::sposv>(f.address)(&u, &s.n, &s.nrhs, a.data, &s.lda, b.data,
                                                         &s.ldb, x.data, &ldx, work.work,
                                                         work.swork, &iterations, &info, 1);
        }
        iter = iterations;
        result = info;
      })) {
    iter = -1;
    reference::lacpy(b, x);
    result = posv(uplo, a, x);
  }
  return iter < 0 ? info_of_factor<T>(a, result) : result;  // or else A is what it was
}

template <class T>
Real<T> Lapack<T>::norm(Norm norm, Symmetry symmetry, Uplo uplo, HostView<const T> a,
                        Real<T>* work) const {
  const bool general = symmetry == Symmetry::none;
  const Symbol& f = symbol(general                           ? Wanted::lange
                           : symmetry == Symmetry::symmetric ? Wanted::lansy
                                                             : Wanted::lanhe);
  Real<T> result(0);
  if (!call(f, {a.rows, a.cols, a.ld}, [&](auto width) {
        using I = decltype(width);
        using S = Signature<T, I>;
        const char c = static_cast<char>(norm), u = static_cast<char>(uplo);
        const I m = narrow<I>(a.rows), n = narrow<I>(a.cols), lda = narrow<I>(a.ld);
        result = general ? as<typename S::lange>(f.address)(&c, &m, &n, a.data, &lda, work, 1)
                         : as<typename S::lansy>(f.address)(&c, &u, &n, a.data, &lda, work, 1,
                                                            1);  // or lanhe
      })) {
    result = reference::norm(norm, symmetry, uplo, a, work);
  }
  return result;
}

template <class T>
void Lapack<T>::gemm(Op op_a, Op op_b, T alpha, HostView<const T> a, HostView<const T> b, T beta,
                     HostView<T> c) const {
  const Symbol& f = symbol(Wanted::gemm);
  if (!call(f, {a.ld, b.ld, c.rows, c.cols, c.ld, a.rows, a.cols}, [&](auto width) {
        using I = decltype(width);
        const char ta = character<T>(op_a), tb = character<T>(op_b);
        const I m = narrow<I>(c.rows), n = narrow<I>(c.cols);
        const I k = narrow<I>(op_a == Op::none ? a.cols : a.rows);
        const I lda = narrow<I>(a.ld), ldb = narrow<I>(b.ld), ldc = narrow<I>(c.ld);
        as<typename Signature<T, I>::gemm>(f.address)(&ta, &tb, &m, &n, &k, &alpha, a.data, &lda,
                                                      b.data, &ldb, &beta, c.data, &ldc, 1, 1);
      })) {
    reference::gemm(op_a, op_b, alpha, a, b, beta, c);
  }
}

template <class T>
void Lapack<T>::herk(Uplo uplo, Op op, Real<T> alpha, HostView<const T> a, Real<T> beta,
                     HostView<T> c) const {
  const Symbol& f = symbol(Wanted::herk);
  if (!call(f, {a.ld, c.rows, c.ld, a.rows, a.cols}, [&](auto width) {
        using I = decltype(width);
        const char u = static_cast<char>(uplo), t = character<T>(op);
        const I n = narrow<I>(c.rows), k = narrow<I>(op == Op::none ? a.cols : a.rows);
        const I lda = narrow<I>(a.ld), ldc = narrow<I>(c.ld);
        as<typename Signature<T, I>::herk>(f.address)(&u, &t, &n, &k, &alpha, a.data, &lda, &beta,
                                                      c.data, &ldc, 1, 1);
      })) {
    reference::herk(uplo, op, alpha, a, beta, c);
  }
}

template <class T>
void Lapack<T>::trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, HostView<const T> a,
                     HostView<T> b) const {
  const Symbol& f = symbol(Wanted::trsm);
  if (!call(f, {a.ld, b.rows, b.cols, b.ld}, [&](auto width) {
        using I = decltype(width);
        const char s = static_cast<char>(side), u = static_cast<char>(uplo);
        const char t = character<T>(op), d = static_cast<char>(diag);
        const I m = narrow<I>(b.rows), n = narrow<I>(b.cols);
        const I lda = narrow<I>(a.ld), ldb = narrow<I>(b.ld);
        as<typename Signature<T, I>::trsm>(f.address)(&s, &u, &t, &d, &m, &n, &alpha, a.data, &lda,
                                                      b.data, &ldb, 1, 1, 1, 1);
      })) {
    reference::trsm(side, uplo, op, diag, alpha, a, b);
  }
}

/// The index of `name` for type T among the routines that are looked for, or how many these are.
template <class T>
std::size_t index_of(const char* name) {
  std::size_t i = 0;
  for (; i < kWantedCount; ++i) {
    const char* const wanted = name_for<T>(static_cast<Wanted>(i));
    if (wanted != nullptr && std::strcmp(wanted, name) == 0) break;
  }
  return i;
}

template <class T>
void* Lapack<T>::find(std::size_t row, bool wide) const {
  const auto routine = static_cast<Wanted>(row);
  if (name_for<T>(routine) == nullptr) return nullptr;
  const Symbol& found = symbol(routine);
  return found.wide == wide ? found.address : nullptr;
}

template <class T>
std::string Lapack<T>::source(const char* name) const {
  const bool is_posv = std::strcmp(name, "posv") == 0;  // which is done by potrf and potrs
  const std::size_t i = index_of<T>(is_posv ? "potrf" : name);
  if (i == kWantedCount) return {};
  const Symbol& found = symbol(static_cast<Wanted>(i));
  if (found.address != nullptr) return found.source;
  const bool has_loops = i >= kRoutineRowCount || kRoutineRows[i].kind != RoutineKind::eigen;
  return has_loops ? "built-in reference loops" : "no library";
}

template <class T>
void Lapack<T>::exclude(const char* name, std::size_t count) const {
  const std::size_t i = index_of<T>(name);
  const OnceLock lock;
  if (i == kWantedCount || excluded_count() != count) return;
  const Symbol& bad = symbol(static_cast<Wanted>(i));
  if (bad.address == nullptr) return;
  const char type = ScalarTraits<T>::letter;
  cpu::exclude(bad.address);
  auto next = std::make_unique<Symbol>(Search().find(family_, type, name));
  if (next->address == nullptr) *next = find_at_build_time(family_, type, name);
  instead_[i].store(next.release(), std::memory_order_release);
  excluded_so_far.fetch_add(1, std::memory_order_release);
  if (bad.configured && tell_of_excluded != nullptr) tell_of_excluded(type + std::string(name));
}

template <class T>
const Lapack<T>& lapack(Family family) {
  static Once<const Lapack<T>> found[4];  // one for each Family
  return found[static_cast<int>(family)].get([family] { return new Lapack<T>(family); });
}

#define OVERLAPACK_INSTANTIATE(T) \
  template class Lapack<T>;       \
  template const Lapack<T>& lapack<T>(Family);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::cpu
