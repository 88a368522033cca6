#include "device/device.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

namespace overlapack {
namespace {

/// Real floating-point operations of `multiply_adds` multiply-adds in T.
template <class T>
double flops(double multiply_adds) {
  return (is_complex<T> ? 8.0 : 2.0) * multiply_adds;
}

double product(Index a, Index b, Index c) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
}

/// Page-locked memory is taken from the whole machine: what lies idle is given back rather than
/// that a device should hold more than this.
constexpr std::size_t kMaxPooledStaging = std::size_t{256} << 20;

/// Keeps a queue or an event that is not in use; without memory for that it is destroyed.
template <class T>
void keep(std::vector<std::unique_ptr<T>>& idle, std::unique_ptr<T> object) noexcept {
  try {
    idle.push_back(std::move(object));
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace

// ---- Event and Queue ----------------------------------------------------------------------

void Event::synchronize() {
  device_.before(Action::synchronize, "event");
  do_synchronize();
}

bool Event::done() {
  device_.before(Action::synchronize, "event");
  return do_done();
}

double Event::since(Event& earlier) {
  const auto has_time = [](const Event& event) {
    return event.timed_ == Timed::yes && event.recorded_;
  };
  if (!has_time(earlier) || !has_time(*this)) {
    throw std::logic_error("the time of an event that notes none");
  }
  device_.before(Action::synchronize, "event");
  return do_since(earlier);
}

void Queue::copy_to_device(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                           std::size_t bytes, std::size_t count) {
  if (bytes == 0 || count == 0) return;
  device_.before(Action::copy_to_device, "copy", static_cast<double>(bytes * count));
  do_copy_to_device(to, to_pitch, from, from_pitch, bytes, count);
}

void Queue::copy_to_host(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t bytes, std::size_t count) {
  if (bytes == 0 || count == 0) return;
  device_.before(Action::copy_to_host, "copy", static_cast<double>(bytes * count));
  do_copy_to_host(to, to_pitch, from, from_pitch, bytes, count);
}

void Queue::copy_on_device(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                           std::size_t element, Index rows, Index cols, Part part, Index diagonal) {
  if (rows <= 0 || cols <= 0) return;
  device_.before(Action::kernel, "copy on device");
  do_copy_on_device(to, to_pitch, from, from_pitch, element, rows, cols, part, diagonal);
}

void Queue::zero(void* device_memory, std::size_t pitch, std::size_t bytes, std::size_t count) {
  if (bytes == 0 || count == 0) return;
  device_.before(Action::kernel, "zero");
  do_zero(device_memory, pitch, bytes, count);
}

void Queue::signal(Flag& flag, std::uint32_t value) {
  device_.before(Action::record, "signal");
  do_signal(flag, value);
}

void Queue::poll() {
  device_.before(Action::synchronize, "queue");
  do_poll();
}

void Queue::record(Event& event) {
  device_.before(Action::record, "event");
  do_record(event);
  event.recorded_ = true;
}

void Queue::wait(Event& event) {
  device_.before(Action::wait, "event");
  do_wait(event);
}

void Queue::synchronize() {
  device_.before(Action::synchronize, "queue");
  do_synchronize();
}

// ---- Kernels ------------------------------------------------------------------------------

template <class T>
void Kernels<T>::gemm(Queue& queue, Op op_a, Op op_b, T alpha, DeviceView<const T> a,
                      DeviceView<const T> b, T beta, DeviceView<T> c) {
  const Index k = op_a == Op::none ? a.cols : a.rows;
  if (c.empty() || (k == 0 && beta == T(1))) return;
  device_.before(Action::kernel, "gemm", flops<T>(product(c.rows, c.cols, k)));
  do_gemm(queue, op_a, op_b, alpha, a, b, beta, c);
}

template <class T>
void Kernels<T>::copy(Queue& queue, Op op, DeviceView<const T> a, DeviceView<T> b) {
  if (b.empty()) return;
  device_.before(Action::kernel, "copy", flops<T>(product(b.rows, b.cols, 1) / 2));
  do_copy(queue, op, a, b);
}

template <class T>
void Kernels<T>::herk(Queue& queue, Uplo uplo, Op op, Real<T> alpha, DeviceView<const T> a,
                      Real<T> beta, DeviceView<T> c) {
  const Index k = op == Op::none ? a.cols : a.rows;
  if (c.empty() || (k == 0 && beta == Real<T>(1))) return;
  device_.before(Action::kernel, "herk", flops<T>(product(c.rows, c.rows + 1, k) / 2));
  do_herk(queue, uplo, op, alpha, a, beta, c);
}

template <class T>
void Kernels<T>::hemv(Queue& queue, Uplo uplo, DeviceView<const T> a, DeviceView<const T> x,
                      DeviceView<T> y, DeviceView<T> work) {
  if (y.empty()) return;
  device_.before(Action::kernel, "hemv", flops<T>(product(a.rows, a.rows, 1)));
  do_hemv(queue, uplo, a, x, y, work);
}

template <class T>
void Kernels<T>::trsm(Queue& queue, Side side, Uplo uplo, Op op, Diag diag, T alpha,
                      DeviceView<const T> a, DeviceView<T> b) {
  if (b.empty()) return;
  device_.before(Action::kernel, "trsm", flops<T>(product(a.rows, b.rows, b.cols) / 2));
  do_trsm(queue, side, uplo, op, diag, alpha, a, b);
}

template <class T>
void Kernels<T>::potrf_panel(Queue& queue, Uplo uplo, DeviceView<const T> a, DeviceView<T> factor,
                             DeviceView<Index> info, Index offset, DeviceView<T> notes) {
  if (a.empty()) return;
  const Index n = std::min(a.rows, a.cols), m = std::max(a.rows, a.cols);
  device_.before(Action::kernel, "potrf_panel",
                 flops<T>(product(n, n, n) / 6 + product(m - n, n, n) / 2));
  do_potrf_panel(queue, uplo, a, factor, info, offset, notes);
}

template <class T>
void Kernels<T>::potrf_rows(Queue& queue, Uplo uplo, DeviceView<const T> notes,
                            DeviceView<const T> a, DeviceView<T> factor) {
  if (a.empty()) return;
  const Index n = uplo == Uplo::upper ? a.rows : a.cols;
  device_.before(Action::kernel, "potrf_rows", flops<T>(product(a.rows, a.cols, n) / 2));
  do_potrf_rows(queue, uplo, notes, a, factor);
}

template <class T>
void Kernels<T>::invert_blocks(Queue& queue, Uplo uplo, DeviceView<const T> factor,
                               DeviceView<T> inverses, DeviceView<Real<T>> conditions) {
  if (factor.empty()) return;
  device_.before(Action::kernel, "invert_blocks",
                 flops<T>(product(inverses.rows, inverses.rows, factor.rows) / 6));
  do_invert_blocks(queue, uplo, factor, inverses, conditions);
}

template <class T>
void Kernels<T>::update_panel(Queue& queue, Uplo uplo, DeviceView<const T> a, DeviceView<T> factor,
                              Index plus, DeviceView<const T> v, DeviceView<T> rest,
                              DeviceView<Index> info, Index offset, DeviceView<Real<T>> c,
                              DeviceView<T> s) {
  if (a.empty() || v.empty()) return;
  device_.before(Action::kernel, "update_panel", flops<T>(2 * product(a.rows, a.cols, v.cols)));
  do_update_panel(queue, uplo, a, factor, plus, v, rest, info, offset, c, s);
}

template <class T>
void Kernels<T>::find_not_finite(Queue& queue, Part part, DeviceView<const T> a,
                                 DeviceView<Index> found) {
  if (a.empty()) return;
  device_.before(Action::kernel, "find_not_finite");
  do_find_not_finite(queue, part, a, found);
}

template <class T>
void Kernels<T>::back_substitute(Queue& queue, Uplo uplo, DeviceView<const T> factor,
                                 DeviceView<const T> inverses, DeviceView<T> x,
                                 DeviceView<Index> progress) {
  if (x.empty()) return;
  device_.before(Action::kernel, "back_substitute",
                 flops<T>(product(factor.rows, factor.rows, x.cols) / 2));
  do_back_substitute(queue, uplo, factor, inverses, x, progress);
}

template <class T>
void Kernels<T>::eliminate(Queue& queue, Uplo uplo, DeviceView<const T> factor,
                           DeviceView<const T> inverses, DeviceView<T> x, Index width,
                           DeviceView<T> states, DeviceView<Index> progress) {
  if (x.empty()) return;
  device_.before(Action::kernel, "eliminate",
                 flops<T>(product(2 * x.rows - inverses.cols, inverses.cols, x.cols) / 2));
  do_eliminate(queue, uplo, factor, inverses, x, width, states, progress);
}

template <class T>
void Kernels<T>::update_bases(Queue& queue, int sign, DeviceView<const T> w, Index width,
                              Index first, double limit, DeviceView<Double<T>> grams,
                              DeviceView<Double<T>> bases, DeviceView<Index> unfit) {
  if (w.empty()) return;
  device_.before(Action::kernel, "update_bases", flops<T>(product(w.rows, w.cols, w.cols)));
  do_update_bases(queue, sign, w, width, first, limit, grams, bases, unfit);
}

template <class T>
void Kernels<T>::update_panels(Queue& queue, Uplo uplo, int sign, DeviceView<T> a,
                               DeviceView<const T> states, Index k,
                               DeviceView<const Double<T>> bases, DeviceView<Double<T>> reflectors,
                               DeviceView<Index> info, DeviceView<Real<T>> c, DeviceView<T> s) {
  if (a.empty() || k == 0) return;
  const Index m = a.rows > a.cols ? a.rows : a.cols, n = a.rows > a.cols ? a.cols : a.rows;
  device_.before(Action::kernel, "update_panels", flops<T>(product(2 * m - n, n, k)));
  do_update_panels(queue, uplo, sign, a, states, k, bases, reflectors, info, c, s);
}

template <class T>
void Kernels<T>::getrf_panel(Queue& queue, DeviceView<T> a, DeviceView<Index> pivots,
                             DeviceView<Index> home, DeviceView<Index> info, Index offset,
                             Event* begun) {
  if (a.empty()) return;
  const Index k = a.rows < a.cols ? a.rows : a.cols;
  device_.before(Action::kernel, "getrf_panel", flops<T>(product(a.rows, a.cols, k) / 2));
  do_getrf_panel(queue, a, pivots, home, info, offset, begun);
  if (begun != nullptr) begun->recorded_ = true;
}

template <class T>
void Kernels<T>::swap_rows(Queue& queue, DeviceView<T> a, DeviceView<const Index> pivots,
                           Index offset, bool forward) {
  if (a.empty() || pivots.empty()) return;
  device_.before(Action::kernel, "swap_rows");
  do_swap_rows(queue, a, pivots, offset, forward);
}

template <class T>
void Kernels<T>::swap_columns(Queue& queue, DeviceView<T> a, DeviceView<const Index> pivots,
                              Index offset) {
  if (a.empty() || pivots.empty()) return;
  device_.before(Action::kernel, "swap_columns");
  do_swap_columns(queue, a, pivots, offset);
}

template <class T>
void Kernels<T>::compose_interchanges(Queue& queue, DeviceView<const Index> pivots, Index offset,
                                      Index nb, DeviceView<Index> sources) {
  if (sources.empty()) return;
  device_.before(Action::kernel, "compose_interchanges");
  do_compose_interchanges(queue, pivots, offset, nb, sources);
}

template <class T>
void Kernels<T>::permute_rows(Queue& queue, DeviceView<T> a, Index width,
                              DeviceView<const Index> sources) {
  if (a.empty()) return;
  device_.before(Action::kernel, "permute_rows");
  do_permute_rows(queue, a, width, sources);
}

template <class T>
void Kernels<T>::interchange_and_solve(Queue& queue, DeviceView<const T> l,
                                       DeviceView<const Index> pivots, Index offset,
                                       DeviceView<T> a) {
  if (a.empty() || pivots.empty()) return;
  device_.before(Action::kernel, "interchange_and_solve",
                 flops<T>(product(l.rows, l.rows, a.cols) / 2));
  do_interchange_and_solve(queue, l, pivots, offset, a);
}

template <class T>
bool Kernels<T>::step_at_once(Queue& queue, DeviceView<const T> panel,
                              DeviceView<const Index> pivots, Index offset, DeviceView<T> a) {
  const Index m = panel.rows, w = panel.cols;
  if (a.empty() || !do_has_step_at_once(m, w, a.cols)) return false;
  device_.before(Action::kernel, "step_at_once",
                 flops<T>(product(w, w, a.cols) / 2 + product(m - w, w, a.cols)));
  do_step_at_once(queue, panel, pivots, offset, a);
  return true;
}

template <class T>
void Kernels<T>::interchange_and_solve_by_rows(Queue& queue, DeviceView<const T> l,
                                               DeviceView<const Index> pivots, Index offset,
                                               DeviceView<T> a, DeviceView<const Index> inverses) {
  if (a.empty() || l.empty()) return;
  device_.before(Action::kernel, "interchange_and_solve_by_rows",
                 flops<T>(product(l.rows, l.rows, a.rows) / 2));
  do_interchange_and_solve_by_rows(queue, l, pivots, offset, a, inverses);
}

template <class T>
void Kernels<T>::find_inverses(Queue& queue, DeviceView<const T> l, DeviceView<Index> inverses) {
  if (l.empty()) return;
  device_.before(Action::kernel, "find_inverses");
  do_find_inverses(queue, l, inverses);
}

template <class T>
void Kernels<T>::split(Queue& queue, SplitForm form, Side side, Op op, DeviceView<const T> from,
                       DeviceView<Real<T>> to, DeviceView<const Real<T>> sizes, Weigh weigh) {
  if (from.empty()) return;
  device_.before(Action::kernel, "split");
  do_split(queue, form, side, op, from, to, sizes, weigh);
}

template <class T>
void Kernels<T>::split_gemm(Queue& queue, SplitForm form, Index k, Real<T> alpha,
                            DeviceView<const Real<T>> a, DeviceView<const Real<T>> b, Real<T> beta,
                            DeviceView<T> c) {
  if (k == 0) {
    gemm(queue, Op::none, Op::none, T(0), c.block(0, 0, c.rows, 0), c.block(0, 0, 0, c.cols),
         T(beta), c);
    return;
  }
  if (c.empty()) return;
  device_.before(Action::kernel, "split_gemm", flops<T>(product(c.rows, c.cols, k)));
  do_split_gemm(queue, form, k, alpha, a, b, beta, c);
}

template <class T>
void Kernels<T>::residues(Queue& queue, const ResidueForm<T>& of,
                          DeviceView<const Real<T>> before) {
  if (of.rows() == 0) return;
  device_.before(Action::kernel, "residues");
  do_residues(queue, of, before);
}

template <class T>
void Kernels<T>::scaled_residues(Queue& queue, Weigh weigh, const ResidueForm<T>& of,
                                 DeviceView<const Real<T>> sizes) {
  if (of.rows() == 0) return;
  device_.before(Action::kernel, "scaled_residues");
  do_scaled_residues(queue, weigh, of, sizes);
}

template <class T>
void Kernels<T>::residue_gemm(Queue& queue, const ResidueForm<T>& a, const ResidueForm<T>& b,
                              T beta, DeviceView<T> c, DeviceView<std::int32_t> work) {
  if (c.empty()) return;
  device_.before(Action::kernel, "residue_gemm", flops<T>(product(c.rows, c.cols, a.summands())));
  do_residue_gemm(queue, a, b, beta, c, work);
}

template <class T>
void Kernels<T>::column_norms(Queue& queue, DeviceView<const T> a, DeviceView<Real<T>> norms) {
  if (a.cols == 0) return;
  device_.before(Action::kernel, "column_norms");
  do_column_norms(queue, a, norms);
}

template <class T>
void Kernels<T>::norm(Queue& queue, Norm norm, Symmetry symmetry, Uplo uplo, DeviceView<const T> a,
                      DeviceView<Real<T>> work, DeviceView<Real<T>> result) {
  if (a.empty()) {
    queue.zero(result.data, sizeof(Real<T>));
    return;
  }
  device_.before(Action::kernel, "norm");
  do_norm(queue, norm, symmetry, uplo, a, work, result);
}

template <class T>
void Kernels<T>::largest(Queue& queue, DeviceView<const T> a, DeviceView<Real<T>> result) {
  extreme(queue, true, a, result);
}

template <class T>
void Kernels<T>::smallest(Queue& queue, DeviceView<const T> a, DeviceView<Real<T>> result) {
  extreme(queue, false, a, result);
}

template <class T>
void Kernels<T>::extreme(Queue& queue, bool largest, DeviceView<const T> a,
                         DeviceView<Real<T>> result) {
  device_.before(Action::kernel, largest ? "largest" : "smallest");
  // An array of complex numbers may be accessed as one of real numbers ([complex.numbers]).
  constexpr Index reals = is_complex<T> ? 2 : 1;
  const auto* const numbers = reinterpret_cast<const Real<T>*>(a.data);
  do_extreme(queue, largest, {numbers, reals * a.rows, a.cols, reals * a.ld}, result);
}

template <class T>
void Kernels<T>::round(Queue& queue, Part part, DeviceView<const T> from, DeviceView<Single<T>> to,
                       DeviceView<Index> overflow, DeviceView<const Real<T>> row_sizes,
                       DeviceView<const Real<T>> column_sizes) {
  if (from.empty()) return;
  device_.before(Action::kernel, "round");
  do_round(queue, part, from, to, overflow, row_sizes, column_sizes);
}

template <class T>
void Kernels<T>::round_high(Queue& queue, Part part, DeviceView<const Single<T>> high,
                            DeviceView<Single<T>> to) {
  if (high.empty()) return;
  device_.before(Action::kernel, "round high words");
  do_round_high(queue, part, high, to);
}

template <class T>
void Kernels<T>::join(Queue& queue, Part part, DeviceView<const Single<T>> high,
                      DeviceView<const Single<T>> low, DeviceView<T> to,
                      DeviceView<Index> overflow) {
  if (high.empty()) return;
  device_.before(Action::kernel, "join words");
  do_join(queue, part, high, low, to, overflow);
}

template <class T>
void Kernels<T>::widen(Queue& queue, DeviceView<const Single<T>> from, T beta, DeviceView<T> to,
                       DeviceView<const Real<T>> row_sizes) {
  if (from.empty()) return;
  device_.before(Action::kernel, "widen");
  do_widen(queue, from, beta, to, row_sizes);
}

template <class T>
void Kernels<T>::find_links(Queue& queue, Uplo uplo, Diag diag, DeviceView<const T> a,
                            DeviceView<Index> links) {
  if (a.empty()) return;
  device_.before(Action::kernel, "find_links");
  do_find_links(queue, uplo, diag, a, links);
}

template <class T>
void Kernels<T>::substitute(Queue& queue, Uplo uplo, Diag diag, DeviceView<const T> a,
                            DeviceView<const Index> links, DeviceView<T> x,
                            DeviceView<Index> progress) {
  if (x.empty()) return;
  device_.before(Action::kernel, "substitute", flops<T>(product(a.rows, a.rows, x.cols) / 2));
  do_substitute(queue, uplo, diag, a, links, x, progress);
}

template <class T>
void Kernels<T>::mirror(Queue& queue, Uplo uplo, DeviceView<T> a) {
  if (a.empty()) return;
  device_.before(Action::kernel, "mirror");
  do_mirror(queue, uplo, a);
}

#define OVERLAPACK_INSTANTIATE(T) template class Kernels<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

// ---- Device -------------------------------------------------------------------------------

void Device::before(Action action, const char* name, double amount) {
  if (observer_ != nullptr) observer_->before(action, name, amount);
  if (action == Action::copy_to_device) {
    counters_.bytes_to_device += static_cast<std::size_t>(amount);
  } else if (action == Action::copy_to_host) {
    counters_.bytes_to_host += static_cast<std::size_t>(amount);
  } else if (action == Action::kernel) {
    ++counters_.kernels;
  }
}

void Device::free_idle(MemoryPool& pool, Space space) noexcept {
  for (const Block& block : pool.idle) {
    do_free(space, block.memory);
    pool.use.held -= block.bytes;
  }
  pool.idle.clear();
}

void* Device::acquire(Space space, std::size_t bytes) {
  before(Action::allocate, space == Space::device ? "device memory" : "staging memory",
         static_cast<double>(bytes));
  std::lock_guard<std::mutex> lock(mutex_);
  MemoryPool& from = pool(space);
  const auto lease = [&from](const Block& block) {
    from.leased[block.memory] = block.bytes;
    from.use.leased += block.bytes;
    from.use.peak = std::max(from.use.peak, from.use.leased);
  };
  // The smallest idle block that fits without wasting more than half of itself; among equals the
  // one used last.
  auto best = from.idle.end();
  for (auto it = from.idle.begin(); it != from.idle.end(); ++it) {
    const bool fits = it->bytes >= bytes && it->bytes / 2 <= bytes;
    if (fits && (best == from.idle.end() || it->bytes <= best->bytes)) best = it;
  }
  if (best != from.idle.end()) {
    const Block block = *best;
    lease(block);
    from.idle.erase(best);
    do_reuse(space, block.memory, block.bytes);
    return block.memory;
  }
  if (space == Space::host && from.use.held + bytes > kMaxPooledStaging) free_idle(from, space);
  if (space == Space::device && memory_limit_ > 0 && from.use.held + bytes > memory_limit_) {
    free_idle(from, space);
    if (from.use.held + bytes > memory_limit_) {
      throw DeviceError("more device memory is needed than OVERLAPACK_MEMORY_LIMIT allows");
    }
  }
  void* memory = nullptr;
  try {
    memory = do_allocate(space, bytes);
  } catch (const DeviceError& error) {
    if (error.lost() || from.idle.empty()) throw;
    free_idle(from, space);  // the memory that other shapes left behind may be what is missing
    memory = do_allocate(space, bytes);
  }
  try {
    lease({memory, bytes});
  } catch (const std::bad_alloc&) {
    do_free(space, memory);
    throw;
  }
  from.use.held += bytes;
  return memory;
}

void Device::give_back(Space space, void* memory) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  MemoryPool& to = pool(space);
  const auto it = to.leased.find(memory);
  const std::size_t bytes = it->second;
  to.leased.erase(it);
  to.use.leased -= bytes;
  try {
    if (space == Space::device || to.use.held <= kMaxPooledStaging) {
      to.idle.push_back({memory, bytes});
      return;
    }
  } catch (const std::bad_alloc&) {  // then it cannot be kept
  }
  do_free(space, memory);
  to.use.held -= bytes;
}

std::unique_ptr<Queue> Device::acquire_queue(Priority priority) {
  before(Action::create, "queue");
  std::lock_guard<std::mutex> lock(mutex_);
  auto& idle = idle_queues_[static_cast<int>(priority)];
  if (idle.empty()) return do_make_queue(priority);
  auto queue = std::move(idle.back());
  idle.pop_back();
  return queue;
}

void Device::give_back(Priority priority, std::unique_ptr<Queue> queue) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  keep(idle_queues_[static_cast<int>(priority)], std::move(queue));
}

std::unique_ptr<Event> Device::acquire_event(Timed timed) {
  before(Action::create, "event");
  std::lock_guard<std::mutex> lock(mutex_);
  auto& idle = idle_events_[static_cast<int>(timed)];
  if (idle.empty()) return do_make_event(timed);
  auto event = std::move(idle.back());
  idle.pop_back();
  return event;
}

void Device::give_back(std::unique_ptr<Event> event) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto timed = static_cast<int>(event->timed());
  keep(idle_events_[timed], std::move(event));
}

PoolUse Device::pool_use(Space space) {
  std::lock_guard<std::mutex> lock(mutex_);
  return pool(space).use;
}

void Device::reset_peak_use() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (MemoryPool* pool : {&device_pool_, &staging_pool_}) pool->use.peak = pool->use.leased;
}

void Device::set_memory_limit(std::size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  memory_limit_ = bytes;
  if (bytes > 0 && device_pool_.use.held > bytes) free_idle(device_pool_, Space::device);
}

void Device::clear_pools() noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto& idle : idle_queues_) idle.clear();
  for (auto& idle : idle_events_) idle.clear();
  free_idle(device_pool_, Space::device);
  free_idle(staging_pool_, Space::host);
}

}  // namespace overlapack
