#include "dispatch/profile.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "host/workers.hpp"

namespace overlapack::dispatch {
namespace {

/// In the place of a size.
constexpr const char* kNeverInProfiles = "never";

/// The cores of this process, or fewer if the user says so to OpenBLAS, in its order of variables.
Index cores_of_cpu_lapack() {
  const Index cores = available_cores();
  for (const char* name : {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const char* const text = secure_getenv(name);
    const std::optional<Index> threads =
        text == nullptr ? std::nullopt : parse_integer(std::string(text));
    if (threads && *threads > 0) return std::min(*threads, cores);
  }
  return cores;
}

Index builtin(Routine routine, char type, const Tuning& tuning) {
  static const Index cores = cores_of_cpu_lapack();
  const bool solves = traits_of(routine).right_hand_sides == RightHandSides::some;
  return family_of(routine).builtin_break_evens(tuning.break_even, solves).of(type, cores);
}

}  // namespace

Index Profile::at(Routine routine, char type) const {
  return threshold[static_cast<std::size_t>(routine)][static_cast<std::size_t>(type_index(type))];
}

Index Profile::at(Routine routine, char type, const Device* device) const {
  if (device == nullptr || is_read(routine, type)) return at(routine, type);
  return builtin(routine, type, device->tuning());
}

bool Profile::is_read(Routine routine, char type) const {
  return read[static_cast<std::size_t>(routine)][static_cast<std::size_t>(type_index(type))];
}

void Profile::set(Routine routine, char type, Index size) {
  const auto r = static_cast<std::size_t>(routine), t = static_cast<std::size_t>(type_index(type));
  threshold[r][t] = size;
  read[r][t] = true;
}

void Profile::forget(Routine routine, char type) {
  set(routine, type, builtin(routine, type, hopper_tuning()));
  read[static_cast<std::size_t>(routine)][static_cast<std::size_t>(type_index(type))] = false;
}

std::string Profile::source_of(Routine routine, char type) const {
  return is_read(routine, type) ? source : built_in();
}

std::string Profile::built_in() const {
  return unread.empty() ? kBuiltIn : kBuiltIn + ("; " + unread);
}

Profile builtin_profile() {
  Profile profile;
  for (std::size_t r = 0; r < kRoutineCount; ++r) {
    for (const char type : kTypeLetters) profile.forget(static_cast<Routine>(r), type);
  }
  return profile;
}

std::string threshold_text(Index threshold) {
  return threshold >= kNever ? kNeverInProfiles : std::to_string(threshold);
}

std::optional<Profile> parse_profile(const std::string& text, std::string& complaint) {
  Profile profile = builtin_profile();
  std::istringstream lines(text);
  lines.exceptions(std::ios::badbit);  // a stream without memory throws
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    words.exceptions(std::ios::badbit);
    std::string name, value, excess;
    if (!(words >> name)) continue;
    words >> value;
    const std::optional<Index> threshold =
        value == kNeverInProfiles ? std::optional<Index>(kNever) : parse_integer(value);
    const auto routine = std::find_if(std::begin(kRoutineNames), std::end(kRoutineNames),
                                      [&](const char* r) { return name.substr(1) == r; });
    const bool known = routine != std::end(kRoutineNames) && type_index(name[0]) < 4 &&
                       exists(static_cast<Routine>(routine - std::begin(kRoutineNames)), name[0]);
    if (!known || !threshold || *threshold < 1 || (words >> excess)) {
      // What stands there may be no text at all.
      complaint = "line " + std::to_string(number) +
                  ": expected a routine and a size, as in 'dpotrf 384', or never, not " +
                  quoted(line);
      return std::nullopt;
    }
    profile.set(static_cast<Routine>(routine - std::begin(kRoutineNames)), name[0], *threshold);
  }
  return profile;
}

std::string format_profile(const Profile& profile, const std::string& comment) {
  std::ostringstream heading, entries;
  std::istringstream lines(comment);
  for (std::string line; std::getline(lines, line);) heading << "# " << line << '\n';
  for (std::size_t r = 0; r < kRoutineCount; ++r) {
    for (std::size_t t = 0; t < 4; ++t) {
      if (!profile.read[r][t]) continue;
      entries << kTypeLetters[t] << kRoutineNames[r] << ' '
              << threshold_text(profile.threshold[r][t]) << '\n';
    }
  }
  return entries.str().empty() ? std::string() : heading.str() + entries.str();
}

std::string profile_path(const Settings& settings) {
  if (!settings.profile.empty()) return settings.profile;
  if (const char* cache = secure_getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::string(cache) + "/overlapack/profile";
  }
  if (const char* home = secure_getenv("HOME"); home != nullptr && *home == '/') {
    return std::string(home) + "/.cache/overlapack/profile";
  }
  return {};
}

}  // namespace overlapack::dispatch
