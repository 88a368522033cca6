// Sums and maxima of real numbers that lie side by side, by the processor's vectors.
#pragma once

#include "core/scalar.hpp"
#include "cpu/instructions.hpp"

namespace overlapack::cpu {

/// Versions of reductions for some instructions, of n >= 0 numbers each. A NaN among these makes
/// the result one.
template <class R>
struct Reductions {
  R (*largest)(const R* x, Index n);  ///< modulus; 0 of no numbers
  R (*sum)(const R* x, Index n);      ///< of moduli
  /// sums[i] += |x[i]|, and returns the sum of moduli.
  R (*add)(const R* x, Index n, R* sums);
  R (*squares)(const R* x, Index n, R factor);  ///< the sum of (factor x[i])^2
  /// to[i] := |x[i]| of complex numbers. What they are is multiplied by `factor`, a power of two,
  /// before it is squared, so that squares neither overflow nor underflow.
  void (*moduli)(const std::complex<R>* x, Index n, R factor, R* to);
};
template <class R>
Reductions<R> reductions(Instructions instructions);

}  // namespace overlapack::cpu
