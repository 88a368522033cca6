#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "algorithms/lu/lu.hpp"
#include "algorithms/lu/schedule.hpp"
#include "algorithms/shared/factorization.hpp"
#include "algorithms/shared/substitution.hpp"
#include "cpu/reference.hpp"
#include "device/timeline.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {
namespace {

constexpr Index kFewPanels = 16;

/// Blocks come by a transfer's uploads, and go by its downloads of the same numbers. The host
/// learns of some panels before they are home.
template <class T>
class TransferFlow final : public Flow {
 public:
  /// `uploads`: the number of that with block j; several blocks may have the same.
  TransferFlow(Transfer& transfer, const Lu<T>& lu, std::vector<Index> uploads, Index at_once)
      : transfer_(transfer), lu_(lu), uploads_(std::move(uploads)), at_once_(at_once) {}
  Index at_once() const override { return at_once_; }
  /// Of tall blocks in double precision fewer arrive, and panels would wait for what is counted too
  /// soon.
  Index arrived(Index i) const override {
    constexpr Index kTall = 8192;
    const bool tall = !Kernels<T>::kSplits && lu_.matrix().rows >= kTall;
    return tall ? 5 * i / 4 + 3 : Flow::arrived(i);
  }
  bool before(Queue& queue, Index j) override { return transfer_.before(queue, uploads_[at(j)]); }
  void release(Queue& queue, Index j) override {
    if (tells_of(j)) queue.signal(lu_.panels_known(), static_cast<std::uint32_t>(j + 1));
    transfer_.release(queue, j);
  }

 private:
  /// The host makes interchanges when half of many panels are known. Not each is worth a signal,
  /// which takes the caller 5 us.
  bool tells_of(Index j) const {
    constexpr Index kMany = 16, kApart = 4;
    const Index panels = lu_.panels(), later = panels - 1 - j;
    return panels > kMany && later >= 0 && later < panels / 2 && later % kApart == 0;
  }

  Transfer& transfer_;
  const Lu<T>& lu_;
  std::vector<Index> uploads_;
  Index at_once_;
};

/// The caller's matrix lies on the device. Blocks are copied in the queues that want them, the
/// first two by themselves and the others at once: to launch a copy of each would take longer than
/// to copy it. Factored ones go home in a queue of their own.
///
/// The interchanges of later panels follow behind them at once if there are few panels. Among many,
/// they would keep panels and products from the multiprocessors (a matrix of order 8192 took 5 %
/// longer, one of order 1024 takes 3 % less): then they begin when few columns are left, where
/// panels take longer than all that is beside them, and go on each time that a quarter of those is
/// left.
template <class T>
class ResidentFlow final : public Flow {
 public:
  /// `input`, too, lies on the device, and may be `a`. B, if there is one, comes as upload 0 of
  /// `transfer`.
  ResidentFlow(Device& device, Lu<T>& lu, HostView<const T> input, HostView<T> a,
               Transfer* transfer)
      : lu_(lu),
        input_(on_device(input)),
        a_(on_device(a)),
        transfer_(transfer),
        few_panels_(lu.panels() <= kFewPanels),  // with right-hand sides
        due_(device.emulated() ? 80 : 2048),
        there_(device),
        queue_(device, Priority::normal, "home") {}

  Index at_once() const override { return lu_.total(); }
  bool before(Queue& queue, Index j) override {
    constexpr Index kAlone = 2;
    if (j == lu_.count()) return transfer_->before(queue, 0);
    if (j > kAlone) return true;
    const Range c = {lu_.block(j).first, j < kAlone ? lu_.block(j).last : a_.cols};
    if (const auto by_rows = lu_.place_by_rows(c)) {
      const Span span(queue, "upload", j);
      lu_.kernels().copy(queue, Op::conj_trans, input_.block(0, c.first, a_.rows, c.size()),
                         *by_rows);
    } else {
      copy(queue, "upload", j, input_, lu_.matrix(), c);
    }
    return true;
  }
  void release(Queue& queue, Index j) override {
    Range c = lu_.block(j);
    if (j >= lu_.panels()) {  // all blocks without a panel become final together
      if (j + 1 < lu_.count()) return;
      c.first = lu_.block(lu_.panels()).first;
    }
    queue.record(*there_);
    queue_->wait(*there_);
    copy(*queue_, "download", j, lu_.matrix(), a_, c);
    const Index left = lu_.panels() - 1 - j;
    if (j < lu_.panels() && (few_panels_ || left * lu_.block(0).size() <= due_)) {
      lu_.interchange_left(*queue_, a_, {interchanged_, j + 1});
      interchanged_ = j + 1;
      due_ = left * lu_.block(0).size() / 4;
    }
  }
  /// Waits until all is there.
  void finish() { queue_->synchronize(); }

 private:
  void copy(Queue& queue, const char* kind, Index j, DeviceView<const T> from, DeviceView<T> to,
            Range c) const {
    const Span span(queue, kind, j);
    queue.copy<T>(to.block(0, c.first, a_.rows, c.size()),
                  from.block(0, c.first, a_.rows, c.size()));
  }

  Lu<T>& lu_;
  const DeviceView<const T> input_;
  const DeviceView<T> a_;
  Transfer* const transfer_;
  const bool few_panels_;
  Index interchanged_ = 0;  // so many panels have
  Index due_;               // the next ones do when so many columns are left
  EventLease there_;        // the block last released, in that queue
  QueueLease queue_;
};

/// The caller's matrix lies on the device, and is factored where it is. L sees the interchanges of
/// a later panel once no product needs it any more.
template <class T>
class InPlaceFlow final : public Flow {
 public:
  InPlaceFlow(Device& device, Lu<T>& lu) : lu_(lu), there_(device) {}

  Index at_once() const override { return lu_.total(); }
  bool before(Queue&, Index) override { return true; }
  void release(Queue& queue, Index j) override {
    if (j >= lu_.panels()) return;  // in update()
    if (j > 0) {
      lu_.update().record(*there_);
      queue.wait(*there_);
      lu_.interchange_left(queue, lu_.matrix(), {j, j + 1});
    }
    queue.record(*there_);
  }
  /// Waits until all is there.
  void finish() {
    lu_.update().wait(*there_);
    lu_.update().synchronize();
    lu_.settle();
  }

 private:
  Lu<T>& lu_;
  EventLease there_;
};

/// The factors stay where they are, for solves.
template <class T>
class LuOnDevice final : public Factorization<T> {
 public:
  LuOnDevice(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Index n)
      : solve_with_l_(device, Uplo::lower, Diag::unit), lu_(device, cpu, options, n, n, 0) {}
  /// Of device memory, with solves for nrhs right-hand sides.
  static std::size_t bytes(Device& device, const Options& options, Index n, Index nrhs) {
    return Lu<T>::bytes(device, options, n, n, 0) +
           Lu<T>::bytes_to_interchange(device, options, n, n) + 2 * Substitution<T>::bytes(n, nrhs);
  }

  DeviceView<T> input() const override { return lu_.matrix(); }
  Queue& queue() const override { return lu_.update(); }

  void factor(Flow& flow) override {
    lu_.factor(flow);
    lu_.interchange_left(queue(), lu_.matrix(), {0, lu_.panels()});
  }

  void solve(DeviceView<T> b) override {
    lu_.interchange(b);
    solve_with_l_(queue(), lu_.matrix(), b);
    lu_.solve_with_u(b);
  }

  Index info() const override { return first_failure(lu_.info()); }
  std::vector<Index> pivots() const override {
    const Buffer<Index>& home = lu_.pivots_home();
    return {home.data(), home.data() + home.size()};
  }

 private:
  Substitution<T> solve_with_l_;
  Lu<T> lu_;
};

}  // namespace

template <class T>
std::unique_ptr<Factorization<T>> make_lu(Device& device, const cpu::Lapack<T>& cpu,
                                          const Options& options, Index n) {
  return std::make_unique<LuOnDevice<T>>(device, cpu, options, n);
}

template <class T>
std::size_t lu_bytes(Device& device, const Options& options, Index n, Index nrhs) {
  return LuOnDevice<T>::bytes(device, options, n, nrhs);
}

namespace {

/// X := U^-1 B, once A is factored.
template <class T>
void back_substitute(Lu<T>& lu) {
  const Span span(lu.update(), "solve", lu.count());
  lu.solve_with_u(lu.rhs());
}

/// gesv() of a matrix in the device's memory.
template <class T>
Index gesv_resident(Device& device, Lu<T>& lu, const Options& options, Input<T> input,
                    HostView<T> a, Interchanges& interchanges, HostView<T> b, Index& committed) {
  std::optional<Transfer> transfer;  // of B
  if (!b.empty()) {
    transfer.emplace(device, options.threads, committed);
    transfer->add_upload(make_region<T>(input.b, lu.rhs()));
    transfer->add_download(make_region<T>(b, lu.rhs()), [&lu] {
      return first_failure(lu.info()) == 0;  // else B stays as it is
    });
    transfer->start();
  }
  ResidentFlow<T> flow(device, lu, input.a, a, transfer ? &*transfer : nullptr);
  lu.factor(flow);
  if (transfer) {
    back_substitute(lu);
    transfer->release(lu.update(), 0);
    transfer->finish();
  }
  flow.finish();
  std::copy_n(lu.pivots_home().data(), lu.pivots_home().size(), interchanges.pivots.begin());
  return first_failure(lu.info());
}

/// gesv() of few panels in the device's memory, without right-hand sides and in the place of the
/// input. For more, columns lie better in a matrix of our own, and copies take none of the time.
template <class T>
Index getrf_in_place(Device& device, const cpu::Lapack<T>& cpu, const Options& options,
                     HostView<T> a, Interchanges& interchanges) {
  Lu<T> lu(device, cpu, options, a.rows, a.cols, 0, on_device(a));
  InPlaceFlow<T> flow(device, lu);
  lu.factor(flow);
  flow.finish();
  std::copy_n(lu.pivots_home().data(), lu.pivots_home().size(), interchanges.pivots.begin());
  return first_failure(lu.info());
}

}  // namespace

template <class T>
Index gesv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Input<T> input,
           HostView<T> a, Interchanges& interchanges, HostView<T> b, Index& committed) {
  const Index m = a.rows, n = a.cols;
  interchanges.pivots.assign(at(std::min(m, n)), 0);
  interchanges.seen.assign(interchanges.pivots.size(), 0);
  const bool resident = device.kind_of(a.data) == MemoryKind::device;
  if (resident && b.empty() && input.a.data == a.data &&
      std::min(m, n) <= kFewPanels * options.nb) {
    return getrf_in_place(device, cpu, options, a, interchanges);
  }
  Lu<T> lu(device, cpu, options, m, n, b.cols);
  if (resident) {
    return gesv_resident(device, lu, options, input, a, interchanges, b, committed);
  }
  LaterInterchanges<T> later(device, a, lu.pivots_home(), lu.panels_known(), interchanges,
                             options.nb);
  Transfer transfer(device, options.threads, committed);

  std::vector<Index> uploads;  // by block
  for (Index j = 0; j < lu.count(); ++j) {
    const Range c = lu.block(j);
    const auto block = [&](auto x) { return x.block(0, c.first, m, c.size()); };
    uploads.push_back(transfer.add_upload(make_region<T>(block(input.a), block(lu.matrix()))));
    const auto region = make_region<T>(block(a), block(lu.matrix()));
    if (j >= lu.panels()) {
      transfer.add_download(region);
      continue;
    }
    transfer.add_download(region, [&later, j] {
      later.arrives(j);
      return true;
    });
  }
  if (!b.empty()) {
    uploads.push_back(transfer.add_upload(make_region<T>(input.b, lu.rhs())));
    transfer.add_download(make_region<T>(b, lu.rhs()), [&lu] {
      return first_failure(lu.info()) == 0;  // else B stays as it is
    });
  }
  // The hybrid form's CPU LAPACK wants the cores while the device computes.
  if (!options.hybrid) {
    transfer.when_idle([&later](Index home) { return later.advance(home); });
  }
  transfer.start();

  const bool on_device = device.kind_of(input.a.data) == MemoryKind::device;
  TransferFlow<T> flow(transfer, lu, std::move(uploads), on_device ? lu.total() : 0);
  lu.factor(flow);
  if (!b.empty()) {
    back_substitute(lu);
    transfer.release(lu.update(), lu.count());
  }
  transfer.finish();
  constexpr Index kIssuerAndCaller = 2;  // who have nothing else to do now
  later.finish(options.threads + kIssuerAndCaller);
  return first_failure(lu.info());
}

template <class T>
std::size_t gesv_bytes(Device& device, const Options& options, Index m, Index n, Index nrhs,
                       bool resident) {
  return Lu<T>::bytes(device, options, m, n, nrhs) +
         (resident ? Lu<T>::bytes_to_interchange(device, options, m, n) : 0);
}

template <class T>
Index resume_gesv(const cpu::Lapack<T>& cpu, HostView<T> a, Interchanges& interchanges,
                  HostView<T> b, Index committed) {
  std::vector<Index>& pivots = interchanges.pivots;
  const Index m = a.rows, n = a.cols, p = std::min(m, n);
  const Index c = std::min(committed, n);  // columns of A that came home
  const Index k = std::min(c, p);          // of them, those with a pivot
  const Index solved = committed - c;
  const auto column_block = [&](Index first, Index last) {
    return a.block(0, first, m, last - first);
  };

  // Bring the columns that came home to the state after k columns: those of a panel of which only a
  // part came home have seen interchanges beyond k, others not all before k.
  for (Index j = 0; j < k; ++j) {
    const Index seen = interchanges.seen[at(j)];
    reference::laswp(column_block(j, j + 1), k, seen, pivots.data(), false);
    reference::laswp(column_block(j, j + 1), seen, k, pivots.data(), true);
  }
  Index info = 0;
  for (Index j = k; j > 0; --j) {
    if (a(j - 1, j - 1) == T(0)) info = j;
  }

  if (c < n) {
    const HostView<T> rest = column_block(c, n);
    const HostView<T> u12 = rest.block(0, 0, k, n - c);
    reference::laswp(rest, 0, k, pivots.data(), true);
    cpu.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, T(1), a.block(0, 0, k, k), u12);
    if (k < p) {
      const HostView<T> a22 = rest.block(k, 0, m - k, n - c);
      cpu.gemm(Op::none, Op::none, T(-1), a.block(k, 0, m - k, k), u12, T(1), a22);
      const Index failed = cpu.getrf(a22, cpu::Pivots(pivots.data() + k));
      if (info == 0 && failed != 0) info = k + failed;
      for (Index j = k; j < p; ++j) pivots[at(j)] += k;
      reference::laswp(column_block(0, k), k, p, pivots.data(), true);
    }
  }
  if (info == 0 && solved < b.cols) {
    cpu.getrs(Op::none, a, cpu::Pivots(pivots.data()), b.block(0, solved, n, b.cols - solved));
  }
  return info;
}

#define OVERLAPACK_INSTANTIATE(T)                                                               \
  template Index gesv<T>(Device&, const cpu::Lapack<T>&, const Options&, Input<T>, HostView<T>, \
                         Interchanges&, HostView<T>, Index&);                                   \
  template std::size_t gesv_bytes<T>(Device&, const Options&, Index, Index, Index, bool);       \
  template Index resume_gesv<T>(const cpu::Lapack<T>&, HostView<T>, Interchanges&, HostView<T>, \
                                Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

template std::unique_ptr<Factorization<float>> make_lu(Device&, const cpu::Lapack<float>&,
                                                       const Options&, Index);
template std::unique_ptr<Factorization<std::complex<float>>> make_lu(
    Device&, const cpu::Lapack<std::complex<float>>&, const Options&, Index);
template std::size_t lu_bytes<float>(Device&, const Options&, Index, Index);
template std::size_t lu_bytes<std::complex<float>>(Device&, const Options&, Index, Index);

}  // namespace overlapack::algorithms
