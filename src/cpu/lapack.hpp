// The CPU LAPACK of the process, typed, with 64-bit integers whichever width the library has.
//
// The library is found at the first use, never at load time (see loader.cpp for the order of the
// search). An operation that no library in the process provides is done by the textbook loops of
// reference.hpp and others, so that every call has an answer, but for eigenproblems (record 0106).
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "host/once.hpp"

namespace overlapack::cpu {

/// How a client spells the names, which also tells its integer width.
enum class Family {
  lp64,         ///< dgetrf_
  ilp64,        ///< dgetrf_64_        (Julia, OpenBLAS built with the 64_ suffix)
  scipy_lp64,   ///< scipy_dgetrf_     (SciPy wheels)
  scipy_ilp64,  ///< scipy_dgetrf_64_  (NumPy wheels)
};
inline constexpr Family kFamilies[] = {Family::lp64, Family::ilp64, Family::scipy_lp64,
                                       Family::scipy_ilp64};
inline constexpr bool is_wide(Family f) { return f == Family::ilp64 || f == Family::scipy_ilp64; }
/// "dgetrf_64_" from 'd', "getrf", Family::ilp64.
std::string spell(Family family, char type, const std::string& name);

/// A caller's ipiv array, of 32- or 64-bit integers. Values are 1-based as in LAPACK.
class Pivots {
 public:
  explicit Pivots(std::int32_t* data) : data_(data), wide_(false) {}
  explicit Pivots(std::int64_t* data) : data_(data), wide_(true) {}
  bool wide() const { return wide_; }
  void* data() const { return data_; }
  Index get(Index i) const {
    return wide_ ? static_cast<std::int64_t*>(data_)[i] : static_cast<std::int32_t*>(data_)[i];
  }
  void set(Index i, Index value) const {
    if (wide_) {
      static_cast<std::int64_t*>(data_)[i] = value;
    } else {
      static_cast<std::int32_t*>(data_)[i] = static_cast<std::int32_t>(value);
    }
  }

 private:
  void* data_;
  bool wide_;
};

/// The workspaces that LAPACK's mixed-precision solvers take: n x nrhs, n x (n + nrhs) and (complex
/// only) n elements.
template <class T>
struct MixedWork {
  T* work;
  Single<T>* swork;
  Real<T>* rwork = nullptr;
};

/// WORK and LWORK of a routine.
template <class T>
struct Workspace {
  T* data;
  Index size;

  /// Nothing is to be done but to say in the first element which size is wanted.
  bool is_query() const { return size == kQuery; }
  static constexpr Index kQuery = -1;
};

/// What the reflectors of a factorization are: columns of A, below the diagonal, in A = Q R; or
/// rows, right of it, in A = L Q. The adjoint of the latter is the former: A^H = Q^H L^H.
enum class Reflectors { columns, rows };

enum class Wanted;

/// A routine found in some library of the process.
struct Symbol {
  void* address = nullptr;
  bool wide = false;        ///< takes 64-bit integers
  bool configured = false;  ///< of the library that the user names
  std::string source;
};

/// The library that the user names (OVERLAPACK_CPU_LAPACK); it is searched before all others. To be
/// called before the first lapack(). Returns an error text, empty if the library could be opened
/// and has some routine, or if `path` is empty. `excluded` is told of routines that are excluded
/// later ("dgetrf").
std::string configure(const std::string& path,
                      void (*excluded)(const std::string& routine) = nullptr);
/// Whether there is such a library, and it is not ignored.
bool is_configured();

/// How many routines have been excluded so far, by whichever Lapack.
std::size_t excluded_count();

/// LAPACK and BLAS for one precision, as one family of names sees them. Arguments must be valid:
/// they are checked at the ABI. Results are LAPACK's info (>= 0).
template <class T>
class Lapack {
 public:
  explicit Lapack(Family family);

  Index potrf(Uplo uplo, HostView<T> a) const;
  Index potrs(Uplo uplo, HostView<const T> a, HostView<T> b) const;
  Index posv(Uplo uplo, HostView<T> a, HostView<T> b) const;
  Index getrf(HostView<T> a, Pivots ipiv) const;
  Index getrs(Op op, HostView<const T> a, Pivots ipiv, HostView<T> b) const;
  Index gesv(HostView<T> a, Pivots ipiv, HostView<T> b) const;

  /// ?sgesv (?cgesv) and ?sposv (?cposv): X := A^-1 B by a factorization in single precision and
  /// refinement. `iter` becomes LAPACK's; it is -1, for a solution in double precision, if no
  /// library has the routine. For T in double precision.
  Index mixed_gesv(HostView<T> a, Pivots ipiv, HostView<const T> b, HostView<T> x,
                   MixedWork<T> work, Index& iter) const;
  Index mixed_posv(Uplo uplo, HostView<T> a, HostView<const T> b, HostView<T> x, MixedWork<T> work,
                   Index& iter) const;

  /// ?lange, ?lansy or ?lanhe, by the symmetry. `work` is LAPACK's, in size and use.
  Real<T> norm(Norm norm, Symmetry symmetry, Uplo uplo, HostView<const T> a, Real<T>* work) const;

  void gemm(Op op_a, Op op_b, T alpha, HostView<const T> a, HostView<const T> b, T beta,
            HostView<T> c) const;
  void herk(Uplo uplo, Op op, Real<T> alpha, HostView<const T> a, Real<T> beta,
            HostView<T> c) const;
  void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, HostView<const T> a,
            HostView<T> b) const;

  /// The routine of a row of the table of routines as found for this family, or null if there is
  /// none whose integers have 64 bits (`wide`) or 32.
  void* find(std::size_t row, bool wide) const;
  /// Where the routine `name` comes from, for `overlapack info`:
  /// "/usr/lib/.../libopenblas.so.0 (next in the link order)", "built-in reference loops", or "no
  /// library" if there are none.
  std::string source(const char* name) const;
  /// The routine `name` has handed a call back to this library, and would do so for ever: from now
  /// on the next one in the order of the search takes its place. Nothing happens if another routine
  /// has been excluded since excluded_count() was `count`: it may have been this one.
  void exclude(const char* name, std::size_t count) const;

 private:
  /// Its address is null if no library has it.
  const Symbol& symbol(Wanted routine) const;

  const Family family_;
  std::vector<Symbol> in_process_;  // by Wanted, as the next ones
  /// Looked for when one is missing: to load an OpenBLAS takes 20 ms, and makes its threads.
  mutable Once<std::vector<Symbol>> at_build_time_;
  mutable std::vector<std::atomic<const Symbol*>> instead_;  // of what has been excluded, or null
};

/// The process's CPU LAPACK for one family; found at the first call.
template <class T>
const Lapack<T>& lapack(Family family);

}  // namespace overlapack::cpu
