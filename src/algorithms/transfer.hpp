// The transfer engine: moves parts of matrices between the caller's ordinary memory and the device
// while the device computes.
//
// A region (a block column, say) is cut into chunks of whole columns. Copy threads pack chunks into
// a ring of page-locked slots; one issuing thread hands them to the copy engines of the device, and
// in the other direction copy threads unpack what has arrived. Only the issuing thread and the
// caller talk to the device. The caller declares all regions first, in the order in which they are
// to move, then computes: before() makes a queue wait for a region, release() lets one go home.
//
// Results are committed to the caller's memory strictly in order, whole columns at a time. So at
// any moment a prefix of the columns is final and the rest still is the caller's input: after a
// device fault that prefix is the checkpoint from which the CPU resumes.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/workers.hpp"
#include "core/view.hpp"
#include "device/buffer.hpp"

namespace overlapack {

enum class Part { all, lower, upper };

/// What moves: `rows` x `cols` elements of `element` bytes at `host` and `device` (pitches in
/// bytes). Part::lower means the elements with i >= j + diagonal, Part::upper those with
/// i <= j + diagonal; no other element of the caller's memory is read or written.
struct Region {
  char* host = nullptr;
  std::size_t host_pitch = 0;
  char* device = nullptr;
  std::size_t device_pitch = 0;
  std::size_t element = 0;
  Index rows = 0;
  Index cols = 0;
  Part part = Part::all;
  Index diagonal = 0;

  /// Column j consists of the rows first_row(j) <= i < end_row(j).
  Index first_row(Index j) const;
  Index end_row(Index j) const;
};

/// Uploads read the caller's memory only; the cast away from const is confined to here.
template <class T>
Region make_region(HostView<const T> host, DeviceView<T> device, Part part = Part::all,
                   Index diagonal = 0) {
  return {reinterpret_cast<char*>(const_cast<T*>(host.data)),
          sizeof(T) * static_cast<std::size_t>(host.ld),
          reinterpret_cast<char*>(device.data),
          sizeof(T) * static_cast<std::size_t>(device.ld),
          sizeof(T),
          host.rows,
          host.cols,
          part,
          diagonal};
}

/// A few bytes that come home just before a region: pivots, info.
struct Sidecar {
  const void* device = nullptr;
  void* staging = nullptr;
  std::size_t bytes = 0;
};

class Transfer {
 public:
  /// `threads`: copy threads besides the issuing one, at least 1. `committed` receives, when the
  /// transfer ends in whatever way, how many columns, counted over all downloads in order, are
  /// final in the caller's memory.
  Transfer(Device& device, Index threads, Index& committed);
  Transfer(const Transfer&) = delete;
  /// Stops what is under way, if anything. The caller's memory is not touched afterwards.
  ~Transfer();

  /// Declare regions before start(); each returns its number, counted from 0 per direction.
  Index add_upload(const Region& region);
  /// `inspect` is called on the issuing thread once the sidecars have arrived and before anything
  /// of the region is committed. If it returns false, the transfer stops: neither this region nor
  /// any later one is committed.
  Index add_download(const Region& region, std::vector<Sidecar> sidecars = {},
                     std::function<bool()> inspect = {});
  void start();

  /// Work enqueued in `queue` from now on sees upload `id` complete. Waits on the host until the
  /// upload has been issued. Returns false if the transfer has been stopped.
  bool before(Queue& queue, Index id);
  /// Download `id` may go home once the work now in `queue` is done. In order of the numbers.
  void release(Queue& queue, Index id);
  /// An inspection has stopped the transfer: further computation is useless.
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  /// Waits until all downloads are committed (up to a stop). Throws what went wrong, if anything.
  void finish();

 private:
  struct Chunk {
    Index region;       // of its direction
    Index first, last;  // columns
    Index top;          // first row of the rectangle that is copied
    Index bottom;       // one past its last row
    std::size_t pitch;  // bytes per column in the slot
    Index units;        // how many pieces the copy threads divide it into
    bool ends_region;
  };
  struct Unit {
    Index chunk;
    Index first, last;  // columns
  };
  /// One direction: regions, their chunks and units, the ring of slots, the queues.
  struct Direction {
    std::vector<Region> regions;
    std::vector<Chunk> chunks;
    std::vector<Unit> units;
    Buffer<char> ring;
    std::vector<EventLease> slot_events;               // last use of each slot
    std::vector<EventLease> region_events;             // up: issued, one per queue; down: released
    std::unique_ptr<std::atomic<Index>[]> units_done;  // per chunk
    std::atomic<Index> next_unit{0};                   // claimed by copy threads in order
    std::atomic<Index> regions_ready{0};  // up: issued to the device; down: released by the caller
    std::atomic<Index> chunks_moved{0};   // completed on the device, in order
    Index chunks_issued = 0;              // issuing thread only
    std::unique_ptr<QueueLease> queues[2];  // last: drained before the memory goes
  };
  struct Download {
    std::vector<Sidecar> sidecars;
    std::function<bool()> inspect;
  };

  void cut(Direction& direction, std::size_t chunk_bytes);
  char* slot(Direction& direction, Index chunk) const;
  void issue_loop();
  bool issue_upload();
  bool issue_download();
  bool poll_upload();
  bool poll_download();
  void copy_loop();
  bool copy_up();
  bool copy_down();
  bool complete() const;
  void join();
  void throw_if_failed();

  Device& device_;
  Index threads_;
  Index& committed_;
  std::size_t slot_bytes_ = 0;
  Direction up_, down_;
  std::vector<Download> downloads_;
  std::atomic<Index> end_units_{0};   // downloads beyond are cancelled
  std::atomic<Index> end_chunks_{0};  // likewise
  std::atomic<bool> stopped_{false}, aborted_{false};
  std::exception_ptr error_;  // set by the issuing thread before aborted_
  bool running_ = false;
};

}  // namespace overlapack
