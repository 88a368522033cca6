// How fast the transfer engine moves matrices, beside the bare speed of the link.
#include "transfer/transfer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/triangle.hpp"
#include "bench.hpp"
#include "dispatch/context.hpp"
#include "report.hpp"
#include "tools/progress.hpp"

namespace overlapack::bench {
namespace {

using algorithms::partition;
using algorithms::Storage;

constexpr Index kDefaultBlock = 128;

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Up, down, both at once.
using Rates = std::array<double, 3>;

/// GB/s of copies from and to page-locked memory, several of 64 MB (1 MB on an emulated device) one
/// after the other.
Rates bare_rates(Device& device, int runs) {
  const Index bytes = device.emulated() ? Index{1} << 20 : Index{64} << 20;
  constexpr int kCopies = 8;
  const Buffer<char> out(device, Space::host, bytes), in(device, Space::host, bytes);
  const Buffer<char> there(device, Space::device, bytes), here(device, Space::device, bytes);
  std::fill_n(out.data(), bytes, 'x');
  std::fill_n(in.data(), bytes, 'x');
  const QueueLease up(device), down(device);
  const auto size = static_cast<std::size_t>(bytes);
  down->zero(here.data(), size);
  Rates rates;
  for (int direction = 0; direction < 3; ++direction) {
    std::vector<double> times;
    for (int run = 0; run <= runs; ++run) {
      times.push_back(seconds([&] {
        for (int copy = 0; copy < kCopies; ++copy) {
          if (direction != 1) up->copy_to_device(there.data(), size, out.data(), size, size, 1);
          if (direction != 0) down->copy_to_host(in.data(), size, here.data(), size, size, 1);
        }
        up->synchronize();
        down->synchronize();
      }));
    }
    times.erase(times.begin());  // warm-up
    rates[static_cast<std::size_t>(direction)] =
        kCopies * static_cast<double>(bytes) / tools::median(times) / 1e9;
  }
  return rates;
}

/// A matrix of the caller, pageable or page-locked.
class CallerMatrix {
 public:
  CallerMatrix(Device& device, bool pinned, Index n) : n_(n) {
    if (pinned) {
      pinned_ = Buffer<double>(device, Space::host, n * n);
    } else {
      pageable_.reset(new double[static_cast<std::size_t>(n * n)]);
    }
  }
  HostView<double> view() const {
    return {pageable_ ? pageable_.get() : pinned_.data(), n_, n_, n_};
  }

 private:
  Index n_;
  std::unique_ptr<double[]> pageable_;
  Buffer<double> pinned_;
};

class TransferBench {
 public:
  TransferBench(Device& device, bool pinned, Part part, Index n, Index nb)
      : device_(device),
        part_(part),
        n_(n),
        blocks_(partition(n, nb)),
        threads_(
            dispatch::copy_threads(dispatch::Context::instance().settings(), available_cores())),
        matrix_(device, n, n),
        source_(device, pinned, n),
        target_(device, pinned, n) {}

  /// Bytes that one direction moves.
  double bytes() const {
    const auto n = static_cast<double>(n_);
    return sizeof(double) * (part_ == Part::all ? n * n : n * (n + 1) / 2);
  }

  /// Medians, in GB/s of each direction. Throws if anything does not arrive as it was sent.
  Rates measure(int runs) {
    std::vector<double> times[3];
    for (int run = 0; run <= runs; ++run) {
      for (const bool both_directions : {false, true}) {
        prepare(2 * run + (both_directions ? 1 : 0));
        if (both_directions) {
          times[2].push_back(seconds([&] { move(true, true); }));
        } else {
          times[0].push_back(seconds([&] { move(true, false); }));
          times[1].push_back(seconds([&] { move(false, true); }));
        }
        check(2 * run + (both_directions ? 1 : 0));
      }
    }
    Rates rates;
    for (std::size_t d = 0; d < 3; ++d) {
      times[d].erase(times[d].begin());  // warm-up
      rates[d] = bytes() / tools::median(times[d]) / 1e9;
    }
    return rates;
  }

 private:
  static double value(Index i, Index j, int run) {
    return static_cast<double>((i * 7919 + j * 104729 + run) % 1000003);
  }
  bool inside(Index i, Index j) const {
    return part_ == Part::all || (part_ == Part::lower ? i >= j : i <= j);
  }

  void prepare(int run) {
    const HostView<double> source = source_.view(), target = target_.view();
    Workers::instance().parallel_for(threads_ + 1, n_, [&](Index j) {
      for (Index i = 0; i < n_; ++i) source(i, j) = value(i, j, run);
      std::fill_n(&target(0, j), n_, -1.0);
    });
    const DeviceView<double>& a = matrix_.view();
    queue_->zero(a.data, sizeof(double) * static_cast<std::size_t>(a.ld * a.cols));
    queue_->synchronize();
  }

  /// A block column, from the diagonal on if the matrix is a triangle; a block row of an upper one.
  Region region(HostView<double> host, Range b) const {
    const Storage storage{part_ == Part::upper ? Uplo::upper : Uplo::lower};
    const Range rows{part_ == Part::all ? 0 : b.first, n_};
    return make_region<double>(storage.block(host, rows, b), storage.block(matrix_.view(), rows, b),
                               part_);
  }

  void move(bool up, bool down) {
    Index committed = 0;
    Transfer transfer(device_, threads_, committed);
    for (const Range b : blocks_) {
      if (up) transfer.add_upload(region(source_.view(), b));
      if (down) transfer.add_download(region(target_.view(), b));
    }
    transfer.start();
    for (Index b = 0; b < static_cast<Index>(blocks_.size()); ++b) {
      if (up) transfer.before(*queue_, b);
      if (down) transfer.release(*queue_, b);
    }
    transfer.finish();
    queue_->synchronize();
  }

  void check(int run) {
    const HostView<double> target = target_.view();
    std::atomic<bool> right{true};
    Workers::instance().parallel_for(threads_ + 1, n_, [&](Index j) {
      for (Index i = 0; i < n_; ++i) {
        if (target(i, j) != (inside(i, j) ? value(i, j, run) : -1.0)) right = false;
      }
    });
    if (!right) throw std::runtime_error("a matrix did not arrive as it was sent");
  }

  Device& device_;
  Part part_;
  Index n_;
  std::vector<Range> blocks_;
  Index threads_;
  algorithms::DeviceMatrix<double> matrix_;
  CallerMatrix source_, target_;
  QueueLease queue_{device_};
};

}  // namespace

int show_transfers(const Options& options) {
  Device* const device = tools::force_device(options.device, 1, options.algorithm, options.nb);
  if (device == nullptr) throw std::runtime_error("--transfer needs a device");
  print_heading(options, device);
  const Index nb = options.nb > 0 ? options.nb : kDefaultBlock;
  std::vector<std::vector<std::string>> rows;
  const auto add_row = [&](std::vector<std::string> row, const Rates& rates) {
    for (const double rate : rates) row.push_back(tools::brief(rate));
    rows.push_back(std::move(row));
  };
  add_row({"bare copies", "page-locked", "-", "-"}, bare_rates(*device, options.runs));
  const std::pair<Part, const char*> parts[] = {
      {Part::all, "square"}, {Part::lower, "lower triangle"}, {Part::upper, "upper triangle"}};
  tools::Progress progress(2 * std::size(parts) * options.orders().size());
  for (const bool pinned : {false, true}) {
    for (const auto& [part, name] : parts) {
      for (const Index n : options.orders()) {
        const char* const memory = pinned ? "page-locked" : "pageable";
        const std::string title = std::string(name) + ", " + memory + ", n = " + std::to_string(n);
        progress.show(title);
        TransferBench bench(*device, pinned, part, n, nb);
        add_row({name, memory, std::to_string(n), tools::brief(bench.bytes() / 1e6)},
                bench.measure(options.runs));
        progress.advance();
        progress.line(title + ": done");
      }
    }
  }
  progress.clear();
  tools::print_table(std::cout,
                     {"what", "memory", "n", "MB", "up GB/s", "down GB/s", "both GB/s each way"},
                     rows, 2, options.style);
  std::cout << "\nWhole calls of the transfer engine, in double precision and block columns (upper "
               "triangles:\nblock rows) of "
            << nb
            << ", from start to finish: all that goes up, all that comes down, and everything\nup "
               "and down again at once. Every element has arrived as it was sent.\n";
  return 0;
}

}  // namespace overlapack::bench
