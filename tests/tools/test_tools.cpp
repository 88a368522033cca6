// What the `overlapack` command is made of: the search for break-even sizes, the reader of the call
// log, mistyped names, tables, timing.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "host/nearest.hpp"
#include "tools/break_even.hpp"
#include "tools/call_log.hpp"
#include "tools/measure.hpp"
#include "tools/table.hpp"

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

TEST(Problems, OfQrKnowRightResultsFromWrongOnes) {
  using tools::Routine;
  const auto residual_of = [](auto one, Routine routine, Op op, bool spoil) {
    using T = decltype(one);
    tools::Call call = tools::square_call(routine, ScalarTraits<T>::letter, 60, 5, 3);
    call.op = op;
    tools::Problem<T> problem(call);
    problem.generate(1);
    tools::Ours<T>().run(problem);
    EXPECT_EQ(problem.info, 0);
    const bool in_b = tools::has_right_hand_sides(routine);
    if (spoil) (in_b ? problem.b() : problem.a())(7, 3) += T(Real<T>(1e-1));
    return problem.residual();
  };
  for (const Routine routine : {
           Routine::geqrf,
           Routine::orgqr,
           Routine::ormqr,
           Routine::gelqf,
           Routine::orglq,
           Routine::ormlq,
           Routine::geqrt,
           Routine::gemqrt,
           Routine::gels,
       }) {
    for (const Op op : {Op::none, Op::trans}) {
      for (const char type : {'s', 'd', 'c', 'z'}) {
        SCOPED_TRACE(testing::Message() << type << name_of(routine) << static_cast<char>(op));
        const auto residual = [&](bool spoil) {
          return with_type(type, [&](auto one) { return residual_of(one, routine, op, spoil); });
        };
        EXPECT_LT(residual(false), 30);
        EXPECT_GT(residual(true), 30);
      }
    }
  }
}

TEST(Problems, OfEigenvaluesKnowRightResultsFromWrongOnes) {
  using tools::Routine;
  const auto residual_of = [](auto one, Routine routine, Uplo uplo, bool spoil) {
    using T = decltype(one);
    constexpr std::size_t kSpoilt = 7;
    tools::Call call = tools::square_call(routine, ScalarTraits<T>::letter, 60, 5, 3);
    call.uplo = uplo;
    tools::Problem<T> problem(call);
    problem.generate(1);
    tools::Ours<T>().run(problem);
    EXPECT_EQ(problem.info, 0);
    if (spoil) {
      problem.eigen_work().values[kSpoilt] += Real<T>(1);
      problem.a()(kSpoilt, 3) += T(1);
      if (tools::has_right_hand_sides(routine)) problem.b()(kSpoilt, 3) += T(1);
    }
    const double residual = problem.residual();
    problem.generate(1);
    tools::CpuContender<T>().run(problem);
    EXPECT_LT(problem.residual(), 30);
    return residual;
  };
  for (std::size_t r = 0; r < dispatch::kRoutineCount; ++r) {
    const auto routine = static_cast<Routine>(r);
    if (dispatch::kind_of(routine) != RoutineKind::eigen) continue;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      for (const char type : dispatch::kTypeLetters) {
        if (!dispatch::exists(routine, type)) continue;
        SCOPED_TRACE(testing::Message() << type << name_of(routine) << static_cast<char>(uplo));
        const auto residual = [&](bool spoil) {
          return with_type(type, [&](auto one) { return residual_of(one, routine, uplo, spoil); });
        };
        EXPECT_LT(residual(false), 30);
        EXPECT_GT(residual(true), 30);
      }
    }
  }
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

TEST(LogReader, KnowsPartsOfOtherCalls) {
  EXPECT_FALSE(parse_call(kLine)->is_part);
  const std::string line(kLine);
  const std::size_t at = line.find(" why=");
  EXPECT_TRUE(parse_call(line.substr(0, at) + " within=dsyevd" + line.substr(at))->is_part);
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
  EXPECT_EQ(fault("dorgqr m=9 n=5 nrhs=0 lda=9 ldb=1"), "") << "neither is this";
  EXPECT_EQ(fault("dorgqr m=9 n=9 nrhs=0 lda=8 ldb=1"), "lda=8 is less than m=9");
}

TEST(LogReader, ProductsWithQAreRepeatedIfItIsSquareAndOnTheLeft) {
  const auto is_repeatable = [](const std::string& numbers) {
    const auto logged = parse_call("overlapack " + numbers +
                                   " uplo=- trans=- info=0 where=cpu ms=1 gflops=1 up=0 down=0");
    EXPECT_TRUE(logged.has_value() && logged->call.has_value()) << numbers;
    EXPECT_EQ(logged->fault, "") << numbers;
    return logged->is_repeatable();
  };
  EXPECT_TRUE(is_repeatable("dormqr m=9 n=9 nrhs=3 lda=9 ldb=9"));
  EXPECT_FALSE(is_repeatable("dormqr m=9 n=5 nrhs=3 lda=9 ldb=9"));
  EXPECT_FALSE(is_repeatable("dormqr m=9 n=9 nrhs=3 lda=9 ldb=3")) << "from the right";
  EXPECT_FALSE(is_repeatable("zunmlq m=9 n=5 nrhs=3 lda=5 ldb=9"));
  EXPECT_TRUE(is_repeatable("dorglq m=9 n=9 nrhs=0 lda=9 ldb=1"));
  EXPECT_FALSE(is_repeatable("dorglq m=5 n=9 nrhs=0 lda=5 ldb=1"));
  EXPECT_TRUE(is_repeatable("dgeqrf m=9 n=5 nrhs=0 lda=9 ldb=1"));
}

TEST(LogReader, WhatIsNoLineOfItIsSkipped) {
  const std::string line = kLine;
  std::istringstream log("The program's own output\noverlapack\noverlapack: a complaint\n\n" +
                         line.substr(0, line.find(" down=")) + "\n" + line + "\n" +
                         "overlapack dgetrs m=many n=300 nrhs=7\n" + line);  // without an end
  EXPECT_EQ(read_call_log(log).size(), 2u);
}

TEST(LogReader, ReadsWhatProcessesTellOfThemselves) {
  std::istringstream log("overlapack loaded by sh\n" + std::string(kLine) +
                         "\noverlapack loaded by my program\noverlapack loaded by sh\n");
  EXPECT_EQ(read_told(log, "loaded by"), (std::vector<std::string>{"sh", "my program"}));
  EXPECT_EQ(parse_call(kLine)->why,
            "size 7 >= 1 (OVERLAPACK_MIN_N); finished by the CPU: up=1 down=2");
}

// ---- Mistyped names -----------------------------------------------------------------------

TEST(Nearest, IsTheNameWithTheFewestMistakes) {
  const std::vector<std::string> names = {"run", "info", "tune", "bench"};
  for (const auto& [typed, meant] : {std::pair{"rnu", "run"},
                                     {"runn", "run"},
                                     {"tunee", "tune"},
                                     {"inof", "info"},
                                     {"bnech", "bench"},
                                     {"bemch", "bench"},
                                     {"foo", ""},
                                     {"", ""},
                                     {"ub", ""}}) {
    EXPECT_EQ(nearest(typed, names), meant) << typed;
  }
  EXPECT_EQ(nearest("tune", names), "tune");
  EXPECT_EQ(did_you_mean("rnu", names), "; did you mean run?");
  EXPECT_EQ(did_you_mean("foo", names), "");
}

// ---- Tables -------------------------------------------------------------------------------

TEST(Table, AWideOneIsBrokenIntoPartsThatFit) {
  const std::vector<std::string> titles = {"name", std::string(50, 'a'), std::string(43, 'b'),
                                           std::string(120, 'c')};
  const std::vector<std::vector<std::string>> rows = {{"x", "1", "2", "3"}};
  std::ostringstream text, markdown;
  print_table(text, titles, rows);  // no terminal: 100 columns
  const auto right = [](const std::string& cell, std::size_t width) {
    return std::string(width - cell.size(), ' ') + cell;
  };
  EXPECT_EQ(text.str(), "name  " + titles[1] + "\nx     " + right("1", 50) + "\n\nname  " +
                            titles[2] + "\nx     " + right("2", 43) + "\n\nname  " + titles[3] +
                            "\nx     " + right("3", 120) + "\n");
  print_table(markdown, titles, rows, 1, TableStyle::markdown);
  EXPECT_EQ(markdown.str().find("| x    | " + right("1", 50) + " | " + right("2", 43)),
            markdown.str().rfind("| x "));
}

TEST(Table, ANarrowOneIsOnePart) {
  std::ostringstream text;
  print_table(text, {"a", "b", "c"}, {{"x", "", "10"}, {"yy", "2", ""}});
  EXPECT_EQ(text.str(), "a   b   c\nx      10\nyy  2\n");
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
