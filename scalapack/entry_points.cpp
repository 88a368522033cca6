// The exported functions: every row of the table (names.def), for the four types, and the names by
// which a program ends grids.
#include <cstring>

#include "arguments.hpp"
#include "blacs.hpp"
#include "dispatch/calls.hpp"
#include "ranks.hpp"
#include "serve.hpp"
#include "spellings.def"

namespace overlapack::scalapack {
namespace {

Matrix matrix(int rows, int columns, void* data, const int* row, const int* column,
              const int* descriptor) {
  Matrix result{static_cast<char*>(data), rows, columns, *row - 1, *column - 1, {}};
  std::memcpy(&result.layout, descriptor, sizeof result.layout);
  return result;
}

// The parameters of each row as a call.

Call potrf(char type, const char* uplo, const int* n, void* a, const int* ia, const int* ja,
           const int* desca, int*, std::size_t) {
  Call call{Routine::potrf, type};
  call.uplo = *uplo;
  call.a = matrix(*n, *n, a, ia, ja, desca);
  return call;
}

Call posv(char type, const char* uplo, const int* n, const int* nrhs, void* a, const int* ia,
          const int* ja, const int* desca, void* b, const int* ib, const int* jb, const int* descb,
          int*, std::size_t) {
  Call call{Routine::posv, type};
  call.uplo = *uplo;
  call.a = matrix(*n, *n, a, ia, ja, desca);
  call.b = matrix(*n, *nrhs, b, ib, jb, descb);
  return call;
}

template <class... Arguments>
Call potrs(Arguments... arguments) {
  Call call = posv(arguments...);
  call.routine = Routine::potrs;
  return call;
}

Call getrf(char type, const int* m, const int* n, void* a, const int* ia, const int* ja,
           const int* desca, int* ipiv, int*) {
  Call call{Routine::getrf, type};
  call.a = matrix(*m, *n, a, ia, ja, desca);
  call.pivots = ipiv;
  return call;
}

Call gesv(char type, const int* n, const int* nrhs, void* a, const int* ia, const int* ja,
          const int* desca, int* ipiv, void* b, const int* ib, const int* jb, const int* descb,
          int*) {
  Call call{Routine::gesv, type};
  call.a = matrix(*n, *n, a, ia, ja, desca);
  call.b = matrix(*n, *nrhs, b, ib, jb, descb);
  call.pivots = ipiv;
  return call;
}

Call getrs(char type, const char* trans, const int* n, const int* nrhs, void* a, const int* ia,
           const int* ja, const int* desca, int* ipiv, void* b, const int* ib, const int* jb,
           const int* descb, int* info, std::size_t) {
  Call call = gesv(type, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info);
  call.routine = Routine::getrs;
  call.trans = *trans;
  return call;
}

/// The program's own function. There is one, unless this library has been loaded alone.
template <class Function>
class Own {
 public:
  explicit Own(const char* name) : address_(reinterpret_cast<Function>(next(name))) {}
  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    if (address_ != nullptr) address_(arguments...);
  }

 private:
  const Function address_;
};

}  // namespace

#define OVERLAPACK_EXPORT extern "C" __attribute__((visibility("default"))) void

#define OVERLAPACK_SCALAPACK_NAME(type, name, parameters, arguments)                 \
  OVERLAPACK_EXPORT p##type##name##_ parameters {                                    \
    static const Own<decltype(&p##type##name##_)> own("p" #type #name "_");          \
    const auto call = [](auto... all) { return name((#type)[0], all...); };          \
    *info = static_cast<int>(dispatch::kNoMemory); /* where there is no ScaLAPACK */ \
    serve(call arguments, info, [&] { own arguments; });                             \
  }
#define OVERLAPACK_SCALAPACK_ROUTINE(name, parameters, arguments) \
  OVERLAPACK_TYPES_sdcz(OVERLAPACK_SCALAPACK_NAME, name, parameters, arguments)
#include "names.def"

// What belongs to a grid goes with it.

OVERLAPACK_EXPORT Cblacs_gridexit(int context) {
  static const Own<decltype(&Cblacs_gridexit)> own("Cblacs_gridexit");
  Ranks::forget(context);
  own(context);
}

OVERLAPACK_EXPORT blacs_gridexit_(const int* context) {
  static const Own<decltype(&blacs_gridexit_)> own("blacs_gridexit_");
  Ranks::forget(*context);
  own(context);
}

OVERLAPACK_EXPORT Cblacs_exit(int go_on) {
  static const Own<decltype(&Cblacs_exit)> own("Cblacs_exit");
  Ranks::forget_all();
  own(go_on);
}

OVERLAPACK_EXPORT blacs_exit_(const int* go_on) {
  static const Own<decltype(&blacs_exit_)> own("blacs_exit_");
  Ranks::forget_all();
  own(go_on);
}

}  // namespace overlapack::scalapack
