// How a routine of the CPU LAPACK is called: its Fortran signature, and arguments with integers of
// the width that it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "cpu/lapack.hpp"
#include "routines.hpp"

namespace overlapack::cpu {

/// Fortran signatures for scalar type T and integer type I: those of the table of routines, and the
/// three BLAS routines that a resumed factorization needs.
template <class T, class I>
struct Signature {
  using W = SecondWork<T, I>;
// Two macros, since the line of a kind is three arguments only when it has been expanded.
#define OVERLAPACK_ROUTINE(kind, types, name, parameters, arguments) \
  OVERLAPACK_SIGNATURE(name, parameters, OVERLAPACK_KIND_##kind)
#define OVERLAPACK_ROUTINE_BY_TYPE(kind, name, real_parameters, real_arguments, \
                                   complex_parameters, complex_arguments)       \
  using name = std::conditional_t<is_complex<T>, void complex_parameters, void real_parameters>;
#define OVERLAPACK_SIGNATURE(...) OVERLAPACK_SIGNATURE_OF(__VA_ARGS__)
#define OVERLAPACK_SIGNATURE_OF(name, parameters, names, result, entry) \
  using name = result parameters;
#include "routines.def"
#undef OVERLAPACK_SIGNATURE_OF
#undef OVERLAPACK_SIGNATURE
#undef OVERLAPACK_ROUTINE
  using gemm = void(const char*, const char*, const I*, const I*, const I*, const T*, const T*,
                    const I*, const T*, const I*, const T*, T*, const I*, std::size_t, std::size_t);
  using herk = void(const char*, const char*, const I*, const I*, const Real<T>*, const T*,
                    const I*, const Real<T>*, T*, const I*, std::size_t, std::size_t);
  using trsm = void(const char*, const char*, const char*, const char*, const I*, const I*,
                    const T*, const T*, const I*, T*, const I*, std::size_t, std::size_t,
                    std::size_t, std::size_t);
};

/// Real BLAS routines do not all know 'C'.
template <class T>
char character(Op op) {
  return !is_complex<T> && op == Op::conj_trans ? 'T' : static_cast<char>(op);
}

/// A matrix size or leading dimension as the library's integer.
template <class I>
I narrow(Index value) {
  return static_cast<I>(value);
}

/// The integers of a solve with A (n x n) and B (n x nrhs).
template <class I>
struct SolveSizes {
  template <class A, class B>
  SolveSizes(const A& a, const B& b)
      : n(narrow<I>(a.rows)), nrhs(narrow<I>(b.cols)), lda(narrow<I>(a.ld)), ldb(narrow<I>(b.ld)) {}
  I n, nrhs, lda, ldb;
};

/// Pivots of the width that the library wants: the caller's own array if it fits, a copy otherwise.
template <class I>
class PivotArray {
 public:
  PivotArray(Pivots pivots, Index count, bool copy_in)
      : pivots_(pivots), direct_(pivots.wide() == (sizeof(I) == sizeof(std::int64_t))) {
    if (direct_) return;
    copy_.resize(static_cast<std::size_t>(count));
    for (Index i = 0; copy_in && i < count; ++i) {
      copy_[static_cast<std::size_t>(i)] = static_cast<I>(pivots.get(i));
    }
  }
  I* data() { return direct_ ? static_cast<I*>(pivots_.data()) : copy_.data(); }
  void copy_out() {
    for (std::size_t i = 0; i < copy_.size(); ++i) pivots_.set(static_cast<Index>(i), copy_[i]);
  }

 private:
  Pivots pivots_;
  bool direct_;
  std::vector<I> copy_;
};

inline bool fits_32_bits(std::initializer_list<Index> values) {
  for (Index value : values) {
    if (value > std::numeric_limits<std::int32_t>::max()) return false;
  }
  return true;
}

/// Calls body(I{}, address) for the routine of a row of the table, where I is its integer type, and
/// returns true. Returns false if no library has the routine or its integers are too narrow for the
/// sizes.
template <class T, class Body>
bool call(const Lapack<T>& lapack, std::size_t row, std::initializer_list<Index> sizes, Body body) {
  if (void* const wide = lapack.find(row, true)) {
    body(std::int64_t{}, wide);
    return true;
  }
  void* const address = fits_32_bits(sizes) ? lapack.find(row, false) : nullptr;
  if (address == nullptr) return false;
  body(std::int32_t{}, address);
  return true;
}

/// The same address as a pointer of the routine's type.
template <class F>
F* as(void* address) {
  return reinterpret_cast<F*>(address);
}

}  // namespace overlapack::cpu
