// The caller's side of a transfer: it declares, starts, waits and ends.
#include "transfer/transfer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#include "transfer/parts.hpp"

namespace overlapack {

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

Index Transfer::add_whole_download(const Region& region, std::function<bool()> inspect) {
  const Index id = add_download(region, std::move(inspect));
  downloads_.back().whole = true;
  return id;
}

Index Transfer::add_rows_download(const Region& region, std::function<bool()> inspect) {
  const Index id = add_whole_download(region, std::move(inspect));
  downloads_.back().counts_rows = true;
  return id;
}

Index Transfer::add_download_over(const Region& region, Index after) {
  const Index id = add_download(region);
  downloads_.back().after = after;
  return id;
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
  // Where several calls share the device, one of them has threads.
  workers_ = up + down <= tuning_.shared_up_to_bytes ? Workers::instance().try_lease()
                                                     : Workers::instance().lease();
  caller_issues_ = up + down <= tuning_.caller_issues_up_to_bytes || !workers_;
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
  vacated_.resize(up_.regions.size());
  open_queues();
  end_units_ = count(down_.units);
  end_chunks_ = count(down_.chunks);
  started_ = true;
  const Backoff patience(Backoff::kCopyThreadSpins);
  if (!workers_) return;
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
    const Traffic before = own_traffic;
    try {
      issue_loop();
    } catch (...) {
      error_ = std::current_exception();
      halted_.store(true, std::memory_order_release);
    }
    issued_ = own_traffic - before;
  });
}

bool Transfer::before(Queue& queue, Index id) {
  Backoff wait(Backoff::kIssuerSpins);
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

void Transfer::vacate(Queue& queue, Index id) {
  throw_if_failed();
  if (stopped()) return;
  std::optional<EventLease>& vacated = vacated_[size(id)];
  vacated.emplace(device_);
  queue.record(**vacated);
  uploads_vacated_.store(id + 1, std::memory_order_release);
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
    copy_loop(kCaller, Backoff(Backoff::kIssuerSpins));  // it has nothing better to do
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
  if (workers_) {
    Workers::instance().join();
    workers_.unlock();
    own_traffic += issued_;
  }
  while (within_whole_region()) copy_down();  // all of it has arrived
  if (down_.next_unit.load() < end_units_.load()) settle();
  // Claimed units are always completed, and they are claimed in order.
  const Index units = std::min(down_.next_unit.load(), end_units_.load());
  for (Index u = 0; u < units; ++u) {
    const Unit& unit = down_.units[size(u)];
    const Index number = down_.chunks[size(unit.chunk)].region;
    const Region& region = down_.regions[size(number)];
    if (downloads_[size(number)].counts_rows) {
      if (unit.last == region.cols) committed_ += region.rows;
    } else if (unit.rows.last == region.rows) {
      committed_ += unit.last - unit.first;
    }
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

/// Whether all threads are to return. At the end of the process staging memory goes with the
/// device: nobody may touch it any more, nor wait for what the device would write there.
bool Transfer::halted() const {
  return halted_.load(std::memory_order_acquire) || device_.at_end();
}

void Transfer::throw_if_failed() {
  device_.refuse_at_end();
  if (halted_.load(std::memory_order_acquire) && error_) std::rethrow_exception(error_);
}

}  // namespace overlapack
