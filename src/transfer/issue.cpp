// The issuing thread of a transfer: what it hands to the device, and what it learns from it.
#include <algorithm>
#include <cstdint>

#include "device/timeline.hpp"
#include "transfer/parts.hpp"

namespace overlapack {

void Transfer::signal(const Direction& direction, Index chunk) const {
  const Index first = chunk - direction.per_signal + 1;  // that it tells of
  if (first % direction.per_signal != 0 || first >= direction.signals) return;
  queue(direction, chunk).signal(flag(direction, chunk), static_cast<std::uint32_t>(chunk) + 1);
}

void Transfer::issue_loop() {
  Backoff wait(Backoff::kIssuerSpins);
  while (!halted()) {
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

/// Whether the download whose device memory it takes over has left, or the caller lets it start.
bool Transfer::may_start(Index upload) const {
  const Index after = upload_after_[size(upload)];
  if (after == kVacated) return uploads_vacated_.load(std::memory_order_acquire) > upload;
  return after < 0 || down_.seen >= down_.first_chunk[size(after) + 1];
}

bool Transfer::issue_upload() {
  const Index k = up_.issued;
  if (k >= count(up_.chunks)) return false;
  const Chunk& chunk = up_.chunks[size(k)];
  if (chunk.starts_region && !may_start(chunk.region)) return false;
  if (up_.units_done[size(k)].load(std::memory_order_acquire) < chunk.units) return false;
  const Region& region = up_.regions[size(chunk.region)];
  if (chunk.starts_region && upload_after_[size(chunk.region)] == kVacated) {
    queue(up_, k).wait(**vacated_[size(chunk.region)]);
  }
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
    queue(up_, k).copy_on_device({device, region.device_pitch, region.host, region.host_pitch,
                                  region.element, region.rows, region.cols, region.part,
                                  region.diagonal});
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
    queue.copy_on_device({region.host, region.host_pitch, region.device, region.device_pitch,
                          region.element, region.rows, region.cols, region.part, region.diagonal});
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

/// Whether nobody writes any more what comes before a unit in the same memory: an earlier region
/// (once its first unit has been claimed that is so), or the same strip of the chunk before.
bool Transfer::memory_is_free(Index unit) {
  const Chunk& chunk = down_.chunks[size(down_.units[size(unit)].chunk)];
  if (down_.regions[size(chunk.region)].exchanges) {
    return unit < chunk.units ||
           down_.unit_done[size(unit - chunk.units)].load(std::memory_order_acquire);
  }
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

}  // namespace overlapack
