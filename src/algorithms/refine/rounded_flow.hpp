// How a matrix in double precision comes to a factorization in single precision: rounded, block by
// block, as it arrives. The copy in double precision stays on the device, for residuals.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/factorization.hpp"
#include "algorithms/shared/triangle.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {

/// A and B in double precision on the device.
template <class T>
struct Problem {
  Problem(Device& device, std::optional<Uplo> uplo_, Index n, Index nrhs)
      : uplo(uplo_), a(device, n, n), b(device, n, nrhs) {}
  /// Of device memory.
  static std::size_t bytes(Index n, Index nrhs) {
    return DeviceMatrix<T>::bytes(n, n) + DeviceMatrix<T>::bytes(n, nrhs);
  }

  /// The regions in which A moves.
  std::vector<Range> regions(Index nb) const;
  Part part() const { return uplo ? part_of(*uplo) : Part::all; }
  /// Columns `c` of a matrix; of a lower triangle, from the diagonal on; rows of an upper triangle.
  template <class View>
  View block(View x, Range c) const {
    return x.block(rows(c), columns(c));
  }
  Range rows(Range c) const {
    if (!uplo) return {0, a.view().rows};
    return *uplo == Uplo::lower ? Range{c.first, a.view().rows} : c;
  }
  Range columns(Range c) const { return uplo == Uplo::upper ? Range{c.first, a.view().cols} : c; }
  /// Whether residuals take a triangle alone. For more columns all of A is faster.
  bool by_triangle() const { return uplo && b.view().cols == 1; }
  /// Columns `c` of a lower triangle of A, rows of an upper one, are the same in the other
  /// triangle, if that is needed.
  void complete(Queue& queue, Range c) const;

  std::optional<Uplo> uplo;  // which triangle of A is given; none if all of it
  DeviceMatrix<T> a, b;
};

/// Powers of two by which A is divided for products in FP16: p of Round. Without them
/// numbers would lie beyond FP16's range, with them the large ones of the factors are about 1.
///
/// LU: each column by the power above its largest number. That changes no pivot, needs no more than
/// has arrived, and leaves |L| <= 1 (sqrt(2) if complex) and |U| as large as the growth factor.
/// Cholesky: rows and columns by those above the roots of the diagonal, which leaves |L| < 1. The
/// diagonal is fetched by itself, while the rest of A begins to come.
template <class T>
class Scaling {
 public:
  Scaling(Device& device, Index n, bool wanted, bool symmetric);
  /// Of device memory.
  static std::size_t bytes(Index n, bool wanted) { return wanted ? Buffer<Real<T>>::bytes(n) : 0; }
  /// For a Hermitian matrix: what is enqueued in `queue` from now on has the sizes.
  void fetch(Queue& queue, HostView<const T> a);
  /// For columns of a general matrix that have arrived.
  void measure(Queue& queue, DeviceView<const T> a, Range columns);

  bool wanted() const { return sizes_.size() > 0; }
  DeviceView<const Real<T>> of_rows(Range rows) const {
    return symmetric_ ? of_columns(rows) : DeviceView<const Real<T>>();
  }
  DeviceView<const Real<T>> of_columns(Range columns) const {
    return wanted() ? part(columns) : DeviceView<Real<T>>();
  }

 private:
  DeviceView<Real<T>> part(Range r) const { return {sizes_.data() + r.first, r.size()}; }

  bool symmetric_;
  Buffer<Real<T>> sizes_, staging_;
};

/// The blocks of A come up in double precision, or are there from an earlier factorization, and are
/// rounded into the input of a factorization, on a queue of their own. A Hermitian A is completed
/// as it comes. B is upload number 0.
///
/// A large A comes up in two halves: the high words of all numbers first, then the low ones. The
/// factorization needs only the high ones, so that it gets A in half the time: with 21 significant
/// bits instead of 24, of which its own errors spoil more in matrices of that size. A matrix whose
/// factorization breaks down has another attempt, as LAPACK rounds it.
template <class T>
class RoundedFlow final : public Flow {
 public:
  /// `overflow` becomes 1 if a number is too large for single precision, and stays otherwise.
  RoundedFlow(Device& device, const Problem<T>& problem, const Options& options,
              DeviceView<Single<T>> input, DeviceView<Index> overflow, Scaling<T>& scaling);
  /// Of device memory, for a matrix of order n. `scaled`: the Scaling is wanted.
  static std::size_t bytes(const Options& options, Index n, bool scaled) {
    return options.halves && !scaled ? DeviceMatrix<Single<T>>::bytes(n, 2 * n) : 0;
  }

  /// Brings A and B up. Without this they must be there.
  void start(HostView<const T> a, HostView<const T> b);
  Index present() const override {
    return arriving_ ? 0 : regions_.back().last / nb_ + 1;  // blocks, if not fewer
  }
  Tuning::Lu::Arrival arrival(const Tuning::Lu& tuning) const override {
    return in_halves() ? tuning.arrival_of_halves : tuning.arrival;
  }
  bool before(Queue& queue, Index j) override;
  /// Nothing goes home, but the time has come for low words that are there.
  void release(Queue& queue, Index j) override;
  /// All uploads are issued.
  void finish();

  /// Whether what has been factored had 21 bits.
  bool in_halves() const { return words_.has_value(); }
  /// Behind everything that has arrived: B, too.
  Queue& queue() const { return *queue_; }

 private:
  Index count() const { return static_cast<Index>(regions_.size()); }
  /// The upload of a region's low words.
  Index low_words(Index region) const { return 1 + count() + region; }
  bool comes_in_halves(HostView<const T> a);
  DeviceView<Single<T>> block_of(Words words, Range region) const;
  void round(Index region);
  void join_next();

  Device& device_;
  const Problem<T>& problem_;
  Kernels<T>& kernels_;
  DeviceView<Single<T>> input_;
  DeviceView<Index> overflow_;
  Scaling<T>& scaling_;
  Index nb_, threads_;
  bool halves_;  // are wanted
  std::vector<Range> regions_;
  std::vector<EventLease> rounded_;
  Index rounded_count_ = 0, joined_count_ = 0;
  Index unused_;  // nothing is committed, as nothing comes down
  bool arriving_ = false;
  std::optional<DeviceMatrix<Single<T>>> words_;  // of A: the high ones, then the low ones
  std::optional<Transfer> transfer_;
  QueueLease queue_;
};

}  // namespace overlapack::algorithms
