#include <numeric>
#include <utility>

#include "algorithms/inverse/inverse.hpp"
#include "algorithms/inverse/triangle_in_place.hpp"
#include "algorithms/shared/uploads.hpp"

// X := U^-1; then X L = U^-1 for X, by block columns from the right. A holds all of it: L stands
// below U^-1, from where a block column of it moves aside when it is its turn. In the end columns
// of X are interchanged. So U goes up by block rows, and L after it by block columns from the
// right.
//
// In the caller's memory a block column of X takes the place of one of L and U. What is left of
// these is enough for the CPU to go on from there, as LAPACK's own loop does
// (cpu::finish_getri()), as long as columns of X stand where they were computed. So block columns
// go home as soon as they are final. Column j is to be exchanged with one that does not stand
// before it. That one is at home already, so whoever stores column j makes the exchange. If the
// device fails, exchanges are undone.
//
// A small matrix is interchanged on the device, and goes home as a whole, as one does that lies on
// the device: to interchange it on the CPU would take longer than all the rest.

namespace overlapack::algorithms {
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

template <class T>
class MatrixInverse {
 public:
  MatrixInverse(Device& device, const Options& options, HostView<T> a,
                const std::vector<Index>& pivots)
      : device_(device),
        options_(options),
        a_(a),
        n_(a.rows),
        blocks_(partition(n_, options.nb)),
        pieces_(pieces_of(blocks_)),
        pivots_(pivots),
        places_(places_in(pieces_, pivots)),
        resident_(device.kind_of(a.data) == MemoryKind::device),
        whole_(resident_ || sizeof(T) * at(n_ * n_) <= device.tuning().transfer.kept_upload_bytes),
        matrix_(device, n_, n_),
        aside_(device, n_, blocks_.front().size()),
        triangle_(device, Uplo::upper, matrix_.view(), options.nb),
        there_(device, Space::device, whole_ ? n_ : 0),
        staged_(device, Space::host, whole_ ? n_ : 0),
        queue_(device, Priority::normal, "inverse") {}

  void run(Index& committed) {
    try {
      compute(committed);
    } catch (...) {
      if (!resident_) undo_exchanges(committed);
      throw;
    }
  }

 private:
  Index count() const { return static_cast<Index>(blocks_.size()); }

  /// From the right. Each waits in staging memory until all of it is there.
  static std::vector<Range> pieces_of(const std::vector<Range>& blocks) {
    constexpr Index kColumnsOfPiece = 64;
    std::vector<Range> pieces;
    for (const Range& block : blocks) {
      for (const Range& piece : partition(block, kColumnsOfPiece)) pieces.push_back(piece);
    }
    std::reverse(pieces.begin(), pieces.end());
    return pieces;
  }

  /// With what column each one is exchanged, counted from the first column of its piece.
  static std::vector<Index> places_in(const std::vector<Range>& pieces,
                                      const std::vector<Index>& pivots) {
    std::vector<Index> places(pivots.size());
    for (const Range& piece : pieces) {
      for (Index j = piece.first; j < piece.last; ++j) {
        places[at(j)] = pivots[at(j)] - 1 - piece.first;
      }
    }
    return places;
  }

  void compute(Index& committed) {
    const DeviceView<T> A = matrix_.view();
    const Range all = {0, n_};
    Transfer transfer(device_, options_.threads, committed);
    for (const Range& k : blocks_) {  // with the block of L on the diagonal
      const Range on = {k.first, n_};
      transfer.add_upload(make_region<T>(a_.block(k, on), A.block(k, on)));
    }
    for (Index b = count() - 2; b >= 0; --b) {
      const Range j = blocks_[at(b)], below = {j.last, n_};
      transfer.add_upload(make_region<T>(a_.block(below, j), A.block(below, j)));
    }
    if (whole_) {
      transfer.add_whole_download(make_region<T>(a_, A));
    } else {
      for (const Range& j : pieces_) {
        Region home = make_region<T>(a_.block(all, j), A.block(all, j));
        home.places = &places_[at(j.first)];
        home.exchanges = true;
        transfer.add_whole_download(home);
      }
    }
    transfer.start();
    triangle_.prepare(*queue_);
    Uploads uploads(transfer, *queue_, blocks_);
    triangle_.invert(*queue_, Diag::non_unit, [&](Range k) { uploads.before(k); });
    Index released = 0;
    for (Index b = count() - 1; b >= 0; --b) {
      if (b < count() - 1) transfer.before(*queue_, 2 * count() - 2 - b);
      solve(blocks_[at(b)]);
      while (!whole_ && released < static_cast<Index>(pieces_.size()) &&
             pieces_[at(released)].first >= blocks_[at(b)].first) {
        transfer.release(*queue_, released++);
      }
    }
    if (whole_) {
      interchange_columns();
      transfer.release(*queue_, 0);
    }
    transfer.finish();
  }

  /// Columns j of X, when those behind them are there.
  void solve(Range j) {
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

  void interchange_columns() {
    const std::vector<Index> interchanges = forward_interchanges(pivots_);
    std::copy(interchanges.begin(), interchanges.end(), staged_.data());
    const DeviceView<Index> p(there_.data(), n_);
    queue_->copy<Index>(p, HostView<const Index>(staged_.data(), n_));
    queue_->enqueue(SwapColumns<T>{matrix_.view(), p, 0});
  }

  /// Puts the last columns, so many, back where they were computed.
  void undo_exchanges(Index columns) const {
    for (Index j = n_ - columns; j < n_; ++j) {
      const Index p = pivots_[at(j)] - 1;
      if (p != j) std::swap_ranges(&a_(0, j), &a_(0, j) + n_, &a_(0, p));
    }
  }

  Device& device_;
  const Options& options_;
  const HostView<T> a_;
  const Index n_;
  const std::vector<Range> blocks_;
  const std::vector<Range> pieces_;  // of blocks, in the order in which they go home
  const std::vector<Index>& pivots_;
  const std::vector<Index> places_;
  const bool resident_, whole_;
  const DeviceMatrix<T> matrix_, aside_;
  const TriangleInPlace<T> triangle_;
  const Buffer<Index> there_, staged_;
  const QueueLease queue_;
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
std::size_t getri_bytes(const Options& options, Index n) {
  return triangle_in_place_bytes<T>(options, n) +
         DeviceMatrix<T>::bytes(n, std::min(n, options.nb)) + Buffer<Index>::bytes(n);
}

#define OVERLAPACK_INSTANTIATE(T)                                                          \
  template Index getri<T>(Device&, const Options&, HostView<T>, const std::vector<Index>&, \
                          Index&);                                                         \
  template std::size_t getri_bytes<T>(const Options&, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
