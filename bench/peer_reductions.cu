#include <cuda_runtime.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/transform_reduce.h>

#include <algorithm>
#include <cmath>
#include <cub/device/device_reduce.cuh>
#include <functional>
#include <vector>

#include "cuda_check.hpp"
#include "peer_reductions.hpp"

namespace overlapack::bench {
namespace {

class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) {
    check(cudaMalloc(&data_, std::max<std::size_t>(bytes, 1)));
  }
  DeviceMemory(const DeviceMemory&) = delete;
  ~DeviceMemory() { cudaFree(data_); }
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_)); }
  Event(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// The median time of one `work`, in milliseconds, after one run to warm up.
double median_ms(int launches, int runs, const std::function<void()>& work) {
  const Event begin, end;
  std::vector<double> times;
  work();
  for (int run = 0; run < runs; ++run) {
    check(cudaEventRecord(begin));
    for (int launch = 0; launch < launches; ++launch) work();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms / launches);
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

template <class T>
struct Modulus {
  __host__ __device__ T operator()(T x) const { return x < 0 ? -x : x; }
};
template <class T>
struct Square {
  __host__ __device__ T operator()(T x) const { return x * x; }
};
template <class T>
struct Sum {
  __host__ __device__ T operator()(T x, T y) const { return x + y; }
};
template <class T>
struct Largest {
  __host__ __device__ T operator()(T x, T y) const { return x < y ? y : x; }
};

template <class T, class Map, class Reduce>
PeerReduction measure(Peer peer, const T* data, Index count, int launches, int runs, Map map,
                      Reduce reduce) {
  PeerReduction result;
  if (peer == Peer::thrust) {
    const thrust::device_ptr<const T> first(data);
    result.ms = median_ms(launches, runs, [&] {
      result.value = static_cast<double>(
          thrust::transform_reduce(thrust::device, first, first + count, map, T(0), reduce));
    });
    return result;
  }
  const DeviceMemory there(sizeof(T));
  T* const out = static_cast<T*>(there.data());
  const auto in = thrust::make_transform_iterator(data, map);
  std::size_t bytes = 0;
  check(cub::DeviceReduce::Reduce(nullptr, bytes, in, out, count, reduce, T(0)));
  const DeviceMemory temporary(bytes);
  result.ms = median_ms(launches, runs, [&] {
    check(cub::DeviceReduce::Reduce(temporary.data(), bytes, in, out, count, reduce, T(0)));
  });
  T value(0);
  check(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
  result.value = static_cast<double>(value);
  return result;
}

}  // namespace

template <class T>
PeerReduction reduce_by_peer(Peer peer, Norm norm, const T* data, Index count, int launches,
                             int runs, int gpu) {
  check(cudaSetDevice(gpu));
  if (norm == Norm::max) {
    return measure(peer, data, count, launches, runs, Modulus<T>{}, Largest<T>{});
  }
  if (norm == Norm::frobenius) {
    PeerReduction result = measure(peer, data, count, launches, runs, Square<T>{}, Sum<T>{});
    result.value = std::sqrt(result.value);
    return result;
  }
  return measure(peer, data, count, launches, runs, Modulus<T>{}, Sum<T>{});
}
template PeerReduction reduce_by_peer(Peer, Norm, const float*, Index, int, int, int);
template PeerReduction reduce_by_peer(Peer, Norm, const double*, Index, int, int, int);

double measure_memory(int gpu) {
  check(cudaSetDevice(gpu));
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  const DeviceMemory from(kBytes), to(kBytes);
  check(cudaMemset(from.data(), 1, kBytes));
  const double ms = median_ms(10, 5, [&] {
    check(cudaMemcpyAsync(to.data(), from.data(), kBytes, cudaMemcpyDeviceToDevice));
  });
  return 2 * static_cast<double>(kBytes) / (1e-3 * ms);
}

}  // namespace overlapack::bench
