#include "dispatch/profile.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace overlapack::dispatch {

Index& Profile::at(Routine routine, char type) {
  return threshold[static_cast<std::size_t>(routine)][static_cast<std::size_t>(type_index(type))];
}

Index Profile::at(Routine routine, char type) const {
  return const_cast<Profile*>(this)->at(routine, type);
}

bool& Profile::is_read(Routine routine, char type) {
  return read[static_cast<std::size_t>(routine)][static_cast<std::size_t>(type_index(type))];
}

bool Profile::is_read(Routine routine, char type) const {
  return const_cast<Profile*>(this)->is_read(routine, type);
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
    profile.threshold[r].fill(family_of(static_cast<Routine>(r)).builtin_break_even());
  }
  return profile;
}

/// In the place of a size.
constexpr const char* kNeverInProfiles = "never";

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
    const auto r = static_cast<std::size_t>(routine - std::begin(kRoutineNames));
    const auto t = static_cast<std::size_t>(type_index(name[0]));
    profile.threshold[r][t] = *threshold;
    profile.read[r][t] = true;
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
