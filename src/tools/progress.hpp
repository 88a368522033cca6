// How far a measurement has come, for those who wait.
#pragma once

#include <cstddef>
#include <string>

namespace overlapack::tools {

/// A bar in one line, which is drawn anew, if standard error is a terminal. Elsewhere there is
/// none.
class Progress {
 public:
  explicit Progress(std::size_t steps);
  Progress(const Progress&) = delete;
  ~Progress() { clear(); }

  /// What is done now, beside the bar.
  void show(const std::string& text);
  /// The same, and elsewhere a line.
  void line(const std::string& text);
  /// A step is done.
  void advance() { ++done_; }
  /// Takes the bar away until the next text, before something else is printed.
  void clear();

 private:
  const std::size_t steps_;
  const bool terminal_;
  std::size_t done_ = 0;
  bool drawn_ = false;
};

}  // namespace overlapack::tools
