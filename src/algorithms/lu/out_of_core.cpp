#include "algorithms/lu/out_of_core.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "algorithms/lu/schedule.hpp"
#include "algorithms/shared/piece_ring.hpp"
#include "algorithms/shared/split.hpp"
#include "algorithms/solve/out_of_core.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {
namespace {

/// How a slab is factored: what takes memory of the size of the slab would halve its width.
Options options_of_slab(Options options) {
  options.by_rows = options.residues = false;
  return options;
}

/// A slab that is on the device, and what has happened to it.
template <class T>
class SlabFlow final : public Flow {
 public:
  /// `updated`: reached when the slab has seen all steps of columns before it; null if there are
  /// none.
  SlabFlow(Transfer& transfer, std::vector<Index> uploads, Event* updated)
      : transfer_(transfer), uploads_(std::move(uploads)), updated_(updated) {}
  Index present() const override {
    return updated_ != nullptr ? static_cast<Index>(uploads_.size()) : 0;
  }
  bool before(Queue& queue, Index b) override {
    if (updated_ == nullptr) return transfer_.before(queue, uploads_[at(b)]);
    queue.wait(*updated_);
    return true;
  }
  void release(Queue& queue, Index b) override { transfer_.release(queue, b); }

 private:
  Transfer& transfer_;
  const std::vector<Index> uploads_;
  Event* const updated_;
};

/// The factorization of A, slab by slab.
template <class T>
class SlabLu {
 public:
  SlabLu(Device& device, const cpu::Lapack<T>& cpu, const Options& options, HostView<T> a,
         Interchanges& interchanges, Index& committed);
  /// Of device memory, with slabs of that many columns.
  static std::size_t bytes(Device& device, const Options& options, Index m, Index n, Index columns);

  /// Returns LAPACK's info.
  Index factor();

 private:
  void factor_slab(Range S, bool last);
  std::vector<Index> add_blocks(Transfer& transfer, Range S, const Lu<T>* lu);
  void update(Range S);
  void step(DeviceView<T> L, Range k, Range S);
  void take_pivots(const Lu<T>& lu, Range S, Range block);
  Index pivot_count() const { return std::min(a_.rows, a_.cols); }
  DeviceView<const Index> pivots(Range k) const { return {pivots_.data() + k.first, k.size()}; }
  /// Of the slab.
  DeviceView<T> rows(Range i, Range S) const { return slab_.view().block(i, {0, S.size()}); }

  Device& device_;
  const cpu::Lapack<T>& cpu_;
  const Options options_;
  const HostView<T> a_;
  Index& committed_;
  const Index columns_;       // of a slab
  const Index ring_columns_;  // of L that pass by at a time
  const Flag known_{0};       // the host learns of pivots by the blocks that arrive alone
  Index info_ = 0;
  std::atomic<bool> home_is_free_{false};  // nobody reads L there any more
  Buffer<Index> pivots_, staged_pivots_;   // of all slabs before
  DeviceMatrix<T> slab_;
  PieceRing<T> ring_;
  Subtraction<T> subtract_;
  LaterInterchanges<T> later_;
  EventLease updated_;
  QueueLease queue_;
};

/// The width of slabs that are about equal, none of them wider than `most`.
Index equal_slabs(Index most, Index count, Index nb) {
  if (most == 0) throw OutOfDeviceMemory("too little device memory is free");
  return std::min(round_up(quotient_up(count, quotient_up(count, most)), nb), most);
}

template <class T>
SlabLu<T>::SlabLu(Device& device, const cpu::Lapack<T>& cpu, const Options& options, HostView<T> a,
                  Interchanges& interchanges, Index& committed)
    : device_(device),
      cpu_(cpu),
      options_(options_of_slab(options)),
      a_(a),
      committed_(committed),
      columns_(equal_slabs(lu_slab_columns<T>(device, options, a.rows, a.cols), pivot_count(),
                           options.nb)),
      ring_columns_(ring_columns<T>(options, a.rows)),
      pivots_(device, Space::device, pivot_count()),
      staged_pivots_(device, Space::host, pivot_count()),
      slab_(device, a.rows, columns_),
      ring_(device, a.rows, ring_columns_),
      subtract_(device, options_, a.rows, columns_, ring_columns_),
      later_(device, a, staged_pivots_, known_, interchanges, options.nb),
      updated_(device),
      queue_(device, Priority::normal, "update") {}

template <class T>
std::size_t SlabLu<T>::bytes(Device& device, const Options& options, Index m, Index n,
                             Index columns) {
  const Index passing = ring_columns<T>(options, m);
  const Options of_slab = options_of_slab(options);
  return Buffer<Index>::bytes(std::min(m, n)) + PieceRing<T>::bytes(m, passing) +
         Subtraction<T>::bytes(device, of_slab, m, columns, passing) +
         Lu<T>::bytes(device, of_slab, m, columns, 0);  // of which the slab is a part
}

template <class T>
Index SlabLu<T>::factor() {
  const Index n = a_.cols, p = pivot_count();
  std::vector<Range> slabs = partition(p, columns_);
  for (const Range& S : partition({p, n}, columns_)) slabs.push_back(S);
  for (const Range& S : slabs) factor_slab(S, S.last == n);
  constexpr Index kIssuerAndCaller = 2;  // who have nothing else to do now
  later_.finish(options_.threads + kIssuerAndCaller);
  return info_;
}

/// Columns S of L and U. Those beyond the last row have no pivots, and are only updated.
template <class T>
void SlabLu<T>::factor_slab(Range S, bool last) {
  device_.release_idle_memory();  // of the slab before, of another shape
  home_is_free_ = false;
  const bool has_pivots = S.first < pivot_count(), first = S.first == 0;
  const Range rest = {S.first, a_.rows};
  std::optional<Lu<T>> lu;
  if (has_pivots) {
    lu.emplace(device_, cpu_, options_, rest.size(), S.size(), 0, rows(rest, S));
  }
  Transfer transfer(device_, options_.threads, committed_);
  std::vector<Index> uploads = add_blocks(transfer, S, lu ? &*lu : nullptr);
  const std::size_t blocks = uploads.size();
  ring_.begin(transfer);
  for (const Range& k : partition(std::min(S.first, pivot_count()), ring_columns_)) {
    ring_.add(a_.block({k.first, a_.rows}, k));
  }
  if (last && !options_.hybrid) {  // which wants the cores for its panels
    const Index home = quotient_up(S.first, options_.nb);
    transfer.when_idle([this, home](Index more) {
      return home_is_free_.load(std::memory_order_acquire) && later_.advance(home + more);
    });
  }
  transfer.start();

  if (!first) {
    for (const Index upload : uploads) transfer.before(*queue_, upload);
    update(S);
    queue_->record(*updated_);
  }
  SlabFlow<T> flow(transfer, std::move(uploads), first ? nullptr : &*updated_);
  if (lu) {
    lu->factor(flow);
  } else {
    for (std::size_t b = 0; b < blocks; ++b) flow.release(*queue_, static_cast<Index>(b));
  }
  transfer.finish();
  if (!lu) return;
  const Index info = first_failure(lu->panels().info());
  if (info_ == 0 && info != 0) info_ = S.first + info;
  queue_->copy<Index>(DeviceView<Index>(pivots_.data() + S.first, S.size()),
                      HostView<const Index>(staged_pivots_.data() + S.first, S.size()));
}

/// Declares that the blocks of a slab come and go.
template <class T>
std::vector<Index> SlabLu<T>::add_blocks(Transfer& transfer, Range S, const Lu<T>* lu) {
  std::vector<Index> uploads;
  for (const Range& c : partition(S, options_.nb)) {
    const HostView<T> home = a_.block({0, a_.rows}, c);
    const DeviceView<T> there =
        slab_.view().block({0, a_.rows}, {c.first - S.first, c.last - S.first});
    uploads.push_back(transfer.add_upload(make_region<T>(home, there)));
    transfer.add_download(make_region<T>(home, there), [this, lu, S, c] {
      if (lu != nullptr) take_pivots(*lu, S, c);
      home_is_free_.store(true, std::memory_order_release);  // of what passes by, all has passed
      return true;
    });
  }
  return uploads;
}

/// Of a block that is about to be stored. The slab counts from its first row on.
template <class T>
void SlabLu<T>::take_pivots(const Lu<T>& lu, Range S, Range block) {
  const Index* const from = lu.panels().staged_pivots().data() - S.first;
  std::transform(from + block.first, from + block.last, staged_pivots_.data() + block.first,
                 [S](Index pivot) { return S.first + pivot; });
  later_.arrives(block.first / options_.nb);
}

/// The steps of all columns before the slab.
template <class T>
void SlabLu<T>::update(Range S) {
  const std::vector<Range> pieces = partition(std::min(S.first, pivot_count()), ring_columns_);
  for (std::size_t q = 0; q < pieces.size(); ++q) {
    const Index number = static_cast<Index>(q);
    step(ring_.before(*queue_, number), pieces[q], S);
    ring_.pass(*queue_, number);
  }
}

/// The step of columns k of L, from the diagonal down.
template <class T>
void SlabLu<T>::step(DeviceView<T> L, Range k, Range S) {
  const Index width = k.size(), below = L.rows - width;
  // Its blocks have not seen each other's interchanges.
  for (const Range& block : partition(k, options_.nb)) {
    const Index left = block.first - k.first;
    queue_->enqueue(SwapRows<T>{L.block(left, 0, L.rows - left, left), pivots(block), block.first});
  }
  // A(k:, S) := P A(k:, S); U(k, S) := L(k, k)^-1 A(k, S)
  queue_->enqueue(InterchangeAndSolve<T>{L.block(0, 0, width, width), pivots(k), k.first,
                                         rows({k.first, a_.rows}, S)});
  // A(below, S) := A(below, S) - L(below, k) U(k, S)
  subtract_(*queue_, L.block(width, 0, below, width), rows(k, S), rows({k.last, a_.rows}, S));
}

}  // namespace

template <class T>
Index gesv_out_of_core(Device& device, const cpu::Lapack<T>& cpu, const Options& options,
                       HostView<T> a, Interchanges& interchanges, HostView<T> b, Index& committed) {
  device.release_idle_memory();
  const Index info = SlabLu<T>(device, cpu, options, a, interchanges, committed).factor();
  if (info != 0 || b.empty()) return info;
  device.release_idle_memory();
  getrs_out_of_core<T>(device, options, Op::none, a, interchanges.pivots, b, committed);
  return 0;
}

template <class T>
Index lu_slab_columns(Device& device, const Options& options, Index m, Index n) {
  const auto fits = [&](Index columns) {
    const double least = sizeof(T) * static_cast<double>(m) * static_cast<double>(columns);
    return !beyond_memory(options, least) &&
           SlabLu<T>::bytes(device, options, m, n, columns) <= options.memory;
  };
  const Index k = std::min(m, n), most = most_columns(options.nb, k, fits);
  return columns_pay(options, most, k) ? most : 0;
}

#define OVERLAPACK_INSTANTIATE(T)                                                                 \
  template Index gesv_out_of_core<T>(Device&, const cpu::Lapack<T>&, const Options&, HostView<T>, \
                                     Interchanges&, HostView<T>, Index&);                         \
  template Index lu_slab_columns<T>(Device&, const Options&, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
