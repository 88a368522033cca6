#include <numeric>
#include <utility>

#include "algorithms/inverse/column_interchanges.hpp"
#include "algorithms/inverse/inverse.hpp"
#include "algorithms/inverse/triangle_in_place.hpp"
#include "algorithms/inverse/uploads.hpp"

// X := U^-1; then X L = U^-1 for X, by block columns from the right. A holds all of it: L stands
// below U^-1, from where a block column of it moves aside when it is its turn. In the end columns
// of X are interchanged. So U goes up by block rows, and L after it by block columns from the
// right.
//
// In the caller's memory a block column of X takes the place of one of L and U. What is left of
// these is enough for the CPU to go on from there, as LAPACK's own loop does
// (cpu::finish_getri()), as long as columns of X stand where they were computed. So block columns
// go home as soon as they are final, and their interchanges are the business of idle threads. If
// the device fails, these are undone.
//
// A small matrix is interchanged on the device, and goes home as a whole, as one does that lies on
// the device: to interchange it on the CPU would take longer than all the rest.

namespace overlapack::algorithms {
namespace {

/// What getri's interchanges, which go backwards, make of columns 0, 1, ...: by column, which one
/// ends up there.
std::vector<Index> interchanged(const std::vector<Index>& pivots) {
  const auto n = static_cast<Index>(pivots.size());
  std::vector<Index> columns(pivots.size());
  std::iota(columns.begin(), columns.end(), 0);
  for (Index j = n - 1; j >= 0; --j) std::swap(columns[at(j)], columns[at(pivots[at(j)] - 1)]);
  return columns;
}

/// Interchanges for SwapColumns, which goes forward, that do the same.
std::vector<Index> forward_interchanges(const std::vector<Index>& pivots) {
  const auto n = static_cast<Index>(pivots.size());
  const std::vector<Index> wanted = interchanged(pivots);
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

/// The factors on the device, and what becomes of them.
template <class T>
class Inversion {
 public:
  Inversion(Device& device, const Options& options, Index n)
      : n_(n),
        blocks_(partition(n, options.nb)),
        matrix_(device, n, n),
        aside_(device, n, blocks_.front().size()),
        triangle_(device, Uplo::upper, matrix_.view(), options.nb),
        queue_(device, Priority::normal, "inverse") {}
  /// Of device memory.
  static std::size_t bytes(const Options& options, Index n) {
    return triangle_in_place_bytes<T>(options, n) +
           DeviceMatrix<T>::bytes(n, std::min(n, options.nb));
  }

  const std::vector<Range>& blocks() const { return blocks_; }
  Index count() const { return static_cast<Index>(blocks_.size()); }
  DeviceView<T> matrix() const { return matrix_.view(); }
  DeviceView<T> columns(Range j) const { return matrix().block({0, n_}, j); }
  Queue& queue() const { return *queue_; }

  /// U := U^-1. before(k) as TriangleInPlace has it.
  template <class Before>
  void invert_u(Before before) const {
    triangle_.prepare(*queue_);
    triangle_.invert(*queue_, Diag::non_unit, before);
  }
  /// Columns j of X, when those behind them are there.
  void solve(Range j) const {
    const DeviceView<T> A = matrix_.view();
    const Range all = {0, n_}, on = {j.first, n_}, behind = {j.last, n_};
    const DeviceView<T> l = aside_.view().block(0, 0, on.size(), j.size());
    const DeviceView<T> l11 = l.block(0, 0, j.size(), j.size()),
                        l21 = l.block(j.size(), 0, behind.size(), j.size());
    const DeviceView<T> x = A.block(all, j), below = A.block(behind, j);
    queue_->copy<T>(l, A.block(on, j));
    queue_->copy<T>(A.block(j, j), triangle_.with_zeros(*queue_, j));
    queue_->zero(below.data, sizeof(T) * at(below.ld), sizeof(T) * at(below.rows), at(below.cols));
    queue_->enqueue(Gemm<T>{Op::none, Op::none, T(-1), A.block(all, behind), l21, T(1), x});
    queue_->enqueue(Trsm<T>{Side::right, Uplo::lower, Op::none, Diag::unit, T(1), l11, x});
  }

 private:
  const Index n_;
  const std::vector<Range> blocks_;
  const DeviceMatrix<T> matrix_, aside_;
  const TriangleInPlace<T> triangle_;
  const QueueLease queue_;
};

/// From factors of the caller's, to the caller's memory.
template <class T>
class MatrixInverse {
 public:
  MatrixInverse(Device& device, const Options& options, HostView<T> a,
                const std::vector<Index>& pivots)
      : device_(device),
        options_(options),
        a_(a),
        n_(a.rows),
        pivots_(pivots),
        resident_(device.kind_of(a.data) == MemoryKind::device),
        whole_(resident_ || sizeof(T) * at(n_ * n_) <= device.tuning().transfer.kept_upload_bytes),
        at_home_(a, pivots),
        inversion_(device, options, n_),
        there_(device, Space::device, whole_ ? n_ : 0),
        staged_(device, Space::host, whole_ ? n_ : 0) {}

  void run(Index& committed) {
    try {
      compute(committed);
      if (!whole_) at_home_.finish(options_.threads);
    } catch (...) {
      if (!resident_ && whole_ && committed == n_) at_home_.note_done();
      if (!resident_) at_home_.undo();
      throw;
    }
  }

 private:
  void compute(Index& committed) {
    const std::vector<Range>& blocks = inversion_.blocks();
    const Index count = inversion_.count();
    const DeviceView<T> A = inversion_.matrix();
    const Range all = {0, n_};
    Transfer transfer(device_, options_.threads, committed);
    for (const Range& k : blocks) {  // with the block of L on the diagonal
      const Range on = {k.first, n_};
      transfer.add_upload(make_region<T>(a_.block(k, on), A.block(k, on)));
    }
    for (Index b = count - 2; b >= 0; --b) {
      const Range j = blocks[at(b)], below = {j.last, n_};
      transfer.add_upload(make_region<T>(a_.block(below, j), A.block(below, j)));
    }
    if (whole_) {
      transfer.add_whole_download(make_region<T>(a_, A));
    } else {
      for (Index b = count - 1; b >= 0; --b) {
        const Range j = blocks[at(b)];
        transfer.add_whole_download(make_region<T>(a_.block(all, j), A.block(all, j)));
      }
      transfer.when_idle([this, &blocks, count](Index home) {
        return at_home_.advance(home == 0 ? n_ : blocks[at(count - home)].first);
      });
    }
    transfer.start();
    Queue& queue = inversion_.queue();
    Uploads uploads(transfer, queue, blocks);
    inversion_.invert_u([&](Range k) { uploads.before(k); });
    for (Index b = count - 1; b >= 0; --b) {
      if (b < count - 1) transfer.before(queue, 2 * count - 2 - b);
      inversion_.solve(blocks[at(b)]);
      if (!whole_) transfer.release(queue, count - 1 - b);
    }
    if (whole_) {
      interchange_columns();
      transfer.release(queue, 0);
    }
    transfer.finish();
  }

  void interchange_columns() {
    const std::vector<Index> interchanges = forward_interchanges(pivots_);
    std::copy(interchanges.begin(), interchanges.end(), staged_.data());
    const DeviceView<Index> p(there_.data(), n_);
    inversion_.queue().template copy<Index>(p, HostView<const Index>(staged_.data(), n_));
    inversion_.queue().enqueue(SwapColumns<T>{inversion_.matrix(), p, 0});
  }

  Device& device_;
  const Options& options_;
  const HostView<T> a_;
  const Index n_;
  const std::vector<Index>& pivots_;
  const bool resident_, whole_;
  ColumnInterchanges<T> at_home_;
  const Inversion<T> inversion_;
  const Buffer<Index> there_, staged_;
};

}  // namespace

template <class T>
Index getri(Device& device, const Options& options, HostView<T> a, const std::vector<Index>& pivots,
            Index& committed) {
  const Index zero = first_zero_on_diagonal<T>(device, a);
  if (zero == 0) MatrixInverse<T>(device, options, a, pivots).run(committed);
  return zero;
}

template <class T>
void inverse_of_factors(Device& device, const Options& options, DeviceView<const T> factors,
                        const std::vector<Index>& pivots, HostView<T> x) {
  const Index n = x.rows;
  const Inversion<T> inversion(device, options, n);
  const std::vector<Range>& blocks = inversion.blocks();
  const std::vector<Index> columns = interchanged(pivots);
  std::vector<Index> places(columns.size());
  for (Index c = 0; c < n; ++c) places[at(columns[at(c)])] = c;
  Index committed = 0;  // nobody can go on from there
  Transfer transfer(device, options.threads, committed);
  for (Index b = inversion.count() - 1; b >= 0; --b) {
    const Range j = blocks[at(b)];
    Region home = make_region<T>(x.block({0, n}, j), inversion.columns(j));
    home.host = reinterpret_cast<char*>(x.data);
    home.places = &places[at(j.first)];
    transfer.add_download(home);
  }
  transfer.start();
  inversion.queue().template copy<T>(inversion.matrix(), factors);
  inversion.invert_u([](Range) {});
  for (Index b = inversion.count() - 1; b >= 0; --b) {
    inversion.solve(blocks[at(b)]);
    transfer.release(inversion.queue(), inversion.count() - 1 - b);
  }
  transfer.finish();
}

template <class T>
std::size_t getri_bytes(const Options& options, Index n) {
  return Inversion<T>::bytes(options, n) + Buffer<Index>::bytes(n);
}

#define OVERLAPACK_INSTANTIATE(T)                                                          \
  template Index getri<T>(Device&, const Options&, HostView<T>, const std::vector<Index>&, \
                          Index&);                                                         \
  template void inverse_of_factors<T>(Device&, const Options&, DeviceView<const T>,        \
                                      const std::vector<Index>&, HostView<T>);             \
  template std::size_t getri_bytes<T>(const Options&, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
