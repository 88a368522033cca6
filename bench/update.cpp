// Updates of a Cholesky factor against what people have for them: the time and the error by order,
// for several numbers of vectors, up and down.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <optional>
#include <random>
#include <thread>

#include "algorithms/shared/finite.hpp"
#include "algorithms/update/on_cpu.hpp"
#include "cells.hpp"
#include "cpu/lapack.hpp"
#include "dispatch/calls.hpp"
#include "dispatch/context.hpp"
#include "exported.hpp"
#include "host/workers.hpp"
#include "report.hpp"
#include "resident_matrix.hpp"

namespace overlapack::bench {
namespace {

using Abi = compat::Exported<double>;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// A matrix in ordinary memory.
class Matrix {
 public:
  Matrix(Index rows, Index cols) : rows_(rows), data_(static_cast<std::size_t>(rows * cols)) {}
  HostView<double> view() { return {data_.data(), rows_, cols(), rows_}; }
  Index cols() const { return static_cast<Index>(data_.size()) / rows_; }

 private:
  Index rows_;
  std::vector<double> data_;
};

void copy(HostView<const double> from, HostView<double> to) {
  share_out(available_cores(), from.cols,
            [&](Index j) { std::copy_n(&from(0, j), from.rows, &to(0, j)); });
}

void fill_uniform(HostView<double> a, std::uint64_t seed) {
  share_out(available_cores(), a.cols, [&](Index j) {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(j));
    for (Index i = 0; i < a.rows; ++i) a(i, j) = std::uniform_real_distribution<>()(random);
  });
}

void factor(HostView<double> a) {
  const auto n = static_cast<std::int32_t>(a.rows);
  const char uplo = 'U';
  std::int32_t info = 0;
  Abi::potrf(&uplo, &n, a.data, &n, &info, 1);
  if (info != 0) throw std::runtime_error("the matrix is not positive definite");
}

const cpu::Lapack<double>& blas() { return cpu::lapack<double>(cpu::Family::lp64); }

/// A = B^T B + I for B uniform in [0, 1], V likewise; the factors of A and of A + V V^T.
class Data {
 public:
  Data(Index n, Index k) : n_(n), a_(n, n), smaller_(n, n), larger_(n, n), v_(n, k) {
    fill_uniform(smaller_.view(), 1);
    blas().herk(Uplo::upper, Op::conj_trans, 1.0, smaller_.view(), 0.0, a_.view());
    for (Index j = 0; j < n; ++j) a_.view()(j, j) += 1;
    fill_uniform(v_.view(), 1000003);
    copy(a_.view(), smaller_.view());
    copy(a_.view(), larger_.view());
    blas().herk(Uplo::upper, Op::none, 1.0, v_.view(), 1.0, larger_.view());
    factor(smaller_.view());
    factor(larger_.view());
  }
  HostView<double> a() { return a_.view(); }
  HostView<double> v() { return v_.view(); }
  /// What an update in that direction starts from.
  HostView<double> start(int sign) { return (sign > 0 ? smaller_ : larger_).view(); }

  /// The largest |R^T R - (A + V V^T)|, or for sign < 0 of R^T R - A, of a number of columns.
  double error(HostView<const double> r, int sign) {
    constexpr Index kColumns = 64;
    const Index columns = std::min(kColumns, n_);
    std::vector<double> worst(static_cast<std::size_t>(columns));
    share_out(available_cores(), columns, [&](Index c) {
      const Index j = n_ - 1 - c * (n_ - 1) / std::max<Index>(1, columns - 1);
      for (Index i = 0; i <= j; ++i) {
        double rest = -a_.view()(i, j);
        for (Index l = 0; l <= i; ++l) rest += r(l, i) * r(l, j);
        for (Index l = 0; sign > 0 && l < v_.cols(); ++l) {
          rest -= v_.view()(i, l) * v_.view()(j, l);
        }
        double& largest = worst[static_cast<std::size_t>(c)];
        if (!(std::abs(rest) <= largest)) largest = std::abs(rest);
      }
    });
    double largest = 0;
    for (const double one : worst) {
      if (!(one <= largest)) largest = one;
    }
    return largest;
  }

 private:
  Index n_;
  Matrix a_, smaller_, larger_, v_;
};

// ---- the contenders
// ------------------------------------------------------------------------------

/// One way to do it. prepare() gets what the update starts from, run() is timed, and finish()
/// leaves the result in `r`.
struct Way {
  std::string who;
  std::function<void(Data&, int sign, HostView<double> r)> prepare, run, finish;
};

void start_from(Data& data, int sign, HostView<double> r) { copy(data.start(sign), r); }
void nothing(Data&, int, HostView<double>) {}

void require(bool done) {
  if (!done) throw std::runtime_error("the update failed");
}

void update(double* r, Index ld, HostView<const double> v, int sign) {
  Index info = 0;
  Abi::cholupdate('U', v.rows, v.cols, r, ld, v.data, v.ld, sign, &info);
  check_not_refused(info);
  require(info == 0);
}

Way by_device() {
  return {"by device", start_from,
          [](Data& data, int sign, HostView<double> r) { update(r.data, r.ld, data.v(), sign); },
          nothing};
}

/// The factor and V lie in the device's memory.
Way on_device(Device& device, Index n, Index k) {
  const auto factor = std::make_shared<ResidentMatrix<double>>(device, n, n, n);
  const auto vectors = std::make_shared<ResidentMatrix<double>>(device, n, k, n);
  return {"on device",
          [=](Data& data, int sign, HostView<double>) {
            factor->upload(data.start(sign));
            vectors->upload(data.v());
          },
          [=](Data&, int sign, HostView<double>) {
            const DeviceView<double>& v = vectors->view();
            update(factor->view().data, n, HostView<const double>(v.data, n, k, n), sign);
          },
          [=](Data&, int, HostView<double> r) { factor->download(r); }};
}

Way on_cpu() {
  return {"CPU", start_from,
          [](Data& data, int sign, HostView<double> r) {
            require(algorithms::all_finite<double>(Part::all, data.v(), 1));
            const Index info = algorithms::chol_update<double>(blas(), Uplo::upper, r, data.v(),
                                                               algorithms::Signs(&sign, false),
                                                               dispatch::cpu_threads(r.rows));
            require(info == 0);
          },
          nothing};
}

/// One vector after the other.
template <class One>
Way one_by_one(const char* who, One one) {
  return {who, start_from,
          [one](Data& data, int sign, HostView<double> r) {
            std::vector<double> u(static_cast<std::size_t>(r.rows)), w(u);
            for (Index j = 0; j < data.v().cols; ++j) {
              std::copy_n(&data.v()(0, j), r.rows, u.begin());
              require(one(r, u.data(), w.data(), sign));
            }
          },
          nothing};
}

Way qrupdate() {
  void* const library = dlopen("libqrupdate.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error("libqrupdate.so.1 is not installed");
  const auto up = reinterpret_cast<std::decay_t<decltype(Abi::ch1up)>>(dlsym(library, "dch1up_"));
  const auto down = reinterpret_cast<std::decay_t<decltype(Abi::ch1dn)>>(dlsym(library, "dch1dn_"));
  require(up != nullptr && down != nullptr);
  return one_by_one("qrupdate", [=](HostView<double> r, double* u, double* w, int sign) {
    const auto n = static_cast<std::int32_t>(r.rows), ld = static_cast<std::int32_t>(r.ld);
    std::int32_t info = 0;
    sign > 0 ? up(&n, r.data, &ld, u, w) : down(&n, r.data, &ld, u, w, &info);
    return info == 0;
  });
}

/// The rotation that takes (f, g) to (r, 0); f becomes r.
void make_rotation(double& f, double g, double& c, double& s) {
  const double r = std::copysign(std::hypot(f, g), f);
  c = r != 0 ? f / r : 1;
  s = r != 0 ? g / r : 0;
  f = r;
}

/// The loops of LINPACK's dchud and dchdd, one column of R after the other. x becomes s.
bool linpack_update(HostView<double> r, double* x, double* c, int sign) {
  const Index n = r.rows;
  if (sign > 0) {
    for (Index j = 0; j < n; ++j) {
      double y = x[j];
      for (Index i = 0; i < j; ++i) {
        const double t = c[i] * r(i, j) + x[i] * y;
        y = c[i] * y - x[i] * r(i, j);
        r(i, j) = t;
      }
      make_rotation(r(j, j), y, c[j], x[j]);
    }
    return true;
  }
  double squares = 0;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) x[j] -= r(i, j) * x[i];
    x[j] /= r(j, j);
    squares += x[j] * x[j];
  }
  if (!(squares < 1)) return false;
  double alpha = std::sqrt(1 - squares);
  for (Index j = n - 1; j >= 0; --j) make_rotation(alpha, x[j], c[j], x[j]);
  for (Index j = 0; j < n; ++j) {
    double y = 0;
    for (Index i = j; i >= 0; --i) {
      const double t = c[i] * y + x[i] * r(i, j);
      r(i, j) = c[i] * r(i, j) - x[i] * y;
      y = t;
    }
  }
  return true;
}

/// From A, which the user has kept: A + V V^T and its factorization.
Way refactorization() {
  return {"dpotrf",
          [](Data& data, int sign, HostView<double> r) {
            copy(data.a(), r);
            if (sign < 0) blas().herk(Uplo::upper, Op::none, 1.0, data.v(), 1.0, r);
          },
          [](Data& data, int sign, HostView<double> r) {
            blas().herk(Uplo::upper, Op::none, sign, data.v(), 1.0, r);
            factor(r);
          },
          nothing};
}

// ---- measurement
// ---------------------------------------------------------------------------------

constexpr const char* kWho[] = {"by device", "on device", "CPU", "qrupdate", "LINPACK", "dpotrf"};
constexpr std::size_t kByDevice = 0, kDevice = 1, kCpu = 2, kQrupdate = 3, kDpotrf = 5,
                      kWays = std::size(kWho);

struct Measurement {
  double ms = 0, error = 0;
  int runs = 0;
  std::string missing;
};

/// All ways for one order, number of vectors and direction.
struct Point {
  Index n, k;
  int sign;
  Measurement ways[kWays];
  double copy_ms = 0;  ///< of the triangle, on the device

  const char* direction() const { return sign > 0 ? "up" : "down"; }
  /// The way that the library takes where the break-evens decide.
  std::size_t ours() const {
    const dispatch::Profile& profile = dispatch::Context::instance().profile();
    const bool routed =
        dispatch::wants_device(dispatch::Routine::cholupdate, 'd', {n, n, k}, {}, profile);
    return routed ? kByDevice : kCpu;
  }
};

Measurement measure(const Options& options, Data& data, int sign, HostView<double> r,
                    const Way& way) {
  Measurement result;
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  for (int run = 0; run <= options.runs; ++run) {  // the first one warms up
    way.prepare(data, sign, r);
    // OpenBLAS's threads spin for a while after a call; nobody is to share the cores with them.
    std::this_thread::sleep_for(std::chrono::milliseconds(run == 0 ? 200 : 20));
    const Clock::time_point start = Clock::now();
    way.run(data, sign, r);
    times.push_back(milliseconds_since(start));
    if (run > 0 && milliseconds_since(begin) > 1e3 * options.seconds) break;
  }
  times.erase(times.begin());
  if (times.empty()) times.push_back(0);
  way.finish(data, sign, r);
  result.ms = tools::median(times);
  result.runs = static_cast<int>(times.size());
  result.error = data.error(r, sign);
  return result;
}

Way make_way(std::size_t way, Device* device, Index n, Index k) {
  switch (way) {
    case 0:
      return by_device();
    case 1:
      if (const std::string why = not_recognised({n, n, k}); !why.empty()) {
        throw std::runtime_error(why);
      }
      return on_device(*device, n, k);
    case 2:
      return on_cpu();
    case 3:
      return qrupdate();
    case 4:
      return one_by_one("LINPACK", linpack_update);
    default:
      return refactorization();
  }
}

/// One copy of a triangle of the device's memory, which is to read and to write it once.
double device_copy_ms(Device& device, Index n) {
  const Buffer<double> from(device, Space::device, n * n), to(device, Space::device, n * n);
  const QueueLease queue(device);
  const std::size_t pitch = sizeof(double) * static_cast<std::size_t>(n);
  queue->zero(from.data(), pitch * static_cast<std::size_t>(n));
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    queue->synchronize();
    const Clock::time_point start = Clock::now();
    queue->copy_on_device(
        {to.data(), pitch, from.data(), pitch, sizeof(double), n, n, Part::upper});
    queue->synchronize();
    const double ms = milliseconds_since(start);
    if (run == 1 || (run > 1 && ms < best)) best = ms;
  }
  return best;
}

using Points = std::vector<Point>;

void measure_order(const Options& options, Device* device, Index n, Forecast& forecast,
                   tools::Progress& progress, Points& points) {
  Matrix work(n, n);
  for (const Index k : options.vectors) {
    Data data(n, k);
    for (const int sign : {1, -1}) {
      Point point{n, k, sign, {}, device_copy_ms(*device, n)};
      for (std::size_t way = 0; way < kWays; ++way) {
        Measurement& measurement = point.ways[way];
        const std::string kind =
            "k = " + std::to_string(k) + ", " + point.direction() + ": " + kWho[way];
        const double elements = static_cast<double>(n) * static_cast<double>(n);
        measurement.missing = forecast.too_long(kind, elements);
        if (way == kCpu && !options.cpu) measurement.missing = "--no-cpu";
        if (way > kCpu && !options.peers) measurement.missing = "--no-peers";
        if (!measurement.missing.empty()) continue;
        try {
          const std::size_t before = tools::activity(device);
          const Measurement found =
              measure(options, data, sign, work.view(), make_way(way, device, n, k));
          if (way == kByDevice && tools::activity(device) == before) {
            throw std::runtime_error(kNotServed);
          }
          measurement = found;
          forecast.took(kind, elements, measurement.ms);
          progress.line("n = " + std::to_string(n) + ", " + kind + ' ' +
                        tools::brief(measurement.ms) + " ms");
        } catch (const std::exception& error) {
          measurement.missing = tools::text_of(error);
        }
      }
      progress.advance();
      points.push_back(point);
    }
  }
}

// ---- results
// -------------------------------------------------------------------------------------

std::string scientific(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", x);
  return text;
}

std::string ratio(double a, double b) { return a > 0 && b > 0 ? tools::brief(a / b) : "-"; }

void print(const Points& points, const Options& options) {
  std::vector<std::string> titles = {"n", "k", "direction"};
  for (const char* who : kWho) {
    titles.push_back(std::string(who) + " ms");
    titles.push_back("error");
  }
  for (const char* const title : {"ours", "x qrupdate", "x dpotrf", "copies"}) {
    titles.push_back(title);
  }
  std::vector<std::vector<std::string>> rows;
  Notes notes;
  for (const Point& point : points) {
    std::vector<std::string> row = {std::to_string(point.n), std::to_string(point.k),
                                    point.direction()};
    for (std::size_t way = 0; way < kWays; ++way) {
      const Measurement& one = point.ways[way];
      row.push_back(one.runs > 0 ? tools::brief(one.ms) : "-");
      row.push_back(one.runs > 0 ? scientific(one.error) : "-");
      if (!one.missing.empty()) {
        notes.add(std::string(kWho[way]) + ": " + one.missing,
                  row[0] + " (" + row[1] + " " + row[2] + ")", "n = ");
      }
    }
    row.push_back(kWho[point.ours()]);
    for (const std::size_t other : {kQrupdate, kDpotrf}) {
      row.push_back(ratio(point.ways[other].ms, point.ways[point.ours()].ms));
    }
    row.push_back(ratio(point.ways[kDevice].ms, point.copy_ms));
    rows.push_back(row);
  }
  tools::print_table(std::cout, titles, rows, 3, options.style);
  notes.print(options.style);
  std::cout << '\n';
}

/// From which of the measured orders on the device, beginning and ending in the host's memory, is
/// faster than the others, for each k and direction.
void print_break_evens(const Points& points, const Options& options) {
  std::string lines;
  for (const Index k : options.vectors) {
    for (const int sign : {1, -1}) {
      std::string others;
      for (std::size_t way = kCpu; way < kWays; ++way) {
        std::optional<Index> from;
        bool compared = false;
        for (const Point& point : points) {
          const Measurement &device = point.ways[kByDevice], &other = point.ways[way];
          if (point.k != k || point.sign != sign || other.runs == 0 || device.runs == 0) continue;
          compared = true;
          const bool wins = device.ms < other.ms;
          if (!wins) from.reset();
          if (wins && !from) from = point.n;
        }
        if (!compared) continue;
        others += (others.empty() ? "" : ", ") + std::string(kWho[way]) +
                  (from ? " from n = " + std::to_string(*from) : " nowhere");
      }
      if (others.empty()) continue;
      lines += "k = " + std::to_string(k) + (sign > 0 ? ", up:" : ", down:") +
               " the device is faster than " + others + '\n';
    }
  }
  if (!lines.empty()) std::cout << lines << '\n';
}

void add(const Point& point, ResultFiles& files) {
  for (std::size_t way = 0; way < kWays; ++way) {
    const Measurement& one = point.ways[way];
    nlohmann::json fields = {
        {"n", point.n},     {"k", point.k},      {"direction", point.direction()},
        {"who", kWho[way]}, {"ms", nullptr},     {"runs", nullptr},
        {"error", nullptr}, {"copies", nullptr}, {"missing", one.missing}};
    if (one.runs > 0) {
      fields.update({{"ms", one.ms}, {"runs", one.runs}, {"error", one.error}});
      if (way == kDevice && point.copy_ms > 0) fields["copies"] = one.ms / point.copy_ms;
    }
    files.add_line(fields);
    files.add_row(fields);
  }
}

/// Whether our errors are those of the others: in any case not much above rounding.
bool right(const Points& points) {
  for (const Point& point : points) {
    for (const std::size_t way : {kByDevice, kDevice, kCpu}) {
      const Measurement& one = point.ways[way];
      const auto n = static_cast<double>(point.n);
      // A's elements are about n / 3.
      if (one.runs > 0 && !(one.error < 30 * 2.3e-16 * n * n)) return false;
    }
  }
  return true;
}

}  // namespace

int show_updates(const Options& options) {
  Device* const device = tools::force_device(options.device, 1, options.algorithm, options.nb);
  if (device == nullptr) throw std::runtime_error("--update needs a device");
  print_heading(options, device);
  ResultFiles files(options, device,
                    {"n", "k", "direction", "who", "ms", "runs", "error", "copies", "missing"});
  Forecast forecast(options);
  tools::Progress progress(options.orders().size() * options.vectors.size() * 2);
  Points points;
  for (const Index n : options.orders()) {
    const std::size_t done = points.size();
    progress.show("n = " + std::to_string(n));
    measure_order(options, device, n, forecast, progress, points);
    for (std::size_t p = done; p < points.size(); ++p) add(points[p], files);
  }
  progress.clear();
  print(points, options);
  print_break_evens(points, options);
  files.finish();
  std::cout
      << "error: the largest |R^T R - (A +- V V^T)| in 64 columns. by device, CPU: host to host. "
         "dpotrf: A +- V V^T\nfrom an A that was kept, and our dpotrf. ours: which of the two the "
         "library takes, by its break-evens.\ncopies: on device, in units of one copy of the "
         "triangle there.\n";
  return exit_status(right(points), "a factor of ours is WRONG (error)");
}

}  // namespace overlapack::bench
