// The copy threads of a transfer.
#include "device/timeline.hpp"
#include "transfer/parts.hpp"

namespace overlapack {

void Transfer::copy_loop(Index id, Backoff wait) {
  while (!halted() && !copies_done()) {
    if ((upload_is_urgent() && copy_up()) || (may_unpack(id) && copy_down()) || copy_up() ||
        (idle_ && idle_(home()))) {
      wait.reset();
    } else {
      wait();
    }
  }
}

/// Whether the device is about to run out of uploads. Otherwise downloads are more urgent: they end
/// the call, and what waits for slots is free then.
bool Transfer::upload_is_urgent() const {
  const Index u = up_.next_unit.load(std::memory_order_relaxed);
  if (u >= count(up_.units)) return false;
  const Index k = up_.units[size(u)].chunk - tuning_.chunks_packed_ahead;
  return k < 0 || k >= up_.signals || complete(up_, k);
}

/// Whether copy thread `id` is one of those who unpack now. What is packed drives staging memory
/// that has been read out of their caches; without that, it is left to few of them, where stores
/// into the caller's memory go past the cache. Where columns are exchanged, the caller's memory is
/// read, too, and all are needed.
bool Transfer::may_unpack(Index id) const {
  const bool exchanges = !down_.regions.empty() && down_.regions.back().exchanges;
  return id < tuning_.unpacking_threads || unpack_ != store_past_cache || exchanges ||
         down_.slots == count(down_.chunks) ||
         up_.next_unit.load(std::memory_order_relaxed) < count(up_.units);
}

bool Transfer::copies_done() const {
  const bool uploads_done =
      stopped() || up_.next_unit.load(std::memory_order_acquire) >= count(up_.units);
  return uploads_done && down_.next_unit.load(std::memory_order_acquire) >=
                             end_units_.load(std::memory_order_acquire);
}

/// How many regions are in the caller's memory, in order: units are claimed in order, but they may
/// be completed in any.
Index Transfer::home() {
  Index k = chunks_home_.load(std::memory_order_acquire);
  while (k < count(down_.chunks) && passed(down_.chunks[size(k)]) &&
         down_.units_done[size(k)].load(std::memory_order_acquire) == down_.chunks[size(k)].units) {
    // Whoever fails has been told how far another thread has got.
    if (chunks_home_.compare_exchange_weak(k, k + 1, std::memory_order_acq_rel)) ++k;
  }
  return k < count(down_.chunks) ? down_.chunks[size(k)].region : count(down_.regions);
}

bool Transfer::copy_up() {
  Index u = up_.next_unit.load(std::memory_order_relaxed);
  if (stopped() || u >= count(up_.units)) return false;
  const Unit& unit = up_.units[size(u)];
  const Index previous = unit.chunk - up_.slots;
  if (previous >= 0 && !complete(up_, previous)) return false;
  if (!up_.next_unit.compare_exchange_strong(u, u + 1, std::memory_order_acq_rel)) return true;
  const Index number = up_.chunks[size(unit.chunk)].region;
  const Region& region = up_.regions[size(number)];
  const Copy pack = region.words == Words::all    ? pack_
                    : region.words == Words::high ? store_words<Words::high>
                                                  : store_words<Words::low>;
  const Span span(device_, "pack", number);
  for_each_column(up_, unit, [&](const char* host, char* staged, std::size_t bytes) {
    pack(staged, host, bytes, host + region.host_pitch);
  });
  stores_complete();
  up_.units_done[size(unit.chunk)].fetch_add(1, std::memory_order_acq_rel);
  return true;
}

bool Transfer::copy_down() {
  Index u = down_.next_unit.load(std::memory_order_relaxed);
  if (u >= end_units_.load(std::memory_order_acquire)) return false;
  const Unit& unit = down_.units[size(u)];
  const Chunk& chunk = down_.chunks[size(unit.chunk)];
  if (!passed(chunk) || !arrived(chunk) || !memory_is_free(u)) return false;
  if (!down_.next_unit.compare_exchange_strong(u, u + 1, std::memory_order_acq_rel)) return true;
  const Span span(device_, "unpack", chunk.region);
  if (down_.regions[size(chunk.region)].exchanges) {
    exchange(unit);
  } else if (chunk.staged) {
    for_each_column(down_, unit, [this](char* host, const char* staged, std::size_t bytes) {
      unpack_(host, staged, bytes, staged + bytes);
    });
  }
  stores_complete();
  down_.unit_done[size(u)].store(true, std::memory_order_release);
  down_.units_done[size(unit.chunk)].fetch_add(1, std::memory_order_acq_rel);
  return true;
}

/// Stores columns in their places, and in the place of each what stood in that one.
void Transfer::exchange(const Unit& unit) const {
  const Chunk& chunk = down_.chunks[size(unit.chunk)];
  const Region& region = down_.regions[size(chunk.region)];
  const std::size_t bytes = size(unit.rows.size()) * region.element;
  const std::size_t top = size(unit.rows.first) * region.element;
  const auto home = [&](Index c) { return region.host + size(c) * region.host_pitch + top; };
  for (Index c = unit.last - 1; c >= unit.first; --c) {
    const char* const staged = slot(down_, unit.chunk) + size(c - chunk.first) * chunk.pitch + top;
    char* const place = home(region.place(c));
    if (region.place(c) != c) unpack_(home(c), place, bytes, staged);
    unpack_(place, staged, bytes, home(region.place(std::max(c - 1, unit.first))));
  }
}

}  // namespace overlapack
