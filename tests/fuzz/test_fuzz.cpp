// What the fuzzers have found to be worth keeping, and some thousand texts made from it.
//
// For longer runs OVERLAPACK_TEST_TEXTS sets the number of texts; scripts/fuzz runs real fuzzers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz/targets.hpp"
#include "support/environment_number.hpp"
#include "support/matrices.hpp"

namespace overlapack {
namespace {

using testing_support::Random;

std::vector<std::string> corpus_of(const std::string& name) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(OVERLAPACK_CORPUS "/" + name)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // so that a text has the same number everywhere
  std::vector<std::string> texts;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

/// A part of a text.
std::string piece(Random& random, const std::string& text) {
  if (text.empty()) return text;
  const Index first = random.integer(0, static_cast<Index>(text.size()) - 1);
  return text.substr(static_cast<std::size_t>(first),
                     static_cast<std::size_t>(random.integer(1, 12)));
}

/// One change of a text.
void mutate(Random& random, std::string& text, const std::vector<std::string>& corpus) {
  static const std::vector<std::string> kStrange = {std::string(1, '\0'),
                                                    "-1",
                                                    "99999999999999999999",
                                                    "9223372036854775807",
                                                    "1e999",
                                                    "nan",
                                                    "0x1p-3",
                                                    "\xff",
                                                    "\x1b[2J",
                                                    "\n",
                                                    " ",
                                                    "=",
                                                    "#",
                                                    "K",
                                                    "never",
                                                    std::string(200, 'x')};
  const auto size = static_cast<Index>(text.size());
  const auto at = static_cast<std::size_t>(random.integer(0, size));
  const auto one_of = [&](const std::vector<std::string>& texts) {
    return texts[static_cast<std::size_t>(random.integer(0, static_cast<Index>(texts.size()) - 1))];
  };
  switch (random.integer(0, 4)) {
    case 0:
      text.insert(at, one_of(kStrange));
      break;
    case 1:
      text.erase(at, static_cast<std::size_t>(random.integer(1, 8)));
      break;
    case 2:
      if (at < text.size()) text[at] = static_cast<char>(random.integer(0, 255));
      break;
    case 3:
      text.insert(at, piece(random, text));
      break;
    default:
      text.insert(at, piece(random, one_of(corpus)));
      break;
  }
}

class Readers : public testing::TestWithParam<fuzz::Target> {
 protected:
  static void expect_no_fault(const std::string& text, const std::string& where) {
    try {
      GetParam().read(text);
    } catch (const std::exception& error) {
      ADD_FAILURE() << where << ": " << error.what()
                    << "\nThe text: " << testing::PrintToString(text);
    }
  }
};

TEST_P(Readers, AreRightWhateverTheTextIs) {
  const std::vector<std::string> corpus = corpus_of(GetParam().name);
  ASSERT_FALSE(corpus.empty());
  expect_no_fault("", "no text");
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    expect_no_fault(corpus[i], "text " + std::to_string(i) + " of the corpus");
  }
  const Index count = testing_support::number_in("OVERLAPACK_TEST_TEXTS", 4000);
  for (Index seed = 1; seed <= count && !HasFailure(); ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    std::string text = corpus[static_cast<std::size_t>(seed) % corpus.size()];
    for (Index changes = random.integer(1, 6); changes > 0; --changes) mutate(random, text, corpus);
    expect_no_fault(text, "text made with seed " + std::to_string(seed));
  }
  // For scripts/count-promises.
  RecordProperty("texts", static_cast<int>(count) + static_cast<int>(corpus.size()));
}

INSTANTIATE_TEST_SUITE_P(Texts, Readers, testing::ValuesIn(fuzz::kTargets),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace

namespace fuzz {
void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }
}  // namespace fuzz
}  // namespace overlapack
