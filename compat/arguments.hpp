// Argument errors, as LAPACK reports them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "core/scalar.hpp"
#include "cpu/lapack.hpp"
#include "cpu/loader.hpp"

namespace overlapack::compat {

/// Not std::toupper, which asks the locale: in a Turkish one the upper case of i is not I.
inline char upper_case(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
/// As LAPACK's LSAME: letters match whatever their case.
inline bool same_letter(char a, char b) { return upper_case(a) == b; }
inline bool is_uplo(char c) { return same_letter(c, 'U') || same_letter(c, 'L'); }
inline bool is_trans(char c) {
  return same_letter(c, 'N') || same_letter(c, 'T') || same_letter(c, 'C');
}
inline Uplo to_uplo(char c) { return same_letter(c, 'U') ? Uplo::upper : Uplo::lower; }
inline Op to_op(char c) {
  return same_letter(c, 'N') ? Op::none : same_letter(c, 'T') ? Op::trans : Op::conj_trans;
}

/// Nothing if no norm has that letter.
inline std::optional<Norm> to_norm(char c) {
  if (same_letter(c, 'M')) return Norm::max;
  if (same_letter(c, 'O') || c == '1') return Norm::one;
  if (same_letter(c, 'I')) return Norm::infinity;
  if (same_letter(c, 'F') || same_letter(c, 'E')) return Norm::frobenius;
  return std::nullopt;
}

struct Check {
  int position;  ///< of the argument, from 1
  bool valid;
};
/// The position of the first invalid argument, or 0. The order is that of LAPACK's own checks.
inline int first_invalid(std::initializer_list<Check> checks) {
  for (const Check& check : checks) {
    if (!check.valid) return check.position;
  }
  return 0;
}

/// Hands argument `position` of `routine` ("DPOTRF", blank-padded to six) to the caller's xerbla_.
/// Returns false if the process has none in sight.
inline bool call_xerbla(cpu::Family family, const void* caller, const std::string& routine,
                        int position) {
  void* const found = cpu::find_xerbla(family, caller);
  if (found == nullptr) return false;
  const std::int64_t argument = position;  // which one with 32-bit integers reads as well
  using Xerbla = void (*)(const char*, const std::int64_t*, std::size_t);
  reinterpret_cast<Xerbla>(found)(routine.data(), &argument, routine.size());
  return true;
}

}  // namespace overlapack::compat
