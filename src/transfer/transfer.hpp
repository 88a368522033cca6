// The transfer engine: moves parts of matrices between the caller's ordinary memory and the device
// while the device computes.
//
// A region (a block column, say) is cut into chunks of whole columns. Copy threads pack chunks into
// a ring of page-locked slots; one issuing thread hands them to the copy engines of the device, and
// in the other direction copy threads unpack what has arrived. Only the issuing thread and the
// caller talk to the device; when a slot is free or has arrived, the copy threads read from a flag
// that the device writes. The caller declares all regions first, in the order in which they are
// to move, then computes: before() makes a queue wait for a region, release() lets one go home.
//
// A small transfer has no issuing thread and few copy threads or none: waking them takes longer
// than copying. Then the caller issues, packs and unpacks, inside before(), release() and finish().
//
// Results are committed to the caller's memory strictly in order, whole columns at a time. So at
// any moment a prefix of the columns is final and the rest still is the caller's input: after a
// device fault that prefix is the checkpoint from which the CPU resumes.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/view.hpp"
#include "device/buffer.hpp"
#include "host/backoff.hpp"
#include "host/workers.hpp"

namespace overlapack {

/// What moves: a part of `rows` x `cols` elements of `element` bytes between the caller's memory at
/// `host` and the device's at `device` (pitches in bytes). No other element of the caller's memory
/// is written. Others are not read either, except that a copy from page-locked memory may take some
/// of the other triangle along; it never leaves the matrix.
///
/// The caller's memory may be of any MemoryKind:
///  - pageable: through the staging slots;
///  - pinned: uploads go straight to the device, unless they are scattered (of short columns, far
///    apart) or kept (keep_uploads). All of them are issued when the transfer starts, and what else
///    goes to the device comes after them. Downloads are staged all the same: a device that fails
///    while it writes would leave columns that are neither input nor result, and the CPU could not
///    resume;
///  - device: copied on the device, both ways.
///
/// Of an upload of numbers in double precision, halves can go up by themselves: `words` other than
/// all, from the host's memory. An element has half as many bytes on the device then.
struct Region {
  char* host = nullptr;
  std::size_t host_pitch = 0;
  char* device = nullptr;
  std::size_t device_pitch = 0;
  std::size_t element = 0;  // in the caller's memory
  Index rows = 0;
  Index cols = 0;
  Part part = Part::all;
  Index diagonal = 0;
  Words words = Words::all;
  /// Of a download into the host's memory: column j goes to column places[j] there, so that what is
  /// final there is no prefix. Null: to j.
  const Index* places = nullptr;
  /// Of a whole download with places, of all rows: what stood in column places[j] goes to column j.
  /// Columns are exchanged from the last to the first, after those of the downloads before, which
  /// must have as many rows.
  bool exchanges = false;

  Index place(Index j) const { return places == nullptr ? j : places[j]; }
  /// Bytes of an element that move.
  std::size_t moved() const { return words == Words::all ? element : element / 2; }

  Range rows_of(Index j) const { return rows_of_column(part, diagonal, rows, j); }
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

/// The same of one half of each number.
template <class T>
Region make_region(HostView<const T> host, DeviceView<Single<T>> device, Part part, Words words) {
  Region region = make_region<T>(host, DeviceView<T>(), part);
  region.device = reinterpret_cast<char*>(device.data);
  region.device_pitch = sizeof(Single<T>) * static_cast<std::size_t>(device.ld);
  region.words = words;
  return region;
}

/// How transfers are cut and paced. On an emulated device limits are so low that small matrices
/// turn the ring, too.
using TransferTuning = Tuning::Transfer;

class Transfer {
 public:
  /// `threads`: copy threads besides the issuing one, at least 1. `committed` receives, when the
  /// transfer ends in whatever way, how many columns, counted over all downloads in order, are
  /// final in the caller's memory. (Of add_rows_download() it is rows.)
  Transfer(Device& device, Index threads, Index& committed)
      : Transfer(device, threads, committed, device.tuning().transfer) {}
  Transfer(Device& device, Index threads, Index& committed, const TransferTuning& tuning);
  Transfer(const Transfer&) = delete;
  /// Stops what is under way, if anything. The caller's memory is not touched afterwards.
  ~Transfer();

  /// Declare regions before start(); each returns its number, counted from 0 per direction.
  /// An upload with `after` >= 0 reuses device memory of that download: it starts when the download
  /// has left the device. So more can be streamed than the device's memory holds.
  Index add_upload(const Region& region, Index after = kNoDownload);
  static constexpr Index kNoDownload = -1;  // to wait for
  /// An upload into device memory that work of the caller still uses: it starts after vacate().
  Index add_upload_over_work(const Region& region) { return add_upload(region, kVacated); }
  /// `inspect` is called once the beginning of the region has arrived, and with it what kernels
  /// before have written into staging memory, and before anything of the region is committed, on
  /// the issuing thread. If it returns false, the transfer stops: neither this region nor any later
  /// one is committed.
  Index add_download(const Region& region, std::function<bool()> inspect = {});
  /// Declare before start() what copy threads are to do while there is nothing to copy, in tasks of
  /// a millisecond or so. Each call does one task, or returns false if there is none; it is told
  /// how many downloads, in order, have come home completely, and must not throw. There may be no
  /// copy thread with time for it. When finish() returns or the destructor does, no task is under
  /// way, nor will there be one.
  void when_idle(std::function<bool(Index home)> job) { idle_ = std::move(job); }
  /// A region that is committed as a whole or not at all, so that the checkpoint lies between such
  /// regions. On its way to the host's memory all of it waits in staging memory at the end.
  Index add_whole_download(const Region& region, std::function<bool()> inspect = {});
  /// The same of block rows: in `committed` its rows count, and not its columns.
  Index add_rows_download(const Region& region, std::function<bool()> inspect = {});
  /// A region in the caller's memory of download `after`, if that is >= 0: nothing of it is written
  /// before all of that one is there. (Copy threads begin regions in order, but may end them in
  /// any.)
  Index add_download_over(const Region& region, Index after);
  /// Declare before start() that everything on its way up from the host is to stay in staging
  /// memory, so that take_back() can undo what downloads into the same memory have changed.
  void keep_uploads() { keeps_uploads_ = true; }
  void start();

  /// Work enqueued in `queue` from now on sees upload `id` complete. Waits on the host until the
  /// upload has been issued. Returns false if the transfer has been stopped.
  bool before(Queue& queue, Index id);
  /// Whether before() would not wait for it.
  bool is_issued(Index id) const { return up_.regions_ready.load(std::memory_order_acquire) > id; }
  /// Upload `id`, of add_upload_over_work(), may start once the work now in `queue` is done. In
  /// order of the numbers.
  void vacate(Queue& queue, Index id);
  /// Download `id` may go home once the work now in `queue` is done. In order of the numbers.
  void release(Queue& queue, Index id);
  /// An inspection has stopped the transfer: further computation is useless.
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  /// Waits until all downloads are committed (up to a stop). Throws what went wrong, if anything.
  void finish();
  /// Stops what is under way, if anything, and makes the caller's memory of upload `first` and
  /// later ones what it was at the start. With keep_uploads(), for memory of the host.
  void take_back(Index first);

 private:
  static constexpr Index kQueuesDown = 2;  // one copy starts while the other is signalled
  static constexpr Index kCaller = 0;      // among the copy threads
  static constexpr Index kVacated = -2;    // what an upload starts after, in place of a download

  struct Chunk {
    Index region;       // of its direction
    Index first, last;  // columns
    Index top;          // first row of the rectangle that is copied
    std::size_t pitch;  // bytes per column of the rectangle
    bool staged;        // through a slot
    Index units;        // how many pieces the copy threads divide it into
    bool starts_region, ends_region;
  };
  struct Unit {
    Index chunk;
    Index first, last;  // columns
    Range rows;         // all of them, unless columns are exchanged
  };
  /// Alone on its cache lines.
  struct PaddedFlag {
    Flag flag;
    char padding[128 - sizeof(Flag)];
  };
  /// One direction: regions, their chunks and units, the ring of slots, the queues. Chunk k moves
  /// through slot k % slots in queue k % queue_count.
  struct Direction {
    std::vector<Region> regions;
    std::vector<Index> first_chunk;  // of a region; and one more, the number of chunks
    std::vector<MemoryKind> kinds;   // of the caller's memory, by region
    std::vector<Chunk> chunks;
    std::vector<Unit> units;
    std::size_t slot_bytes = 0;
    Index slots = 0;
    Buffer<char> ring;
    std::unique_ptr<std::atomic<Index>[]> units_done;  // per chunk
    std::unique_ptr<std::atomic<bool>[]> unit_done;    // of a download
    std::atomic<Index> next_unit{0};                   // claimed by copy threads in order
    std::atomic<Index> regions_ready{0};  // up: issued to the device; down: released by the caller
    std::vector<std::optional<EventLease>> events;  // by region. Up: issued; down: released
    // Chunks. Issuing thread only, like `launched` and `seen`.
    Index issued = 0;
    Index launched = 0;    // the copy is enqueued, if not its signal
    Index seen = 0;        // of them, how many, in order, are known to be complete
    Index signals = 0;     // the first so many chunks are signalled,
    Index per_signal = 1;  // so many by one signal
    Index queue_count = 0;
    PaddedFlag* flags = nullptr;  // of queue q: chunks before this one are complete in it
    std::optional<QueueLease> queues[kQueuesDown];  // last: drained before the memory goes
  };
  struct Download {
    std::function<bool()> inspect;
    bool whole = false;
    bool counts_rows = false;   // its columns otherwise
    Index after = kNoDownload;  // the download whose memory it takes over
  };

  void find_kinds();
  bool scattered(const Region& region) const;
  std::size_t staged_bytes(const Direction& direction) const;
  bool staged(const Direction& direction, Index number) const;
  void make_ring(Direction& direction);
  void open_queues();
  void cut(Direction& direction, std::size_t chunk_bytes, std::size_t unit_bytes);
  void cut_into_strips(Index number, std::size_t chunk_bytes);
  char* slot(const Direction& direction, Index chunk) const;
  std::size_t offset(const Chunk& chunk, const Region& region, std::size_t pitch) const;
  Queue& queue(const Direction& direction, Index chunk) const;
  Flag& flag(const Direction& direction, Index chunk) const;
  bool complete(const Direction& direction, Index chunk) const;
  void signal(const Direction& direction, Index chunk) const;
  void issue_loop();
  bool issue_upload();
  bool may_start(Index upload) const;
  bool issue_download();
  bool passed(const Chunk& chunk) const;
  bool memory_is_free(Index unit);
  bool arrived(const Chunk& chunk) const;
  bool within_whole_region() const;
  bool see_download();
  bool poll();
  void copy_loop(Index id, Backoff wait);
  bool may_unpack(Index id) const;
  bool upload_is_urgent() const;
  template <class F>
  void for_each_column(const Direction& direction, const Unit& unit, F f) const;
  bool copy_up();
  bool copy_down();
  void exchange(const Unit& unit) const;
  bool copies_done() const;
  Index home();
  void end();
  void settle();
  bool halted() const;
  void throw_if_failed();

  Device& device_;
  Index threads_;
  Workers::Lease workers_;  // from start() to end()
  Traffic issued_;          // by the issuing thread
  Index& committed_;
  const TransferTuning tuning_;
  using Copy = void (*)(char* to, const char* from, std::size_t bytes, const char* next);
  Copy pack_ = nullptr, unpack_ = nullptr;  // by way of the caches or not
  bool caller_issues_ = false;
  bool keeps_uploads_ = false;
  Buffer<PaddedFlag> flags_;  // of both directions
  Direction up_, down_;
  std::vector<Download> downloads_;
  std::function<bool(Index)> idle_;
  std::atomic<Index> chunks_home_{0};  // downloads, in order; home() brings it up to date
  std::vector<Index> upload_after_;    // by upload: the download that it waits for, or see above
  std::vector<std::optional<EventLease>> vacated_;  // by upload
  std::atomic<Index> uploads_vacated_{0};           // those before this one
  std::atomic<Index> regions_passed_{0};  // downloads that may be committed as far as inspected
  std::atomic<Index> end_units_{0};       // downloads beyond are cancelled
  std::atomic<Index> end_chunks_{0};      // likewise
  std::atomic<bool> stopped_{false};
  std::atomic<bool> halted_{false};  // all threads are to return, whatever is left to do
  std::exception_ptr error_;         // set by the issuing thread before halted_
  bool started_ = false;
};

/// Brings a matrix of the device to the caller's memory, behind the work now in `queue`.
/// `committed` grows by the columns that are final there, in whatever way this ends.
template <class T>
void bring_home(Device& device, Index threads, Queue& queue, DeviceView<T> from, HostView<T> to,
                Index& committed) {
  Transfer transfer(device, threads, committed);
  transfer.add_download(make_region<T>(to, from));
  transfer.start();
  transfer.release(queue, 0);
  transfer.finish();
}

}  // namespace overlapack
