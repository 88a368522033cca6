#include "algorithms/eigen/sytrd.hpp"

#include <algorithm>
#include <optional>

#include "algorithms/eigen/operand_before.hpp"
#include "algorithms/eigen/tridiagonalization.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {
namespace {

/// Stores a result, whose elements the turned matrix has in reverse order.
template <class R>
void store(Uplo uplo, const R* from, Index count, R* to) {
  if (uplo == Uplo::lower) {
    std::copy_n(from, count, to);
  } else {
    std::reverse_copy(from, from + count, to);
  }
}

}  // namespace

template <class T>
void sytrd(Device& device, const Options& options, Uplo uplo, HostView<T> a, Real<T>* d, Real<T>* e,
           T* tau) {
  const Index n = a.rows;
  std::optional<OperandBefore<T>> before;
  if (device.kind_of(a.data) != MemoryKind::device) before.emplace(part_of(uplo), a);
  const Tridiagonalization<T> reduction(device, options, n);
  const QueueLease queue(device, Priority::normal, "reduction");
  const auto turn = [&](Uplo given) {
    if (uplo == Uplo::upper) queue->enqueue(TurnTriangle<T>{given, reduction.matrix()});
  };

  Index columns_home = 0;  // nobody goes on from there
  Transfer transfer(device, options.threads, columns_home);
  const Region triangle = make_region<T>(a, reduction.matrix(), part_of(uplo));
  transfer.add_upload(triangle);
  transfer.add_download(triangle);
  transfer.start();
  transfer.before(*queue, 0);
  turn(Uplo::upper);
  reduction.reduce(*queue);
  turn(Uplo::lower);
  reduction.fetch(*queue);
  if (before) before->complete(options.threads);
  transfer.release(*queue, 0);
  transfer.finish();
  queue->synchronize();

  if (before) before->forget();
  store(uplo, reduction.d_here(), n, d);
  store(uplo, reduction.e_here(), n - 1, e);
  store(uplo, reduction.tau_here(), n - 1, tau);
}

template <class T>
std::size_t sytrd_bytes(const Device& device, const Options& options, Index n) {
  return Tridiagonalization<T>::bytes(device, options, n);
}

#define OVERLAPACK_INSTANTIATE(T)                                                             \
  template void sytrd<T>(Device&, const Options&, Uplo, HostView<T>, Real<T>*, Real<T>*, T*); \
  template std::size_t sytrd_bytes<T>(const Device&, const Options&, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
