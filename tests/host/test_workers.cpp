// The copy threads: nobody takes part in a job twice, or after its end, whatever came before it.
#include <fenv.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <new>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "host/workers.hpp"
#include "support/child.hpp"
#include "support/scarce_memory.hpp"
#include "support/threads.hpp"

/// The size of the kernel's own set of CPUs: it refuses smaller ones.
static std::size_t cpu_set_of_kernel = 0;

extern "C" int sched_getaffinity(pid_t process, std::size_t bytes, cpu_set_t* set) noexcept {
  if (bytes < cpu_set_of_kernel) {
    errno = EINVAL;
    return -1;
  }
  std::memset(set, 0, bytes);
  return syscall(SYS_sched_getaffinity, process, bytes, set) < 0 ? -1 : 0;
}

namespace overlapack {
namespace {

using testing_support::expect_in_child;
using testing_support::ScarceMemory;
using testing_support::threads_of_process;

TEST(Workers, CountTheCoresOfALargeMachine) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  const Index cores = CPU_COUNT(&set);
  EXPECT_EQ(available_cores(), cores);
  if (cores < 2) GTEST_SKIP() << "the process has one core in any case";
  constexpr std::size_t kCpus = 8192;
  cpu_set_of_kernel = kCpus / 8;
  EXPECT_EQ(available_cores(), cores);
  cpu_set_of_kernel = 0;
}

TEST(Workers, EndWhenThereIsNothingToDoAndComeBack) {
  constexpr Index kCount = 3;
  std::thread([] {}).join();  // with the first one a sanitizer makes one of its own
  const auto before = threads_of_process();
  auto& workers = *new Workers(std::chrono::milliseconds(2));
  const auto work = [&] {
    std::atomic<unsigned> seen{0};
    std::atomic<Index> calls{0};
    workers.start(kCount, [&](Index id) {
      ++calls;
      seen.fetch_or(1u << id);
    });
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (seen != 7u && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    workers.join();
    EXPECT_EQ(seen, 7u);  // all of them, whether they had ended or were about to
    EXPECT_EQ(calls, kCount) << "somebody took the place of a thread that had not ended";
  };
  for (int i = 0; i < 300; ++i) {
    work();
    std::this_thread::sleep_for(std::chrono::microseconds(i % 3 * 1000 + i * 10));
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (threads_of_process() > before && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(threads_of_process(), before);
  work();
}

TEST(Workers, LeaveTheProgramTheFaultsInItsMemory) {
  static void* page;
  page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) { mprotect(page, 4096, PROT_READ | PROT_WRITE); };
  ASSERT_EQ(sigaction(SIGSEGV, &action, &before), 0);
  auto& workers = *new Workers;
  std::atomic<bool> done{false};
  workers.start(1, [&](Index) {
    *static_cast<volatile int*>(page) = 1;
    done = true;
  });
  while (!done) std::this_thread::yield();
  workers.join();
  sigaction(SIGSEGV, &before, nullptr);
  munmap(page, 4096);
}

TEST(Workers, AllComeAfterOneCouldNotBeMade) {
  constexpr Index kCount = 3;
  bool refused = true;
  for (long at = 1; refused; ++at) {
    SCOPED_TRACE(testing::Message() << "request " << at << " for memory");
    auto& workers = *new Workers;  // its threads outlive the test
    {
      const ScarceMemory memory(at);
      try {
        workers.start(kCount, [](Index) {});
      } catch (const std::bad_alloc&) {
      }
      refused = memory.count() >= at;
    }
    workers.join();
    std::atomic<Index> came{0};
    workers.start(kCount, [&](Index) { ++came; });
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (came < kCount && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    workers.join();
    ASSERT_EQ(came, kCount);
  }
}

TEST(Workers, RunEveryPartOfAJobOnAThreadOfItsOwn) {
  constexpr Index count = 7;
  std::atomic<Index> together{0};
  std::thread::id ids[count];
  Workers::instance().start(count, [&](Index id) {
    ids[id] = std::this_thread::get_id();
    ++together;
    while (together < count) std::this_thread::yield();  // all of them run at the same time
  });
  while (together < count) std::this_thread::yield();
  Workers::instance().join();
  const std::set<std::thread::id> distinct(ids, ids + count);
  EXPECT_EQ(distinct.size(), 7u);
  EXPECT_EQ(distinct.count(std::this_thread::get_id()), 0u);
}

TEST(Workers, ServeJobsOfEverySizeOneAfterTheOther) {
  // With pauses on both sides of the time for which threads stay awake.
  for (const int microseconds : {0, 20, 60, 500}) {
    for (Index round = 0; round < 200; ++round) {
      const Index count = 1 + round * 5 % 9;
      const bool wait = round % 2 == 0;
      std::vector<int> runs(9, 0);
      std::atomic<Index> arrived{0};
      const auto job = [&](Index id) {
        ++runs[static_cast<std::size_t>(id)];
        ++arrived;
      };
      Workers::instance().start(count, job, 1 + round * 7 % 9);  // woken by the caller
      while (wait && arrived < count) std::this_thread::yield();
      Workers::instance().join();
      const Index took_part = arrived;
      EXPECT_EQ(std::accumulate(runs.begin(), runs.end(), Index{0}), took_part);
      for (Index id = 0; id < 9; ++id) {
        const int ran = runs[static_cast<std::size_t>(id)];
        ASSERT_LE(ran, id < count ? 1 : 0) << id << " of " << count << " in round " << round;
      }
      if (microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
      ASSERT_EQ(arrived, took_part) << "somebody came after the end";
    }
  }
}

TEST(Workers, JoinWaitsForThoseWhoTakePart) {
  Workers::instance().join();  // nobody does
  std::atomic<bool> begun{false}, done{false};
  Workers::instance().start(2, [&](Index id) {
    if (id == 1) {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    }
  });
  while (!begun) std::this_thread::yield();
  Workers::instance().join();
  EXPECT_TRUE(done);
  Workers::instance().join();
}

TEST(Workers, ShareOutALoop) {
  for (const Index threads : {1, 2, 5}) {
    for (const Index count : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
      Workers::instance().parallel_for(threads, count,
                                       [&](Index i) { ++runs[static_cast<std::size_t>(i)]; });
      for (const auto& run : runs) ASSERT_EQ(run, 1);
    }
  }
}

TEST(Workers, GiveAThreadTheSamePartInAllCalls) {
  constexpr Index kCount = 5;
  std::thread::id before[kCount];
  for (int call = 0; call < 300; ++call) {
    const bool wait = call % 3 == 0;  // until each part has a thread of its own
    std::atomic<Index> runs[kCount] = {}, begun{0};
    std::thread::id ids[kCount];
    Workers::instance().for_each_part(kCount, [&](Index i) {
      ++runs[i];
      ids[i] = std::this_thread::get_id();
      ++begun;
      while (wait && begun < kCount) std::this_thread::yield();
    });
    for (Index i = 0; i < kCount; ++i) {
      ASSERT_EQ(runs[i], 1) << "part " << i << " in call " << call;
      if (!wait) continue;
      ASSERT_TRUE(call == 0 || ids[i] == before[i]) << "part " << i << " in call " << call;
      before[i] = ids[i];
    }
    EXPECT_EQ(ids[0], std::this_thread::get_id());
  }
}

/// A way to have body(i) called for i in [0, count).
struct Way {
  Index count;
  std::function<void(Index, const std::function<void(Index)>&)> compute;
};

const std::vector<Way> kWays = {
    {1000, [](Index count, const auto& body) { share_out(4, count, body); }},
    {Workers::kMaxParts, compute_parts},
};

TEST(Workers, ComputeEitherWayWithTheSameThreads) {
  constexpr Index kCount = 6;
  const auto nothing = [](Index) {};
  compute_in_parallel(kCount, kCount, nothing);
  const auto threads = threads_of_process();
  compute_parts(kCount, nothing);
  EXPECT_EQ(threads_of_process(), threads);
}

TEST(Workers, ComputeInParallelAndAloneInAForkedChild) {
  for (const Way& way : kWays) {
    const auto all_run_once = [&] {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(way.count));
      way.compute(way.count, [&](Index i) { ++runs[static_cast<std::size_t>(i)]; });
      return std::all_of(runs.begin(), runs.end(), [](const auto& run) { return run == 1; });
    };
    for (int repetition = 0; repetition < 20; ++repetition) {
      EXPECT_TRUE(all_run_once());
      expect_in_child(60, all_run_once);
    }
  }
}

TEST(Workers, ComputeInParallelForConcurrentCallers) {
  for (const Way& way : kWays) {
    const Index count = std::min<Index>(way.count, 100);
    std::vector<std::thread> callers;
    std::atomic<Index> wrong{0};
    for (int caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&] {
        for (int round = 0; round < 200; ++round) {
          std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
          way.compute(count, [&](Index i) {
            ++calls[static_cast<std::size_t>(i)];
            std::this_thread::yield();  // to the other callers
          });
          for (const auto& runs : calls) wrong += runs != 1;
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Workers, LeaveSignalsToTheApplication) {
  std::atomic<int> asked{0}, blocked{0};
  Workers::instance().start(3, [&](Index) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    if (sigismember(&mask, SIGUSR1) == 1 && sigismember(&mask, SIGINT) == 1) ++blocked;
    ++asked;
  });
  while (asked < 3) std::this_thread::yield();
  Workers::instance().join();
  EXPECT_EQ(blocked, 3);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGUSR1), 0);
}

TEST(Workers, ComputeAsTheirCallerDoes) {
  auto& workers = *new Workers;  // for threads that wait in it
  std::atomic<int> toward_zero{0}, done{0};
  const int before = fegetround();
  for (const int rounding : {FE_TOWARDZERO, FE_TONEAREST}) {
    toward_zero = done = 0;
    fesetround(rounding);
    workers.start(3, [&](Index) {
      if (fegetround() == FE_TOWARDZERO) ++toward_zero;
      ++done;
    });
    while (done < 3) std::this_thread::yield();
    workers.join();
    EXPECT_EQ(toward_zero, rounding == FE_TOWARDZERO ? 3 : 0);
  }
  fesetround(before);
}

/// Whatever stack the program gives its own threads.
TEST(Workers, HaveRoomOnTheirStacks) {
  pthread_attr_t defaults, small;
  ASSERT_EQ(pthread_getattr_default_np(&defaults), 0);
  ASSERT_EQ(pthread_getattr_default_np(&small), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&small, std::size_t{64} << 10), 0);
  ASSERT_EQ(pthread_setattr_default_np(&small), 0);
  auto& workers = *new Workers;
  std::atomic<std::size_t> stack{0};
  workers.start(1, [&](Index) {
    pthread_attr_t own;
    std::size_t bytes = 1;  // if nobody knows
    if (pthread_getattr_np(pthread_self(), &own) == 0) {
      pthread_attr_getstacksize(&own, &bytes);
      pthread_attr_destroy(&own);
    }
    stack = bytes;
  });
  while (stack == 0) std::this_thread::yield();
  workers.join();
  EXPECT_GE(stack, std::size_t{1} << 20);
  pthread_setattr_default_np(&defaults);
}

}  // namespace
}  // namespace overlapack
