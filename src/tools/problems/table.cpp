#include "tools/problems/row.hpp"

namespace overlapack::tools {

template <class T>
const ProblemRow<T>& row_of(Routine routine) {
  static constexpr const ProblemRow<T>& (*kRows[])() = {
#define OVERLAPACK_ROUTINE(name, parameters, arguments) rows::name<T>,
#include "routines.def"
// and, behind all others,
#include "mixed_complex.def"
#include "mixed_real.def"
#undef OVERLAPACK_ROUTINE
      rows::cholupdate<T>,
  };
  return kRows[static_cast<std::size_t>(routine)]();
}

#define OVERLAPACK_INSTANTIATE(T) template const ProblemRow<T>& row_of<T>(Routine);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::tools
