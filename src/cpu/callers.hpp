// Whose routine a plain name means (dgetrf_), by who calls: libraries with integers of either width
// use these names, and one process may have both.
#pragma once

#include <cstddef>

namespace overlapack::cpu {

/// The routine of row `row` of the table of routines, for type letter `type`, that a call by its
/// plain name is to be handed on to as it is: one with 64-bit integers, if that is what the caller
/// would have called without this library. Null if the call is for this library, which takes its
/// integers for 32-bit ones. `caller` is the address that the call returns to.
///
/// It is asked for at each call, and remembers the answer for each object that calls.
void* foreign_routine(const void* caller, std::size_t row, char type);

/// For the report of a wrong argument: what the caller would have called without this library, if
/// that has 32-bit integers; its library knows which xerbla_ it has to call. Null if there is none,
/// or if the caller itself is a LAPACK or hands calls on.
void* routine_to_report(const void* caller, std::size_t row, char type);

/// The xerbla_ that the calling object itself has, or null.
void* own_xerbla(const void* caller);
/// Whether a definition has come into the process after the object that calls, which then has
/// another one.
bool came_later(const void* definition, const void* caller);

}  // namespace overlapack::cpu
