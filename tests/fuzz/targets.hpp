// The readers of text that others write, each with what must be true of it whatever the text is.
// A fuzzer runs them (tests/fuzz/fuzzer.cpp), and so does a test (tests/fuzz/test_fuzz.cpp).
#pragma once

#include <string>

namespace overlapack::fuzz {

struct Target {
  const char* name;                       ///< also of a folder in tests/fuzz/corpus
  void (*read)(const std::string& text);  ///< throws std::logic_error if something is not true
};
/// The profile, the environment's settings (a line NAME=VALUE for each) and lu_text's matrices.
extern const Target kTargets[3];

}  // namespace overlapack::fuzz
