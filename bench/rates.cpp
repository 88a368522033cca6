#include "rates.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "device/buffer.hpp"

namespace overlapack::bench {
namespace {

struct Size {
  Index m, n, k;
};

/// Fills device memory with random numbers, by repeating a piece of them: multiplying zeros costs a
/// GPU less power than multiplying numbers does, and it is faster then.
template <class T>
void fill(Device& device, Queue& queue, const Buffer<T>& memory) {
  const Index piece = std::min<Index>(memory.size(), Index{1} << 20);
  const Buffer<T> staging(device, Space::host, piece);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<Real<T>> uniform(-1, 1);
  for (Index i = 0; i < piece; ++i) {
    if constexpr (is_complex<T>) {
      staging.data()[i] = T(uniform(random), uniform(random));
    } else {
      staging.data()[i] = uniform(random);
    }
  }
  for (Index first = 0; first < memory.size(); first += piece) {
    const Index count = std::min(piece, memory.size() - first);
    queue.copy<T>(DeviceView<T>(memory.data() + first, count),
                  HostView<const T>(staging.data(), count));
  }
  queue.synchronize();
}

/// Shapes large enough for the best rate, as far as the device has memory for them.
std::vector<Size> sizes_for(const Device& device, std::size_t element) {
  if (device.emulated()) return {{256, 64, 192}};
  std::vector<Size> sizes = {
      {16384, 512, 4096}, {16384, 512, 8192}, {16384, 2048, 4096}, {8192, 8192, 8192}};
  for (Size& size : sizes) {
    const auto bytes = [&size, element] {
      return static_cast<std::size_t>(size.m * size.k + size.k * size.n + size.m * size.n) *
             element;
    };
    while (bytes() > device.memory() / 5) {
      size = {size.m / 2, std::min(size.n, size.m / 2), size.k / 2};
    }
  }
  return sizes;
}

/// Measures products of one type on a queue of its own.
template <class T>
class Products {
 public:
  explicit Products(Device& device)
      : device_(device), begin_(device, Timed::yes), end_(device, Timed::yes), queue_(device) {}

  /// Of Gemm and, where that pays, of operands split in such a precision.
  void measure(const Size& size, std::optional<Precision> split) {
    const auto& [m, n, k] = size;
    const Buffer<T> a(device_, Space::device, m * k), b(device_, Space::device, k * n),
        c(device_, Space::device, m * n);
    fill(device_, *queue_, a);
    fill(device_, *queue_, b);
    const DeviceView<T> left(a.data(), m, k, m), right(b.data(), k, n, k),
        result(c.data(), m, n, m);
    for (const Op op : {Op::none, Op::conj_trans}) {
      const DeviceView<T> factor = op == Op::none ? right : DeviceView<T>(b.data(), n, k, n);
      take_time(size, [&] {
        queue_->enqueue(Gemm<T>{Op::none, op, T(1), left, factor, T(0), result});
      });
    }
    if (split && device_.kernels<T>().split_pays(*split, m, n, k)) {
      if constexpr (kSplits<T>) measure_split(size, *split, left, right, result);
    }
  }

  const ProductRate& best() const { return best_; }

 private:
  void measure_split(const Size& size, Precision precision, DeviceView<const T> a,
                     DeviceView<const T> b, DeviceView<T> c) {
    const SplitForm form{precision, kSplitSection<T>};
    const Index rows = split_rows<T>(form, size.k), left_cols = split_cols<T>(Side::left, size.m),
                right_cols = split_cols<T>(Side::right, size.n);
    const Buffer<Real<T>> left_memory(device_, Space::device, rows * left_cols),
        right_memory(device_, Space::device, rows * right_cols);
    const DeviceView<Real<T>> left(left_memory.data(), rows, left_cols, rows),
        right(right_memory.data(), rows, right_cols, rows);
    queue_->enqueue(Split<T>{form, Side::left, Op::none, a, left});
    queue_->enqueue(Split<T>{form, Side::right, Op::none, b, right});
    take_time(size, [&] { queue_->enqueue(SplitGemm<T>{form, size.k, 1, left, right, 0, c}); });
  }

  template <class Multiply>
  void take_time(const Size& size, Multiply multiply) {
    const auto& [m, n, k] = size;
    const double flops = (is_complex<T> ? 8.0 : 2.0) * static_cast<double>(m) *
                         static_cast<double>(n) * static_cast<double>(k);
    multiply();  // warms up
    for (int attempt = 0; attempt < 5; ++attempt) {
      queue_->record(*begin_);
      multiply();
      queue_->record(*end_);
      const double seconds = 1e-6 * end_->since(*begin_);
      if (flops / seconds > best_.flops) {
        best_ = {flops / seconds,
                 std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k)};
      }
    }
    queue_->synchronize();
  }

  Device& device_;
  const EventLease begin_, end_;
  const QueueLease queue_;
  ProductRate best_;
};

}  // namespace

template <class T>
ProductRate measure_products(Device& device, std::optional<Precision> split) {
  Products<T> products(device);
  for (const Size& size : sizes_for(device, sizeof(T))) products.measure(size, split);
  return products.best();
}

double measure_link(Device& device) {
  using Clock = std::chrono::steady_clock;
  constexpr int kCopies = 16;
  const Index bytes = device.emulated() ? Index{1} << 18 : Index{1} << 25;
  const std::array<Buffer<char>, 2> staging = {Buffer<char>(device, Space::host, bytes),
                                               Buffer<char>(device, Space::host, bytes)};
  const std::array<Buffer<char>, 2> memory = {Buffer<char>(device, Space::device, bytes),
                                              Buffer<char>(device, Space::device, bytes)};
  const QueueLease up(device), down(device);
  up->zero(memory[1].data(), static_cast<std::size_t>(bytes));
  up->synchronize();
  std::fill_n(staging[0].data(), bytes, char{1});
  double best = 0;
  for (int attempt = 0; attempt < 6; ++attempt) {  // the first one warms up
    const auto start = Clock::now();
    for (int i = 0; i < kCopies; ++i) {
      up->copy<char>(DeviceView<char>(memory[0].data(), bytes),
                     HostView<const char>(staging[0].data(), bytes));
      down->copy<char>(HostView<char>(staging[1].data(), bytes),
                       DeviceView<const char>(memory[1].data(), bytes));
    }
    up->synchronize();
    down->synchronize();
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    if (attempt > 0) best = std::max(best, kCopies * static_cast<double>(bytes) / elapsed.count());
  }
  return best;
}

#define OVERLAPACK_INSTANTIATE(T) \
  template ProductRate measure_products<T>(Device&, std::optional<Precision>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::bench
