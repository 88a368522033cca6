// A call of one of ScaLAPACK's routines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "dispatch/routine.hpp"
#include "distribution.hpp"

namespace overlapack::scalapack {

using dispatch::Routine;

struct Call {
  Routine routine;
  char type;
  char uplo = '-', trans = '-';  ///< as they were given, or none
  Matrix a = {}, b = {};         ///< b without columns: the routine has no right-hand sides
  int* pivots = nullptr;

  bool is_lu() const { return dispatch::traits_of(routine).factors == dispatch::Factors::lu; }
  bool has_b() const {
    return dispatch::traits_of(routine).right_hand_sides == dispatch::RightHandSides::some;
  }
  /// Whether A is the factors, which are only read.
  bool has_factors() const {
    return dispatch::traits_of(routine).given == dispatch::Given::factors;
  }
  bool is_upper() const;
  dispatch::Shape shape() const { return {a.rows, a.columns, has_b() ? b.columns : 0}; }
  /// The order of what is factored, and the number of pivots.
  Index order() const { return std::min(a.rows, a.columns); }
  std::size_t element_bytes() const { return dispatch::element_size(type); }
  /// "dpotrf_": LAPACK's name of the same.
  std::string lapack_name() const;
};

/// Whether an engine may serve a call, as far as this rank can see: there is something to do, and
/// ScaLAPACK would refuse nothing.
bool is_valid(const Call& call, const Grid& grid);

/// A number of 30 bits, made of all arguments that have to be the same on all ranks.
int fingerprint(const Call& call);

}  // namespace overlapack::scalapack
