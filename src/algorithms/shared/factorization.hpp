// What streamed, resident and rounded factorizations share: one algorithm on the device that asks
// for its blocks as it needs them and says when they are final.
#pragma once

#include <memory>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "core/view.hpp"
#include "cpu/lapack.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// Where the blocks of a matrix come from and go to: block columns of a matrix or a lower triangle,
/// block rows of an upper one.
class Flow {
 public:
  virtual ~Flow() = default;
  /// So many blocks, the first ones, are present from the beginning.
  virtual Index present() const { return 0; }
  /// How fast the blocks of a large matrix arrive while LU factors them.
  virtual Tuning::Lu::Arrival arrival(const Tuning::Lu& tuning) const { return tuning.arrival; }
  /// Work enqueued in `queue` from now on sees block j of the input. False if the work is to stop.
  virtual bool before(Queue& queue, Index j) = 0;
  /// Block j of the factors is final once the work now in `queue` is done.
  virtual void release(Queue& queue, Index j) = 0;
};

/// A factorization on the device of a square matrix that stays there, to solve with it again and
/// again. For single precision.
template <class T>
class Factorization {
 public:
  virtual ~Factorization() = default;
  /// Where A is to arrive; the factorization may overwrite it.
  virtual DeviceView<T> input() const = 0;
  /// Enqueues the factorization, which asks the flow for every block.
  virtual void factor(Flow& flow) = 0;
  /// The queue in which solve() runs, behind the factorization.
  virtual Queue& queue() const = 0;
  /// Enqueues B := A^-1 B. Whatever B holds then is of no use if info() is not 0.
  virtual void solve(DeviceView<T> b) = 0;
  /// LAPACK's info and, for LU, interchanges; once the host has waited for queue().
  virtual Index info() const = 0;
  virtual std::vector<Index> pivots() const = 0;
};

/// ?getrf and ?getrs of an n x n matrix in block columns of options.nb.
template <class T>
std::unique_ptr<Factorization<T>> make_lu(Device& device, const cpu::Lapack<T>& cpu,
                                          const Options& options, Index n);
/// ?potrf and ?potrs of the `uplo` triangle of an n x n matrix in blocks of options.nb.
template <class T>
std::unique_ptr<Factorization<T>> make_cholesky(Device& device, const cpu::Lapack<T>& cpu,
                                                const Options& options, Uplo uplo, Index n);
/// Bytes of device memory that these take, with solves for nrhs right-hand sides.
template <class T>
std::size_t lu_bytes(Device& device, const Options& options, Index n, Index nrhs);
template <class T>
std::size_t cholesky_bytes(Device& device, const Options& options, Uplo uplo, Index n, Index nrhs);

}  // namespace overlapack::algorithms
