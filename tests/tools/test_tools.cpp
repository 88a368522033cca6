// What the `overlapack` command is made of: the search for break-even sizes, the reader of the call
// log, timing.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "tools/break_even.hpp"
#include "tools/call_log.hpp"
#include "tools/measure.hpp"

namespace overlapack::tools {
namespace {

// ---- Break-even sizes ---------------------------------------------------------------------

/// Answers by `wins`; remembers what was asked, and does not want to be asked twice.
class Asked {
 public:
  explicit Asked(std::function<bool(Index)> wins) : wins_(std::move(wins)) {}
  bool operator()(Index n) {
    EXPECT_TRUE(sizes_.insert(n).second) << n << " for the second time";
    return wins_(n);
  }
  Index largest() const { return sizes_.empty() ? 0 : *sizes_.rbegin(); }

  Index find(Index max_n, double precision) {
    return find_break_even(max_n, precision, std::ref(*this));
  }

 private:
  std::function<bool(Index)> wins_;
  std::set<Index> sizes_;
};

TEST(Problems, OnlyTheLimitOfGesvGrowsWithTheOrder) {
  using tools::Routine;
  const auto limit = [](Routine routine, Index n, Index nrhs) {
    return tools::residual_limit(tools::square_call(routine, 'd', n, nrhs));
  };
  EXPECT_EQ(limit(Routine::getrf, 16384, 0), 30);
  EXPECT_EQ(limit(Routine::cholupdate, 16384, 16), 30);
  EXPECT_EQ(limit(Routine::gesv, 500, 1), 30);
  EXPECT_EQ(limit(Routine::gesv, 10000, 1), 300);
  EXPECT_EQ(limit(Routine::posv, 10000, 1), 30);
  EXPECT_EQ(limit(Routine::sgesv, 10000, 1), 30);
}

TEST(BreakEven, IsFoundAsPreciselyAsAskedFor) {
  for (const Index truth : {33, 100, 700, 1024, 1025, 4000}) {
    for (const double precision : {0.25, 0.1, 0.0}) {
      SCOPED_TRACE(testing::Message() << truth << " to " << precision);
      Asked wins([=](Index n) { return n >= truth; });
      const Index found = wins.find(8192, precision);
      EXPECT_GE(found, truth);
      EXPECT_LE(static_cast<double>(found - truth), precision * static_cast<double>(found));
    }
  }
}

TEST(BreakEven, ThreeWinsInARowAreEnough) {
  Asked always([](Index) { return true; });
  EXPECT_EQ(always.find(8192, 0.1), 32);
  EXPECT_EQ(always.largest(), 128);
  // The device may win here and there by accident.
  Asked seldom([](Index n) { return n == 64 || n == 128 || n >= 512; });
  EXPECT_EQ(seldom.find(8192, 0.5), 512);
  EXPECT_EQ(seldom.largest(), 2048);
}

TEST(BreakEven, IsNeverWhereTheLargestSizeLoses) {
  Asked never([](Index) { return false; });
  EXPECT_EQ(never.find(300, 0.1), kNever);
  EXPECT_EQ(never.largest(), 256);
  Asked small([](Index n) { return n <= 64; });
  EXPECT_EQ(small.find(128, 0.1), kNever);
  Asked large([](Index n) { return n >= 128; });  // the largest size counts, too
  EXPECT_EQ(large.find(128, 0.5), 128);
  Asked one([](Index) { return true; });
  EXPECT_EQ(one.find(20, 0.1), 20);
}

// ---- The call log -------------------------------------------------------------------------

constexpr const char* kLine =
    "overlapack dgetrs m=300 n=300 nrhs=7 lda=310 ldb=320 uplo=- trans=T info=0 where=cuda:0+cpu "
    "algorithm=tiled nb=128 ms=2.500 gflops=4.000 up=720000 down=16800 "
    "why=\"size 7 >= 1 (OVERLAPACK_MIN_N); finished by the CPU: up=1 down=2\"";

TEST(LogReader, ALineIsReadAsItWasWritten) {
  const auto logged = parse_call(kLine);
  ASSERT_TRUE(logged.has_value());
  EXPECT_EQ(logged->name, "dgetrs");
  EXPECT_EQ(logged->where, "cuda:0+cpu");
  EXPECT_EQ(logged->info, 0);
  EXPECT_EQ(logged->shape.nrhs, 7);
  EXPECT_DOUBLE_EQ(logged->ms, 2.5);
  EXPECT_EQ(logged->flops, dispatch::flops_of(dispatch::Routine::getrs, 'd', logged->shape));
  EXPECT_EQ(logged->bytes_up, 720000) << "what is quoted is no key";
  EXPECT_EQ(logged->bytes_down, 16800);
  ASSERT_TRUE(logged->call.has_value());
  EXPECT_EQ(logged->call->routine, dispatch::Routine::getrs);
  EXPECT_EQ(logged->call->type, 'd');
  EXPECT_EQ(logged->call->lda, 310);
  EXPECT_EQ(logged->call->ldb, 320);
  EXPECT_EQ(logged->call->op, Op::trans);
}

TEST(LogReader, LettersOfACall) {
  const auto parsed = [](const std::string& letters) {
    const auto logged = parse_call("overlapack zpotrs m=5 n=5 nrhs=1 lda=5 ldb=5 " + letters +
                                   " info=3 where=cpu ms=0.1 gflops=1 up=0 down=0 why=\"\"");
    EXPECT_TRUE(logged.has_value() && logged->call.has_value()) << letters;
    EXPECT_EQ(logged->info, 3);
    return *logged->call;
  };
  EXPECT_EQ(parsed("uplo=U trans=-").uplo, Uplo::upper);
  EXPECT_EQ(parsed("uplo=L trans=-").uplo, Uplo::lower);
  EXPECT_EQ(parsed("uplo=- trans=N").op, Op::none);
  EXPECT_EQ(parsed("uplo=- trans=T").op, Op::trans);
  EXPECT_EQ(parsed("uplo=- trans=C").op, Op::conj_trans);
}

TEST(LogReader, OperationsOfWhatIsNotRepeatedAreThoseOfTheLine) {
  const auto logged = parse_call(
      "overlapack dlange m=5 n=5 nrhs=0 lda=5 ldb=0 uplo=- trans=F info=0 where=host ms=2.500 "
      "gflops=4.000 up=0 down=0 why=\"\"");
  ASSERT_TRUE(logged.has_value());
  EXPECT_FALSE(logged->call.has_value());
  EXPECT_DOUBLE_EQ(logged->flops, 1e7);
}

TEST(LogReader, WhatNoLapackCanHaveServed) {
  const auto fault = [](const std::string& numbers) {
    std::istringstream log(std::string(kLine) + "\n" + "overlapack " + numbers +
                           " uplo=- trans=- info=0 where=cpu ms=1 gflops=1 up=0 down=0 why=\"\"");
    const auto calls = read_call_log(log);
    EXPECT_EQ(calls.size(), 2u) << numbers;
    EXPECT_EQ(calls.front().fault, "");
    EXPECT_EQ(calls.back().line, 2) << numbers;
    return calls.back().fault;
  };
  EXPECT_EQ(fault("dgetrf m=5 n=9 nrhs=0 lda=5 ldb=1"), "");
  EXPECT_EQ(fault("dgesv m=5 n=5 nrhs=0 lda=5 ldb=5"), "");
  EXPECT_EQ(fault("dgetrf m=-5 n=9 nrhs=0 lda=5 ldb=1"), "m=-5 is out of range");
  EXPECT_EQ(fault("dgetrf m=5 n=4294967296 nrhs=0 lda=5 ldb=1"), "n=4294967296 is out of range");
  EXPECT_EQ(fault("dgetrf m=5 n=9 nrhs=0 lda=4 ldb=1"), "lda=4 is less than m=5");
  EXPECT_EQ(fault("dpotrf m=5 n=9 nrhs=0 lda=5 ldb=1"), "m=5 is not n=9");
  EXPECT_EQ(fault("dgesv m=5 n=5 nrhs=1 lda=5 ldb=4"), "ldb=4 is less than n=5");
  EXPECT_EQ(fault("dlange m=5 n=5 nrhs=0 lda=4 ldb=0"), "") << "it is not repeated";
}

TEST(LogReader, WhatIsNoLineOfItIsSkipped) {
  const std::string line = kLine;
  std::istringstream log("The program's own output\noverlapack\noverlapack: a complaint\n\n" +
                         line.substr(0, line.find(" down=")) + "\n" + line + "\n" +
                         "overlapack dgetrs m=many n=300 nrhs=7\n" + line);  // without an end
  EXPECT_EQ(read_call_log(log).size(), 2u);
}

// ---- Timing -------------------------------------------------------------------------------

TEST(Median, IsTheLargerOfTwoInTheMiddle) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({3, 1}), 3);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({9, 1, 2, 8}), 8);
}

TEST(ForceDevice, RefusesWhatTheLibraryWouldIgnore) {
  EXPECT_THROW(force_device("gpu"), std::runtime_error);
  EXPECT_THROW(force_device("host", 1, "fast"), std::runtime_error);
  EXPECT_EQ(force_device("off"), nullptr);
  EXPECT_NE(force_device("host"), nullptr);
}

}  // namespace
}  // namespace overlapack::tools
