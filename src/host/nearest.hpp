// What somebody may have meant who has mistyped a name.
#pragma once

#include <string>
#include <vector>

namespace overlapack {

/// The one of `known` that takes the fewest mistakes to become `typed`: letters that are left out,
/// added, changed, or exchanged with the next one. Empty if none is close: a third of the letters
/// may be wrong at most.
std::string nearest(const std::string& typed, const std::vector<std::string>& known);

/// "; did you mean NAME?", or nothing if none is close.
std::string did_you_mean(const std::string& typed, const std::vector<std::string>& known);

}  // namespace overlapack
