// What the parts of the transfer engine share: for its own files only.
#pragma once

#include <cstdint>
#include <vector>

#include "host/backoff.hpp"
#include "host/stores.hpp"
#include "transfer/transfer.hpp"

namespace overlapack {

/// An Index as a size of the standard library, and a size of the library as an Index.
inline std::size_t size(Index n) { return static_cast<std::size_t>(n); }

template <class T>
Index count(const std::vector<T>& list) {
  return static_cast<Index>(list.size());
}

/// The smallest power of two that is at least `bytes`.
inline std::size_t power_of_two_from(std::size_t bytes) {
  std::size_t power = 1;
  while (power < bytes) power *= 2;
  return power;
}

inline char* Transfer::slot(const Direction& direction, Index chunk) const {
  return direction.ring.data() + size(chunk % direction.slots) * direction.slot_bytes;
}

inline Queue& Transfer::queue(const Direction& direction, Index chunk) const {
  return **direction.queues[chunk % direction.queue_count];
}

/// Where a chunk begins in memory of that pitch.
inline std::size_t Transfer::offset(const Chunk& chunk, const Region& region,
                                    std::size_t pitch) const {
  return size(chunk.top) * region.moved() + size(chunk.first) * pitch;
}

/// A queue works in order, so one counter tells about all of its chunks.
inline Flag& Transfer::flag(const Direction& direction, Index chunk) const {
  return direction.flags[chunk % direction.queue_count].flag;
}

inline bool Transfer::complete(const Direction& direction, Index chunk) const {
  return flag(direction, chunk).load(std::memory_order_acquire) > static_cast<std::uint32_t>(chunk);
}

/// Calls f with the elements of each column of a unit, where they are in the caller's memory and
/// where in the slot, and the number of bytes there.
template <class F>
void Transfer::for_each_column(const Direction& direction, const Unit& unit, F f) const {
  const Chunk& chunk = direction.chunks[size(unit.chunk)];
  const Region& region = direction.regions[size(chunk.region)];
  char* const staged = slot(direction, unit.chunk);
  for (Index c = unit.first; c < unit.last; ++c) {
    const auto [first, end] = region.rows_of(c);
    if (first >= end) continue;
    f(region.host + size(region.place(c)) * region.host_pitch + size(first) * region.element,
      staged + size(c - chunk.first) * chunk.pitch + size(first - chunk.top) * region.moved(),
      size(end - first) * region.moved());
  }
}

}  // namespace overlapack
