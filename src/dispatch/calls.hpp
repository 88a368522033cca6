// One function per routine: decides where a call runs, runs it there, and has the CPU finish it if
// the device fails. Arguments are valid and not empty (the ABI has checked them).
#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "algorithms/eigen/eigenproblem.hpp"
#include "algorithms/update/on_cpu.hpp"
#include "algorithms/update/rank_one.hpp"
#include "cpu/condition.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::dispatch {

// `family` tells how the caller spelt the name, which CPU LAPACK it thus gets. Shapes and results
// are those of the LAPACK routine of the same name: info, which may be kNoMemory besides.

/// What a call returns that cannot have the memory it needs, or whose operands lie in the memory of
/// a device that has failed: LAPACKE's code for want of memory.
inline constexpr Index kNoMemory = -1010;

/// The CPU LAPACK for a family of names. The settings may name it, so they are read first.
template <class T>
const cpu::Lapack<T>& cpu_lapack(cpu::Family family);

template <class T>
Index potrf(cpu::Family family, Uplo uplo, HostView<T> a);
template <class T>
Index potrs(cpu::Family family, Uplo uplo, HostView<const T> a, HostView<T> b);
template <class T>
Index posv(cpu::Family family, Uplo uplo, HostView<T> a, HostView<T> b);
template <class T>
Index getrf(cpu::Family family, HostView<T> a, cpu::Pivots ipiv);
template <class T>
Index getrs(cpu::Family family, Op op, HostView<const T> a, cpu::Pivots ipiv, HostView<T> b);
template <class T>
Index gesv(cpu::Family family, HostView<T> a, cpu::Pivots ipiv, HostView<T> b);
template <class T>
Index trtrs(cpu::Family family, Uplo uplo, Op op, Diag diag, HostView<const T> a, HostView<T> b);

template <class T>
Index trtri(cpu::Family family, Uplo uplo, Diag diag, HostView<T> a);
template <class T>
Index lauum(cpu::Family family, Uplo uplo, HostView<T> a);
template <class T>
Index potri(cpu::Family family, Uplo uplo, HostView<T> a);
/// `work` is for the CPU LAPACK alone. Its first element becomes the size that is wanted, unless it
/// lies on the device.
template <class T>
Index getri(cpu::Family family, HostView<T> a, cpu::Pivots ipiv, cpu::Workspace<T> work);
/// What a query of ?getri returns.
template <class T>
T wanted_workspace_of_getri(cpu::Family family, HostView<T> a, cpu::Pivots ipiv);

// QR and LQ factorizations. `work` is for the CPU LAPACK alone. If it has a size, its first element
// becomes the size that is wanted, and for a query nothing else is done. No `op` is Op::trans.

/// ?geqrf, or ?gelqf.
template <class T>
Index geqrf(cpu::Family family, cpu::Reflectors kind, HostView<T> a, T* tau,
            cpu::Workspace<T> work);
/// ?orgqr, or ?orglq; of complex numbers ?ungqr, or ?unglq. A has `count` reflectors, and the shape
/// that Q is to have.
template <class T>
Index orgqr(cpu::Family family, cpu::Reflectors kind, HostView<T> a, Index count, const T* tau,
            cpu::Workspace<T> work);
/// ?ormqr, or ?ormlq; of complex numbers ?unmqr, or ?unmlq: C := op(Q) C or C op(Q). A has the
/// reflectors, and no other columns (rows).
template <class T>
Index ormqr(cpu::Family family, cpu::Reflectors kind, Side side, Op op, HostView<const T> a,
            const T* tau, HostView<T> c, cpu::Workspace<T> work);
/// T has as many rows as a block has columns, and a column for each reflector. `work` of ?geqrt is
/// where tau is kept meanwhile.
template <class T>
Index geqrt(cpu::Family family, HostView<T> a, HostView<T> t, T* work);
template <class T>
Index gemqrt(cpu::Family family, Side side, Op op, HostView<const T> v, HostView<const T> t,
             HostView<T> c, T* work);
/// B has as many rows as the longer side of A. `work` is where tau is kept meanwhile, as in LAPACK.
template <class T>
Index gels(cpu::Family family, Op op, HostView<T> a, HostView<T> b, cpu::Workspace<T> work);

/// A call of the symmetric eigenproblem, as far as it matters where it goes.
template <class T>
struct EigenCall {
  HostView<const T> a;       ///< the matrix; its reflectors; of ?stedc none
  HostView<const T> b = {};  ///< of generalized problems; C of ?ormtr
  HostView<const T> z = {};  ///< eigenvectors, where they have a place of their own
  Index vectors = 0;         ///< how many are wanted; of ?ormtr columns, or rows, of C
  char uplo = '-';
  char trans = '-';
};
/// `row` is the routine's in the table of routines. on_cpu() has the CPU LAPACK do the call with
/// the caller's own arguments, and returns info. It is to be handed over by std::cref(), which
/// takes no memory.
template <class T>
Index eigen(std::size_t row, const EigenCall<T>& call, const std::function<Index()>& on_cpu);

/// A call of a driver.
template <class T>
struct DriverCall {
  algorithms::Eigenproblem<T> problem;
  std::array<const void*, 3> workspaces;  ///< here and below: to know whether they can be written
  const void* marks;                      ///< likewise; ISUPPZ, IFAIL or null
  Index* found;  ///< becomes the number of eigenvalues, if the device has done the call
};
/// As eigen(). say_sizes() writes to the workspaces what LAPACK leaves there.
template <class T>
Index eigen_driver(std::size_t row, const DriverCall<T>& call, const std::function<Index()>& on_cpu,
                   const std::function<void()>& say_sizes);

/// ?sytrd, or ?hetrd. d, e and tau have n, n - 1 and n - 1 elements. `work`, `on_cpu` and
/// say_sizes() are as above.
template <class T>
Index sytrd(Uplo uplo, HostView<T> a, Real<T>* d, Real<T>* e, T* tau, const T* work,
            const std::function<Index()>& on_cpu, const std::function<void()>& say_sizes);
/// ?orgtr, or ?ungtr, of order n > 1, with reflectors in the lower triangle. `on_cpu` and
/// say_sizes() are as above.
template <class T>
Index orgtr(cpu::Family family, HostView<T> a, const T* tau, cpu::Workspace<T> work,
            const std::function<Index()>& on_cpu, const std::function<void()>& say_sizes);
/// ?ormtr, or ?unmtr, likewise: C := op(Q) C or C op(Q).
template <class T>
Index ormtr(cpu::Family family, Side side, Op op, HostView<const T> a, const T* tau, HostView<T> c,
            cpu::Workspace<T> work, const std::function<Index()>& on_cpu,
            const std::function<void()>& say_sizes);
/// A call of ?stedc for eigenvectors.
template <class T>
struct TridiagonalCall {
  bool multiplies;  ///< a given Z
  Real<T>* d;
  const Real<T>* e;
  HostView<T> z;
  std::array<const void*, 3> workspaces;
};
/// As eigen_driver().
template <class T>
Index stedc(const TridiagonalCall<T>& call, const std::function<Index()>& on_cpu,
            const std::function<void()>& say_sizes);

/// Estimates of the condition: `rcond` becomes LAPACK's. The workspaces are for the CPU LAPACK.
template <class T>
Index gecon(cpu::Family family, Norm norm, HostView<const T> a, Real<T> norm_of_a, Real<T>& rcond,
            cpu::ConditionWork<T> work);
template <class T>
Index pocon(cpu::Family family, Uplo uplo, HostView<const T> a, Real<T> norm_of_a, Real<T>& rcond,
            cpu::ConditionWork<T> work);
template <class T>
Index trcon(cpu::Family family, Norm norm, Uplo uplo, Diag diag, HostView<const T> a,
            Real<T>& rcond, cpu::ConditionWork<T> work);

/// A norm. On the device it is computed there, unless it is that of a triangle, and on the host by
/// threads of this library if the matrix is large, or else by the CPU LAPACK. `work` is LAPACK's,
/// and for the CPU LAPACK alone. NaN for a matrix in the memory of a device that has failed.
template <class T>
Real<T> norm(cpu::Family family, const NormOf& of, HostView<const T> a, Real<T>* work);

/// Mixed precision: X := A^-1 B, with LAPACK's `iter`. The workspaces are for the CPU LAPACK alone.
/// For double and complex double.
template <class T>
Index mixed_gesv(cpu::Family family, HostView<T> a, cpu::Pivots ipiv, HostView<const T> b,
                 HostView<T> x, cpu::MixedWork<T> work, Index& iter);
template <class T>
Index mixed_posv(cpu::Family family, Uplo uplo, HostView<T> a, HostView<const T> b, HostView<T> x,
                 cpu::MixedWork<T> work, Index& iter);

/// Threads that the CPU works with, on an update of order n or a copy of n elements.
Index cpu_threads(Index n);

// Updates of a Cholesky factor. `name` is the one that the caller used, for the log.

/// What an update returns that is given vectors with a NaN or an infinity.
inline constexpr Index kVectorsNotFinite = -6;
/// As algorithms::chol_update, but the factor and V need not be finite, and may lie on the device.
/// Or kFactorNotFinite, kVectorsNotFinite or kNoMemory, and then nothing is changed.
template <class T>
Index chol_update(const char* name, Uplo uplo, HostView<T> a, HostView<const T> v,
                  algorithms::Signs signs);
/// As algorithms::update_one and algorithms::downdate_one for an upper factor, which may lie on the
/// device. x and c may not.
template <class T>
void update_one(const char* name, HostView<T> r, T* x, Real<T>* c);
template <class T>
algorithms::Downdate downdate_one(const char* name, HostView<T> r, T* x, Real<T>* c);

/// BLAS's ?copy of n > 0 elements, on the CPU. NumPy makes matrices with columns by it, and rows of
/// the results again: one call for each column, whose elements lie a row apart or side by side.
/// After a few calls of that kind several threads make the others. `caller` is where the call comes
/// from, or null: what lies next to a column is read along with it only for a caller of which is
/// known that it leaves that alone until it asks for it.
template <class T>
void copy(const void* caller, Index n, const T* x, Index incx, T* y, Index incy);

}  // namespace overlapack::dispatch
