// Norms of matrices on the device against the speed of its memory, CUB and Thrust.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <random>

#include "host/workers.hpp"
#include "peer_reductions.hpp"
#include "report.hpp"
#include "resident_matrix.hpp"
#include "tools/progress.hpp"

namespace overlapack::bench {
namespace {

constexpr Norm kNorms[] = {Norm::max, Norm::one, Norm::infinity, Norm::frobenius};
constexpr const char* kNames[] = {"max", "one", "infinity", "Frobenius"};

/// What a norm took, and by how much it is wrong, in units of the last place of the right value.
struct Measured {
  double ms = std::nan(""), error = std::nan("");
  std::string missing;
};

/// A random matrix in ordinary memory, elements in [-1, 1), and its sums in more precision.
template <class T>
class Data {
 public:
  Data(Index m, Index n) : m_(m), n_(n), a_(static_cast<std::size_t>(m * n)) {
    constexpr Index kStrip = 256;
    const Index strips = quotient_up(m, kStrip);
    std::vector<Sums> columns(static_cast<std::size_t>(n));
    std::vector<long double> rows(static_cast<std::size_t>(strips));
    share_out(available_cores(), n, [&](Index j) {
      Sums& sums = columns[static_cast<std::size_t>(j)];
      std::mt19937_64 random(static_cast<std::uint64_t>(j));
      for (Index i = 0; i < m; ++i) {
        const auto x = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
        view()(i, j) = x;
        sums.add(x);
      }
    });
    share_out(available_cores(), strips, [&](Index s) {
      const Index first = s * kStrip, count = std::min(kStrip, m - first);
      std::vector<long double> sums(static_cast<std::size_t>(count));
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < count; ++i) {
          sums[static_cast<std::size_t>(i)] += std::abs(view()(first + i, j));
        }
      }
      rows[static_cast<std::size_t>(s)] = *std::max_element(sums.begin(), sums.end());
    });
    for (const Sums& sums : columns) {
      all_.largest = std::max(all_.largest, sums.largest);
      one_ = std::max(one_, sums.moduli);
      all_.moduli += sums.moduli;
      all_.squares += sums.squares;
    }
    infinity_ = *std::max_element(rows.begin(), rows.end());
  }

  HostView<T> view() { return {a_.data(), m_, n_, m_}; }
  long double norm(Norm norm) const {
    switch (norm) {
      case Norm::max:
        return all_.largest;
      case Norm::one:
        return one_;
      case Norm::infinity:
        return infinity_;
      default:
        return std::sqrt(all_.squares);
    }
  }
  long double sum_of_moduli() const { return all_.moduli; }

 private:
  struct Sums {
    long double largest = 0, moduli = 0, squares = 0;
    void add(long double x) {
      largest = std::max(largest, std::abs(x));
      moduli += std::abs(x);
      squares += x * x;
    }
  };

  Index m_, n_;
  std::vector<T> a_;
  Sums all_;
  long double one_ = 0, infinity_ = 0;
};

template <class T>
double error(double value, long double right) {
  constexpr double unit = std::numeric_limits<T>::epsilon() / 2;
  return static_cast<double>(std::abs(value - right) / right) / unit;
}

/// A matrix on the device, and how often to reduce it.
template <class T>
class ReductionBench {
 public:
  ReductionBench(Device& device, const Options& options, Data<T>& data, Index ld)
      : device_(device),
        runs_(options.runs),
        data_(data),
        matrix_(device, data.view().rows, data.view().cols, ld) {
    matrix_.upload(data.view());
    constexpr double kMeasuredBytes = 5e8;  // bytes that are worth a measurement
    launches_ = device.emulated()
                    ? 1
                    : std::max(1, static_cast<int>(std::min(kMeasuredBytes / bytes(), 20.)));
  }

  double bytes() const {
    const DeviceView<T>& a = matrix_.view();
    return static_cast<double>(a.rows) * static_cast<double>(a.cols) * sizeof(T);
  }

  Measured ours(Norm norm) {
    const Buffer<T> result(device_, Space::device, 1), here(device_, Space::host, 1);
    const EventLease begin(device_, Timed::yes), end(device_, Timed::yes);
    const QueueLease queue(device_);
    std::vector<double> times;
    for (int run = 0; run <= runs_; ++run) {  // the first one warms up
      queue->record(*begin);
      for (int launch = 0; launch < launches_; ++launch) {
        queue->enqueue(MatrixNorm<T>{
            norm, Symmetry::none, Uplo::lower, matrix_.view(), {}, {result.data(), 1}});
      }
      queue->record(*end);
      const double ms = 1e-3 * end->since(*begin) / launches_;
      if (run > 0) times.push_back(ms);
    }
    queue->copy<T>(HostView<T>(here.data(), 1), DeviceView<const T>(result.data(), 1));
    queue->synchronize();
    return {
        tools::median(times), error<T>(static_cast<double>(*here.data()), data_.norm(norm)), {}};
  }

  Measured peer(Peer peer, Norm norm) {
    const DeviceView<T>& a = matrix_.view();
    if (device_.emulated()) return missing("no GPU");
    if (a.ld != a.rows) return missing("the data are not contiguous");
    const bool sum = norm == Norm::one || norm == Norm::infinity;
    try {
      const PeerReduction result = reduce_by_peer<T>(peer, norm, a.data, a.rows * a.cols, launches_,
                                                     runs_, tools::gpu_in_use());
      return {
          result.ms, error<T>(result.value, sum ? data_.sum_of_moduli() : data_.norm(norm)), {}};
    } catch (const std::runtime_error& reason) {
      return missing(reason.what());
    }
  }

 private:
  static Measured missing(const std::string& reason) {
    Measured none;
    none.missing = reason;
    return none;
  }

  Device& device_;
  int runs_, launches_ = 1;
  Data<T>& data_;
  ResidentMatrix<T> matrix_;
};

/// The device that the options name; without a GPU the emulated one, if none is named.
Device& open_device(const Options& options) {
  Device* device = nullptr;
  try {
    device = tools::force_device(options.device, 1);
  } catch (const std::runtime_error& reason) {
    if (options.device != "auto") throw;
    std::cout << "No GPU: " << reason.what() << "\n\n";
    device = tools::force_device("host", 1);
  }
  if (device == nullptr) throw std::runtime_error("--reductions needs a device");
  return *device;
}

/// Bytes per second that a copy within the device's memory reads and writes.
double memory_rate(Device& device) {
  if (!device.emulated()) {
    return measure_memory(tools::gpu_in_use());
  }
  constexpr Index kBytes = Index{1} << 24;
  constexpr auto size = static_cast<std::size_t>(kBytes);
  const Buffer<char> from(device, Space::device, kBytes), to(device, Space::device, kBytes);
  const EventLease begin(device, Timed::yes), end(device, Timed::yes);
  const QueueLease queue(device);
  queue->zero(from.data(), size);
  queue->record(*begin);
  queue->copy_on_device({to.data(), size, from.data(), size, 4, kBytes / 4, 1});
  queue->record(*end);
  return 2 * static_cast<double>(kBytes) / (1e-6 * end->since(*begin));
}

struct Shape {
  Index m, n, ld;
};

/// Square, with and without padding, tall and wide: all with n^2 elements or nearly so.
std::vector<Shape> shapes(const Options& options, Index n) {
  constexpr Index kShortSide = 16;
  const Index padding = options.lda_pad > 0 ? options.lda_pad : 8, long_side = n * n / kShortSide;
  return {{n, n, n},
          {n, n, n + padding},
          {long_side, kShortSide, long_side},
          {kShortSide, long_side, kShortSide}};
}

}  // namespace

int show_reductions(const Options& options) {
  Device& device = open_device(options);
  print_heading(options, &device);
  ResultFiles files(
      options, &device,
      {"type", "norm", "m", "n", "lda", "who", "ms", "gbs", "percent", "error", "missing"});
  const double rate = memory_rate(device);
  std::cout << "memory: a copy on the device reads and writes " << tools::brief(rate / 1e9)
            << " GB/s\n\n";
  std::vector<Index> orders = options.orders();
  if (device.emulated() && options.sizes.empty()) orders = {256};
  bool right = true;
  tools::Progress progress(2 * orders.size());
  const auto measure_type = [&](auto one, const char* type) {
    using T = decltype(one);
    std::vector<std::vector<std::string>> table;
    for (const Index n : orders) {
      std::optional<Data<T>> data;
      for (const Shape& shape : shapes(options, n)) {
        progress.show(std::string(type) + ", " + std::to_string(shape.m) + " x " +
                      std::to_string(shape.n));
        if (!data || data->view().rows != shape.m) data.emplace(shape.m, shape.n);
        ReductionBench<T> bench(device, options, *data, shape.ld);
        for (std::size_t k = 0; k < std::size(kNorms); ++k) {
          std::vector<std::string> row = {std::string(type) + " " + kNames[k],
                                          std::to_string(shape.m) + " x " + std::to_string(shape.n),
                                          std::to_string(shape.ld)};
          const std::pair<const char*, Measured> all[] = {
              {"ours", bench.ours(kNorms[k])},
              {"CUB", options.peers ? bench.peer(Peer::cub, kNorms[k]) : Measured{}},
              {"Thrust", options.peers ? bench.peer(Peer::thrust, kNorms[k]) : Measured{}}};
          for (const auto& [who, measured] : all) {
            const double gbs = 1e-6 * bench.bytes() / measured.ms, percent = 1e11 * gbs / rate;
            row.push_back(tools::brief(gbs));
            row.push_back(tools::brief(percent));
            row.push_back(tools::brief(measured.error));
            const nlohmann::json fields = {
                {"type", type},
                {"norm", kNames[k]},
                {"m", shape.m},
                {"n", shape.n},
                {"lda", shape.ld},
                {"who", who},
                {"ms", measured.ms},
                {"gbs", gbs},
                {"percent", percent},
                {"error", measured.error},
                {"missing",
                 options.peers || who == all[0].first ? measured.missing : "--no-peers"}};
            files.add_line(fields);
            files.add_row(fields);
          }
          right &= all[0].second.error < static_cast<double>(shape.m + shape.n);
          table.push_back(row);
        }
      }
      progress.advance();
    }
    progress.clear();
    tools::print_table(std::cout,
                       {"norm", "m x n", "lda", "ours GB/s", "%", "error", "CUB GB/s", "%", "error",
                        "Thrust GB/s", "%", "error"},
                       table, 2, options.style);
    std::cout << '\n' << std::flush;
  };
  measure_type(double{}, "d");
  measure_type(float{}, "s");
  files.finish();
  std::cout << "%: of what the copy reads and writes. error: in units of the last place. CUB and "
               "Thrust reduce\ncontiguous data as a whole: for the one and the infinity norm they "
               "sum all moduli, for the\nFrobenius norm squares as they are.\n";
  return exit_status(right, "a norm of ours is WRONG (error above m + n units)");
}

}  // namespace overlapack::bench
