// Solves in double precision by a factorization in single precision and iterative refinement.
#pragma once

#include "algorithms/lu/lu.hpp"
#include "algorithms/shared/blocks.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::algorithms {

/// LAPACK's number of iterations; and what `iter` is if they do not suffice, or if the
/// factorization in single precision broke down.
inline constexpr Index kMaxIterations = 30, kNoConvergence = -kMaxIterations - 1, kNotFactored = -3;

/// How a mixed-precision solve went.
struct Refinement {
  Index iter = 0;          ///< LAPACK's
  bool fell_back = false;  ///< X comes from a factorization in double precision, if from any
  /// Of the large products of the last factorization in single precision.
  Precision precision = Precision::fp32;
};

/// The caller's A X = B: an n x n matrix A and n x nrhs matrices B and X.
template <class T>
struct System {
  HostView<T> a;
  HostView<const T> b;
  HostView<T> x;
};

/// The CPU LAPACK for a type in double precision, and for the same in single precision.
template <class T>
struct MixedLapack {
  const cpu::Lapack<T>& in_double;
  const cpu::Lapack<Single<T>>& in_single;
};

/// X := A^-1 B: LAPACK's ?sgesv (?cgesv).
///
/// A goes up once and is rounded to single precision block column by block column, as it arrives;
/// its factorization begins with the first one. (With options.halves the high words of all numbers
/// go up first, and are what is factored.) The copy in double precision stays for the
/// residuals R = B - A X, each of which gives a correction from the factors in single precision
/// (Wilkinson; LAPACK Working Note 175), until for every right-hand side
///
///   max_i |r_i| <= max_i |x_i| ||A||_inf eps sqrt(n).
///
/// (A residual below this limit, but above a 64th of it, gets further steps, as long as each takes
/// a fifth of it away or more. Where steps take 99 hundredths away, one that brings less than half
/// as many digits as the one before was the last: what it left is rounding.)
///
/// The large products of the factorization are computed in options.precision; panels, triangular
/// solves and sums are in FP32 always. If refinement with a precision below FP32 does not converge,
/// or a factorization breaks down, the copy of A on the device is rounded and factored again in the
/// next higher one. Each factorization has LAPACK's 30 iterations for itself, and `refinement.iter`
/// counts those of the one that X comes from, as LAPACK counts them.
///
/// If that succeeds, A is as it was, and the pivots are those of the factors in single precision.
/// Otherwise the copy is factored in double precision by gesv(): A holds the factors, X the
/// solution, and `refinement.iter` is LAPACK's reason: -1 if the device cannot round, -2 if a
/// number overflowed single precision, -3 if the factorization broke down, -31 if 30 iterations
/// were not enough, the last two with FP32. The last is found out early, from the rate at which the
/// residuals fall. It is also said where a residual is not finite though A and B are: LAPACK's test
/// would accept it.
///
/// Returns LAPACK's info, which is of the factorization in double precision.
///
/// Throws DeviceError. If `refinement.fell_back` is false then, A is as it was and X undefined;
/// otherwise X takes the place of B in gesv() and `committed` tells how far it has come:
/// resume_gesv() finishes the call.
template <class T>
Index mixed_gesv(Device& device, const MixedLapack<T>& cpu, const Options& options,
                 const System<T>& system, Interchanges& interchanges, Refinement& refinement,
                 Index& committed);

/// The same for a Hermitian positive definite matrix of which the `uplo` triangle is given:
/// LAPACK's ?sposv (?cposv).
template <class T>
Index mixed_posv(Device& device, const MixedLapack<T>& cpu, const Options& options, Uplo uplo,
                 const System<T>& system, Refinement& refinement, Index& committed);

/// Bytes of device memory that these take at most.
template <class T>
std::size_t mixed_gesv_bytes(Device& device, const Options& options, Index n, Index nrhs);
template <class T>
std::size_t mixed_posv_bytes(Device& device, const Options& options, Index n, Index nrhs);

}  // namespace overlapack::algorithms
