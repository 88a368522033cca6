// Norms of matrices on the device against the speed of its memory, CUB and Thrust, and of matrices
// on the host against the CPU LAPACK.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <optional>
#include <random>

#include "dispatch/calls.hpp"
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

/// Of the last place, relative.
template <class T>
constexpr double unit = std::numeric_limits<T>::epsilon() / 2;

template <class T>
double error(double value, long double right) {
  return static_cast<double>(std::abs(value - right) / right) / unit<T>;
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

/// A norm of a matrix on the host, as a function of LAPACK's `work` finds it.
template <class T, class Find>
Measured on_host(int runs, Data<T>& data, Norm norm, double& value, Find find) {
  std::vector<T> work(static_cast<std::size_t>(data.view().rows));
  std::vector<double> times;
  for (int run = 0; run <= runs; ++run) {  // the first one warms up
    const auto begin = std::chrono::steady_clock::now();
    value = static_cast<double>(find(work.data()));
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - begin;
    if (run > 0) times.push_back(ms.count());
  }
  return {tools::median(times), error<T>(value, data.norm(norm)), {}};
}

/// The device that the options name, or null; without a GPU the emulated one, if none is named.
Device* open_device(const Options& options) {
  Device* device = nullptr;
  try {
    device = tools::force_device(options.device, 1);
  } catch (const std::runtime_error& reason) {
    if (options.device != "auto") throw;
    std::cout << "No GPU: " << reason.what() << "\n\n";
    device = tools::force_device("host", 1);
  }
  return device;
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

/// The tables of one type, and their lines in the files.
template <class T>
class Tables {
 public:
  Tables(const Options& options, ResultFiles& files, tools::Progress& progress)
      : options_(options), files_(files), progress_(progress) {}

  /// Of one order; `device` may be null. `rate` is what a copy on it reads and writes.
  void measure(Device* device, double rate, Index n) {
    std::optional<Data<T>> data;
    for (const Shape& shape : shapes(options_, n)) {
      progress_.show(std::string(1, kType) + ", " + std::to_string(shape.m) + " x " +
                     std::to_string(shape.n));
      const bool is_new = !data || data->view().rows != shape.m;
      if (is_new) data.emplace(shape.m, shape.n);
      if (device != nullptr) measure_on_device(*device, rate, *data, shape);
      if (is_new) measure_on_host(*data, shape);
    }
  }
  void print() const {
    if (!on_device_.empty()) {
      tools::print_table(std::cout,
                         {"norm", "m x n", "lda", "ours GB/s", "%", "error", "CUB GB/s", "%",
                          "error", "Thrust GB/s", "%", "error"},
                         on_device_, 2, options_.style);
      std::cout << '\n';
    }
    tools::print_table(std::cout,
                       {"norm on the host", "m x n", "ours ms", "GB/s", "error", "CPU LAPACK ms",
                        "GB/s", "error", "x", "difference"},
                       on_host_, 2, options_.style);
    std::cout << '\n' << std::flush;
  }
  /// Whether no norm of ours has been wrong.
  bool right() const { return right_; }

 private:
  static constexpr char kType = ScalarTraits<T>::letter;

  void measure_on_device(Device& device, double rate, Data<T>& data, const Shape& shape) {
    ReductionBench<T> bench(device, options_, data, shape.ld);
    for (std::size_t k = 0; k < std::size(kNorms); ++k) {
      std::vector<std::string> row = begin_row(k, shape);
      row.push_back(std::to_string(shape.ld));
      add("ours", k, shape, rate, bench.ours(kNorms[k]), row);
      for (const auto& [who, peer] : {std::pair("CUB", Peer::cub), {"Thrust", Peer::thrust}}) {
        Measured measured;
        measured.missing = "--no-peers";
        add(who, k, shape, rate, options_.peers ? bench.peer(peer, kNorms[k]) : measured, row);
      }
      on_device_.push_back(row);
    }
  }

  void measure_on_host(Data<T>& data, const Shape& shape) {
    constexpr cpu::Family kFamily = cpu::Family::lp64;
    const cpu::Lapack<T>& lapack = dispatch::cpu_lapack<T>(kFamily);
    const HostView<const T> a = data.view();
    for (std::size_t k = 0; k < std::size(kNorms); ++k) {
      const Norm norm = kNorms[k];
      double ours = 0, lapacks = 0;
      const Measured by_us = on_host(options_.runs, data, norm, ours, [&](T* work) {
        return dispatch::norm<T>(kFamily, {norm}, a, work);
      });
      const Measured by_lapack = on_host(options_.runs, data, norm, lapacks, [&](T* work) {
        return lapack.norm(norm, Symmetry::none, Uplo::lower, a, work);
      });
      std::vector<std::string> row = begin_row(k, shape);
      add("host", k, shape, by_us, row);
      add("CPU LAPACK", k, shape, by_lapack, row);
      row.push_back(tools::brief(by_lapack.ms / by_us.ms));
      row.push_back(tools::brief(std::abs(ours - lapacks) / lapacks / unit<T>));
      on_host_.push_back(row);
    }
  }

  std::vector<std::string> begin_row(std::size_t norm, const Shape& shape) const {
    return {std::string(1, kType) + " " + kNames[norm],
            std::to_string(shape.m) + " x " + std::to_string(shape.n)};
  }
  static double gbs(const Shape& shape, double ms) {
    return 1e-6 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * sizeof(T) / ms;
  }
  /// On the device.
  void add(const char* who, std::size_t norm, const Shape& shape, double rate,
           const Measured& measured, std::vector<std::string>& row) {
    const double speed = gbs(shape, measured.ms), percent = 1e11 * speed / rate;
    row.insert(row.end(),
               {tools::brief(speed), tools::brief(percent), tools::brief(measured.error)});
    record(who, norm, shape, measured, percent);
  }
  /// On the host.
  void add(const char* who, std::size_t norm, const Shape& shape, const Measured& measured,
           std::vector<std::string>& row) {
    row.insert(row.end(), {tools::brief(measured.ms), tools::brief(gbs(shape, measured.ms)),
                           tools::brief(measured.error)});
    record(who, norm, shape, measured, std::nan(""));
  }
  void record(const std::string& who, std::size_t norm, const Shape& shape,
              const Measured& measured, double percent) {
    const nlohmann::json fields = {{"type", std::string(1, kType)},
                                   {"norm", kNames[norm]},
                                   {"m", shape.m},
                                   {"n", shape.n},
                                   {"lda", shape.ld},
                                   {"who", who},
                                   {"ms", measured.ms},
                                   {"gbs", gbs(shape, measured.ms)},
                                   {"percent", percent},
                                   {"error", measured.error},
                                   {"missing", measured.missing}};
    files_.add_line(fields);
    files_.add_row(fields);
    if (who == "ours" || who == "host") {
      right_ &= measured.error < static_cast<double>(shape.m + shape.n);
    }
  }

  const Options& options_;
  ResultFiles& files_;
  tools::Progress& progress_;
  std::vector<std::vector<std::string>> on_device_, on_host_;
  bool right_ = true;
};

}  // namespace

int show_reductions(const Options& options) {
  Device* const device = open_device(options);
  print_heading(options, device);
  ResultFiles files(
      options, device,
      {"type", "norm", "m", "n", "lda", "who", "ms", "gbs", "percent", "error", "missing"});
  double rate = std::nan("");
  if (device != nullptr) {
    rate = memory_rate(*device);
    std::cout << "memory: a copy on the device reads and writes " << tools::brief(rate / 1e9)
              << " GB/s\n\n";
  }
  std::vector<Index> orders = options.orders();
  if (device != nullptr && device->emulated() && options.sizes.empty()) orders = {256};
  bool right = true;
  tools::Progress progress(2 * orders.size());
  const auto measure_type = [&](auto one) {
    Tables<decltype(one)> tables(options, files, progress);
    for (const Index n : orders) {
      tables.measure(device, rate, n);
      progress.advance();
    }
    progress.clear();
    tables.print();
    right &= tables.right();
  };
  measure_type(double{});
  measure_type(float{});
  files.finish();
  std::cout << "%: of what the copy reads and writes. error, difference: in units of the last "
               "place. CUB and\nThrust reduce contiguous data as a whole: for the one and the "
               "infinity norm they sum all moduli,\nfor the Frobenius norm squares as they are.\n";
  return exit_status(right, "a norm of ours is WRONG (error above m + n units)");
}

}  // namespace overlapack::bench
