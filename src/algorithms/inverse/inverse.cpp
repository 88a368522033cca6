#include "algorithms/inverse/inverse.hpp"

#include <numeric>
#include <utility>

#include "algorithms/inverse/triangle_in_place.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {
namespace {

/// The blocks of a matrix on their way up, for a computation that needs them in order.
class Uploads {
 public:
  Uploads(Transfer& transfer, Queue& queue, const std::vector<Range>& blocks)
      : transfer_(transfer), queue_(queue), blocks_(blocks) {}
  /// Work enqueued from now on sees the blocks up to the last one of these columns.
  void before(Range columns) {
    for (; next_ < blocks_.size() && blocks_[next_].first < columns.last; ++next_) {
      transfer_.before(queue_, static_cast<Index>(next_));
    }
  }

 private:
  Transfer& transfer_;
  Queue& queue_;
  const std::vector<Range>& blocks_;
  std::size_t next_ = 0;
};

/// Sends a triangle up by block columns, calls compute(queue, triangle, before, after), and brings
/// it home: block columns of a lower triangle, block rows of an upper one, as they become final. A
/// unit diagonal does not travel.
template <class T, class Compute>
void in_place(Device& device, const Options& options, Uplo uplo, Diag diag, HostView<T> a,
              Index& committed, Compute compute) {
  const Index n = a.rows, beside = diag == Diag::unit ? 1 : 0;
  const bool lower = uplo == Uplo::lower;
  const std::vector<Range> blocks = partition(n, options.nb);
  const DeviceMatrix<T> matrix(device, n, n);
  const DeviceView<T> A = matrix.view();
  const TriangleInPlace<T> triangle(device, uplo, A, options.nb);
  const QueueLease queue(device, Priority::normal, "inverse");
  Transfer transfer(device, options.threads, committed);
  for (const Range& j : blocks) {
    const Range rows = lower ? Range{j.first, n} : Range{0, j.last};
    const Index diagonal = lower ? beside : j.first - beside;
    transfer.add_upload(
        make_region<T>(a.block(rows, j), A.block(rows, j), part_of(uplo), diagonal));
    const Range rest = {j.first, n};
    const auto home = [&](Range i, Range k) {
      return make_region<T>(a.block(i, k), A.block(i, k), part_of(uplo), lower ? beside : -beside);
    };
    // Some columns of a block row are of no use without the others.
    lower ? transfer.add_download(home(rest, j)) : transfer.add_whole_download(home(j, rest));
  }
  transfer.start();
  triangle.prepare(*queue);
  Uploads uploads(transfer, *queue, blocks);
  Index released = 0;
  compute(
      *queue, triangle, [&](Range columns) { uploads.before(columns); },
      [&](Range lines) {
        for (; released < index_of(blocks, lines.last); ++released) {
          transfer.release(*queue, released);
        }
      });
  transfer.finish();
}

constexpr auto kNothing = [](Range) {};

}  // namespace

template <class T>
Index trtri(Device& device, const Options& options, Uplo uplo, Diag diag, HostView<T> a,
            Index& committed) {
  if (diag == Diag::non_unit) {
    const Index zero = first_zero_on_diagonal<T>(device, a);
    if (zero > 0) return zero;
  }
  in_place(device, options, uplo, diag, a, committed,
           [&](Queue& queue, const TriangleInPlace<T>& triangle, auto before, auto after) {
             triangle.invert(queue, diag, before, after);
           });
  return 0;
}

template <class T>
void lauum(Device& device, const Options& options, Uplo uplo, HostView<T> a, Index& committed) {
  in_place(device, options, uplo, Diag::non_unit, a, committed,
           [&](Queue& queue, const TriangleInPlace<T>& triangle, auto before, auto after) {
             before({0, a.rows});
             triangle.multiply_by_adjoint(queue, after);
           });
}

template <class T>
Index potri(Device& device, const Options& options, Uplo uplo, HostView<T> a, Index& committed) {
  const Index zero = first_zero_on_diagonal<T>(device, a);
  if (zero > 0) return zero;
  in_place(device, options, uplo, Diag::non_unit, a, committed,
           [&](Queue& queue, const TriangleInPlace<T>& triangle, auto before, auto after) {
             triangle.invert(queue, Diag::non_unit, before, kNothing);
             triangle.multiply_by_adjoint(queue, after);
           });
  return 0;
}

Index final_lines(const Options& options, Uplo uplo, Index n, Index committed) {
  if (uplo == Uplo::lower) return committed;
  Index rows = 0;  // of block rows, which come home as a whole
  for (const Range& block : partition(n, options.nb)) {
    if (committed < n - block.first) break;
    committed -= n - block.first;
    rows = block.last;
  }
  return rows;
}

template <class T>
std::size_t triangle_in_place_bytes(const Options& options, Index n) {
  return DeviceMatrix<T>::bytes(n, n) + TriangleInPlace<T>::bytes(n, options.nb);
}

// ---- General matrices ---------------------------------------------------------------------

namespace {

/// Interchanges for SwapColumns, which goes forward, that do what those of getri do, which go
/// backwards.
std::vector<Index> forward_interchanges(const std::vector<Index>& pivots) {
  const auto n = static_cast<Index>(pivots.size());
  std::vector<Index> wanted(pivots.size());  // by column: which one is to end up there
  std::iota(wanted.begin(), wanted.end(), 0);
  for (Index j = n - 1; j >= 0; --j) std::swap(wanted[at(j)], wanted[at(pivots[at(j)] - 1)]);
  std::vector<Index> here(pivots.size()), place(pivots.size()), result(pivots.size());
  std::iota(here.begin(), here.end(), 0);
  std::iota(place.begin(), place.end(), 0);
  for (Index j = 0; j < n; ++j) {
    const Index from = place[at(wanted[at(j)])];
    result[at(j)] = from + 1;
    place[at(here[at(j)])] = from;
    std::swap(here[at(j)], here[at(from)]);
  }
  return result;
}

}  // namespace

// X := U^-1; then X L = U^-1 for X, by block columns from the right. A holds all of it: L stands
// below U^-1, from where a block column of it moves aside when it is its turn.
template <class T>
Index getri(Device& device, const Options& options, HostView<T> a, const std::vector<Index>& pivots,
            Index& committed) {
  const Index zero = first_zero_on_diagonal<T>(device, a);
  if (zero > 0) return zero;
  const Index n = a.rows;
  const std::vector<Range> blocks = partition(n, options.nb);
  const std::vector<Index> interchanges = forward_interchanges(pivots);
  const DeviceMatrix<T> matrix(device, n, n), aside(device, n, blocks.front().size());
  const DeviceView<T> A = matrix.view();
  const TriangleInPlace<T> triangle(device, Uplo::upper, A, options.nb);
  const Buffer<Index> there(device, Space::device, n), staged(device, Space::host, n);
  std::copy(interchanges.begin(), interchanges.end(), staged.data());
  const DeviceView<Index> p(there.data(), n);
  const QueueLease queue(device, Priority::normal, "inverse");
  Transfer transfer(device, options.threads, committed);
  for (const Range& j : blocks) {
    transfer.add_upload(make_region<T>(a.block({0, n}, j), A.block({0, n}, j)));
  }
  transfer.add_whole_download(make_region<T>(a, A));
  transfer.start();
  triangle.prepare(*queue);
  Uploads uploads(transfer, *queue, blocks);
  triangle.invert(
      *queue, Diag::non_unit, [&](Range j) { uploads.before(j); }, kNothing);
  for (Index b = static_cast<Index>(blocks.size()) - 1; b >= 0; --b) {
    const Range j = blocks[at(b)], on = {j.first, n}, behind = {j.last, n};
    const DeviceView<T> L = aside.view().block(0, 0, on.size(), j.size());
    const DeviceView<T> L21 = L.block(j.size(), 0, behind.size(), j.size());
    const DeviceView<T> X = A.block({0, n}, j), zeros = A.block(behind, j);
    queue->copy<T>(L, A.block(on, j));
    queue->copy<T>(A.block(j, j), triangle.with_zeros(*queue, j));
    queue->zero(zeros.data, sizeof(T) * at(zeros.ld), sizeof(T) * at(zeros.rows), at(zeros.cols));
    queue->enqueue(Gemm<T>{Op::none, Op::none, T(-1), A.block({0, n}, behind), L21, T(1), X});
    queue->enqueue(Trsm<T>{Side::right, Uplo::lower, Op::none, Diag::unit, T(1),
                           L.block(0, 0, j.size(), j.size()), X});
  }
  queue->copy<Index>(p, HostView<const Index>(staged.data(), n));
  queue->enqueue(SwapColumns<T>{A, p, 0});
  transfer.release(*queue, 0);
  transfer.finish();
  return 0;
}

template <class T>
std::size_t getri_bytes(const Options& options, Index n) {
  return triangle_in_place_bytes<T>(options, n) +
         DeviceMatrix<T>::bytes(n, std::min(n, options.nb)) + Buffer<Index>::bytes(n);
}

#define OVERLAPACK_INSTANTIATE(T)                                                          \
  template Index trtri<T>(Device&, const Options&, Uplo, Diag, HostView<T>, Index&);       \
  template void lauum<T>(Device&, const Options&, Uplo, HostView<T>, Index&);              \
  template Index potri<T>(Device&, const Options&, Uplo, HostView<T>, Index&);             \
  template Index getri<T>(Device&, const Options&, HostView<T>, const std::vector<Index>&, \
                          Index&);                                                         \
  template std::size_t triangle_in_place_bytes<T>(const Options&, Index);                  \
  template std::size_t getri_bytes<T>(const Options&, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
