// What the blocked algorithms share: their options, the partition into block columns, and matrices
// in device memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/view.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

struct Options {
  Index nb = 256;       ///< order of a diagonal block
  bool hybrid = false;  ///< panels on the CPU instead of the device
  /// The textbook's order of operations in one queue, between copies of all operands.
  bool textbook = false;
  Index threads = 1;     ///< copy threads
  bool split = true;     ///< large products by split operands, where the device offers them
  bool residues = true;  ///< long sums by residues, where the device offers them
  bool by_rows = true;   ///< LU: later columns by rows till almost their turn, if memory suffices
  /// Cholesky: the order of the leading block that is factored first, before the rows below it are
  /// needed. A multiple of nb; 0: none is.
  Index leading = 0;
  /// Mixed precision: a matrix in ordinary memory goes up in two halves, the high words of all
  /// numbers first, if there is memory for them. Not with products in fp16.
  bool halves = false;
  /// Of products by split operands. For fp16 nb must be even, and the matrix well scaled.
  Precision precision = Precision::fp32;
  /// Bytes of device memory that may be taken, where an algorithm has the choice; 0: any number.
  std::size_t memory = 0;
  /// The matrix does not fit in that memory. It stays with the caller, and as much of it as fits is
  /// on the device at a time.
  bool out_of_core = false;
};

/// Copies of A and B, in device memory perhaps, from which a factorization goes up instead of from
/// where its results come down to. The results' places must hold the same A and B.
template <class T>
struct Input {
  HostView<const T> a, b;
};

/// A vector subscript from an Index.
inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// A range cut into pieces of nb, but for the last one.
inline std::vector<Range> partition(Range all, Index nb) {
  std::vector<Range> ranges;
  for (Index j = all.first; j < all.last; j += nb)
    ranges.push_back({j, std::min(j + nb, all.last)});
  return ranges;
}
inline std::vector<Range> partition(Index n, Index nb) { return partition({0, n}, nb); }

/// Right-hand sides in groups, of which one goes home while the next one is solved for. None is
/// small.
inline std::vector<Range> groups_of(const Device& device, Index nrhs) {
  const Index groups = std::max<Index>(nrhs / device.tuning().solve.columns_at_once, 1);
  return partition(nrhs, quotient_up(nrhs, groups));
}

/// Which of the ranges, which are in order, holds `i`.
inline Index index_of(const std::vector<Range>& ranges, Index i) {
  const auto found = std::partition_point(ranges.begin(), ranges.end(),
                                          [i](const Range& range) { return range.last <= i; });
  return found - ranges.begin();
}

/// The diagonal of a matrix, wherever it lies.
template <class T>
std::vector<T> diagonal(Device& device, HostView<const T> a) {
  std::vector<T> result(at(a.rows));
  if (device.kind_of(a.data) != MemoryKind::device) {
    for (Index j = 0; j < a.rows; ++j) result[at(j)] = a(j, j);
    return result;
  }
  const Buffer<T> staging(device, Space::host, a.rows);
  const QueueLease queue(device);
  queue->copy_to_host(staging.data(), sizeof(T), a.data, sizeof(T) * at(a.ld + 1), sizeof(T),
                      result.size());
  queue->synchronize();
  std::copy_n(staging.data(), a.rows, result.begin());
  return result;
}

/// 0, or k if A(k, k), counted from 1, is the first exact zero on the diagonal.
template <class T>
Index first_zero_on_diagonal(Device& device, HostView<const T> a) {
  const std::vector<T> pivots = diagonal<T>(device, a);
  const auto zero = std::find(pivots.begin(), pivots.end(), T(0));
  return zero == pivots.end() ? 0 : zero - pivots.begin() + 1;
}

/// Calls allocate() for what a faster way needs and a slower one can do without. False if there is
/// no memory for it; what it had allocated before remains.
template <class F>
bool try_to_allocate(F allocate) {
  try {
    allocate();
  } catch (const DeviceError& error) {
    if (error.lost()) throw;
    return false;
  }
  return true;
}

/// A matrix in device memory. Columns are aligned and, for large matrices, padded, so that a power
/// of two as the order does not map every row onto the same memory channel.
template <class T>
class DeviceMatrix {
 public:
  DeviceMatrix(Device& device, Index rows, Index cols)
      : ld_(leading_dimension(rows)),
        buffer_(device, Space::device, count(rows, cols)),
        view_(buffer_.data(), rows, cols, ld_) {}
  static std::size_t bytes(Index rows, Index cols) { return Buffer<T>::bytes(count(rows, cols)); }
  const DeviceView<T>& view() const { return view_; }

  static Index leading_dimension(Index rows) {
    const Index aligned = round_up(std::max<Index>(rows, 1), 32);
    return rows < 512 ? aligned : aligned + 32;
  }

 private:
  static Index count(Index rows, Index cols) {
    return leading_dimension(rows) * std::max<Index>(cols, 1);
  }

  Index ld_;
  Buffer<T> buffer_;
  DeviceView<T> view_;
};

/// A := 0.
template <class T>
void set_zero(Queue& queue, DeviceView<T> a) {
  queue.zero(a.data, sizeof(T) * at(a.ld), sizeof(T) * at(a.rows), at(a.cols));
}

/// LAPACK takes the imaginary parts of the diagonal for zero, whatever they are. The kernels for
/// panels do, too, but in a complex product a NaN there would reach the real parts.
template <class T>
void clear_imaginary_diagonal(Queue& queue, DeviceView<T> diagonal) {
  if constexpr (is_complex<T>) {
    // An array of complex numbers may be accessed as one of real numbers ([complex.numbers]).
    Real<T>* const imaginary = reinterpret_cast<Real<T>*>(diagonal.data) + 1;
    queue.zero(imaginary, sizeof(T) * at(diagonal.ld + 1), sizeof(Real<T>), at(diagonal.rows));
  }
}

/// LAPACK's info from that of the blocks: the first that is not 0, or 0.
inline Index first_failure(const Buffer<Index>& info) {
  const Index *const begin = info.data(), *const end = begin + info.size();
  const Index* const failed = std::find_if(begin, end, [](Index one) { return one != 0; });
  return failed == end ? 0 : *failed;
}

}  // namespace overlapack::algorithms
