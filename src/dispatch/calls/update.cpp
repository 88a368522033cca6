#include <algorithm>
#include <new>
#include <stdexcept>
#include <vector>

#include "algorithms/shared/finite.hpp"
#include "algorithms/update/on_device.hpp"
#include "dispatch/route.hpp"

namespace overlapack::dispatch {
namespace {

using cpu::Family;
using cpu::Lapack;

/// An update of a factor by k vectors, which do not lie on the device.
template <class T>
Call update_call(const char* name, Uplo uplo, HostView<const T> a, Index k) {
  Call call = make_call<T>(Routine::cholupdate, a);
  call.shape.nrhs = k;
  call.uplo = static_cast<char>(uplo);
  call.name = name;
  return call;
}

/// As algorithms::all_finite, of a matrix that lies on a device or, if that is null, on the host.
template <class T>
bool all_finite(Context& context, Device* device, Part part, HostView<const T> a) {
  if (device == nullptr) return algorithms::all_finite(part, a, cpu_threads(a.rows));
  const Turns::Turn turn(context.turns(), Turns::Kind::alone);
  const DeviceUse use;
  device->refuse_at_end();
  const MemoryUse memory_use(context);
  return algorithms::all_finite_on_device(*device, part, a);
}

/// A copy of a matrix that lies on a device.
template <class T>
std::vector<T> fetch(Context& context, Device& device, HostView<const T> x) {
  const Turns::Turn turn(context.turns(), Turns::Kind::alone);
  const DeviceUse use;
  device.refuse_at_end();
  const MemoryUse memory_use(context);
  return copy_of(device, on_device(x));
}

/// The device takes the diagonal of a factor to be real. Those of qrupdate need not be.
template <class T>
void require_real(const std::vector<T>& diagonal) {
  const auto is_real = [](T x) { return x == T(real(x)); };
  if (!std::all_of(diagonal.begin(), diagonal.end(), is_real)) {
    throw DeviceError("the diagonal of the factor is not real");
  }
}

/// What the CPU does with an upper factor, for one in the memory of a device that cannot serve the
/// call (its diagonal is not real, or there is not enough memory): with a copy of it. The device is
/// locked.
template <class T, class OnCpu>
Index on_a_copy(HostView<T> r, OnCpu on_cpu) {
  Context& context = Context::instance();
  try {
    const DeviceUse use;
    Device* const device = context.device();
    if (device == nullptr || device->kind_of(r.data) != MemoryKind::device) return kNoMemory;
    const MemoryUse memory_use(context);
    std::vector<T> copy = copy_of<T>(*device, on_device(HostView<const T>(r)));
    const HostView<T> here(copy.data(), r.rows, r.cols, r.rows);
    const Index info = on_cpu(here);
    if (info == 0) store_upper<T>(*device, here, on_device(r));
    return info;
  } catch (const DeviceError& error) {
    context.heed(error);
  } catch (const std::bad_alloc&) {
  }
  return kNoMemory;
}

/// An update or downdate of an upper factor by one row x, on the device. x and c become the
/// rotations, once the call has succeeded.
template <class T>
class OneVector {
 public:
  OneVector(HostView<T> r, T* x, Real<T>* c) : r_(r), x_(x), c_(c) {}

  Index run(Device& device, const algorithms::Options& options, int sign) {
    const Index n = r_.rows;
    vector_.resize(static_cast<std::size_t>(n));
    std::transform(x_, x_ + n, vector_.begin(), [](T e) { return conj(e); });
    sines_.resize(vector_.size());
    cosines_.resize(vector_.size());
    began_ = true;
    const algorithms::Update<T> update{Uplo::upper,
                                       r_,
                                       HostView<const T>(vector_.data(), n),
                                       algorithms::Signs(&sign, false),
                                       {cosines_.data(), sines_.data()}};
    const Index info = algorithms::chol_update_on_device(device, options, update, checkpoint_);
    if (info == 0) store(n);
    return info;
  }
  /// Whether the device may have changed R.
  bool began() const { return began_; }
  /// How many rows of R are final.
  Index done() const { return checkpoint_.columns; }
  /// The first rotations.
  void store(Index count) const {
    std::copy_n(cosines_.data(), count, c_);
    std::copy_n(sines_.data(), count, x_);
  }
  HostView<T> rest_of_factor() const {
    const Index rest = r_.rows - done();
    return r_.block(done(), done(), rest, rest);
  }
  /// What is left of the vector.
  HostView<T> rest_of_vector() const { return checkpoint_.v; }

 private:
  HostView<T> r_;
  T* x_;
  Real<T>* c_;
  std::vector<T> vector_, sines_;
  std::vector<Real<T>> cosines_;
  algorithms::UpdateCheckpoint<T> checkpoint_;
  bool began_ = false;
};

}  // namespace

template <class T>
Index chol_update(const char* name, Uplo uplo, HostView<T> a, HostView<const T> v,
                  algorithms::Signs signs) {
  const AtWork at_work;  // the CPU, too, uses threads of ours
  const Index n = a.rows, k = v.cols;
  const Lapack<T>& cpu = cpu_lapack<T>(Family::lp64);
  algorithms::UpdateCheckpoint<T> checkpoint;
  const auto on_cpu = [&] {
    return algorithms::chol_update(cpu, uplo, a, v, signs, cpu_threads(n));
  };
  Context& context = Context::instance();
  Call call = update_call<T>(name, uplo, a, k);
  call.ldb = v.ld;
  try {
    call.operands[1] = v.data;
    open_beside_cuda(context, call, is_large(context, context.settings(), call));
    const auto device_of = [&](const T* matrix) {
      return device_of_call(context, call.shape.elements(), sizeof(T), matrix);
    };
    Device* const device_of_v = device_of(v.data);
    if (!all_finite<T>(context, device_of_v, Part::all, v)) {
      return all_finite<T>(context, device_of(a.data), part_of(uplo), a)
                 ? kVectorsNotFinite
                 : algorithms::kFactorNotFinite;
    }
    // If the CPU is to finish the call, V must not be on the device.
    std::vector<T> copy;
    if (device_of_v != nullptr && device_of(a.data) == nullptr) {
      copy = fetch(context, *device_of_v, v);
    }
    if (!copy.empty()) v = {copy.data(), n, k, n};
    call.operands[1] = v.data;
    return route(
        call, on_cpu,
        [&](Device& device, const algorithms::Options& options, Index&) {
          return algorithms::chol_update_on_device<T>(device, options, {uplo, a, v, signs},
                                                      checkpoint);
        },
        [&](const algorithms::Options&, Index) {
          const Index done = checkpoint.columns;
          if (done == 0) return on_cpu();
          Index updates = 0;
          for (Index j = 0; j < k; ++j) updates += signs[j] > 0;
          if (done < n) {
            algorithms::finish_chol_update<T>(uplo, a.block(done, done, n - done, n - done),
                                              checkpoint.v, updates, cpu_threads(n));
          }
          return Index{0};
        });
  } catch (const DeviceError& error) {
    context.heed(error);
    give_way_to_exit();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // a size beyond all
  }
  return kNoMemory;
}

template <class T>
void update_one(const char* name, HostView<T> r, T* x, Real<T>* c) {
  const AtWork at_work;  // the CPU, too, uses threads of ours
  const Index n = r.rows, threads = cpu_threads(n);
  if (n == 0) return;
  OneVector<T> vector(r, x, c);
  const auto with = [&](HostView<T> factor) {
    algorithms::update_one(factor, x, c, threads);
    return Index{0};
  };
  const auto on_cpu = [&] { return with(r); };
  const Index info = route(
      update_call<T>(name, Uplo::upper, r, 1), on_cpu,
      [&](Device& device, const algorithms::Options& options, Index&) {
        require_real(algorithms::diagonal<T>(device, r));
        return vector.run(device, options, 1);
      },
      [&](const algorithms::Options&, Index) {
        const Index done = vector.done();
        if (done == 0) return on_cpu();
        vector.store(done);
        const HostView<T> left = vector.rest_of_vector();
        for (Index i = done; i < n; ++i) x[i] = conj(left(i - done, 0));
        algorithms::update_one(vector.rest_of_factor(), x + done, c + done, threads);
        return Index{0};
      },
      [&] { return vector.began() ? kNoMemory : on_a_copy(r, with); });
  if (info == kNoMemory) {  // a factor in the memory of a device that has failed: no rotations
    std::fill_n(c, n, Real<T>(1));
    std::fill_n(x, n, T(0));
  }
}

template <class T>
algorithms::Downdate downdate_one(const char* name, HostView<T> r, T* x, Real<T>* c) {
  const AtWork at_work;  // the CPU, too, uses threads of ours
  using algorithms::Downdate;
  const Index n = r.rows, threads = cpu_threads(n);
  if (n == 0) return Downdate::done;
  OneVector<T> vector(r, x, c);
  const auto with = [&](HostView<T> factor) {
    return static_cast<Index>(algorithms::downdate_one(factor, x, c, threads));
  };
  const auto on_cpu = [&] { return with(r); };
  const Index result = route(
      update_call<T>(name, Uplo::upper, r, 1), on_cpu,
      [&](Device& device, const algorithms::Options& options, Index&) {
        const std::vector<T> pivots = algorithms::diagonal<T>(device, r);
        require_real(pivots);
        if (std::find(pivots.begin(), pivots.end(), T(0)) != pivots.end()) {
          return static_cast<Index>(Downdate::singular);
        }
        const bool possible = vector.run(device, options, -1) == 0;
        return static_cast<Index>(possible ? Downdate::done : Downdate::not_definite);
      },
      [&](const algorithms::Options&, Index) {
        if (vector.done() == 0) return on_cpu();
        vector.store(n);
        if (vector.done() < n) {
          algorithms::finish_chol_update<T>(Uplo::upper, vector.rest_of_factor(),
                                            vector.rest_of_vector(), 0, threads);
        }
        return static_cast<Index>(Downdate::done);
      },
      [&] { return vector.began() ? kNoMemory : on_a_copy(r, with); });
  // Negative: a factor in the memory of a device that has failed.
  return result < 0 ? Downdate::not_definite : static_cast<Downdate>(result);
}

#define OVERLAPACK_INSTANTIATE(T)                                                  \
  template Index chol_update<T>(const char*, Uplo, HostView<T>, HostView<const T>, \
                                algorithms::Signs);                                \
  template void update_one<T>(const char*, HostView<T>, T*, Real<T>*);             \
  template algorithms::Downdate downdate_one<T>(const char*, HostView<T>, T*, Real<T>*);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::dispatch
