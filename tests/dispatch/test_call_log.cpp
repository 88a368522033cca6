// The call log: what it says, and that whoever reads it, or does not, cannot disturb the program.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "dispatch/calls.hpp"
#include "dispatch/context.hpp"
#include "dispatch/plan.hpp"
#include "host/messages.hpp"
#include "host/tuning.hpp"
#include "overlapack/settings.h"
#include "support/child.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

constexpr unsigned kSeconds = 20;  // for what takes none

class CallLog : public RoutedTest {
 protected:
  void SetUp() override {
    RoutedTest::SetUp();
    std::string pattern = testing::TempDir() + "/overlapack-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    path_ = directory_ + "/calls.log";
  }
  void TearDown() override {
    RoutedTest::TearDown();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  /// Calls are logged from now on; to stderr if `path` is empty.
  void log_to(const std::string& path) {
    dispatch::Settings settings = settings_for(dispatch::Algorithm::tiled, 16);
    settings.verbose = true;
    settings.log = path;
    use(settings);
  }
  static void write_line() {
    auto& context = dispatch::Context::instance();
    context.log(context.settings(), "a line");
  }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }

  std::string directory_, path_;
};

bool is_pending(int signal) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, signal) == 1;
}

bool is_blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

/// Makes stderr a pipe that nobody reads.
void break_stderr() {
  int ends[2];
  if (pipe(ends) != 0) _exit(2);
  close(ends[0]);
  dup2(ends[1], STDERR_FILENO);
  find_standard_error();
}

/// Puts a file in the place of stderr.
void put_at_two(const std::string& path, int flags = 0) {
  close(STDERR_FILENO);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | flags, 0600);
  if (file != STDERR_FILENO) _exit(2);
}

TEST_F(CallLog, APipeThatNobodyOpens) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  log_to(path_);
  expect_in_child(kSeconds, [] {
    write_line();
    return true;
  });
}

TEST_F(CallLog, AStderrThatNobodyReads) {
  log_to("");
  expect_in_child(kSeconds, [] {
    break_stderr();
    write_line();
    return !is_pending(SIGPIPE) && !is_blocked(SIGPIPE);
  });
}

TEST_F(CallLog, AFileOfTheProgramThatHasTheNumberOfStderr) {
  log_to("");
  const auto size = [&] { return std::filesystem::file_size(path_); };
  expect_in_child(kSeconds, [&] {  // opened when the library had been loaded
    put_at_two(path_);
    write_line();
    return size() == 0;
  });
  expect_in_child(kSeconds, [&] {  // opened before by the process, as it closes on exec
    put_at_two(path_, O_CLOEXEC);
    find_standard_error();
    write_line();
    return size() == 0;
  });
  expect_in_child(kSeconds, [&] {  // and nothing has been there
    close(STDERR_FILENO);
    find_standard_error();
    put_at_two(path_);
    write_line();
    return size() == 0;
  });
  expect_in_child(kSeconds, [&] {  // of whoever has started the process
    put_at_two(path_);
    find_standard_error();
    write_line();
    const bool written = size() == 7;
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    write_line();
    put_at_two(path_);  // the same file as before
    write_line();
    return written && size() == 7;  // from its beginning
  });
}

TEST_F(CallLog, TheLogOfASummaryIsNotMadeAgain) {
  dispatch::Settings settings = settings_for(dispatch::Algorithm::tiled, 16);
  settings.verbose = settings.log_of_summary = true;
  settings.log = path_;
  use(settings);
  std::ofstream{path_};
  write_line();
  EXPECT_EQ(text(), "a line\n");
  const std::string said = directory_ + "/said";
  const auto expect_silence = [&] {
    expect_in_child(kSeconds, [&] {
      put_at_two(said);
      find_standard_error();
      write_line();
      return std::filesystem::file_size(said) == 0;
    });
  };
  std::filesystem::rename(path_, directory_ + "/other");
  expect_silence();
  EXPECT_FALSE(std::filesystem::exists(path_));
  ASSERT_EQ(symlink("other", path_.c_str()), 0);
  expect_silence();
  EXPECT_EQ(std::filesystem::file_size(directory_ + "/other"), 7u);
}

TEST_F(CallLog, ASignalOfTheProgramStays) {
  log_to("");
  expect_in_child(kSeconds, [] {
    break_stderr();
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipes, nullptr);
    write_line();
    const bool none = !is_pending(SIGPIPE);
    raise(SIGPIPE);
    write_line();
    return none && is_pending(SIGPIPE) && is_blocked(SIGPIPE);
  });
}

TEST_F(CallLog, AFileThatMayNotGrow) {
  log_to(path_);
  expect_in_child(kSeconds, [] {
    const rlimit limit{10, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int line = 0; line < 3; ++line) write_line();
    return !is_pending(SIGXFSZ) && !is_blocked(SIGXFSZ);
  });
  EXPECT_EQ(text(), "a line\na l");
}

/// Switches to a locale with decimal commas, made here because a machine need not have one.
bool switch_to_decimal_commas(const std::string& directory) {
  const std::string locale = directory + "/de_DE.UTF-8";
  const std::string make = "localedef -i de_DE -f UTF-8 " + locale + " > /dev/null 2>&1";
  return std::system(make.c_str()) == 0 && setenv("LOCPATH", directory.c_str(), 1) == 0 &&
         std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr &&
         *std::localeconv()->decimal_point == ',';
}

TEST_F(CallLog, NumbersHaveDecimalPointsInEveryLocale) {
  if (!switch_to_decimal_commas(directory_)) GTEST_SKIP() << "localedef could not make a locale";
  log_to(path_);
  auto a = positive_definite<double>(100, 1);
  EXPECT_EQ(potrf<double>(Uplo::lower, a.view()), 0);
  std::setlocale(LC_ALL, "C");
  const std::string line = text();
  const auto before = [&](const char* key, std::size_t characters) {
    const std::size_t at = line.find(key);
    return at == std::string::npos ? '?' : line[at - characters];
  };
  EXPECT_EQ(before(" gflops=", 4), '.') << line;  // of ms=1.234
  EXPECT_EQ(before(" up=", 4), '.') << line;      // of gflops=1.234
  EXPECT_EQ(line.find(','), std::string::npos) << line;
}

TEST_F(CallLog, AFileThatCannotBeWrittenIsReportedOnce) {
  for (const char* const file : {"nowhere/calls.log", "full"}) {
    const std::string path = directory_ + "/" + file;
    log_to(path);
    expect_in_child(kSeconds, [&] {
      if (symlink("/dev/full", (directory_ + "/full").c_str()) != 0) return false;
      const std::string errors = directory_ + "/errors";
      put_at_two(errors, O_TRUNC);
      find_standard_error();
      write_line();
      write_line();
      std::ostringstream all;
      all << std::ifstream(errors).rdbuf();
      const std::string said = all.str();
      unlink((directory_ + "/full").c_str());
      return said.find(path + "': calls cannot be logged: ") != std::string::npos &&
             std::count(said.begin(), said.end(), '\n') == 1;
    });
  }
}

TEST_F(CallLog, ACallThatNobodyCanServe) {
  auto settings = settings_for(dispatch::Algorithm::tiled, 16);
  settings.verbose = true;
  settings.log = path_;
  auto a = positive_definite<double>(100, 1);
  const OnDevice<double> there(device(), a);
  settings.memory_limit = 1000;
  use(settings);
  EXPECT_EQ(potrf<double>(Uplo::lower, there.view()), dispatch::kNoMemory);
  EXPECT_NE(text().find("info=-1010 where=none "), std::string::npos) << text();
}

TEST_F(CallLog, QrByBlocksOfTheCaller) {
  log_to(path_);
  auto a = random_matrix<double>(50, 40, 1), c = random_matrix<double>(50, 3, 2);
  Padded<double> t(12, 40, 1);
  EXPECT_EQ(geqrt<double>(a.view(), t.view()), 0);
  EXPECT_EQ(gemqrt<double>(Side::left, Op::conj_trans, a.view(), t.view(), c.view()), 0);
  std::istringstream lines(text());
  std::string line;
  const std::string where = " info=0 where=" + device().name() + " algorithm=tiled nb=16 ";
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(
      line.rfind("overlapack dgeqrt m=50 n=40 nrhs=0 lda=50 ldb=13 uplo=- trans=-" + where, 0), 0)
      << line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(
      line.rfind("overlapack dgemqrt m=50 n=40 nrhs=3 lda=50 ldb=50 uplo=- trans=C" + where, 0), 0)
      << line;
}

TEST_F(CallLog, NormsThatTheLibraryComputes) {
  log_to(path_);
  constexpr Index kLarge = kHostTuning.norm_rows_at_least,
                  kColumns = kHostTuning.norm_elements_at_least / kLarge;
  auto a = random_matrix<double>(kLarge, kColumns, 1);
  lange<double>('F', a.view().block(0, 0, kLarge, kColumns - 1));  // by the CPU LAPACK
  lange<double>('F', a.view().block(0, 0, kLarge - 1, kColumns));
  EXPECT_EQ(text(), "");
  lange<double>('F', a.view());
  const OnDevice<double> there(device(), a);
  lange<double>('M', there.view());
  const std::string sizes =
      " m=" + std::to_string(kLarge) + " n=" + std::to_string(kColumns) + " nrhs=0 ";
  std::istringstream lines(text());
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(line.rfind("overlapack dlange" + sizes, 0), 0) << line;
  EXPECT_NE(line.find(" uplo=- trans=F info=0 where=cpu "), std::string::npos) << line;
  EXPECT_NE(line.find("why=\"a norm of a matrix in the host's memory\""), std::string::npos)
      << line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_NE(line.find(" trans=M info=0 where=" + device().name() + " "), std::string::npos) << line;
  const char norm = '1', uplo = 'U', diag = 'N';
  const Sizes s(there.view());
  double work = 0;
  compat::Exported<double>::lantr(&norm, &uplo, &diag, &s.rows, &s.cols, there.view().data, &s.ld,
                                  &work, 1, 1, 1);
  EXPECT_NE(text().find("overlapack dlantr" + sizes), std::string::npos) << text();
  EXPECT_NE(text().find(" uplo=U trans=O info=0 where=cpu "), std::string::npos) << text();
}

TEST_F(CallLog, SaysWhatTheDeviceLacks) {
  EmulatedOptions options;
  options.shortcoming = "without wings";
  device_ = make_emulated_device(options);
  log_to(path_);
  auto a = positive_definite<double>(100, 1);
  EXPECT_EQ(potrf<double>(Uplo::lower, a.view()), 0);
  EXPECT_NE(text().find("; without wings\""), std::string::npos) << text();
  EXPECT_EQ(dispatch::Context::instance().device_status(), "host (emulated device), without wings");
}

TEST_F(CallLog, CallsThatTheDeviceWouldHaveServedStartItInTheEnd) {
  if (!device().emulated()) GTEST_SKIP() << "CUDA runs in this process, so it opens at once";
  auto& context = dispatch::Context::instance();
  dispatch::Profile profile = dispatch::builtin_profile();
  profile.set(dispatch::Routine::potrf, 'd', 50);
  dispatch::Settings settings;
  settings.device = dispatch::DeviceChoice::off;  // no device of an earlier test
  context.reset(settings, profile);
  settings.device = dispatch::DeviceChoice::automatic;
  settings.verbose = true;
  settings.log = path_;
  context.reset(settings, profile);
  const auto call = [](Index n) {
    auto a = positive_definite<double>(n, 1);
    EXPECT_EQ(potrf<double>(Uplo::lower, a.view()), 0);
  };
  EXPECT_EQ(context.work_before_start().seconds, 0);
  call(49);  // not one of them
  EXPECT_EQ(context.work_before_start().seconds, 0);
  call(50);
  EXPECT_GT(context.work_before_start().seconds, 0);
  EXPECT_GT(context.work_before_start().flops, 0);
  EXPECT_FALSE(context.opened());
  EXPECT_NE(text().find("starting the device takes longer"), std::string::npos) << text();
  context.begin_before_start();
  context.end_before_start({dispatch::kSecondsBeforeStart, 1e9});
  call(50);
  EXPECT_NE(text().find("the device is being started"), std::string::npos) << text();
  context.device();  // waits for it
  EXPECT_TRUE(context.opened());
}

TEST_F(CallLog, SettingsChangeWhileThreadsCall) {
  use(settings_for(dispatch::Algorithm::tiled, 16));
  const auto set = [](const char* name, const std::string& value) {
    EXPECT_EQ(ovl_set(name, value.c_str()), 0) << name << '=' << value;
  };
  set("OVERLAPACK_KEEP_MEMORY", "forever");  // as in use()
  const auto solve = [](Index n, std::uint64_t seed) {
    const auto a = random_matrix<double>(n, n, seed), b = random_matrix<double>(n, 1, seed + 1);
    auto lu = a, x = b;
    std::vector<Index> pivots;
    EXPECT_EQ(gesv(lu.view(), pivots, x.view()), 0);
    EXPECT_LT(solve_residual(Op::none, widen<double>(a.view()), x, b), kThreshold);
  };
  std::atomic<bool> going{true};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t round = 0; round < 20 || going; ++round) solve(30 + 10 * Index(t), round);
    });
  }
  const std::pair<const char*, const char*> changes[] = {{"OVERLAPACK_VERBOSE", path_.c_str()},
                                                         {"OVERLAPACK_MIN_N", "1"},
                                                         {"OVERLAPACK_NB", "8"},
                                                         {"OVERLAPACK_THREADS", "3"},
                                                         {"OVERLAPACK_ALGORITHM", "hybrid"},
                                                         {"OVERLAPACK_MEMORY_LIMIT", "1M"},
                                                         {"OVERLAPACK_KEEP_MEMORY", "0"}};
  for (int round = 0; round < 10; ++round) {
    for (const auto& [name, value] : changes) {
      set(name, value);
      char text[4096];
      EXPECT_GT(ovl_get(name, text, sizeof text), 0);
      EXPECT_STREQ(text, value);
      EXPECT_GT(ovl_info(text, sizeof text), 0);
      EXPECT_NE(std::string(text).find(name), std::string::npos) << text;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // some calls
    for (const auto& [name, value] : changes) {
      set(name, std::strcmp(name, "OVERLAPACK_KEEP_MEMORY") == 0 ? "forever" : "");
    }
  }
  going = false;
  for (std::thread& thread : threads) thread.join();

  const std::string before = text();
  EXPECT_NE(before.find(" where=host "), std::string::npos) << before;
  solve(30, 1);
  EXPECT_EQ(text(), before);
  set("OVERLAPACK_VERBOSE", path_);
  solve(30, 1);
  std::istringstream log(text());
  for (std::string line; std::getline(log, line);) {  // whole ones
    EXPECT_EQ(line.rfind("overlapack dgesv ", 0), 0u) << line;
    EXPECT_EQ(line.back(), '"') << line;
  }
  EXPECT_GT(text().size(), before.size());
}

TEST_F(CallLog, LinesAreAppended) {
  log_to(path_);
  write_line();
  write_line();
  EXPECT_EQ(text(), "a line\na line\n");
}

}  // namespace
}  // namespace overlapack
