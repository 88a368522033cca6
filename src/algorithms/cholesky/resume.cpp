// What the CPU does of posv() when the device has failed.
#include <algorithm>
#include <vector>

#include "algorithms/cholesky/cholesky.hpp"
#include "algorithms/cholesky/on_cpu.hpp"
#include "algorithms/cholesky/regions.hpp"

namespace overlapack::algorithms {

template <class T>
Index resume_posv(const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo, HostView<T> a,
                  HostView<T> b, Index committed) {
  const Storage storage{uplo};
  const std::vector<Piece> pieces = pieces_of(a.rows, options.nb, options.leading);
  std::vector<Piece> homes = pieces;
  if (!options.out_of_core) {
    homes = homes_of<T>(storage, pieces, regions_of(uplo, pieces, sizeof(T)), a);
  }
  for (Piece rest : homes) {  // what of it has not come home
    const bool on_diagonal = rest.on_diagonal();
    const Index columns = storage.lower() ? rest.columns.size() : rest.rows.size();
    const Index here = std::min(committed, columns);
    committed -= here;
    if (here == columns) continue;
    if (!storage.lower()) {
      // Columns of a block row have come home: rows of L, of which some may lie on the diagonal.
      const Range home{rest.rows.first, rest.rows.first + here};
      rest.rows.first = home.last;
      if (on_diagonal) {
        const Range done{home.first, std::min(home.last, rest.columns.last)};
        finish_below(cpu, storage, a, {rest.rows, done});
        rest.columns.first = done.last;
      }
    } else {
      rest.columns.first += here;
      if (on_diagonal) rest.rows.first += here;
    }
    if (rest.columns.empty()) continue;
    if (!on_diagonal) {
      finish_below(cpu, storage, a, rest);
    } else if (const Index info = finish_from_diagonal(cpu, storage, a, rest); info != 0) {
      return info;
    }
  }
  if (committed < b.cols) cpu.potrs(uplo, a, b.block(0, committed, a.rows, b.cols - committed));
  return 0;
}

#define OVERLAPACK_INSTANTIATE(T)                                                         \
  template Index resume_posv<T>(const cpu::Lapack<T>&, const Options&, Uplo, HostView<T>, \
                                HostView<T>, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
