// What a process has: settings, profile, device. Opened piece by piece, when first needed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "device/device.hpp"
#include "dispatch/profile.hpp"
#include "dispatch/start.hpp"
#include "dispatch/turns.hpp"
#include "host/workers.hpp"

namespace overlapack::dispatch {

/// What has come of reading a profile.
struct ProfileFile {
  std::optional<Profile> profile;
  int error = 0;          ///< errno, if there is no file or it cannot be read
  std::string complaint;  ///< about a file that can be, but is no profile
};
ProfileFile read_profile(const std::string& path);
/// Whether a path leads to /dev/null: a profile that says nothing, and keeps nothing.
bool is_null_device(const std::string& path);

/// The process-wide state. It is never destroyed: at exit the driver may be gone before us.
class Context {
 public:
  static Context& instance();
  /// For `overlapack tune`, before anybody asks for the instance: the profile that the settings
  /// name need not be there, since it is about to be written.
  static void expect_new_profile();

  /// Another thread may change them at any time: who needs several of one state asks once. What
  /// this returns remains as it is.
  const Settings& settings() const { return *settings_.load(std::memory_order_acquire); }
  /// Changes the setting at a place in kSettings, for calls that begin later. False if it does not
  /// accept the value.
  bool change(std::size_t place, const std::string& value);
  const Profile& profile() const { return profile_; }

  /// The device that the settings name, opened by the first call of this function, or by a thread
  /// for which it waits; null if there is none. After a fork the child gets null: CUDA does not
  /// survive it. So do all at the end of the process.
  Device* device();
  /// Why a call that is large enough should not ask for the device yet, or null if it should. May
  /// have the device started by another thread, and may wait for that.
  const char* why_not_yet(Routine routine, char type, const Shape& shape);
  /// Whether the device has been opened, with whatever result.
  bool opened() const { return start_.over(); }
  /// Whether it is being opened.
  bool opening() const { return start_.under_way(); }
  /// True in a child of the process that opened the device. Asked before any lock is taken: a
  /// thread of the parent may have held it at the fork.
  bool forked() const;
  /// The CPU does a call because of why_not_yet(), or has done it.
  void begin_before_start() { ++under_way_before_start_; }
  void end_before_start(const CpuWork& work);
  /// What it has done of such calls.
  CpuWork work_before_start() const { return {seconds_before_start_, flops_before_start_}; }
  /// Why device() is null, or which device it is.
  std::string device_status();
  /// The same without opening it.
  std::string device_status_so_far();
  /// Whether a profiler gets a range for each call (device/nvtx.hpp).
  bool has_nvtx() const { return has_nvtx_; }
  /// A call that uses the device has one.
  Turns& turns() { return turns_; }
  /// Gives the device up for the rest of the process.
  void lose_device(const char* why) noexcept;
  /// The same, if the error says that the device is lost.
  void heed(const DeviceError& error) noexcept {
    if (error.lost()) lose_device(error.what());
  }

  /// Gives back the device's memory that no call uses, if there is a device. A fault of it counts
  /// as one in a call, and the next call takes what memory it needs again.
  void give_back_memory() noexcept;

  /// For tests, `overlapack tune` and the benchmark: replaces settings and profile. If the settings
  /// name another device than before, that is opened when it is next needed. If it is missing, the
  /// caller says so. No call may be under way.
  void reset(Settings settings, Profile profile);
  /// For tests: replaces the device. No call may be under way.
  void use_device(std::shared_ptr<Device> device);

  /// Writes one line to the call log of these settings.
  void log(const Settings& settings, const std::string& line);

 private:
  Context();
  /// Makes of process_ this process, if it has none. False if it is another one.
  bool claim();
  /// Has a thread of its own start the device, for such a call.
  bool open_behind(double delay, Routine routine, char type, const Shape& shape);
  /// Once start_ has begun. `prepare` is called if nobody waits for the device.
  void open_device(const std::function<void(Device&)>& prepare = {});
  std::shared_ptr<Device> make_device();
  /// Says that the one device which the user has named is not there.
  void report_missing(const char* why) noexcept;
  void set_status(const char* what, const char* why) noexcept;
  struct ByGiven {
    bool operator()(const Settings& a, const Settings& b) const { return a.given < b.given; }
  };
  Settings first_;                       // from the environment, or of reset()
  std::set<Settings, ByGiven> changed_;  // all that there have been: a call may still read them
  std::atomic<const Settings*> settings_{&first_};
  bool from_environment_ = true;  // first_ is
  bool has_nvtx_ = false;
  Profile profile_;
  Turns turns_;
  std::atomic<bool> log_failed_{false};
  Start start_;
  std::atomic<double> seconds_before_start_{0}, flops_before_start_{0};
  std::atomic<int> under_way_before_start_{0};
  std::atomic<std::uint64_t> process_{0};  // the one that opens the device, 0 before
  std::mutex mutex_;                       // guards what follows
  std::shared_ptr<Device> device_, lost_;
  std::string status_;
};

/// Opens a CUDA device, or without an index the one on which the program itself works: to which the
/// calling thread's CUDA context belongs. If it has none, processes number `rank` = 0, 1, ... of a
/// machine take turns at its devices. Throws DeviceError with a reason a user can act on.
std::shared_ptr<Device> open_cuda_device(std::optional<int> index, int rank = 0);

}  // namespace overlapack::dispatch
