#include "algorithms/cholesky/regions.hpp"

#include <algorithm>
#include <cstdint>

namespace overlapack::algorithms {
namespace {

/// Whether two pieces belong to one triangle, or to the rows below the leading one.
bool same_part(const Piece& one, const Piece& other) {
  return one.rows.last == other.rows.last && one.on_diagonal() == other.on_diagonal();
}

}  // namespace

std::vector<Range> regions_of(Uplo uplo, const std::vector<Piece>& pieces, std::size_t element,
                              bool resident) {
  constexpr std::size_t kPage = 4096;
  const Index count = static_cast<Index>(pieces.size());
  const bool by_rows = uplo == Uplo::upper && !resident;
  const auto size = [&](Index p) {
    return pieces[at(p)].rows.size() * pieces[at(p)].columns.size();
  };
  Index largest = 0;
  for (Index p = 0; p < count; ++p) largest = std::max(largest, size(p));
  // So many of the largest blocks a region may be as large as, and the first one is.
  Index blocks = 1;
  if (by_rows && count > 0) {
    const auto n = at(pieces.back().rows.last), width = at(pieces.front().columns.size());
    const bool many_pages = element * n * n >= at(kHostTuning.double_regions_from_bytes);
    if (many_pages && element * width < kPage) blocks = 2;
  }
  const auto most_pieces = [&](Index p) -> Index {
    if (resident) return std::min(p, count - p) / 2;
    if (p == 0) return blocks;
    const bool begins_last_triangle =
        pieces[at(p)].on_diagonal() && !pieces[at(p - 1)].on_diagonal();
    return by_rows && !begins_last_triangle
               ? std::min((count - p) / 2, kHostTuning.region_pieces_at_most)
               : 1;
  };
  std::vector<Range> regions;
  for (Index p = 0; p < count;) {
    const Index end = p + most_pieces(p);
    Index last = p + 1, elements = size(p);
    for (; last < end && same_part(pieces[at(p)], pieces[at(last)]); ++last) {
      elements += size(last);
      if (by_rows && elements > blocks * largest) break;
    }
    regions.push_back({p, last});
    p = last;
  }
  return regions;
}

Piece united(const std::vector<Piece>& pieces, Range region) {
  const Piece &first = pieces[at(region.first)], &last = pieces[at(region.last - 1)];
  return {first.rows, {first.columns.first, last.columns.last}};
}

template <class T>
std::vector<Piece> homes_of(Storage storage, const std::vector<Piece>& pieces,
                            const std::vector<Range>& regions, HostView<const T> a) {
  constexpr Index kLine = 64 / sizeof(T);
  // Of a cache line, where column 0 begins.
  const auto begin =
      static_cast<Index>(reinterpret_cast<std::uintptr_t>(a.data) / sizeof(T)) % kLine;
  const bool lines = !storage.lower() && a.ld % kLine == 0;
  std::vector<Piece> homes;
  bool continued = false;  // the part that the region before belongs to
  for (auto region = regions.begin(); region != regions.end(); ++region) {
    Piece home = united(pieces, *region);
    const bool on_diagonal = home.on_diagonal();
    if (continued) {
      home.columns.first = homes.back().columns.last;
      if (on_diagonal) home.rows.first = home.columns.first;
    }
    const auto next = region + 1;
    continued = lines && next != regions.end() &&
                same_part(pieces[at(region->first)], pieces[at(next->first)]);
    if (continued) {
      const Index shared = (home.columns.last + begin) % kLine;
      home.columns.last = std::max(home.columns.last - shared, home.columns.first);
    }
    homes.push_back(home);
  }
  return homes;
}

#define OVERLAPACK_INSTANTIATE(T)                                             \
  template std::vector<Piece> homes_of<T>(Storage, const std::vector<Piece>&, \
                                          const std::vector<Range>&, HostView<const T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
