// Stands in for cusolver.cpp where there is no CUDA toolkit.
#include <stdexcept>

#include "cusolver.hpp"

namespace overlapack::bench {

template <class T>
std::unique_ptr<Contender<T>> make_cusolver(const Call&, bool, int) {
  throw std::runtime_error("cuSOLVER: not built (no CUDA toolkit with cuSOLVER was found)");
}

template std::unique_ptr<Contender<float>> make_cusolver(const Call&, bool, int);
template std::unique_ptr<Contender<double>> make_cusolver(const Call&, bool, int);
template std::unique_ptr<Contender<std::complex<float>>> make_cusolver(const Call&, bool, int);
template std::unique_ptr<Contender<std::complex<double>>> make_cusolver(const Call&, bool, int);

}  // namespace overlapack::bench
