#include "tools/measure.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>
#include <vector>

#include "dispatch/context.hpp"
#include "tools/problems/row.hpp"

namespace overlapack::tools {
template <class T>
void Ours<T>::run(Problem<T>& problem) {
  row_of<T>(problem.call().routine).run(problem);
}

template <class T>
void CpuContender<T>::run(Problem<T>& problem) {
  row_of<T>(problem.call().routine).run_on_cpu(problem);
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
  settings.keep_memory = dispatch::kForEver;  // however long what is measured in between takes
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
