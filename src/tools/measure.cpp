#include "tools/measure.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>
#include <vector>

#include "algorithms/update/on_cpu.hpp"
#include "cpu/lapack.hpp"
#include "dispatch/calls.hpp"
#include "dispatch/context.hpp"
#include "exported.hpp"

namespace overlapack::tools {
namespace {

template <class T>
void run_mixed(Problem<T>& problem) {
  if constexpr (Problem<T>::kMixed) {
    using Abi = compat::Exported<T>;
    const Call& call = problem.call();
    const char uplo = static_cast<char>(call.uplo);
    const auto n = static_cast<std::int32_t>(call.shape.n),
               nrhs = static_cast<std::int32_t>(call.shape.nrhs),
               lda = static_cast<std::int32_t>(call.lda), ldb = static_cast<std::int32_t>(call.ldb);
    T *const a = problem.a_argument(), *const b = problem.b().data, *const x = problem.x().data;
    const cpu::MixedWork<T> w = problem.mixed_work();
    std::int32_t iter = 0, info = 0;
    if constexpr (is_complex<T>) {
      if (dispatch::is_lu(call.routine)) {
        Abi::cgesv(&n, &nrhs, a, &lda, problem.pivots(), b, &ldb, x, &ldb, w.work, w.swork, w.rwork,
                   &iter, &info);
      } else {
        Abi::cposv(&uplo, &n, &nrhs, a, &lda, b, &ldb, x, &ldb, w.work, w.swork, w.rwork, &iter,
                   &info, 1);
      }
    } else if (dispatch::is_lu(call.routine)) {
      Abi::sgesv(&n, &nrhs, a, &lda, problem.pivots(), b, &ldb, x, &ldb, w.work, w.swork, &iter,
                 &info);
    } else {
      Abi::sposv(&uplo, &n, &nrhs, a, &lda, b, &ldb, x, &ldb, w.work, w.swork, &iter, &info, 1);
    }
    problem.iter = iter;
    problem.info = info;
  }
}

}  // namespace

template <class T>
void Ours<T>::run(Problem<T>& problem) {
  using Abi = compat::Exported<T>;
  const Call& call = problem.call();
  const char uplo = static_cast<char>(call.uplo), op = static_cast<char>(call.op);
  const auto m = static_cast<std::int32_t>(call.shape.m),
             n = static_cast<std::int32_t>(call.shape.n),
             nrhs = static_cast<std::int32_t>(call.shape.nrhs),
             lda = static_cast<std::int32_t>(call.lda), ldb = static_cast<std::int32_t>(call.ldb);
  T* const a = problem.a_argument();
  T* const b = problem.b().data;
  std::int32_t* const ipiv = problem.pivots();
  std::int32_t info = 0;
  switch (call.routine) {
    case Routine::potrf:
      Abi::potrf(&uplo, &n, a, &lda, &info, 1);
      break;
    case Routine::potrs:
      Abi::potrs(&uplo, &n, &nrhs, a, &lda, b, &ldb, &info, 1);
      break;
    case Routine::posv:
      Abi::posv(&uplo, &n, &nrhs, a, &lda, b, &ldb, &info, 1);
      break;
    case Routine::getrf:
      Abi::getrf(&m, &n, a, &lda, ipiv, &info);
      break;
    case Routine::getrs:
      Abi::getrs(&op, &n, &nrhs, a, &lda, ipiv, b, &ldb, &info, 1);
      break;
    case Routine::gesv:
      Abi::gesv(&n, &nrhs, a, &lda, ipiv, b, &ldb, &info);
      break;
    case Routine::cholupdate: {
      Index status = 0;
      Abi::cholupdate(uplo, call.shape.n, call.shape.nrhs, a, call.lda, b, call.ldb, 1, &status);
      info = static_cast<std::int32_t>(status);
      break;
    }
    default:
      return run_mixed(problem);
  }
  problem.info = info;
}

template <class T>
void CpuContender<T>::run(Problem<T>& problem) {
  const cpu::Lapack<T>& lapack = cpu::lapack<T>(cpu::Family::lp64);
  const Call& call = problem.call();
  const HostView<T> a = problem.a(), b = problem.b();
  const cpu::Pivots pivots(problem.pivots());
  switch (call.routine) {
    case Routine::potrf:
      problem.info = lapack.potrf(call.uplo, a);
      break;
    case Routine::potrs:
      problem.info = lapack.potrs(call.uplo, a, b);
      break;
    case Routine::posv:
      problem.info = lapack.posv(call.uplo, a, b);
      break;
    case Routine::getrf:
      problem.info = lapack.getrf(a, pivots);
      break;
    case Routine::getrs:
      problem.info = lapack.getrs(call.op, a, pivots, b);
      break;
    case Routine::gesv:
      problem.info = lapack.gesv(a, pivots, b);
      break;
    case Routine::cholupdate: {
      const int sign = 1;
      problem.info = algorithms::chol_update<T>(lapack, call.uplo, a, HostView<const T>(b),
                                                algorithms::Signs(&sign, false),
                                                dispatch::cpu_threads(call.shape.n));
      break;
    }
    default:
      if constexpr (Problem<T>::kMixed) {
        const HostView<T> x = problem.x();
        problem.info =
            dispatch::is_lu(call.routine)
                ? lapack.mixed_gesv(a, pivots, b, x, problem.mixed_work(), problem.iter)
                : lapack.mixed_posv(call.uplo, a, b, x, problem.mixed_work(), problem.iter);
      }
  }
}

template <class T>
Timing measure(Contender<T>& contender, Problem<T>& problem, const Limits& limits) {
  using Clock = std::chrono::steady_clock;
  std::uint64_t seed = 1;
  const auto timed_run = [&] {
    problem.generate(seed++);
    contender.prepare(problem);
    const auto start = Clock::now();
    contender.run(problem);
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
    contender.finish(problem);
    return elapsed.count();
  };
  const double warm_up_ms = timed_run();
  const double affordable = 1e3 * limits.seconds / std::max(warm_up_ms, 1e-3);
  Timing timing;
  timing.runs = std::max(1, affordable < limits.runs ? static_cast<int>(affordable) : limits.runs);
  std::vector<double> ms(static_cast<std::size_t>(timing.runs));
  for (double& one : ms) {
    one = timed_run();
    if (timing.info == 0) timing.info = problem.info;
  }
  timing.ms = median(ms);
  timing.residual = problem.residual();
  timing.iter = problem.iter;
  return timing;
}

int gpu_in_use() {
  Device* const device = dispatch::Context::instance().device();
  return device == nullptr ? 0 : dispatch::cuda_index_of(device->name()).value_or(0);
}

std::string text_of(const std::exception& error) {
  // Of vectors, a length beyond all memory.
  const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
                      dynamic_cast<const std::length_error*>(&error) != nullptr;
  return memory ? "not enough memory; use smaller sizes" : error.what();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Device* force_device(const std::string& device, Index min_n, const std::string& algorithm,
                     Index nb) {
  auto& context = dispatch::Context::instance();
  // The library's own parser reads the names, so that both accept the same ones.
  const std::string nb_text = std::to_string(nb);
  const auto lookup = [&](const char* variable) -> const char* {
    const std::string name = variable;
    if (name == "OVERLAPACK_DEVICE") return device.c_str();
    if (name == "OVERLAPACK_ALGORITHM") return algorithm.c_str();
    if (name == "OVERLAPACK_NB") return nb > 0 ? nb_text.c_str() : nullptr;
    return nullptr;
  };
  std::vector<std::string> complaints;
  const dispatch::Settings wanted = dispatch::parse_settings(lookup, complaints);
  if (!complaints.empty()) throw std::runtime_error(complaints.front());
  dispatch::Settings settings = context.settings();
  settings.device = wanted.device;
  settings.cuda_index = wanted.cuda_index;
  settings.algorithm = wanted.algorithm;
  settings.nb = wanted.nb;
  if (min_n > 0) settings.min_n = min_n;
  context.reset(settings, context.profile());
  Device* const opened = context.device();
  if (opened == nullptr && device != "off") throw std::runtime_error(context.device_status());
  return opened;
}

std::size_t activity(Device* device) {
  if (device == nullptr) return 0;
  const DeviceCounters& counters = device->counters();
  return counters.kernels + counters.bytes_to_device + counters.bytes_to_host;
}

#define OVERLAPACK_INSTANTIATE(T) \
  template class Ours<T>;         \
  template class CpuContender<T>; \
  template Timing measure<T>(Contender<T>&, Problem<T>&, const Limits&);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::tools
