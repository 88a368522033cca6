#include "algorithms/lu/matrix.hpp"

namespace overlapack::algorithms {
namespace {

/// The blocks of an m x n matrix: up to column min(m, n), then the others.
std::vector<Range> blocks_of(Index m, Index n, Index nb) {
  const Index k = std::min(m, n);
  std::vector<Range> blocks = partition(k, nb);
  for (const Range& rest : partition({k, n}, nb)) blocks.push_back(rest);
  return blocks;
}

}  // namespace

template <class T>
LuMatrix<T>::LuMatrix(Device& device, Index m, Index n, Index nrhs, Index nb, DeviceView<T> place)
    : kernels_(device.kernels<T>()),
      m_(m),
      n_(n),
      nrhs_(nrhs),
      blocks_(blocks_of(m, n, nb)),
      pivot_blocks_(static_cast<Index>(partition(std::min(m, n), nb).size())),
      view_(place),
      first_by_rows_(n + nrhs) {
  if (place.empty()) view_ = memory_.emplace(device, m, n + nrhs).view();
}

template <class T>
std::optional<DeviceView<T>> LuMatrix<T>::place_by_rows(Range c) {
  if (c.first < first_by_rows_) return {};
  placed_by_rows_ = c.last;
  return by_rows({0, m_}, c);
}

template <class T>
void LuMatrix<T>::put_by_rows(Queue& queue, Range c) {
  c.first = std::max({c.first, first_by_rows_, placed_by_rows_});
  if (c.empty()) return;
  kernels_.copy(queue, Op::conj_trans, view_.block(0, c.first, m_, c.size()), by_rows({0, m_}, c));
}

template <class T>
void LuMatrix<T>::put_back(Queue& queue, Index end) {
  const Range c = {first_by_rows_, end};
  if (c.empty()) return;
  kernels_.copy(queue, Op::conj_trans, by_rows({0, m_}, c), view_.block(0, c.first, m_, c.size()));
  first_by_rows_ = end;
}

#define OVERLAPACK_INSTANTIATE(T) template class LuMatrix<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
