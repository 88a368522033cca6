// How columns of a matrix on the device come and go that are columns of the caller's matrix, or its
// rows.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "cpu/lapack.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {

/// The order of Q for a matrix of the caller: its rows, or of LQ its columns; and how many lines it
/// has that may get reflectors.
inline Index order_of(cpu::Reflectors kind, Index m, Index n) {
  return kind == cpu::Reflectors::rows ? n : m;
}
inline Index lines_of(cpu::Reflectors kind, Index m, Index n) {
  return kind == cpu::Reflectors::rows ? m : n;
}

/// The columns of a matrix X on the device, and the lines of the caller's matrix that they come
/// from and go to: its columns or, of LQ, where X is its adjoint, its rows.
///
/// Rows move as they are, to and from a matrix on the device that is stored as the caller's. One
/// operation makes columns of X of them there, and one makes rows again.
template <class T>
class Lines {
 public:
  /// To be made before the transfer, which uses its memory.
  Lines(Device& device, cpu::Reflectors kind, HostView<const T> home, DeviceView<T> x)
      : home_(home), x_(x), rows_at_a_time_(affordable_rows(device, x.rows)) {
    if (kind == cpu::Reflectors::rows) between_.emplace(device, home.rows, home.cols);
  }
  /// Of device memory, for an X of that shape.
  static std::size_t bytes(cpu::Reflectors kind, Index rows, Index cols) {
    return kind == cpu::Reflectors::rows ? DeviceMatrix<T>::bytes(cols, rows) : 0;
  }

  /// Declares that columns j of X go up, without the rows above i. Of a lower part, nothing is
  /// needed above its diagonal.
  void add_upload(Transfer& transfer, Range i, Range j, Part part = Part::all) const {
    transfer.add_upload(region(i, j, part));
  }
  /// To be enqueued behind that upload: the columns are in X then.
  void arrive(Queue& queue, Range i, Range j) const {
    if (!between_) return;
    queue.enqueue(Copy<T>{Op::conj_trans, between_->view().block(j, i), x_.block(i, j)});
  }

  /// What of columns j goes home at a time: at most `most` of them. Of rows it is as many as there
  /// is staging memory for, in which they wait: some columns of them are of no use without the
  /// others, so they are committed as a whole.
  std::vector<Range> pieces(Range j, Index most) const {
    if (between_) most = quotient_up(j.size(), quotient_up(j.size(), rows_at_a_time_));
    return partition(j, most);
  }
  /// Declares that such a piece goes home. `inspect`: as for the transfer.
  void add_download(Transfer& transfer, Range j, std::function<bool()> inspect) const {
    const Region home = region({0, x_.rows}, j, Part::all);
    between_ ? transfer.add_rows_download(home, std::move(inspect))
             : transfer.add_download(home, std::move(inspect));
  }
  /// The same of columns that are committed as a whole, too.
  void add_whole_download(Transfer& transfer, Range j) const {
    const Region home = region({0, x_.rows}, j, Part::all);
    between_ ? transfer.add_rows_download(home) : transfer.add_whole_download(home);
  }
  /// To be enqueued before downloads of these columns are released.
  void leave(Queue& queue, Range j) const {
    if (!between_) return;
    const Range all = {0, x_.rows};
    queue.enqueue(Copy<T>{Op::conj_trans, x_.block(all, j), between_->view().block(j, all)});
  }

 private:
  static Index affordable_rows(const Device& device, Index columns) {
    const std::size_t bytes = sizeof(T) * at(std::max<Index>(columns, 1));
    return std::max<Index>(static_cast<Index>(device.tuning().transfer.ring_bytes / bytes), 1);
  }
  Region region(Range i, Range j, Part part) const {
    return between_ ? make_region<T>(home_.block(j, i), between_->view().block(j, i))
                    : make_region<T>(home_.block(i, j), x_.block(i, j), part);
  }

  const HostView<const T> home_;
  const DeviceView<T> x_;
  const Index rows_at_a_time_;
  std::optional<DeviceMatrix<T>> between_;  // of rows
};

}  // namespace overlapack::algorithms
