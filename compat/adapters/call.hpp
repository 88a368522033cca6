// What all adapters share: who calls, the classes that run an adapter, and the report of an invalid
// argument.
//
// An adapter takes the arguments of a Fortran routine, checks them, makes views of them and calls
// the dispatcher. There is one function for each row of routines.def, of the row's name, templated
// over the scalar type T and the integer type I.
#pragma once

#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>

#include "arguments.hpp"
#include "circle.hpp"
#include "cpu/callers.hpp"
#include "cpu/objects.hpp"
#include "dispatch/calls.hpp"
#include "host/messages.hpp"
#include "routines.hpp"

namespace overlapack::compat {

/// Everything an adapter needs to know of the name it was called by.
struct Caller {
  cpu::Family family;
  const char* name;
  const void* address = nullptr;  ///< the place that the exported function was called from
  std::size_t row = 0;            ///< in the table of routines
  const char* symbol = "";        ///< the exported name
};

/// Calls `address` with the caller's own arguments, plus lengths for its CHARACTER arguments, of
/// which there are at most three; a routine with fewer ignores the rest.
template <class Result, class... Arguments>
Result forward(void* address, Arguments... arguments) {
  constexpr std::size_t length = 1;
  using Routine = Result (*)(Arguments..., std::size_t, std::size_t, std::size_t);
  return reinterpret_cast<Routine>(address)(arguments..., length, length, length);
}

/// What a routine says that could not even begin, because there was no host memory to find out who
/// calls or to look for the process's CPU LAPACK: its last argument is info, or it returns a norm.
/// To be called where a bad_alloc is handled, which goes on if the routine has no way to say it.
template <class Result, class... Arguments>
Result out_of_memory(Arguments... arguments) {
  if constexpr (std::is_void_v<Result>) {
    const auto last = std::get<sizeof...(Arguments) - 1>(std::make_tuple(arguments...));
    using Last = std::decay_t<decltype(*last)>;
    if constexpr (!std::is_integral_v<Last>) {
      throw;
    } else {
      *last = static_cast<Last>(dispatch::kNoMemory);
    }
  } else {
    return std::numeric_limits<Result>::quiet_NaN();
  }
}

/// The routine that the call must be handed on to as it is, or null: one that the caller means, and
/// that has 64-bit integers under the plain name.
template <class T>
void* foreign_routine(const Caller& caller) {
  if (caller.family != cpu::Family::lp64) return nullptr;
  return cpu::foreign_routine(caller.address, caller.row, ScalarTraits<T>::letter);
}

// The classes below run an adapter. The table of kinds (routines.def) says which one a routine has.

/// For routines of LAPACK: runs `adapter` unless the caller means a library with other integers. A
/// routine that has called us with the same sizes once more is not called again.
template <class T, class Adapter>
struct LapackEntry {
  Caller caller;
  Adapter adapter;

  template <class... Arguments>
  auto operator()(Arguments... arguments) const {
    using Result = decltype(adapter(caller, arguments...));
    try {
      const cpu::Lapack<T>& lapack = dispatch::cpu_lapack<T>(caller.family);
      // What was excluded in the meantime takes no part in a circle any more.
      const std::size_t excluded = cpu::excluded_count();
      const CallUnderWay call(CallKey()
                                  .add(reinterpret_cast<std::uintptr_t>(caller.name))
                                  .add(reinterpret_cast<std::uintptr_t>(&lapack))
                                  .add(excluded)
                                  .add_sizes(arguments...));
      if (call.again()) {
        lapack.exclude(caller.name, excluded);
      } else if (void* const other = foreign_routine<T>(caller)) {
        return forward<Result>(other, arguments...);
      }
      return adapter(caller, arguments...);
    } catch (const std::bad_alloc&) {
      // A driver of a LAPACK would not look at what info says of memory.
      void* const own = cpu::own_definition(caller.address, caller.symbol);
      if (own != nullptr) return forward<Result>(own, arguments...);
      return out_of_memory<Result>(arguments...);
    }
  }
};

/// For updates of a Cholesky factor: likewise.
template <class T, class Adapter>
struct UpdateEntry {
  Caller caller;
  Adapter adapter;

  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    try {
      if (void* const other = foreign_routine<T>(caller)) {
        return forward<void>(other, arguments...);
      }
      adapter(caller, arguments...);
    } catch (const std::bad_alloc&) {
      out_of_memory<void>(arguments...);
    }
  }
};

/// For routines of BLAS, which cannot fail.
template <class T, class Adapter>
struct BlasEntry {
  Caller caller;
  Adapter adapter;

  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    adapter(caller, arguments...);
  }
};

/// The routine of the CPU LAPACK that is to report a wrong argument: the caller's own, or that of
/// the process. Null if there is none. The routines of qrupdate and LINPACK check nothing.
template <class T>
void* real_routine(const Caller& caller, bool wide) {
  if (caller.family == cpu::Family::lp64 && is_lapack(kRoutineRows[caller.row].kind)) {
    void* const found = cpu::routine_to_report(caller.address, caller.row, ScalarTraits<T>::letter);
    if (found != nullptr) return found;
  }
  return dispatch::cpu_lapack<T>(caller.family).find(caller.row, wide);
}

/// Reports argument number -info as LAPACK does: to the application's xerbla_, or else by handing
/// the call to the real routine, whose library then reports it its own way.
template <class T, class I, class... Arguments>
void report(Caller caller, I info, Arguments... arguments) {
  std::string routine = ScalarTraits<T>::letter + std::string(caller.name);
  std::transform(routine.begin(), routine.end(), routine.begin(), upper_case);
  routine.resize(std::max<std::size_t>(routine.size(), 6), ' ');
  if (call_xerbla(caller.family, caller.address, routine, static_cast<int>(-info))) return;
  if (void* const routine_of_cpu = real_routine<T>(caller, sizeof(I) == 8)) {
    forward<void>(routine_of_cpu, arguments...);
    // Its last argument is info as a rule, which a library may count otherwise: OpenBLAS checks
    // some routines in another order.
    const auto last = std::get<sizeof...(Arguments) - 1>(std::make_tuple(arguments...));
    if constexpr (std::is_same_v<decltype(last), I* const>) *last = info;
  } else {
    const std::string number = std::to_string(-info);
    write_to_standard_error(" ** On entry to " + routine + " parameter number " +
                            (number.size() < 2 ? " " : "") + number + " had an illegal value\n");
  }
}

template <class I>
I at_least_one(I n) {
  return std::max<I>(1, n);
}

}  // namespace overlapack::compat
