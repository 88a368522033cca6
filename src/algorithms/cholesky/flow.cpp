#include "algorithms/cholesky/flow.hpp"

#include <algorithm>

namespace overlapack::algorithms {

template <class T>
void RegionFlow<T>::declare(const Input<T>& input, HostView<T> a, HostView<T> b, Index nb) {
  const Triangle<T>& triangle = cholesky_.triangle();
  const auto block = [&](auto x, const Piece& of) {
    return triangle.block(x, of.rows, of.columns);
  };
  homes_ = homes_of<T>(triangle, cholesky_.pieces(), regions_, a);
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    const Piece piece = united(cholesky_.pieces(), regions_[r]);
    const Part part = piece.on_diagonal() ? part_of(triangle.uplo) : Part::all;
    uploads_.push_back(transfer_.add_upload(
        make_region<T>(block(input.a, piece), block(cholesky_.matrix(), piece), part)));
    // B takes part in the factorization. It is on its way while the host enqueues what comes first.
    if (solve_ != nullptr && r == 0) {
      upload_of_b_ = transfer_.add_upload(make_region<T>(input.b, solve_->x()));
    }
    const Region home =
        make_region<T>(block(a, homes_[r]), block(cholesky_.matrix(), homes_[r]), part);
    if (!piece.on_diagonal()) {
      transfer_.add_download(home);
      continue;
    }
    // The diagonal blocks in it, which all must be positive definite.
    const Index* const infos = cholesky_.info().data() + piece.columns.first / nb;
    transfer_.add_download(home, [infos, count = regions_[r].size()] {
      return std::all_of(infos, infos + count, [](Index info) { return info == 0; });
    });
  }
  if (solve_ != nullptr) {
    transfer_.add_download(make_region<T>(b, solve_->x()),
                           [solve = solve_] { return solve->trusted(); });
  }
}

template <class T>
bool RegionFlow<T>::before(Queue& queue, Index p) {
  if (!transfer_.before(queue, uploads_[at(index_of(regions_, p))])) return false;
  if (solve_ == nullptr || p > 0) return true;
  if (!transfer_.before(queue, upload_of_b_)) return false;
  solve_->place(queue);
  return true;
}

template <class T>
void RegionFlow<T>::release(Queue& queue, Index p) {
  const Index region = index_of(regions_, p);
  if (p + 1 == regions_[at(region)].last) transfer_.release(queue, region);
}

template <class T>
Index RegionFlow<T>::first_missing(Index k) const {
  Index found = 0;
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    const Piece piece = united(cholesky_.pieces(), regions_[r]);
    if (piece.on_diagonal() && piece.columns.first <= k) found = homes_[r].columns.first;
  }
  return found;
}

#define OVERLAPACK_INSTANTIATE(T) template class RegionFlow<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
