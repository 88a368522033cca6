#include "algorithms/update/independent_panels.hpp"

#include <optional>

#include "algorithms/shared/substitution.hpp"
#include "algorithms/shared/triangle.hpp"
#include "algorithms/update/rank_one.hpp"
#include "device/timeline.hpp"
#include "transfer/transfer.hpp"

// The reflectors of on_cpu.cpp are a chain: each of them is made from a row of V that all
// those before have changed, and a step of the chain takes a GPU half a microsecond. But what V is
// before some panel of columns can be had without them. With W = L^-1 V, A + s V V^H = L (I + s W
// W^H) L^H; eliminate the first j rows, and what is left of V V^H, Woodbury says, is
//
//   X T^-1 X^H  with  X = V - L(:, 0:j) W(0:j, :),  T = I + s W(0:j, :)^H W(0:j, :),
//
// for the rows from j on. So V there is X R^-1 with T = R^H R. W and all X come from forward
// elimination, which is a chain, too, but of linear steps of 128 columns each (Kernels::eliminate);
// T is a sum of small matrices (update_bases). Then all panels take their reflectors from their own
// V, and their rows through them, at the same time (update_panels). The factor is read twice.
//
// This is how LINPACK's ?chdd begins, and the composite methods of Gill, Golub, Murray and Saunders
// (Math. Comp. 28, 1974), but for the reflectors within a panel.
//
// Accuracy. Elimination is backward stable: the errors of row i of X are a small multiple of
// eps |L(i, :)| |W|, hence of eps sqrt(A(i, i) max(1, |T|)); R^-1 makes them grow to
// eps sqrt(A(i, i) cond(T)), and the error of R^-1 itself, cond(T) eps, does the same to X R^-1,
// whose row is never larger than sqrt(A(i, i)) or that of V. What a panel starts from is then the
// exact V of a problem as close as that to the given one; the errors of panels do not add up along
// the chain, since there is none. But each panel's problem is another one, where a chain goes on
// with the V that it has, errors and all. What a reflector leaves of a row of V that is long beside
// L's is short, with an error of eps times that length, and to the next panels that error is what
// the result differs by: eps |W|. So the method is as good as the chain of reflectors if neither T
// nor its inverse is large (kMaxGrowth). That is so unless vectors, seen through L^-1, are long, or
// the downdated matrix is nearly singular: then the chain has to do it.
// The same is so where a diagonal block of L is not well conditioned, since elimination multiplies
// by its inverse (docs/design/0030-inverted-blocks.md). What is not finite in L or V makes T, or a
// condition, large, too.
//
// Nothing may be changed if there is no result, which is known only when all of the factor has been
// read. For a factor in the device's memory nothing is written before. A factor in the host's
// memory goes home region by region while later ones arrive, and what has been staged on its way up
// stays there till the end: if it turns out that the call must not change anything, or the device
// fails, it is put back.

namespace overlapack::algorithms {
namespace {

/// max(1, |T|) max(1, |T^-1|), as update_bases() estimates it: up to here results are as accurate
/// as those of the chain, or at worst half as accurate.
constexpr double kMaxGrowth = 128;

template <class T>
class IndependentPanels {
 public:
  IndependentPanels(Device& device, Uplo uplo, Index n, Index k, int sign)
      : triangle_{{uplo}, device.kernels<T>()},
        n_(n),
        k_(k),
        sign_(sign),
        width_(triangle_.kernels.limits().update_panel_width),
        x_(device, n, k),
        states_(device, n, panels() * k),
        inverses_(device, uplo, std::min({n, width_, triangle_.kernels.limits().potrf_panel_width}),
                  n, k),
        grams_(device, k, panels() * k),
        bases_(device, k, (panels() + 1) * k),
        reflectors_(device, Space::device, UpdatePanels<T>::kReflector * n),
        unfit_(device, 1) {}

  /// Of device memory.
  static std::size_t bytes(Device& device, Index n, Index k) {
    const Kernels<T>& kernels = device.kernels<T>();
    const Index width = kernels.limits().update_panel_width, panels = quotient_up(n, width);
    const Index order = std::min({n, width, kernels.limits().potrf_panel_width});
    return DeviceMatrix<T>::bytes(n, k) + DeviceMatrix<T>::bytes(n, panels * k) +
           BlockInverses<T>::bytes(kernels, order, n, k) +
           DeviceMatrix<Double<T>>::bytes(k, panels * k) +
           DeviceMatrix<Double<T>>::bytes(k, (panels + 1) * k) +
           Buffer<Double<T>>::bytes(UpdatePanels<T>::kReflector * n) + Readout<Index>::bytes(1);
  }

  Index width() const { return width_; }
  /// Where V is to be, and W is in the end.
  DeviceView<T> x() const { return x_.view(); }

  void begin(Queue& queue) const { queue.zero(unfit_.there().data, sizeof(Index)); }

  /// What the panels of `columns` start from. `a` is L from their diagonal block down; all columns
  /// before have been through this.
  void find_states(Queue& queue, DeviceView<const T> a, Range columns) const {
    const Index first_panel = columns.first / width_, size = columns.size();
    inverses_.invert(queue, triangle_.block(a, {0, size}, {0, size}), columns);
    queue.enqueue(Eliminate<T>{triangle_.uplo, a, inverses_.view(columns),
                               x().block(columns.first, 0, n_ - columns.first, k_), width_,
                               states(columns), inverses_.progress()});
    queue.enqueue(UpdateBases<T>{sign_, x().block(columns.first, 0, size, k_), width_, first_panel,
                                 kMaxGrowth, grams_.view(), bases_.view(), unfit_.there()});
  }

  /// Takes the columns through the update. `c` and `s` may be empty.
  void transform(Queue& queue, DeviceView<T> a, Range columns, DeviceView<Real<T>> c,
                 DeviceView<T> s) const {
    const Index first_panel = columns.first / width_;
    queue.enqueue(
        UpdatePanels<T>{triangle_.uplo,
                        sign_,
                        a,
                        states(columns),
                        k_,
                        bases_.view().block(0, first_panel * k_, k_, panels_of(columns) * k_),
                        {reflectors_.data() + UpdatePanels<T>::kReflector * columns.first,
                         UpdatePanels<T>::kReflector * columns.size()},
                        unfit_.there(),
                        c,
                        s});
  }

  /// The imaginary parts of the diagonal are ignored, unless what is not finite is refused.
  void check_diagonal(Queue& queue, DeviceView<const T> a, Range columns) const {
    if (!is_complex<T>) return;
    queue.enqueue(FindNotFinite<T>{
        Part::all, DeviceView<const T>(a.data, 1, columns.size(), a.ld + 1), unfit_.there()});
  }

  /// Brings home what fits() looks at.
  void fetch_verdict(Queue& queue) const { unfit_.fetch(queue); }
  bool fits() const { return *unfit_.here() == 0 && inverses_.trusted(); }

 private:
  Index panels() const { return quotient_up(n_, width_); }
  Index panels_of(Range columns) const { return quotient_up(columns.size(), width_); }
  DeviceView<T> states(Range columns) const {
    return states_.view().block(columns.first, columns.first / width_ * k_, n_ - columns.first,
                                panels_of(columns) * k_);
  }

  const Triangle<T> triangle_;
  const Index n_, k_;
  const int sign_;
  const Index width_;  // of a panel
  DeviceMatrix<T> x_, states_;
  BlockInverses<T> inverses_;
  DeviceMatrix<Double<T>> grams_, bases_;
  Buffer<Double<T>> reflectors_;
  Readout<Index> unfit_;
};

/// The rotations of an update or downdate by one vector, on the device until the end.
template <class T>
class DeviceRotations {
 public:
  DeviceRotations(Device& device, Index n, Rotations<T> rotations, int sign)
      : n_(n), rotations_(rotations), sign_(sign) {
    if (rotations.c == nullptr) return;
    host_sines_ = Buffer<T>(device, Space::host, n);
    if (sign < 0) return;
    cosines_ = Buffer<Real<T>>(device, Space::device, n);
    host_cosines_ = Buffer<Real<T>>(device, Space::host, n);
    sines_ = Buffer<T>(device, Space::device, n);
  }
  /// Of device memory.
  static std::size_t bytes(Index n) { return Buffer<Real<T>>::bytes(n) + Buffer<T>::bytes(n); }

  /// Those that an update brings with its reflectors.
  DeviceView<Real<T>> cosines(Range columns) const {
    if (cosines_.data() == nullptr) return {};
    return {cosines_.data() + columns.first, columns.size()};
  }
  DeviceView<T> sines(Range columns) const {
    if (sines_.data() == nullptr) return {};
    return {sines_.data() + columns.first, columns.size()};
  }

  /// Those of a downdate come from W.
  void fetch(Queue& queue, DeviceView<const T> w) const {
    if (rotations_.c == nullptr) return;
    queue.template copy<T>(HostView<T>(host_sines_.data(), n_),
                           sign_ > 0 ? DeviceView<const T>(sines_.data(), n_) : w);
    if (sign_ < 0) return;
    queue.template copy<Real<T>>(HostView<Real<T>>(host_cosines_.data(), n_),
                                 DeviceView<const Real<T>>(cosines_.data(), n_));
  }
  /// Hands them over. Returns false if there are none.
  bool deliver() const {
    if (rotations_.c == nullptr) return true;
    std::copy_n(host_sines_.data(), n_, rotations_.s);
    if (sign_ < 0) return downdate_rotations(n_, rotations_.s, rotations_.c);
    std::copy_n(host_cosines_.data(), n_, rotations_.c);
    return true;
  }

 private:
  const Index n_;
  const Rotations<T> rotations_;
  const int sign_;
  Buffer<Real<T>> cosines_, host_cosines_;
  Buffer<T> sines_, host_sines_;
};

/// Of a factor in the device's memory.
template <class T>
bool update_resident(Device& device, const Options& options, const Update<T>& problem) {
  const HostView<const T> v = problem.v;
  const Index n = problem.a.rows;
  const int sign = problem.signs[0];
  const Range all{0, n};
  const DeviceView<T> factor = on_device(problem.a);
  const IndependentPanels<T> update(device, problem.uplo, n, v.cols, sign);
  const DeviceRotations<T> own(device, n, problem.rotations, sign);
  Index none = 0;
  std::optional<Transfer> transfer;  // to be kept until its work has been waited for
  const QueueLease queue(device, Priority::normal, "update");
  update.begin(*queue);
  if (device.kind_of(v.data) == MemoryKind::device) {
    queue->template copy<T>(update.x(), on_device(v));
  } else {
    transfer.emplace(device, options.threads, none);
    const Index upload = transfer->add_upload(make_region<T>(v, update.x()));
    transfer->start();
    transfer->before(*queue, upload);
    transfer->finish();
  }
  if (problem.checks()) update.check_diagonal(*queue, factor, all);
  update.find_states(*queue, factor, all);
  update.fetch_verdict(*queue);
  if (sign < 0) own.fetch(*queue, update.x());
  queue->synchronize();
  if (!update.fits() || (sign < 0 && !own.deliver())) return false;
  update.transform(*queue, factor, all, own.cosines(all), own.sines(all));
  if (sign > 0) own.fetch(*queue, {});
  queue->synchronize();
  return sign < 0 || own.deliver();
}

/// Of a factor in the host's memory.
template <class T>
class StreamedUpdate {
 public:
  StreamedUpdate(Device& device, const Options& options, const Update<T>& problem)
      : triangle_{problem.uplo, device.kernels<T>()},
        a_(problem.a),
        v_(problem.v),
        checks_(problem.checks()),
        update_(device, problem.uplo, a_.rows, v_.cols, problem.signs[0]),
        rotations_(device, a_.rows, problem.rotations, problem.signs[0]),
        factor_(device, a_.rows, a_.rows),
        regions_(
            partition(a_.rows, device.tuning().update.independent_region_panels * update_.width())),
        done_(device),
        transfer_(device, options.threads, committed_) {
    for (std::size_t r = 0; r < regions_.size(); ++r) found_.emplace_back(device);
    queue_.emplace(device, Priority::high, "states");
    for (Index q = 0; q < device.tuning().update.independent_panel_queues; ++q) {
      panels_.emplace_back(device, Priority::normal, "panels");
    }
  }

  bool run() {
    const Index vectors = transfer_.add_upload(make_region<T>(v_, update_.x()));
    for (const Range& columns : regions_) {
      const HostView<T> home = triangle_.block(a_, below(columns), columns);
      transfer_.add_upload(make_region<T>(home, part(columns), part_of(triangle_.uplo)));
      transfer_.add_download(make_region<T>(home, part(columns), part_of(triangle_.uplo)));
    }
    transfer_.keep_uploads();
    transfer_.start();
    try {
      update_.begin(queue());
      transfer_.before(queue(), vectors);
      for (Index r = 0; r < static_cast<Index>(regions_.size()); ++r) step(r);
      for (const QueueLease& panels : panels_) {
        panels->record(*done_);
        queue().wait(*done_);
      }
      rotations_.fetch(queue(), update_.x());
      update_.fetch_verdict(queue());
      transfer_.finish();
      queue().synchronize();
    } catch (...) {
      transfer_.take_back(vectors + 1);
      throw;
    }
    if (update_.fits() && rotations_.deliver()) return true;
    transfer_.take_back(vectors + 1);
    return false;
  }

 private:
  Queue& queue() const { return **queue_; }
  Range below(Range columns) const { return {columns.first, a_.rows}; }
  /// The columns from their diagonal block on, on the device.
  DeviceView<T> part(Range columns) const {
    return triangle_.block(factor_.view(), below(columns), columns);
  }

  void step(Index r) {
    const Range columns = regions_[at(r)];
    transfer_.before(queue(), r + 1);
    {
      const Span span(queue(), "update", r);
      if (checks_) update_.check_diagonal(queue(), part(columns), columns);
      update_.find_states(queue(), part(columns), columns);
    }
    // The reflectors take longer than what the next region waits for.
    Queue& panels = *panels_[at(r) % panels_.size()];
    queue().record(*found_[at(r)]);
    panels.wait(*found_[at(r)]);
    const Span span(panels, "panel", r);
    update_.transform(panels, part(columns), columns, rotations_.cosines(columns),
                      rotations_.sines(columns));
    transfer_.release(panels, r);
  }

  const Triangle<T> triangle_;
  const HostView<T> a_;
  const HostView<const T> v_;
  const bool checks_;
  const IndependentPanels<T> update_;
  const DeviceRotations<T> rotations_;
  const DeviceMatrix<T> factor_;
  const std::vector<Range> regions_;
  Index committed_ = 0;
  std::vector<EventLease> found_;  // the states of a region
  const EventLease done_;          // all panels of a queue
  Transfer transfer_;
  std::optional<QueueLease> queue_;
  std::vector<QueueLease> panels_;
};

}  // namespace

template <class T>
bool update_by_independent_panels(Device& device, const Options& options, const Update<T>& update) {
  const Index n = update.a.rows, k = update.v.cols;
  if (k > UpdatePanels<T>::kMaxVectors) return false;
  for (Index j = 1; j < k; ++j) {
    if (update.signs[j] != update.signs[0]) return false;
  }
  const std::size_t factor = DeviceMatrix<T>::bytes(n, n);
  const std::size_t needed =
      factor + DeviceRotations<T>::bytes(n) + IndependentPanels<T>::bytes(device, n, k);
  if (options.memory > 0 && needed > options.memory) return false;
  const MemoryKind kind = device.kind_of(update.a.data);
  if (kind == MemoryKind::device) return update_resident<T>(device, options, update);
  // Half of the elements, and what chunks of them waste.
  const double staged = 0.6 * static_cast<double>(sizeof(T)) * static_cast<double>(n + 64) *
                        static_cast<double>(n + 64);
  const bool kept = staged <= static_cast<double>(device.tuning().transfer.kept_upload_bytes);
  if (kind != MemoryKind::pageable || !kept) return false;
  return StreamedUpdate<T>(device, options, update).run();
}

#define OVERLAPACK_INSTANTIATE(T) \
  template bool update_by_independent_panels<T>(Device&, const Options&, const Update<T>&);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
