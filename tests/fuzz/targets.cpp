#include "fuzz/targets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "clients/lu_text_reader.h"
#include "dispatch/profile.hpp"
#include "dispatch/settings.hpp"

namespace overlapack::fuzz {
namespace {

using namespace dispatch;

void expect(bool truth, const std::string& what) {
  if (!truth) throw std::logic_error(what);
}

/// A message that is fit for a terminal.
void expect_fit(const std::string& message) {
  constexpr std::size_t kMaxCharacters = 400;
  expect(!message.empty(), "a message is empty");
  expect(message.size() <= kMaxCharacters, "a message is too long: " + message);
  expect(std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; }),
         "a message is not printable: " + message);
}

// ---- the profile -----------------------------------------------------------------------------

void read_profile_text(const std::string& text) {
  std::string complaint;
  const std::optional<Profile> profile = parse_profile(text, complaint);
  if (!profile) {
    expect_fit(complaint);
    return;
  }
  for (const auto& of_routine : profile->threshold) {
    for (const Index threshold : of_routine) expect(threshold >= 1, "a size is below 1");
  }
  const std::string written = format_profile(*profile, "comment");
  const std::optional<Profile> again = parse_profile(written, complaint);
  expect(again.has_value(), "what was written is refused: " + complaint);
  expect(again->read == profile->read, "other entries are read than were written");
  expect(format_profile(*again, "comment") == written, "writing twice differs");
}

// ---- the settings ----------------------------------------------------------------------------

using Environment = std::map<std::string, std::string>;

Environment environment_of(const std::string& text) {
  Environment environment;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    environment[line.substr(0, equals)] = line.substr(equals + 1).c_str();  // up to a zero byte
  }
  return environment;
}

Settings parse(const Environment& environment, std::vector<std::string>& complaints) {
  return parse_settings(
      [&](const char* name) -> const char* {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
      },
      complaints);
}

bool same(const Settings& a, const Settings& b) {
  return a.device == b.device && a.cuda_index == b.cuda_index && a.rank == b.rank &&
         a.min_n == b.min_n && a.algorithm == b.algorithm && a.nb == b.nb &&
         a.strict_fp32 == b.strict_fp32 && a.strict_fp64 == b.strict_fp64 && a.upload == b.upload &&
         a.refine == b.refine && a.threads == b.threads && a.memory_limit == b.memory_limit &&
         a.keep_memory == b.keep_memory && a.profile == b.profile && a.cpu_lapack == b.cpu_lapack &&
         a.verbose == b.verbose && a.log == b.log;
}

void expect_sane(const Settings& settings) {
  expect(settings.rank >= 0, "the rank is negative");
  expect(!settings.cuda_index || (*settings.cuda_index >= 0 && *settings.cuda_index <= 1024),
         "the index of the GPU is out of range");
  expect(!settings.min_n || *settings.min_n >= 1, "min_n is below 1");
  expect(settings.nb >= 0, "nb is negative");
  expect(settings.keep_memory.count() >= 0, "the time to keep memory is negative");
  expect(settings.threads >= 0 && settings.threads <= 1024, "threads are out of range");
}

void read_settings(const std::string& text) {
  Environment environment = environment_of(text);
  std::vector<std::string> complaints;
  const Settings settings = parse(environment, complaints);
  expect_sane(settings);
  for (const std::string& complaint : complaints) {
    expect_fit(complaint);
    const std::string name = complaint.substr(0, complaint.find('='));
    expect(environment.erase(name) == 1, "a complaint names no variable, or one twice");
  }
  // What was ignored has no effect.
  std::vector<std::string> more;
  const bool unchanged = same(parse(environment, more), settings);
  expect(more.empty(), "there are complaints about what was accepted");
  expect(unchanged, "what was ignored has an effect");
}

// ---- matrices of the program lu_text -----------------------------------------------------------

struct Matrix {
  int order = 0;
  std::unique_ptr<double, void (*)(void*)> elements{nullptr, std::free};
};

/// Without elements if the text is refused.
Matrix read_lu_text(const std::string& text) {
  Matrix matrix;
  std::string copy = text;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fmemopen(copy.data(), copy.size(), "r"),
                                                   std::fclose);
  expect(file != nullptr, "the text cannot be opened");
  reader in{file.get(), 0, nullptr, 0, ""};
  matrix.elements.reset(read_matrix(&in, &matrix.order));
  std::free(in.text);
  const std::string message = in.message;
  expect(message.empty() == (matrix.elements != nullptr),
         "a message for a matrix, or none: " + message);
  expect(message.size() < sizeof in.message - 1, "a message was cut: " + message);
  expect(in.number >= 1, "no line was read");
  return matrix;
}

void read_lu_texts(const std::string& text) {
  const Matrix matrix = read_lu_text(text);
  if (!matrix.elements) return;
  const int n = matrix.order;
  expect(n >= 1 && n <= kMaxOrder, "the order is out of range");
  std::ostringstream written;
  written.precision(17);
  written << n << '\n';
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const double element = matrix.elements.get()[i + j * n];
      expect(std::isfinite(element), "an element is not finite");
      written << ' ' << element;
    }
    written << '\n';
  }
  const Matrix again = read_lu_text(written.str());
  expect(again.elements && again.order == n, "what was written is refused");
  expect(std::equal(matrix.elements.get(), matrix.elements.get() + n * n, again.elements.get()),
         "other elements are read than were written");
}

}  // namespace

const Target kTargets[3] = {
    {"profile", read_profile_text}, {"settings", read_settings}, {"lu_text", read_lu_texts}};

}  // namespace overlapack::fuzz
