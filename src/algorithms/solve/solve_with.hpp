// The way of a solve's operands to the device and back.
#pragma once

#include "algorithms/shared/blocks.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {

/// What a solve is given as A: all of a matrix, or a triangle of it. The diagonal of a unit
/// triangle is not read.
template <class T>
struct GivenMatrix {
  HostView<const T> a;
  Part part = Part::all;
  Diag diag = Diag::non_unit;

  /// All of a matrix; or, of a unit triangle, whose diagonal does not travel, what is left without
  /// the row and the column of which nothing else does.
  template <class V>
  V block(V x) const {
    if (diag == Diag::non_unit) return x;
    const Index below = part == Part::lower ? 1 : 0, rest = a.rows - 1;
    return x.block(below, 1 - below, rest, rest);
  }
  /// What is to go up to A on the device. Whatever else is in the block there is lost.
  Region region(DeviceView<T> A) const { return make_region<T>(block(a), block(A), part); }
};

/// Sends A and B up, calls solve(queue, A, B) with where they are, and brings B home. Columns of B
/// are committed in order: the first `committed` are final whatever happens, the others unchanged.
template <class T, class Solve>
void solve_with(Device& device, const Options& options, const GivenMatrix<T>& given, HostView<T> b,
                Index& committed, Solve solve) {
  const DeviceMatrix<T> factor(device, given.a.rows, given.a.cols), rhs(device, b.rows, b.cols);
  const DeviceView<T> A = factor.view(), B = rhs.view();
  const QueueLease queue(device);
  Transfer transfer(device, options.threads, committed);
  const Index all_of_a = transfer.add_upload(given.region(A));
  const Index all_of_b = transfer.add_upload(make_region<T>(b, B));
  const Index solution = transfer.add_download(make_region<T>(b, B));
  transfer.start();
  transfer.before(*queue, all_of_a);
  transfer.before(*queue, all_of_b);
  solve(*queue, A, B);
  transfer.release(*queue, solution);
  transfer.finish();
}

/// Bytes of device memory that it takes.
template <class T>
std::size_t solve_with_bytes(Index n, Index nrhs) {
  return DeviceMatrix<T>::bytes(n, n) + DeviceMatrix<T>::bytes(n, nrhs);
}

}  // namespace overlapack::algorithms
