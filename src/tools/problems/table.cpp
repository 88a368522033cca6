#include "tools/problems/row.hpp"

namespace overlapack::tools {

template <class T>
const ProblemRow<T>& row_of(Routine routine) {
  static constexpr const ProblemRow<T>& (*kRows[])() = {
#define OVERLAPACK_ROUTED(kind, types, name) rows::name<T>,
#include "dispatch/routed.def"
      rows::cholupdate<T>,
  };
  return kRows[static_cast<std::size_t>(routine)]();
}

#define OVERLAPACK_INSTANTIATE(T) template const ProblemRow<T>& row_of<T>(Routine);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::tools
