#include "transfer/transfer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <new>
#include <thread>

#include "device/timeline.hpp"
#include "host/stores.hpp"

namespace overlapack {
namespace {

std::size_t size(Index n) { return static_cast<std::size_t>(n); }

template <class T>
Index count(const std::vector<T>& list) {
  return static_cast<Index>(list.size());
}

/// The smallest power of two that is at least `bytes`.
std::size_t power_of_two_from(std::size_t bytes) {
  std::size_t power = 1;
  while (power < bytes) power *= 2;
  return power;
}

}  // namespace

/// Waiting for another thread or the device: a few spins, then let others run, then sleep. Were the
/// many copy threads to stay on their cores while idle, a CPU LAPACK that works at the same time
/// (the hybrid algorithms, another thread of the application) would wait for its own threads at
/// every step. The issuing thread and the caller stay awake longer: every step of the device goes
/// through them.
class Transfer::Backoff {
 public:
  enum Patience { kShort = 512, kLong = 4096 };
  explicit Backoff(Patience patience) : patience_(patience) {}
  void operator()() {
    ++spins_;
    if (spins_ < 256) {
      pause_spinning();
    } else if (spins_ < patience_) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  void reset() { spins_ = 0; }
  /// True at the 64th, 128th, 256th, ... step: often enough to find a failure after as long again
  /// as one has waited, and seldom enough to cost nothing.
  bool time_to_ask() const { return spins_ >= 64 && (spins_ & (spins_ - 1)) == 0; }

 private:
  Patience patience_;
  std::uint64_t spins_ = 0;
};

Transfer::Transfer(Device& device, Index threads, Index& committed, const TransferTuning& tuning)
    : device_(device),
      threads_(std::max<Index>(threads, 1)),
      committed_(committed),
      tuning_(tuning) {}

Transfer::~Transfer() {
  halted_.store(true, std::memory_order_release);
  end();
}

Index Transfer::add_upload(const Region& region, Index after) {
  up_.regions.push_back(region);
  upload_after_.push_back(after);
  return count(up_.regions) - 1;
}

Index Transfer::add_download(const Region& region, std::function<bool()> inspect) {
  down_.regions.push_back(region);
  downloads_.push_back({std::move(inspect)});
  return count(down_.regions) - 1;
}

Index Transfer::add_whole_download(const Region& region) {
  const Index id = add_download(region);
  downloads_.back().whole = true;
  return id;
}

Index Transfer::add_download_over(const Region& region, Index after) {
  const Index id = add_download(region);
  downloads_.back().after = after;
  return id;
}

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
    const auto add = [&](Chunk chunk, Index width) {
      if (chunk.staged) {
        direction.slot_bytes =
            std::max(direction.slot_bytes, chunk.pitch * size(chunk.last - chunk.first));
      }
      // Even what needs no copy thread on its way home is counted by units.
      if (chunk.staged || down) {
        for (Index c = chunk.first; c < chunk.last; c += width, ++chunk.units) {
          direction.units.push_back({count(direction.chunks), c, std::min(c + width, chunk.last)});
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

void Transfer::open_queues() {
  flags_ = Buffer<PaddedFlag>(device_, Space::host, 1 + kQueuesDown);
  up_.flags = flags_.data();
  down_.flags = flags_.data() + 1;
  const auto open = [this](Direction& direction, Index q, const char* name) {
    new (&direction.flags[q].flag) Flag(0);
    direction.queues[q].emplace(device_, Priority::normal, name);
    direction.queue_count = q + 1;
  };
  open(up_, 0, "upload");
  open(down_, 0, "download 0");
  if (!caller_issues_) open(down_, 1, "download 1");
  // Nobody waits for a slot that is not used again.
  up_.signals = std::max<Index>(count(up_.chunks) - up_.slots, 0);
  up_.per_signal = std::clamp<Index>(up_.slots / 4, 1, tuning_.uploads_per_signal);
  down_.signals = count(down_.chunks);
}

void Transfer::start() {
  find_kinds();
  const std::size_t up = staged_bytes(up_), down = staged_bytes(down_);
  caller_issues_ = up + down <= tuning_.caller_issues_up_to_bytes;
  const bool large = down >= tuning_.past_cache_from_bytes;
  pack_ = large && !keeps_uploads_ ? store : store_past_cache;
  unpack_ = large || keeps_uploads_ ? store_past_cache : store_ahead;
  // Powers of two, here and below, so that calls of many shapes share the pooled staging memory.
  const std::size_t wanted = std::max(up, down) / tuning_.chunks;
  const std::size_t chunk_bytes = std::clamp(
      power_of_two_from(wanted), tuning_.chunk_bytes_at_least, tuning_.chunk_bytes_at_most);
  const std::size_t unit_bytes = std::max(tuning_.unit_bytes_at_least,
                                          std::min(wanted, chunk_bytes) / tuning_.units_per_chunk);
  for (Direction* direction : {&up_, &down_}) {
    cut(*direction, chunk_bytes, unit_bytes);
    make_ring(*direction);
    direction->events.resize(direction->regions.size());
  }
  open_queues();
  end_units_ = count(down_.units);
  end_chunks_ = count(down_.chunks);
  started_ = true;
  const Backoff patience(Backoff::kShort);
  if (caller_issues_) {
    threads_ =
        std::min<Index>(threads_, static_cast<Index>((up + down) / tuning_.bytes_per_helper));
    Workers::instance().start(
        threads_, [=](Index id) { copy_loop(id, patience); }, tuning_.threads_woken_by_caller);
    return;
  }
  // No more threads than there is work for: waking one takes as long as copying 100 KB.
  const Index units = std::max(count(up_.units), count(down_.units));
  threads_ = std::clamp<Index>(units / 2, 1, threads_);
  Workers::instance().start(threads_ + 1, [=](Index id) {
    if (id > 0) return copy_loop(id - 1, patience);
    try {
      issue_loop();
    } catch (...) {
      error_ = std::current_exception();
      halted_.store(true, std::memory_order_release);
    }
  });
}

char* Transfer::slot(const Direction& direction, Index chunk) const {
  return direction.ring.data() + size(chunk % direction.slots) * direction.slot_bytes;
}

Queue& Transfer::queue(const Direction& direction, Index chunk) const {
  return **direction.queues[chunk % direction.queue_count];
}

/// Where a chunk begins in memory of that pitch.
std::size_t Transfer::offset(const Chunk& chunk, const Region& region, std::size_t pitch) const {
  return size(chunk.top) * region.moved() + size(chunk.first) * pitch;
}

/// A queue works in order, so one counter tells about all of its chunks.
Flag& Transfer::flag(const Direction& direction, Index chunk) const {
  return direction.flags[chunk % direction.queue_count].flag;
}

bool Transfer::complete(const Direction& direction, Index chunk) const {
  return flag(direction, chunk).load(std::memory_order_acquire) > static_cast<std::uint32_t>(chunk);
}

void Transfer::signal(const Direction& direction, Index chunk) const {
  const Index first = chunk - direction.per_signal + 1;  // that it tells of
  if (first % direction.per_signal != 0 || first >= direction.signals) return;
  queue(direction, chunk).signal(flag(direction, chunk), static_cast<std::uint32_t>(chunk) + 1);
}

// ---- the caller's side --------------------------------------------------------------------

bool Transfer::before(Queue& queue, Index id) {
  Backoff wait(Backoff::kLong);
  while (!stopped() && !is_issued(id)) {
    throw_if_failed();
    bool progress = false;
    // With copy threads it only waits: what has arrived must not wait until a copy is complete.
    if (caller_issues_) {
      progress = copy_up();
      progress |= issue_upload();
      // Perhaps it waits for what is to go home first.
      if (!progress) progress = issue_download() || see_download() || copy_down();
    }
    if (progress) {
      wait.reset();
    } else {
      wait();
      if (caller_issues_ && wait.time_to_ask() && poll()) wait.reset();
    }
  }
  if (stopped()) return false;
  if (caller_issues_) {  // what needs no packing may run ahead of the computation
    for (int ahead = 0; ahead < 2 && issue_upload(); ++ahead) continue;
  }
  queue.wait(**up_.events[size(id)]);
  return true;
}

void Transfer::release(Queue& queue, Index id) {
  throw_if_failed();
  // Those released before: what the caller has enqueued since is under way now, and the device need
  // not wait until this is issued.
  while (caller_issues_ && (issue_download() || see_download())) continue;
  if (stopped()) return;
  std::optional<EventLease>& released = down_.events[size(id)];
  released.emplace(device_);
  queue.record(**released);
  down_.regions_ready.store(id + 1, std::memory_order_release);
}

void Transfer::finish() {
  if (caller_issues_) {
    issue_loop();
    halted_.store(true, std::memory_order_release);  // a helper may still wait for work
  } else {
    copy_loop(kCaller, Backoff(Backoff::kLong));  // it has nothing better to do
  }
  end();
  throw_if_failed();
}

void Transfer::take_back(Index first) {
  halted_.store(true, std::memory_order_release);
  end();
  for (const Unit& unit : up_.units) {
    const Index k = unit.chunk;
    if (k < up_.first_chunk[size(first)]) continue;
    // What has not been packed has not been computed with, either.
    if (up_.units_done[size(k)].load() < up_.chunks[size(k)].units) continue;
    for_each_column(up_, unit, [](char* host, const char* staged, std::size_t bytes) {
      std::memcpy(host, staged, bytes);
    });
  }
}

void Transfer::end() {
  if (!started_) return;
  started_ = false;
  Workers::instance().join();
  while (within_whole_region()) copy_down();  // all of it has arrived
  if (down_.next_unit.load() < end_units_.load()) settle();
  // Claimed units are always completed, and they are claimed in order.
  const Index units = std::min(down_.next_unit.load(), end_units_.load());
  for (Index u = 0; u < units; ++u) {
    committed_ += down_.units[size(u)].last - down_.units[size(u)].first;
  }
}

/// After a failure, counts what was under way on the device itself into the caller's memory. If it
/// cannot be waited for, the device is lost, and the caller's matrix with it.
void Transfer::settle() {
  if (std::all_of(down_.kinds.begin(), down_.kinds.end(),
                  [](MemoryKind kind) { return kind != MemoryKind::device; })) {
    return;
  }
  try {
    for (Index q = 0; q < down_.queue_count; ++q) (**down_.queues[q]).synchronize();
  } catch (const std::exception&) {
    return;
  }
  // The signal itself may be what failed.
  for (Index k = 0; k < down_.launched; ++k) {
    flag(down_, k).store(static_cast<std::uint32_t>(k) + 1, std::memory_order_relaxed);
  }
  while (copy_down()) continue;
}

void Transfer::throw_if_failed() {
  if (halted_.load(std::memory_order_acquire) && error_) std::rethrow_exception(error_);
}

// ---- the issuing thread -------------------------------------------------------------------

void Transfer::issue_loop() {
  Backoff wait(Backoff::kLong);
  while (!halted_.load(std::memory_order_acquire)) {
    const bool uploads_done = caller_issues_ || stopped() || up_.issued == count(up_.chunks);
    const bool downloads_done =
        down_.seen >= end_chunks_.load() && (!caller_issues_ || down_.next_unit >= end_units_);
    if (uploads_done && downloads_done) return;
    // Downloads first: they free device results and end the call.
    bool progress = issue_download();
    progress |= see_download();
    if (caller_issues_) progress |= copy_down();
    if (!uploads_done) progress |= issue_upload();
    if (progress) {
      wait.reset();
    } else {
      wait();
      if (wait.time_to_ask() && poll()) wait.reset();
    }
  }
}

/// Whether the download whose device memory it takes over has left.
bool Transfer::may_start(Index upload) const {
  const Index after = upload_after_[size(upload)];
  return after < 0 || down_.seen >= down_.first_chunk[size(after) + 1];
}

bool Transfer::issue_upload() {
  const Index k = up_.issued;
  if (k >= count(up_.chunks)) return false;
  const Chunk& chunk = up_.chunks[size(k)];
  if (chunk.starts_region && !may_start(chunk.region)) return false;
  if (up_.units_done[size(k)].load(std::memory_order_acquire) < chunk.units) return false;
  const Region& region = up_.regions[size(chunk.region)];
  char* const device = region.device + offset(chunk, region, region.device_pitch);
  const std::size_t columns = size(chunk.last - chunk.first);
  Span span(queue(up_, k), "upload", chunk.region);
  if (chunk.staged) {
    queue(up_, k).copy_to_device(device, region.device_pitch, slot(up_, k), chunk.pitch,
                                 chunk.pitch, columns);
  } else if (up_.kinds[size(chunk.region)] == MemoryKind::pinned) {
    queue(up_, k).copy_to_device(device, region.device_pitch,
                                 region.host + offset(chunk, region, region.host_pitch),
                                 region.host_pitch, chunk.pitch, columns);
  } else {
    queue(up_, k).copy_on_device(device, region.device_pitch, region.host, region.host_pitch,
                                 region.element, region.rows, region.cols, region.part,
                                 region.diagonal);
  }
  span.end();
  signal(up_, k);
  ++up_.issued;
  if (chunk.ends_region) {
    std::optional<EventLease>& issued = up_.events[size(chunk.region)];
    issued.emplace(device_);
    queue(up_, k).record(**issued);
    up_.regions_ready.store(chunk.region + 1, std::memory_order_release);
  }
  return true;
}

bool Transfer::issue_download() {
  const Index k = down_.issued;
  if (k >= end_chunks_.load(std::memory_order_relaxed)) return false;
  const Chunk& chunk = down_.chunks[size(k)];
  if (down_.regions_ready.load(std::memory_order_acquire) <= chunk.region) return false;
  // The slot is free once the chunk that used it before has been unpacked.
  const Index previous = k - down_.slots;
  if (previous >= 0 && down_.units_done[size(previous)].load(std::memory_order_acquire) <
                           down_.chunks[size(previous)].units) {
    return false;
  }
  // What goes straight into the caller's memory must have passed its inspection.
  const bool direct = !chunk.staged && chunk.ends_region;
  if (direct && !passed(chunk)) return false;
  const Region& region = down_.regions[size(chunk.region)];
  Queue& queue = this->queue(down_, k);
  // Later ones of the region follow in the same queues.
  if (k - down_.first_chunk[size(chunk.region)] < down_.queue_count) {
    queue.wait(**down_.events[size(chunk.region)]);
  }
  Span span(queue, "download", chunk.region);
  if (chunk.staged) {
    queue.copy_to_host(slot(down_, k), chunk.pitch,
                       region.device + offset(chunk, region, region.device_pitch),
                       region.device_pitch, chunk.pitch, size(chunk.last - chunk.first));
  } else if (direct) {
    queue.copy_on_device(region.host, region.host_pitch, region.device, region.device_pitch,
                         region.element, region.rows, region.cols, region.part, region.diagonal);
  }
  span.end();
  down_.launched = k + 1;
  signal(down_, k);
  ++down_.issued;
  return true;
}

/// Whether a chunk may be committed as far as the inspection of its region is concerned.
bool Transfer::passed(const Chunk& chunk) const {
  return !downloads_[size(chunk.region)].inspect ||
         regions_passed_.load(std::memory_order_acquire) > chunk.region;
}

/// Whether nobody writes an earlier region any more where this one belongs. Once its first unit has
/// been claimed that is so.
bool Transfer::memory_is_free(const Chunk& chunk) {
  const Index after = downloads_[size(chunk.region)].after;
  return after < 0 || !chunk.starts_region || home() > after;
}

/// Whether a chunk may be unpacked as far as the device is concerned. The first one of a region
/// that is committed as a whole waits for the others.
bool Transfer::arrived(const Chunk& chunk) const {
  const Index k = &chunk - down_.chunks.data();
  if (!downloads_[size(chunk.region)].whole || !chunk.starts_region) return complete(down_, k);
  const Index end = down_.first_chunk[size(chunk.region) + 1];
  for (Index last = std::max(k, end - down_.queue_count); last < end; ++last) {
    if (!complete(down_, last)) return false;
  }
  return true;
}

/// Whether a region that is committed as a whole has been begun and not finished.
bool Transfer::within_whole_region() const {
  const Index u = down_.next_unit.load();
  if (u == 0 || u >= end_units_.load()) return false;
  const Index region = down_.chunks[size(down_.units[size(u)].chunk)].region;
  return downloads_[size(region)].whole &&
         down_.chunks[size(down_.units[size(u - 1)].chunk)].region == region;
}

/// Inspects the region that begins with the chunk that has arrived, if one does.
bool Transfer::see_download() {
  const Index k = down_.seen;
  if (k >= std::min(down_.issued, end_chunks_.load()) || !complete(down_, k)) return false;
  const Chunk& chunk = down_.chunks[size(k)];
  if (chunk.starts_region) {
    const auto& inspect = downloads_[size(chunk.region)].inspect;
    if (inspect && !inspect()) {
      const auto first_unit = std::find_if(down_.units.begin(), down_.units.end(),
                                           [k](const Unit& unit) { return unit.chunk >= k; });
      end_units_.store(first_unit - down_.units.begin(), std::memory_order_release);
      end_chunks_.store(k, std::memory_order_release);
      stopped_.store(true, std::memory_order_release);
      return true;
    }
    regions_passed_.store(chunk.region + 1, std::memory_order_release);
  }
  ++down_.seen;
  return true;
}

/// Asks the queues whose signals somebody waits for. Returns whether to ask again soon: a
/// device that works when asked must be asked for each upload, and they may be many between two
/// that use the same slot.
bool Transfer::poll() {
  const Index before = up_.seen;
  while (up_.seen < std::min(up_.issued, up_.signals) && complete(up_, up_.seen)) ++up_.seen;
  for (const Direction* direction : {&down_, &up_}) {
    if (direction->seen < std::min(direction->issued, direction->signals)) {
      queue(*direction, direction->seen).poll();
    }
  }
  return device_.works_when_asked() && up_.seen > before;
}

// ---- the copy threads ---------------------------------------------------------------------

void Transfer::copy_loop(Index id, Backoff wait) {
  while (!halted_.load(std::memory_order_acquire) && !copies_done()) {
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
/// into the caller's memory go past the cache.
bool Transfer::may_unpack(Index id) const {
  return id < tuning_.unpacking_threads || unpack_ != store_past_cache ||
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
    f(region.host + size(c) * region.host_pitch + size(first) * region.element,
      staged + size(c - chunk.first) * chunk.pitch + size(first - chunk.top) * region.moved(),
      size(end - first) * region.moved());
  }
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
  if (!passed(chunk) || !arrived(chunk) || !memory_is_free(chunk)) return false;
  if (!down_.next_unit.compare_exchange_strong(u, u + 1, std::memory_order_acq_rel)) return true;
  const Span span(device_, "unpack", chunk.region);
  if (chunk.staged) {
    for_each_column(down_, unit, [this](char* host, const char* staged, std::size_t bytes) {
      unpack_(host, staged, bytes, staged + bytes);
    });
  }
  stores_complete();
  down_.units_done[size(unit.chunk)].fetch_add(1, std::memory_order_acq_rel);
  return true;
}

}  // namespace overlapack
