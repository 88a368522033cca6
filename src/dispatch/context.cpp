#include "dispatch/context.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <system_error>
#include <vector>

#include "core/no_traps.hpp"
#include "cpu/householder.hpp"
#include "cpu/lapack.hpp"
#include "device/cuda/runtime/plugin.hpp"
#include "device/emulated/emulated_device.hpp"
#include "device/nvtx.hpp"
#include "dispatch/memory_use.hpp"
#include "dispatch/process_end.hpp"
#include "dispatch/rehearsal.hpp"
#include "dispatch/residency.hpp"
#include "host/errno_guard.hpp"
#include "host/messages.hpp"
#include "host/once.hpp"
#include "host/shared_object.hpp"

namespace overlapack::dispatch {
namespace {

void complain(const std::string& what) { write_to_standard_error("overlapack: " + what + "\n"); }

bool is_null_device(const struct stat& status) {
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
}

/// The text of a regular file, or of /dev/null. Returns errno, or 0.
int read_file(const std::string& path, std::string& text) {
  constexpr std::size_t kMaxFileBytes = 1 << 20;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return errno;
  struct stat status;
  int error = 0;
  if (fstat(file, &status) != 0) {
    error = errno;
  } else if (!S_ISREG(status.st_mode) && !is_null_device(status)) {
    error = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  }
  char buffer[4096];
  for (ssize_t got = 1; error == 0 && got != 0 && text.size() < kMaxFileBytes;) {
    got = read(file, buffer, sizeof buffer);
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR) error = errno;
  }
  close(file);
  return error;
}

bool new_profile_expected = false;

Profile load_profile(const Settings& settings) {
  const std::string path = profile_path(settings);
  Profile none = builtin_profile();
  if (path.empty()) return none;
  const ProfileFile file = read_profile(path);
  if (file.profile) return *file.profile;
  if (file.error == 0) {
    complain("the profile " + path + " is ignored: " + file.complaint +
             "; remove it or run `overlapack tune`");
  } else if (settings.profile.empty()) {
    // Nobody has named it, and it may be none of this user's: in many containers, and after a
    // change of user, HOME is another one's. So only those are told who ask what is used.
    const bool absent = file.error == ENOENT || file.error == ENOTDIR;
    if (!absent) none.unread = path + ": " + std::generic_category().message(file.error);
  } else if (file.error != ENOENT || !new_profile_expected) {
    complain("OVERLAPACK_PROFILE='" + path +
             "' is ignored: it cannot be read; `overlapack tune` "
             "writes a profile");
  }
  return none;
}

std::string directory_of_this_library() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&directory_of_this_library), &info) == 0 ||
      info.dli_fname == nullptr) {
    return {};
  }
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// Opens the CUDA plug-in: where it is installed, or beside this library as in a build folder, or
/// where an rpath or the system's search path finds it.
void* open_plugin() {
  const std::string here = directory_of_this_library() + '/';
  std::string reason;
  bool reason_is_absence = true;  // nobody wants to read of all files that are not there
  for (const int major : kCudaMajors) {
    const std::string name = cuda_plugin(major);
    for (const std::string& path : {here + kCudaPluginFolder + '/' + name, here + name, name}) {
      const bool is_file = path != name && access(path.c_str(), F_OK) == 0;
      if (is_file && is_cut_off(path)) {  // and the search path may lead to the same file
        reason = path + ": the file is incomplete; install it again";
        throw DeviceError("the CUDA plug-in cannot be loaded: " + reason);
      }
      if (void* const plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return plugin;
      const char* const error = dlerror();
      const std::string text = error != nullptr ? error : path;
      const bool is_absence = !is_file && text.rfind(path, 0) == 0;
      if (reason.empty() || (reason_is_absence && !is_absence)) {
        reason = text;
        reason_is_absence = is_absence;
      }
    }
  }
  throw DeviceError("the CUDA plug-in cannot be loaded: " + reason);
}

std::string describe(const Device& device) {
  const std::string text = device.name() + " (" + device.model() + ")";
  return device.shortcoming().empty() ? text : text + ", " + device.shortcoming();
}

/// Panels for which a device has no kernel are factored by the CPU: its LAPACK, or loops for QR.
template <class T>
void lend_cpu_panels(Device& device) {
  device.kernels<T>().use(CpuPanels<T>{
      [](Uplo uplo, HostView<T> a) { return cpu::lapack<T>(cpu::Family::lp64).potrf(uplo, a); },
      [](HostView<T> a, Index* pivots) {
        return cpu::lapack<T>(cpu::Family::lp64).getrf(a, cpu::Pivots(pivots));
      },
      &reference::geqrf<T>});
}

}  // namespace

bool is_null_device(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && is_null_device(status);
}

ProfileFile read_profile(const std::string& path) {
  ProfileFile file;
  std::string text;
  file.error = read_file(path, text);
  if (file.error == 0) file.profile = parse_profile(text, file.complaint);
  if (file.profile) file.profile->source = path;
  return file;
}

void Context::expect_new_profile() { new_profile_expected = true; }

Context& Context::instance() {
  static Once<Context> context;
  return context.get([] { return new Context; });
}

Context::Context() {
  std::vector<std::string> complaints;
  first_ = parse_settings([](const char* name) { return secure_getenv(name); }, complaints);
  for (const std::string& complaint : complaints) complain(complaint);
  const auto excluded = [](const std::string& routine) {
    complain("OVERLAPACK_CPU_LAPACK='" + instance().settings().cpu_lapack + "' is ignored for " +
             routine + ": it hands calls back to overlapack");
  };
  if (const std::string error = cpu::configure(first_.cpu_lapack, excluded); !error.empty()) {
    complain("OVERLAPACK_CPU_LAPACK='" + first_.cpu_lapack + "' is ignored: " + error);
  }
  profile_ = load_profile(first_);
  has_nvtx_ = open_nvtx();
  // Not on standard error unless the log is there: nobody has asked for it in a program.
  if (first_.verbose && !first_.log_of_summary) {
    for (const std::string& message : unknown_settings(environ)) {
      log(first_, "overlapack: " + message);
    }
  }
}

bool Context::forked() const {
  const std::uint64_t opened_by = process_.load(std::memory_order_acquire);
  return opened_by != 0 && opened_by != process_identity();
}

bool Context::claim() {
  const std::uint64_t self = process_identity();
  std::uint64_t opened_by = process_.load(std::memory_order_acquire);
  if (opened_by == 0 && process_.compare_exchange_strong(opened_by, self)) opened_by = self;
  return opened_by == self;
}

Device* Context::device() {
  if (at_process_end() || !claim()) return nullptr;  // before any lock, as forked() says
  if (start_.begin_or_wait()) open_device();
  std::lock_guard<std::mutex> lock(mutex_);
  return device_.get();
}

const char* Context::why_not_yet(Routine routine, char type, const Shape& shape) {
  if (starts_at_once(settings()) || opened() || at_process_end() || !claim()) return nullptr;
  constexpr const char* kUnderWay = "no device yet: the device is being started";
  const CpuWork before = work_before_start();
  const double seconds = cpu_seconds(routine, type, shape, before, available_cores());
  const double elapsed = start_.elapsed();
  switch (choose(seconds, before.seconds, seconds_left(elapsed))) {
    case Choice::wait:
      if (!open_behind(0, routine, type, shape)) return nullptr;  // the caller can do it, too
      return start_.wait(std::max(seconds, kLongestWaitSeconds)) ? nullptr : kUnderWay;
    case Choice::behind:
      if (open_behind(std::max(kSecondsBeforeStart - before.seconds, 0.0), routine, type, shape)) {
        return kUnderWay;
      }
      return "no device yet: there is no thread that could start it";
    default:
      return elapsed != 0 ? kUnderWay
                          : "no device yet: starting the device takes longer than the calls it "
                            "would have served so far";
  }
}

bool Context::open_behind(double delay, Routine routine, char type, const Shape& shape) {
  Start::Behind behind;
  behind.is_worth_it = [this] {
    const bool goes_on =
        under_way_before_start_ > 0 || seconds_before_start_ >= kSecondsBeforeStart;
    // In a program that uses CUDA the device is to be that of the calling thread.
    return goes_on && !cuda_in_process();
  };
  behind.start = [this, routine, type, shape] {
    const NoTraps no_traps;  // which the thread has from the one that has made it
    claim();
    open_device([&](Device& device) { rehearse(device, routine, type, shape, settings()); });
  };
  behind.give_up = [this] { process_ = 0; };
  return start_.begin_behind(delay, behind);
}

void Context::end_before_start(const CpuWork& work) {
  const auto add = [](std::atomic<double>& sum, double amount) {
    for (double so_far = sum; !sum.compare_exchange_weak(so_far, so_far + amount);) {
    }
  };
  add(seconds_before_start_, work.seconds);
  add(flops_before_start_, work.flops);
  --under_way_before_start_;
}

std::string Context::device_status() {
  device();
  return device_status_so_far();
}

std::string Context::device_status_so_far() {
  if (forked()) return "opened by the parent process; CUDA does not survive a fork";
  if (at_process_end()) return "the process ends";
  if (!opened()) return opening() ? "being started" : "not started";
  std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

void Context::open_device(const std::function<void(Device&)>& prepare) {
  const DeviceUse use(DeviceUse::Kind::start);
  std::shared_ptr<Device> device;
  try {
    std::optional<MemoryUse> memory_use;  // ends when the device is there for all
    device = make_device();
    if (device && prepare && !start_.is_awaited()) {
      memory_use.emplace(*this);
      prepare(*device);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    status_ = device ? describe(*device) : "OVERLAPACK_DEVICE=off";
    device_ = std::move(device);
  } catch (const std::exception& error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    lost_ = std::move(device);  // if it was made, it is not destroyed, either
    set_status("", error.what());
    if (settings().cuda_index && from_environment_) report_missing(error.what());
  }
  start_.end();
}

std::shared_ptr<Device> Context::make_device() {
  if (at_process_end()) throw DeviceError("the process ends");
  const Settings& settings = this->settings();
  if (settings.device == DeviceChoice::off) return nullptr;
  std::shared_ptr<Device> device = settings.device == DeviceChoice::host
                                       ? std::shared_ptr<Device>(make_emulated_device())
                                       : open_cuda_device(settings.cuda_index, settings.rank);
#define OVERLAPACK_LEND(T) lend_cpu_panels<T>(*device);
  OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_LEND)
#undef OVERLAPACK_LEND
  device->heed(process_end());
  device->set_nvtx_blocks(has_nvtx_ && settings.nvtx_blocks);
  guard_exit();
  return device;
}

void Context::report_missing(const char* why) noexcept {
  try {
    complain("OVERLAPACK_DEVICE='cuda:" + std::to_string(*settings().cuda_index) + "': " + why +
             "; the CPU serves all calls");
  } catch (const std::bad_alloc&) {  // the call log has the same
  }
}

void Context::set_status(const char* what, const char* why) noexcept {
  try {
    status_ = what;
    status_ += why;
  } catch (const std::bad_alloc&) {  // the call log will say a little less
  }
}

void Context::lose_device(const char* why) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!device_) return;  // by another call
  // The device itself stays: destroying objects of a broken context helps nobody.
  lost_ = std::move(device_);
  set_status("lost: ", why);
}

void Context::give_back_memory() noexcept {
  const DeviceUse use;
  if (at_process_end()) return;  // also before the lock
  try {
    std::shared_ptr<Device> device;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      device = device_;
    }
    if (!device) return;
    const std::shared_ptr<void> current = device->make_current();
    device->give_back_idle_memory();
  } catch (const DeviceError& error) {
    heed(error);
  } catch (const std::bad_alloc&) {  // the next call gives back what this one has not
  }
}

bool Context::change(std::size_t place, const std::string& value) {
  const OnceLock lock;
  std::optional<Settings> settings = with(this->settings(), place, value);
  if (!settings) return false;
  log_failed_ = false;  // it may be another log
  settings_ = &*changed_.insert(*std::move(settings)).first;
  return true;
}

void Context::reset(Settings settings, Profile profile) {
  const bool keep = settings.device == this->settings().device &&
                    settings.cuda_index == this->settings().cuda_index && opened();
  if (!keep) start_.reset(false);
  std::lock_guard<std::mutex> lock(mutex_);
  first_ = std::move(settings);
  settings_ = &first_;
  from_environment_ = false;
  profile_ = std::move(profile);
  if (!keep) {
    device_.reset();
    seconds_before_start_ = flops_before_start_ = 0;
  }
}

void Context::use_device(std::shared_ptr<Device> device) {
  start_.reset(true);
  std::lock_guard<std::mutex> lock(mutex_);
  device_ = std::move(device);
  if (device_) device_->heed(process_end());
  process_ = process_identity();
  status_ = device_ ? describe(*device_) : "no device";
}

void Context::log(const Settings& settings, const std::string& line) {
  if (settings.log.empty()) return write_to_standard_error(line + "\n");
  const bool summary = settings.log_of_summary;
  const int reason = append(settings.log, line + "\n", summary ? IfAbsent::leave : IfAbsent::make);
  // A pipe that nobody reads yet, or any more, or not fast enough. Or the summary has been given.
  const bool over =
      summary && (reason == ENOENT || reason == ENOTDIR || reason == EACCES || reason == ELOOP);
  const bool unread = reason == ENXIO || reason == EPIPE || reason == EAGAIN || over;
  if (reason != 0 && !unread && !log_failed_.exchange(true)) {
    complain("OVERLAPACK_VERBOSE='" + settings.log +
             "': calls cannot be logged: " + std::generic_category().message(reason));
  }
}

std::shared_ptr<Device> open_cuda_device(std::optional<int> index, int rank) {
  const DlerrorGuard dlerror_guard;
  // The driver first: where there is none, the plug-in and its libraries would be loaded, with
  // their memory, to find that out.
  if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr) {
    const char* const reason = dlerror();
    throw DeviceError(std::string("no NVIDIA driver is installed (") +
                      (reason != nullptr ? reason : "libcuda.so.1 cannot be opened") + ")");
  }
  const ExitGuard guard;
  const auto refuse_at_end = [] {  // exit() waits for this
    if (at_process_end()) throw DeviceError("the process ends");
  };
  refuse_at_end();
  void* const plugin = open_plugin();
  refuse_at_end();
  const auto open = reinterpret_cast<OpenCudaDevice*>(dlsym(plugin, kOpenCudaDevice));
  if (open == nullptr) throw DeviceError("the CUDA plug-in is a library of another kind");
  return std::shared_ptr<Device>(open(index.value_or(kAnyDevice), rank, process_end()));
}

}  // namespace overlapack::dispatch
