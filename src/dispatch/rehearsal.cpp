#include "dispatch/rehearsal.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "algorithms/cholesky/cholesky.hpp"
#include "algorithms/lu/lu.hpp"
#include "dispatch/calls.hpp"
#include "dispatch/process_end.hpp"
#include "dispatch/route.hpp"

namespace overlapack::dispatch {
namespace {

/// With more than 2048 columns Cholesky has more than one queue (record 0010). The transfer is
/// large enough for all threads and most of the staging memory.
constexpr Index kOrder = 2304;
/// That of the emulated device, whose blocks are as narrow as its matrices are small.
constexpr Index kEmulatedOrder = 64;

/// Symmetric and positive definite, so that LU and Cholesky both go well.
template <class T>
std::vector<T> matrix(Index n) {
  std::vector<T> a(static_cast<std::size_t>(n * n), T(1));
  for (Index j = 0; j < n; ++j) a[static_cast<std::size_t>(j * (n + 1))] = T(static_cast<float>(n));
  return a;
}

template <class T>
void factor(Device& device, Factors factors, const algorithms::Options& options, Index n) {
  std::vector<T> memory = matrix<T>(n);
  const HostView<T> a(memory.data(), n, n, n);
  const cpu::Lapack<T>& cpu = cpu_lapack<T>(cpu::Family::lp64);
  Index committed = 0;
  if (factors == Factors::lu) {
    algorithms::Interchanges interchanges;
    algorithms::gesv<T>(device, cpu, options, a, interchanges, {}, committed);
  } else {
    algorithms::posv<T>(device, cpu, options, Uplo::lower, a, {}, committed);
  }
}

}  // namespace

void rehearse(Device& device, Routine routine, char type, const Shape& shape,
              const Settings& settings) {
  const Factors factors = traits_of(routine).factors;
  if (factors == Factors::none) return;
  const Index n = std::min({shape.m, shape.n, device.emulated() ? kEmulatedOrder : kOrder});
  if (is_mixed(routine)) type = type == 'd' ? 's' : 'c';
  const Routine factorization = factors == Factors::lu ? Routine::getrf : Routine::potrf;
  const Nesting nesting;  // a CPU LAPACK that calls this library must not wait for the device
  const ExitGuard guard;
  Settings small = settings;
  small.min_n = 1;
  try {
    const Plan plan =
        dispatch::plan(factorization, type, {n, n, 0}, small, builtin_profile(), &device);
    if (!plan.on_device) return;
    device.set_memory_limit(settings.memory_limit);
    const std::shared_ptr<void> current = device.make_current();
    with_type(type, [&](auto one) {
      factor<decltype(one)>(device, factors, options_of(plan, settings, device.tuning()), n);
    });
  } catch (const DeviceError& error) {
    if (error.lost()) throw;
  } catch (const std::bad_alloc&) {  // it may be enough for calls
  }
}

}  // namespace overlapack::dispatch
