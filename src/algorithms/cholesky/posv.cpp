// Cholesky factorizations and solves of matrices of the caller.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/cholesky/back_substitution.hpp"
#include "algorithms/cholesky/cholesky.hpp"
#include "algorithms/cholesky/failing_row.hpp"
#include "algorithms/cholesky/flow.hpp"
#include "algorithms/cholesky/one_panel.hpp"
#include "algorithms/cholesky/out_of_core.hpp"
#include "algorithms/cholesky/regions.hpp"
#include "algorithms/cholesky/schedule.hpp"
#include "algorithms/cholesky/textbook.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {
template <class T>
Index posv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
           Input<T> input, HostView<T> a, HostView<T> b, Index& committed) {
  if (options.textbook) return textbook_posv(device, cpu, options, uplo, input, a, b);
  if (options.out_of_core) return posv_out_of_core(device, cpu, options, uplo, a, b, committed);
  const Index n = a.rows;
  const Triangle<T> triangle{{uplo}, device.kernels<T>()};
  const bool resident = device.kind_of(a.data) == MemoryKind::device;
  if (n <= std::min(options.nb, triangle.kernels.limits().potrf_panel_width) && b.empty() &&
      !options.hybrid && !resident) {
    return potrf_one_panel(device, cpu, triangle, a);
  }
  std::optional<BackSubstitution<T>> solve;  // whose memory the queues use to their end
  Cholesky<T> cholesky(device, cpu, options, uplo, n, b.cols);
  const std::vector<Piece>& pieces = cholesky.pieces();
  if (!b.empty()) solve.emplace(device, cholesky);
  std::vector<Range> regions = regions_of(uplo, pieces, sizeof(T), resident);
  const bool one_queue = n <= device.tuning().cholesky.one_queue_up_to_order;
  if (resident && one_queue) regions = {{0, static_cast<Index>(pieces.size())}};
  Transfer transfer(device, options.threads, committed);
  RegionFlow<T> flow(transfer, cholesky, std::move(regions), solve ? &*solve : nullptr);
  flow.declare(input, a, b, options.nb);

  // The diagonal is read while the first columns travel. But what is sent after a page-locked
  // matrix comes after it.
  const bool pinned = device.kind_of(input.a.data) == MemoryKind::pinned;
  const auto give_diagonal = [&] { cholesky.give_diagonal(diagonal<T>(device, input.a)); };
  if (cholesky.needs_diagonal() && pinned) give_diagonal();
  transfer.start();
  if (cholesky.needs_diagonal() && !pinned) give_diagonal();

  cholesky.factor(flow);
  if (solve && !transfer.stopped()) {
    solve->solve(cholesky.panel());
    flow.release_solution(cholesky.panel());
  }
  transfer.finish();

  if (const Index info = first_failure(cholesky.info()); info != 0) {
    const Range good{flow.first_missing(info - 1), info - 1};
    bring_triangle_home<T>(device, cholesky.panel(), triangle,
                           triangle.block(cholesky.matrix(), good, good),
                           triangle.block(a, good, good));
    complete_failing_row(device, cpu, cholesky.panel(), triangle, a, good.first, info - 1);
    return info;
  }
  if (solve && !solve->trusted()) {
    solve->substitute(cholesky.panel());
    bring_home(device, options.threads, cholesky.panel(), solve->x(), b, committed);
  }
  return 0;
}

template <class T>
std::size_t posv_bytes(Device& device, const Options& options, Index n, Index nrhs) {
  const auto factorization = [&](Uplo uplo) {
    return Cholesky<T>::bytes(device, options, uplo, n, nrhs);
  };
  return std::max(factorization(Uplo::lower), factorization(Uplo::upper)) +
         (nrhs > 0 ? BackSubstitution<T>::bytes(device, n, nrhs) : 0);
}

#define OVERLAPACK_INSTANTIATE(T)                                                        \
  template Index posv<T>(Device&, const cpu::Lapack<T>&, const Options&, Uplo, Input<T>, \
                         HostView<T>, HostView<T>, Index&);                              \
  template std::size_t posv_bytes<T>(Device&, const Options&, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
