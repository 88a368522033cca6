// Stands in for cusolver.cpp where there is no CUDA toolkit.
#include <stdexcept>

#include "cusolver.hpp"

namespace overlapack::bench {

template <class T>
std::unique_ptr<Contender<T>> make_cusolver(const Call&, bool, int, Precision) {
  throw std::runtime_error("cuSOLVER: not built (no CUDA toolkit with cuSOLVER was found)");
}

#define OVERLAPACK_INSTANTIATE(T) \
  template std::unique_ptr<Contender<T>> make_cusolver(const Call&, bool, int, Precision);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::bench
