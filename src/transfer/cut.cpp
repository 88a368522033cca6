// How regions are cut into chunks, and chunks into units.
#include <algorithm>
#include <memory>

#include "transfer/parts.hpp"

namespace overlapack {

/// What kind of memory the regions lie in. Page-locked means from the first to the last byte.
void Transfer::find_kinds() {
  for (Direction* direction : {&up_, &down_}) {
    for (const Region& region : direction->regions) {
      MemoryKind kind = device_.kind_of(region.host);
      if (kind == MemoryKind::pinned && region.rows > 0 && region.cols > 0) {
        const std::size_t last =
            size(region.cols - 1) * region.host_pitch + size(region.rows) * region.element - 1;
        kind = device_.kind_of(region.host + last);
      }
      direction->kinds.push_back(kind);
    }
  }
}

bool Transfer::staged(const Direction& direction, Index number) const {
  const MemoryKind kind = direction.kinds[size(number)];
  const Region& region = direction.regions[size(number)];
  const bool as_it_is =
      &direction == &up_ && region.words == Words::all && !scattered(region) && !keeps_uploads_;
  return kind == MemoryKind::pageable || (kind == MemoryKind::pinned && !as_it_is);
}

bool Transfer::scattered(const Region& region) const {
  return size(region.rows) * region.element < tuning_.scattered_below_column_bytes &&
         size(region.cols) * region.host_pitch > tuning_.scattered_beyond_span_bytes;
}

/// A triangle counts as the rectangle around it: regions are narrow, as a rule.
std::size_t Transfer::staged_bytes(const Direction& direction) const {
  std::size_t bytes = 0;
  for (Index r = 0; r < count(direction.regions); ++r) {
    const Region& region = direction.regions[size(r)];
    if (staged(direction, r)) bytes += size(region.rows) * size(region.cols) * region.moved();
  }
  return bytes;
}

/// Cuts the regions of one direction into chunks of whole columns, and those into units.
void Transfer::cut(Direction& direction, std::size_t chunk_bytes, std::size_t unit_bytes) {
  direction.chunks.reserve(direction.regions.size());  // at least
  direction.units.reserve(direction.regions.size());
  for (Index r = 0; r < count(direction.regions); ++r) {
    const Region& region = direction.regions[size(r)];
    const bool staged = this->staged(direction, r);
    const bool down = &direction == &down_;
    direction.first_chunk.push_back(count(direction.chunks));
    if (region.exchanges) {
      cut_into_strips(r, chunk_bytes);
      continue;
    }
    const auto add = [&](Chunk chunk, Index width) {
      if (chunk.staged) {
        direction.slot_bytes =
            std::max(direction.slot_bytes, chunk.pitch * size(chunk.last - chunk.first));
      }
      // Even what needs no copy thread on its way home is counted by units.
      if (chunk.staged || down) {
        for (Index c = chunk.first; c < chunk.last; c += width, ++chunk.units) {
          direction.units.push_back(
              {count(direction.chunks), c, std::min(c + width, chunk.last), {0, region.rows}});
        }
      }
      direction.chunks.push_back(chunk);
    };
    if (direction.kinds[size(r)] == MemoryKind::device) {
      // One copy of the whole. On the way home it must not start before the inspection, so an
      // empty chunk travels ahead.
      const bool ahead = down && downloads_[size(r)].inspect;
      if (ahead) add({r, 0, 0, 0, 0, false, 0, true, false}, 1);
      add({r, 0, region.cols, 0, 0, false, 0, !ahead, true}, std::max<Index>(region.cols, 1));
      continue;
    }
    const std::size_t limit = staged ? chunk_bytes : tuning_.chunk_bytes_at_most;
    Index first = 0;
    do {  // an empty region still has one (empty) chunk, which starts its inspection
      const Index top = region.rows_of(first).first;
      // The rectangle around the columns first ... last-1.
      const auto height = [&](Index last) {
        return std::max<Index>(region.rows_of(last - 1).last - top, 0);
      };
      // As many columns as make a rectangle within the limit, but at least one.
      Index last = std::min(first + 1, region.cols), beyond = region.cols + 1;
      while (beyond - last > 1) {
        const Index middle = last + (beyond - last) / 2;
        const bool fits = size(height(middle)) * region.moved() * size(middle - first) <= limit;
        (fits ? last : beyond) = middle;
      }
      const std::size_t pitch = last > first ? size(height(last)) * region.moved() : 0;
      const std::size_t width = unit_bytes / std::max<std::size_t>(pitch, 1);
      add({r, first, last, top, pitch, staged, 0, first == 0, last >= region.cols},
          static_cast<Index>(std::max<std::size_t>(width, 1)));
      first = last;
    } while (first < region.cols);
  }
  direction.first_chunk.push_back(count(direction.chunks));
  direction.units_done = std::make_unique<std::atomic<Index>[]>(direction.chunks.size());
  for (std::size_t c = 0; c < direction.chunks.size(); ++c) direction.units_done[c] = 0;
  direction.unit_done = std::make_unique<std::atomic<bool>[]>(direction.units.size());
  for (std::size_t u = 0; u < direction.units.size(); ++u) direction.unit_done[u] = false;
}

/// A download that exchanges columns: chunks from the last columns on, and strips of rows as units,
/// because each strip goes on by itself. They are twice as many as there are threads, so that a
/// thread hardly ever waits for a strip.
void Transfer::cut_into_strips(Index number, std::size_t chunk_bytes) {
  constexpr Index kRowsOfLine = 8;  // two threads seldom write to the same line of a cache
  const Region& region = down_.regions[size(number)];
  const Index m = region.rows, n = region.cols;
  const std::size_t pitch = size(m) * region.element;
  const auto width = static_cast<Index>(std::max<std::size_t>(chunk_bytes / pitch, 1));
  const Index height = round_up(quotient_up(m, 2 * (threads_ + 1)), kRowsOfLine);
  down_.slot_bytes = std::max(down_.slot_bytes, pitch * size(std::min(width, n)));
  for (Index last = n; last > 0;) {
    const Index first = std::max<Index>(last - width, 0), k = count(down_.chunks);
    for (Index top = 0; top < m; top += height) {
      down_.units.push_back({k, first, last, {top, std::min(top + height, m)}});
    }
    const Index strips = quotient_up(m, height);
    down_.chunks.push_back({number, first, last, 0, pitch, true, strips, last == n, first == 0});
    last = first;
  }
}

/// Staging memory for all chunks of a direction that is kept, for some of another one.
void Transfer::make_ring(Direction& direction) {
  direction.slots = count(direction.chunks);
  if (direction.slot_bytes == 0) return;
  direction.slot_bytes = power_of_two_from(direction.slot_bytes);
  const bool keeps = keeps_uploads_ && &direction == &up_;
  if (!keeps) {
    const auto affordable = static_cast<Index>(tuning_.ring_bytes / direction.slot_bytes);
    Index needed = 2;
    for (Index r = 0; &direction == &down_ && r < count(down_.regions); ++r) {
      if (!downloads_[size(r)].whole) continue;
      // While one such region is unpacked the next one arrives.
      needed = std::max(needed, 2 * (down_.first_chunk[size(r) + 1] - down_.first_chunk[size(r)]));
    }
    direction.slots = std::min(direction.slots, std::max(affordable, needed));
  }
  const std::size_t bytes = direction.slot_bytes * size(direction.slots);
  // In steps, so that a call that keeps a little more than the one before need not wait for the
  // driver to lock all of it anew.
  direction.ring =
      Buffer<char>(device_, Space::host,
                   static_cast<Index>(keeps ? round_up(bytes, tuning_.ring_bytes) : bytes));
}

}  // namespace overlapack
