// What a Cholesky factorization on the device spends its time on: with and without transfer, and
// by component.
//
// The factorization is left-looking by block columns, from A into L. With A1 the block column at
// hand and the columns to its left finished,
//   diagonal update   A11 -= L10 L10^H
//   lower update      A21 -= L20 L10^H
//   diagonal block    A11  = L11 L11^H, and the inverse of L11
//   strip             L21  = A21 L11^-H
#include <array>
#include <chrono>
#include <iostream>

#include "bench.hpp"
#include "cpu/reference.hpp"
#include "device/buffer.hpp"
#include "dispatch/context.hpp"
#include "report.hpp"
#include "tools/progress.hpp"

namespace overlapack::bench {
namespace {

enum Component { diagonal_block, strip, diagonal_update, lower_update, kComponents };

template <class T>
class ResidentCholesky final : public Contender<T> {
 public:
  ResidentCholesky(Device& device, const Call& call, Index nb)
      : device_(device),
        n_(call.shape.n),
        nb_(std::min(nb, device.kernels<T>().limits().potrf_panel_width)),
        a_memory_(device, Space::device, n_ * n_),
        l_memory_(device, Space::device, n_ * n_),
        info_memory_(device, Space::device, 1),
        staging_(device, Space::host, n_ * n_),
        staged_info_(device, Space::host, 1),
        queue_(device) {}

  void prepare(Problem<T>& problem) override {
    const HostView<T> staged(staging_.data(), n_, n_, n_);
    reference::lacpy<T>(problem.a(), staged);
    queue_->template copy<T>(a(), HostView<const T>(staged));
    queue_->zero(info_memory_.data(), sizeof(Index));
    queue_->synchronize();
  }

  void run(Problem<T>&) override {
    for (Index k = 0; k < n_; k += nb_) {
      for (const Component c : {diagonal_update, lower_update, strip}) step(c, k);
    }
    queue_->synchronize();
  }

  void finish(Problem<T>& problem) override {
    const HostView<T> to = problem.a(), staged(staging_.data(), n_, n_, n_);
    queue_->template copy<T>(staged, DeviceView<const T>(l()));
    queue_->template copy<Index>(HostView<Index>(staged_info_.data(), 1),
                                 DeviceView<const Index>(info()));
    queue_->synchronize();
    for (Index j = 0; j < n_; ++j) std::copy_n(&staged(j, j), n_ - j, &to(j, j));
    problem.info = *staged_info_.data();
  }

  /// Milliseconds of all steps of one component, one after the other with nothing between them.
  /// What they compute then is not a factor of the matrix, but the work is the same: the diagonal
  /// blocks of a positive definite matrix are positive definite, and the updates find a factor of
  /// an earlier run.
  double time_component(Component component) {
    const auto start = std::chrono::steady_clock::now();
    for (Index k = 0; k < n_; k += nb_) step(component, k);
    queue_->synchronize();
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    return elapsed.count();
  }

 private:
  DeviceView<T> a() const { return {a_memory_.data(), n_, n_, n_}; }
  DeviceView<T> l() const { return {l_memory_.data(), n_, n_, n_}; }
  DeviceView<Index> info() const { return {info_memory_.data(), 1}; }

  /// One kernel computes the strip together with the diagonal block above it.
  void step(Component component, Index k) {
    const Index b = std::min(nb_, n_ - k), below = n_ - k - b;
    const DeviceView<T> a11 = a().block(k, k, b, b), a21 = a().block(k + b, k, below, b),
                        l10 = l().block(k, 0, b, k), l20 = l().block(k + b, 0, below, k),
                        a1 = a().block(k, k, b + below, b), l1 = l().block(k, k, b + below, b);
    switch (component) {
      case diagonal_update:
        queue_->enqueue(Herk<T>{Uplo::lower, Op::none, -1, l10, 1, a11});
        break;
      case lower_update:
        queue_->enqueue(Gemm<T>{Op::none, Op::conj_trans, T(-1), l20, l10, T(1), a21});
        break;
      case diagonal_block:
        queue_->enqueue(PotrfPanel<T>{Uplo::lower, a11, l1.block(0, 0, b, b), info(), k});
        break;
      case strip:
        queue_->enqueue(PotrfPanel<T>{Uplo::lower, a1, l1, info(), k});
        break;
      case kComponents:
        break;
    }
  }

  Device& device_;
  Index n_, nb_;
  Buffer<T> a_memory_, l_memory_;
  Buffer<Index> info_memory_;
  Buffer<T> staging_;
  Buffer<Index> staged_info_;
  QueueLease queue_;
};

/// The median over the runs, each on fresh data.
template <class T>
double measure_component(ResidentCholesky<T>& cholesky, Problem<T>& problem, Component component,
                         int runs) {
  std::vector<double> ms;
  for (int run = 0; run < runs; ++run) {
    problem.generate(static_cast<std::uint64_t>(run) + 1);
    cholesky.prepare(problem);
    ms.push_back(cholesky.time_component(component));
  }
  return tools::median(ms);
}

struct Breakdown {
  bool served = false;  ///< with transfer, by the device
  Timing cpu, with_transfer, without_transfer;
  std::array<double, kComponents> ms{};
};

template <class T>
Breakdown break_down(const Options& options, Device& device, const Call& call) {
  Problem<T> problem(call);
  const tools::Limits limits = {options.runs, options.seconds};
  Breakdown result;
  if (options.cpu) {
    tools::CpuContender<T> cpu;
    result.cpu = tools::measure(cpu, problem, limits);
  }
  const std::size_t before = tools::activity(&device);
  tools::Ours<T> ours;
  result.with_transfer = tools::measure(ours, problem, limits);
  result.served = tools::activity(&device) > before;
  const Index nb = options.nb > 0 ? options.nb : device.kernels<T>().limits().potrf_panel_width;
  ResidentCholesky<T> resident(device, call, nb);
  result.without_transfer = tools::measure(resident, problem, limits);
  const int runs = result.without_transfer.runs;
  for (int c = 0; c < kComponents; ++c) {
    result.ms[static_cast<std::size_t>(c)] =
        measure_component(resident, problem, static_cast<Component>(c), runs);
  }
  result.ms[strip] = std::max(0.0, result.ms[strip] - result.ms[diagonal_block]);
  return result;
}

}  // namespace

int show_components(const Options& options) {
  Device* const device = tools::force_device(options.device, 1, options.algorithm, options.nb);
  if (device == nullptr) throw std::runtime_error("--components needs a device");
  print_heading(options, device);
  bool right = true;
  tools::Progress progress(options.calls());
  for (const std::string& name : options.routines) {
    std::vector<std::vector<std::string>> rows;
    Notes notes;
    for (const Index n : options.orders()) {
      const Call call = options.call(name, n);
      progress.show(row_title(call));
      const Breakdown found = tools::with_type(
          call.type, [&](auto one) { return break_down<decltype(one)>(options, *device, call); });
      const double cpu = found.cpu.ms, with = found.with_transfer.ms,
                   without = found.without_transfer.ms;
      rows.push_back({row_title(call), tools::brief(cpu), tools::brief(with),
                      tools::brief(found.with_transfer.residual), tools::brief(without),
                      tools::brief(found.without_transfer.residual), tools::brief(cpu / with),
                      tools::brief(cpu / without), tools::brief(found.ms[diagonal_block]),
                      tools::brief(found.ms[strip]), tools::brief(found.ms[diagonal_update]),
                      tools::brief(found.ms[lower_update])});
      if (!found.served) notes.add(std::string("with transfer: ") + kNotServed, row_title(call));
      right &= is_right(call, found.with_transfer) && is_right(call, found.without_transfer);
      progress.advance();
      progress.line(name + ", n = " + std::to_string(n) + ": " + tools::brief(with) + " ms with, " +
                    tools::brief(without) + " ms without transfer");
    }
    progress.clear();
    tools::print_table(
        std::cout,
        {"routine, n", "CPU ms", "with transfer ms", "resid.", "without ms", "resid.", "x CPU with",
         "x CPU without", "diagonal ms", "strip ms", "diag. update ms", "lower update ms"},
        rows, 1, options.style);
    notes.print(options.style);
    std::cout << '\n' << std::flush;
  }
  std::cout
      << "with transfer: the library's own call, from and to ordinary memory (upload, "
         "computation and\ndownload overlap). without: on data that lie on the device, by block "
         "columns of the order\nof the diagonal kernel (or --nb, if less). The components are "
         "measured one by one and\nneed not add up to it.\n";
  return exit_status(right);
}

}  // namespace overlapack::bench
