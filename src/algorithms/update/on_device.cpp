#include "algorithms/update/on_device.hpp"

#include <optional>

#include "algorithms/shared/finite.hpp"
#include "algorithms/shared/triangle.hpp"
#include "algorithms/update/independent_panels.hpp"
#include "algorithms/update/rank_one.hpp"
#include "device/timeline.hpp"
#include "transfer/transfer.hpp"

// The mathematics is that of on_cpu.cpp: reflectors take block columns of L and all of V
// through the update, one after the other. What differs is how they travel.
//
// The factor is streamed: a region of a few hundred columns comes up, is transformed, and goes home
// while the next ones are on their way. No column is needed twice, so the device holds no more than
// a window of regions, and V.
//
// Faults. Once a region is final in the caller's memory its old columns are gone, and what is left
// of V cannot be computed from the new ones: v' = (v - s l') / c is of no use if c is small. So V
// comes home, too, once for each region and before it, and regions are committed as a whole or not
// at all: between any two of them the CPU can go on. (As a share of all that comes home that is k
// columns for every region; regions are wide enough to keep it small. A copy of the old columns
// would be as good, but would double the work of the threads that copy.) For the same reason V is
// not updated in place: every region reads one state of it and leaves the next one behind, in the
// memory of the next region in the window, so that no transfer has to be waited for.
//
// Downdates. Whether one is possible decides the transformation itself, a trial of which comes
// before anything is committed: at a column whose pivot has nothing left it tells the order of the
// minor. (The CPU asks a triangular solve and a Gram matrix, in half of the operations. But here
// operations cost little beside the transfer and beside the chain of diagonal blocks; and a trial
// cannot be at odds with what follows.) If the factor fits into the device's memory, the trial
// leaves the results there, and they go home if all is well. Otherwise nothing but its verdict
// remains, and the factor is streamed a second time. A factor in the device's memory, which is
// changed in place, is read twice, too; its trial leaves the results in memory of our own, region
// by region.
//
// Numbers that are not finite. Whoever wants a factor with such numbers refused wants it as it was,
// too, so all of it must be seen before anything is committed. If it fits, the device looks at each
// region as it arrives: an update then is a trial, too, but its results go home as soon as the last
// region has been seen. (To read the factor on the CPU first would take a third of the call.)
// Otherwise it is read once more, before the call.

namespace overlapack::algorithms {
namespace {

/// Regions in device memory at least: one is computed with, those around it travel.
constexpr Index kMinWindowRegions = 3;

}  // namespace

template <class T>
class DeviceUpdate {
 public:
  /// Of device memory, for so many places of regions of nb columns, and V of k.
  static std::size_t bytes(Index n, Index k, Index nb, Index places) {
    return at(places) * place_bytes(n, k, nb) + other_bytes(n);
  }
  /// Places without which there is no update.
  static Index least_places(Index n, Index nb) {
    return std::min(quotient_up(n, nb), kMinWindowRegions);
  }

  DeviceUpdate(Device& device, const Options& options, const Update<T>& update,
               UpdateCheckpoint<T>& checkpoint)
      : device_(device),
        options_(options),
        triangle_{update.uplo, device.kernels<T>()},
        a_(update.a),
        v_(update.v),
        n_(a_.rows),
        k_(v_.cols),
        rotations_(update.rotations),
        checks_(update.checks()),
        checkpoint_(checkpoint),
        resident_(device.kind_of(a_.data) == MemoryKind::device),
        regions_(partition(n_, options.nb)),
        verdict_(device, 2),
        seen_(device) {
    for (Index j = 0; j < k_; ++j) {
      if (update.signs[j] > 0) order_.push_back(j);
    }
    plus_ = static_cast<Index>(order_.size());
    for (Index j = 0; j < k_; ++j) {
      if (update.signs[j] < 0) order_.push_back(j);
    }
    const Index nb = regions_.front().size();
    const Index places = resident_ ? 1 : window(nb);
    window_ = resident_ ? std::min<Index>(count(), 2) : places;
    states_.emplace(device, n_, window_ * k_);
    if (!resident_ || downdates()) {
      triangle_.lower() ? panels_.emplace(device, n_, places * nb)
                        : panels_.emplace(device, nb, places * n_);
    }
    for (auto& state : checkpoint_.states) {
      constexpr Index kReals = is_complex<T> ? 2 : 1;
      if (!resident_ && count() > 1) state.reset(new Real<T>[at(kReals * n_ * k_)]);
    }
    if (rotates()) {
      vector_ = Buffer<T>(device, Space::device, n_);
      if (downdates()) host_vector_ = Buffer<T>(device, Space::host, n_);
      cosines_ = Buffer<Real<T>>(device, Space::device, n_);
    }
    queue_.emplace(device, Priority::high, "update");
    if (holds()) side_.emplace(device, Priority::normal, "check");
    for (Index r = 0; holds() && r < count(); ++r) done_.emplace_back(device);
  }

  /// LAPACK's info, or kFactorNotFinite.
  Index run() {
    if (holds()) return sweep(Phase::trial);
    if (checks_ && !(resident_ ? all_finite_on_device<T>(device_, part(), a_)
                               : all_finite<T>(part(), a_, options_.threads))) {
      return kFactorNotFinite;
    }
    if (downdates()) {
      if (const Index info = sweep(Phase::trial); info != 0) return info;
    }
    return sweep(Phase::commit);
  }

  void note_checkpoint() const {
    if (resident_) return;
    Index left = committed_;
    for (Index r = 0; r < count(); ++r) {
      const bool last = r + 1 == count();
      const Range columns = regions_[at(r)];
      left -= (brings_rotations() ? 2 : 0) + (last ? 0 : k_);
      left -= triangle_.lower() ? columns.size() : n_ - columns.first;
      if (left < 0) return;
      checkpoint_.columns = columns.last;
      if (last) return;
      T* const state = state_at_home(r);
      checkpoint_.v = {state + columns.last, n_ - columns.last, k_, n_};
    }
  }

 private:
  /// A trial finds out whether the result exists, and whether the factor is what it should be; it
  /// commits the results if it can keep them all.
  enum class Phase { trial, commit };

  /// One place of the window, a block column or a block row, with its state of V.
  static std::size_t place_bytes(Index n, Index k, Index nb) {
    return std::max(DeviceMatrix<T>::bytes(n, nb), DeviceMatrix<T>::bytes(nb, n)) +
           DeviceMatrix<T>::bytes(n, k);
  }
  /// Rotations, and what the host looks at: the verdict, and whether the factor is finite.
  static std::size_t other_bytes(Index n) {
    return Buffer<T>::bytes(n) + Buffer<Real<T>>::bytes(n) + Readout<Index>::bytes(2) +
           Readout<Index>::bytes(1);
  }

  Index count() const { return static_cast<Index>(regions_.size()); }
  Queue& queue() const { return **queue_; }
  Queue& side() const { return **side_; }
  bool downdates() const { return plus_ < k_; }
  bool rotates() const { return rotations_.c != nullptr; }
  /// The rotations of an update come with the reflectors, those of a downdate are known before.
  bool brings_rotations() const { return rotates() && !downdates(); }
  /// All regions stay on the device, in memory of our own.
  bool fits() const { return !resident_ && window_ == count(); }
  /// Results are held back until the trial is over, and then go home.
  bool holds() const { return fits() && (downdates() || checks_); }

  Index window(Index nb) const {
    Index affordable = count();
    if (options_.memory > 0) {
      const std::size_t others = other_bytes(n_);
      const std::size_t rest = options_.memory > others ? options_.memory - others : 0;
      affordable = static_cast<Index>(rest / place_bytes(n_, k_, nb));
    }
    if ((downdates() || checks_) && affordable >= count()) return count();
    const Index wanted = device_.tuning().update.window_regions;
    return std::min(count(), std::clamp(affordable, kMinWindowRegions, wanted));
  }

  /// Where region r, from its diagonal block on, is on the device.
  DeviceView<T> panel(Index r) const {
    const Range columns = regions_[at(r)];
    return resident_ ? triangle_.block(on_device(a_), {columns.first, n_}, columns)
                     : place(r % window_, columns);
  }
  /// Memory of our own for a region.
  DeviceView<T> place(Index number, Range columns) const {
    const Index rows = n_ - columns.first;
    return triangle_.lower() ? panels_->view().block(0, number * options_.nb, rows, columns.size())
                             : panels_->view().block(0, number * n_, columns.size(), rows);
  }
  /// The caller's copy of V as region r leaves it.
  T* state_at_home(Index r) const { return reinterpret_cast<T*>(checkpoint_.states[r % 2].get()); }
  /// V as region r finds it.
  DeviceView<T> state(Index r) const { return states_->view().block(0, r % window_ * k_, n_, k_); }

  /// Declares the uploads of V, which are the first of all; returns the number of the last one.
  Index add_vectors(Transfer& transfer) {
    Index last = 0;
    // One region for all of V if its columns need no sorting.
    const Index step = plus_ == 0 || plus_ == k_ ? k_ : 1;
    for (Index j = 0; j < k_; j += step) {
      last = transfer.add_upload(
          make_region<T>(v_.block(0, order_[at(j)], n_, step), state(0).block(0, j, n_, step)));
    }
    if (rotates() && downdates()) {
      last = transfer.add_upload(make_region<T>(v_, DeviceView<T>(vector_.data(), n_)));
    }
    return last;
  }

  /// If the results are held back, up and down take turns, and the memory and the threads of both
  /// are free for larger copies of one.
  TransferTuning tuning() const {
    TransferTuning tuning = device_.tuning().transfer;
    if (holds()) {
      tuning.chunks /= 2;
      tuning.chunk_bytes_at_most *= 2;
      tuning.units_per_chunk *= 2;
      tuning.ring_bytes *= 2;
    }
    return tuning;
  }

  /// Declares the downloads of region r; returns the number of the last one.
  Index add_downloads(Transfer& transfer, Index r, bool stores) {
    const Range columns = regions_[at(r)], below = {columns.last, n_};
    Index last = -1;
    if (brings_rotations()) {
      transfer.add_download(make_region<Real<T>>(
          HostView<Real<T>>(rotations_.c + columns.first, columns.size()),
          DeviceView<Real<T>>(cosines_.data() + columns.first, columns.size())));
      last = transfer.add_download(
          make_region<T>(HostView<T>(rotations_.s + columns.first, columns.size()),
                         DeviceView<T>(vector_.data() + columns.first, columns.size())));
    }
    if (resident_) return last;
    const HostView<T> home = triangle_.block(a_, {columns.first, n_}, columns);
    if (!stores) {  // nothing moves, but it tells when the region's memory is free
      return transfer.add_download(make_region<T>(home.block(0, 0, 0, 0), panel(r)));
    }
    if (r + 1 < count()) {
      last_state_[r % 2] = transfer.add_download_over(
          make_region<T>(HostView<T>(state_at_home(r) + below.first, below.size(), k_, n_),
                         state(r + 1).block(below.first, 0, below.size(), k_)),
          last_state_[r % 2]);
    }
    return transfer.add_whole_download(make_region<T>(home, panel(r), part()));
  }
  Part part() const { return part_of(triangle_.uplo); }

  Index sweep(Phase phase) {
    const bool trial = phase == Phase::trial, stores = !trial || holds();
    committed_ = 0;
    Transfer transfer(device_, options_.threads, committed_, tuning());
    const Index vectors = add_vectors(transfer);
    std::fill(std::begin(last_state_), std::end(last_state_), Transfer::kNoDownload);
    std::vector<Index> downloads, uploads;  // by region, the last one of each
    for (Index r = 0; r < count(); ++r) {
      downloads.push_back(add_downloads(transfer, r, stores));
      if (resident_) continue;
      const HostView<T> home = triangle_.block(a_, {regions_[at(r)].first, n_}, regions_[at(r)]);
      uploads.push_back(
          transfer.add_upload(make_region<T>(home, panel(r), part()),
                              r < window_ ? Transfer::kNoDownload : downloads[at(r - window_)]));
    }
    Index released = 0;
    const auto release = [&](Queue& when, Index r) {
      for (; released <= downloads[at(r)]; ++released) transfer.release(when, released);
    };
    transfer.start();
    queue().zero(verdict_.there().data, 2 * sizeof(Index));
    if (holds()) {
      queue().record(*seen_);
      side().wait(*seen_);
    }
    for (Index id = 0; id <= vectors; ++id) transfer.before(queue(), id);
    for (Index r = 0; r < count(); ++r) {
      if (holds() && checks_) {
        transfer.before(side(), uploads[at(r)]);
        side().enqueue(FindNotFinite<T>{part(), panel(r), not_finite()});
        side().record(*seen_);
        queue().wait(*seen_);
      } else if (!resident_) {
        transfer.before(queue(), uploads[at(r)]);
      }
      const Span span(queue(), "update", r);
      if (trial && rotates()) solve(r);
      transform(r, phase);
      holds() ? queue().record(*done_[at(r)]) : release(queue(), r);
    }
    if (trial) {
      if (const Index info = verdict(); info != 0) return info;
    }
    for (Index r = 0; holds() && r < count(); ++r) {
      side().wait(*done_[at(r)]);
      release(side(), r);
    }
    transfer.finish();
    if (resident_) queue().synchronize();
    return 0;
  }

  /// Takes region r and V through the update.
  void transform(Index r, Phase phase) {
    const Range region = regions_[at(r)];
    const bool aside = resident_ && phase == Phase::trial;
    const DeviceView<T> from = panel(r), to = aside ? place(0, region) : from;
    const Index width = triangle_.kernels.limits().update_panel_width, rows = n_ - region.first;
    for (const Range& local : partition(region.size(), width)) {
      const Range columns = {region.first + local.first, region.first + local.last};
      const auto block = [&](DeviceView<T> x) {
        return triangle_.block(x, {local.first, rows}, local);
      };
      const DeviceView<T> before = state(local.first == 0 ? r : r + 1), after = state(r + 1);
      DeviceView<Real<T>> c;
      DeviceView<T> s;
      if (brings_rotations()) {
        c = {cosines_.data() + columns.first, columns.size()};
        s = {vector_.data() + columns.first, columns.size()};
      }
      queue().enqueue(UpdatePanel<T>{triangle_.uplo, block(from), block(to), plus_,
                                     before.block(columns.first, 0, n_ - columns.first, k_),
                                     after.block(columns.last, 0, n_ - columns.last, k_), info(),
                                     columns.first, c, s});
    }
  }

  /// The rows of L^-1 v that belong to region r, from its old columns: the rotations of a downdate
  /// follow from them.
  void solve(Index r) {
    const Range columns = regions_[at(r)], local = {0, columns.size()};
    const Range below = {columns.size(), n_ - columns.first};
    const DeviceView<T> x(vector_.data() + columns.first, n_ - columns.first);
    const DeviceView<T> top = x.block(0, 0, local.size(), 1);
    queue().enqueue(Trsm<T>{Side::left, triangle_.uplo, triangle_.direct(), Diag::non_unit, T(1),
                            triangle_.block(panel(r), local, local), top});
    queue().enqueue(Gemm<T>{triangle_.direct(), Op::none, T(-1),
                            triangle_.block(panel(r), below, local), top, T(1),
                            x.block(below.first, 0, below.size(), 1)});
  }

  /// Waits for the trial: for its end, or if its result is sure to exist, only until all of the
  /// factor has been seen. Returns LAPACK's info or kFactorNotFinite, and brings the rotations of a
  /// downdate if it is possible.
  Index verdict() {
    Queue& queue = downdates() ? this->queue() : side();
    verdict_.fetch(queue);
    if (rotates()) {
      queue.template copy<T>(HostView<T>(host_vector_.data(), n_),
                             DeviceView<const T>(vector_.data(), n_));
    }
    queue.synchronize();
    const Index info = verdict_.here()[0], not_finite = verdict_.here()[1];
    if (not_finite != 0) return kFactorNotFinite;
    if (info != 0 || !rotates()) return info;
    std::copy_n(host_vector_.data(), n_, rotations_.s);
    return downdate_rotations(n_, rotations_.s, rotations_.c) ? 0 : n_;
  }
  DeviceView<Index> info() const { return verdict_.there().block(0, 0, 1, 1); }
  DeviceView<Index> not_finite() const { return verdict_.there().block(1, 0, 1, 1); }

  Device& device_;
  const Options options_;
  const Triangle<T> triangle_;
  const HostView<T> a_;
  const HostView<const T> v_;
  const Index n_, k_;
  const Rotations<T> rotations_;
  const bool checks_;  // a factor that is not finite is refused
  UpdateCheckpoint<T>& checkpoint_;
  const bool resident_;  // A lies in the device's memory
  const std::vector<Range> regions_;
  std::vector<Index> order_;  // the columns of V, those to be added first
  Index plus_ = 0;            // how many those are
  Index window_ = 0;          // regions that have a place on the device
  Index committed_ = 0;
  Index last_state_[2] = {};  // the downloads that filled the states at home last
  Readout<Index> verdict_;    // info(), not_finite()
  std::optional<DeviceMatrix<T>> panels_, states_;  // by place in the window
  Buffer<T> vector_, host_vector_;                  // sines of an update; L^-1 v of a downdate
  Buffer<Real<T>> cosines_;
  EventLease seen_;               // the region last looked at
  std::vector<EventLease> done_;  // by region, of a trial that keeps its results
  std::optional<QueueLease> queue_,
      side_;  // side: looks at what arrives, then lets results go home
};

template <class T>
std::size_t chol_update_bytes(Index n, Index k, Index nb) {
  return DeviceUpdate<T>::bytes(n, k, std::min(n, nb), DeviceUpdate<T>::least_places(n, nb));
}

template <class T>
Index chol_update_on_device(Device& device, const Options& options, const Update<T>& update,
                            UpdateCheckpoint<T>& checkpoint) {
  if (update_by_independent_panels(device, options, update)) return 0;
  DeviceUpdate<T> chain(device, options, update, checkpoint);
  try {
    return chain.run();
  } catch (...) {
    chain.note_checkpoint();
    throw;
  }
}

#define OVERLAPACK_INSTANTIATE(T)                                                    \
  template std::size_t chol_update_bytes<T>(Index, Index, Index);                    \
  template Index chol_update_on_device<T>(Device&, const Options&, const Update<T>&, \
                                          UpdateCheckpoint<T>&);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
