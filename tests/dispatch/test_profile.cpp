// Break-even sizes and their file.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "dispatch/environment.hpp"
#include "dispatch/profile.hpp"

namespace overlapack::dispatch {
namespace {

TEST(Profiles, SurviveTheRoundTripThroughText) {
  Profile profile = builtin_profile();
  Index value = 100;
  for (std::size_t r = 0; r < kRoutineCount; ++r) {
    const auto routine = static_cast<Routine>(r);
    for (const char type : kTypeLetters) {
      if (exists(routine, type)) profile.set(routine, type, value++);
    }
  }
  std::string complaint;
  const auto parsed = parse_profile(format_profile(profile, "one comment\nand another"), complaint);
  ASSERT_TRUE(parsed.has_value()) << complaint;
  EXPECT_EQ(parsed->threshold, profile.threshold);
}

TEST(Profiles, KnowMixedPrecisionForItsOwnTypesOnly) {
  std::string complaint;
  const auto profile = parse_profile("dsgesv 500\nzcposv 600\n", complaint);
  ASSERT_TRUE(profile.has_value()) << complaint;
  EXPECT_EQ(profile->at(Routine::sgesv, 'd'), 500);
  EXPECT_EQ(profile->at(Routine::cposv, 'z'), 600);
  for (const char* line : {"ssgesv 1", "zsgesv 1", "dcgesv 1", "ccposv 1"}) {
    EXPECT_FALSE(parse_profile(line, complaint).has_value()) << line;
  }
}

TEST(Profiles, WriteWhatHasBeenReadAlone) {
  std::string complaint;
  const std::string text = "# by hand\ndpotrf 500\nzcposv never\n";
  const auto profile = parse_profile(text, complaint);
  ASSERT_TRUE(profile.has_value()) << complaint;
  EXPECT_EQ(format_profile(*profile, "by hand"), text);
  EXPECT_EQ(format_profile(builtin_profile(), "by hand"), "");
}

TEST(Profiles, KeepBuiltInValuesForWhatTheyDoNotSay) {
  std::string complaint;
  const auto profile = parse_profile("# measured\n\n  dpotrf 384  # here\nzgesv 77\n", complaint);
  ASSERT_TRUE(profile.has_value()) << complaint;
  EXPECT_EQ(profile->at(Routine::potrf, 'd'), 384);
  EXPECT_EQ(profile->at(Routine::gesv, 'z'), 77);
  EXPECT_EQ(profile->at(Routine::potrf, 's'), builtin_profile().at(Routine::potrf, 's'));
  EXPECT_TRUE(parse_profile("", complaint).has_value());
}

TEST(Profiles, AreRefusedAsAWholeIfALineIsMalformed) {
  for (const char* text :
       {"dpotrf", "dpotrf many", "dpotrf 384 5", "dpotrf -1", "dpotrf 0", "xpotrf 5", "dqrfac 5",
        "384", "d 5", "potrf 5", "dpotrf 10\n<html>\n"}) {
    SCOPED_TRACE(text);
    std::string complaint;
    EXPECT_FALSE(parse_profile(text, complaint).has_value());
    EXPECT_FALSE(complaint.empty());
  }
}

TEST(Profiles, ComplaintsAreShortAndPrintable) {  // of what may be no text at all
  std::string complaint;
  EXPECT_FALSE(parse_profile("dpotrf 384\n\x1b[2J\x7f\n", complaint).has_value());
  EXPECT_NE(complaint.find("line 2: "), std::string::npos) << complaint;
  EXPECT_NE(complaint.find("'?[2J?'"), std::string::npos) << complaint;
  EXPECT_FALSE(parse_profile(std::string(100000, 'x'), complaint).has_value());
  EXPECT_LT(complaint.size(), 200u);
  EXPECT_NE(complaint.find("xxx...'"), std::string::npos) << complaint;
}

/// Environment variables, for as long as it lives.
class Variables {
 public:
  explicit Variables(const Environment& values) {
    for (const auto& [name, value] : values) {
      if (const char* const before = std::getenv(name.c_str())) before_[name] = before;
      names_.push_back(name);
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~Variables() {
    for (const std::string& name : names_) unsetenv(name.c_str());
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  Variables(const Variables&) = delete;

 private:
  std::vector<std::string> names_;
  Environment before_;
};

TEST(Profiles, LieWhereTheUserSaysOrInTheCache) {
  const auto path = [](const char* cache, const char* home, const char* named = "") {
    const Variables variables({{"XDG_CACHE_HOME", cache}, {"HOME", home}});
    return profile_path(parse({{"OVERLAPACK_PROFILE", named}}));
  };
  EXPECT_EQ(path("/c", "/h"), "/c/overlapack/profile");
  EXPECT_EQ(path("/c", "/h", "mine"), "mine");
  EXPECT_EQ(path("", "/h"), "/h/.cache/overlapack/profile");
  // A relative path would be another one in every folder.
  EXPECT_EQ(path("c", "/h"), "/h/.cache/overlapack/profile");
  EXPECT_EQ(path("", "h"), "");
  EXPECT_EQ(path("", ""), "");
}

TEST(Profiles, MaySayNever) {
  std::string complaint;
  const auto never = parse_profile("zgetrf never\n", complaint);
  ASSERT_TRUE(never) << complaint;
  EXPECT_EQ(never->at(Routine::getrf, 'z'), kNever);
  const std::string text = format_profile(*never, "");
  EXPECT_NE(text.find("zgetrf never\n"), std::string::npos) << text;
  EXPECT_FALSE(parse_profile("zgetrf Never\n", complaint));
}

}  // namespace
}  // namespace overlapack::dispatch
