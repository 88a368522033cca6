#include "dispatch/routine.hpp"

namespace overlapack::dispatch {

bool is_lu(Routine routine) {
  switch (routine) {
    case Routine::getrf:
    case Routine::gesv:
    case Routine::sgesv:
    case Routine::cgesv:
      return true;
    default:
      return false;
  }
}

bool is_cholesky(Routine routine) {
  switch (routine) {
    case Routine::potrf:
    case Routine::posv:
    case Routine::sposv:
    case Routine::cposv:
      return true;
    default:
      return false;
  }
}
std::size_t element_size(char type) {
  switch (type) {
    case 's':
      return 4;
    case 'z':
      return 16;
    default:
      return 8;
  }
}

}  // namespace overlapack::dispatch
