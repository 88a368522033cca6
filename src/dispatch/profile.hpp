// The measured sizes from which calls go to the device, and the file that they stand in.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "device/device.hpp"
#include "dispatch/routine.hpp"
#include "dispatch/settings.hpp"

namespace overlapack::dispatch {

/// Break-even sizes. The size of a call is what size_of() says; from its threshold up a call goes
/// to the device, but for updates by few vectors (break_even()).
struct Profile {
  // [routine][type letter]. Where no file says it: the least of any device, since none is open yet.
  std::array<std::array<Index, 4>, kRoutineCount> threshold;
  std::array<std::array<bool, 4>, kRoutineCount> read{};  // those that are from the file
  std::string source = kBuiltIn;                          // or the file it was read from
  std::string unread;  // the file that may be there but cannot be read, and why

  Index at(Routine routine, char type) const;
  /// For a device. If null, the same as above.
  Index at(Routine routine, char type, const Device* device) const;
  /// Whether that one is from a file.
  bool is_read(Routine routine, char type) const;
  /// As if a file said so.
  void set(Routine routine, char type, Index size);
  /// As if no file said anything of it.
  void forget(Routine routine, char type);
  /// Where that one is from.
  std::string source_of(Routine routine, char type) const;
  /// Where those are from that no file has, and why not, if one cannot be read.
  std::string built_in() const;

  static constexpr const char* kBuiltIn = "built-in";
};
using overlapack::kNever;
/// As in profiles: a number, or "never".
std::string threshold_text(Index threshold);
/// What holds if no file says anything: what was measured of GPUs, by their generation and by the
/// number of cores, or a cautious size for those of which nothing is known (Tuning::BreakEven).
Profile builtin_profile();
/// Text form: one line "dpotrf 384" per entry, '#' starts a comment. Entries that are missing keep
/// their built-in value. Returns nothing, and says why in `complaint`, if a line is malformed.
std::optional<Profile> parse_profile(const std::string& text, std::string& complaint);
/// The same of the entries that have been read, below a comment. Empty if there are none.
std::string format_profile(const Profile& profile, const std::string& comment);
/// $OVERLAPACK_PROFILE, or overlapack/profile under $XDG_CACHE_HOME or ~/.cache.
std::string profile_path(const Settings& settings);

}  // namespace overlapack::dispatch
