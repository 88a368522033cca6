// How far a measurement has come, for those who wait.
#pragma once

#include <cstddef>
#include <string>

namespace overlapack::tools {

/// On a terminal a bar in one line of standard error, which is drawn anew; elsewhere a line for
/// each step, where that is asked for.
class Progress {
 public:
  enum class Elsewhere { lines, nothing };
  explicit Progress(std::size_t steps, Elsewhere elsewhere = Elsewhere::lines);
  Progress(const Progress&) = delete;
  ~Progress() { clear(); }

  /// What is being done now.
  void show(const std::string& text);
  /// A step is done.
  void advance() { ++done_; }
  /// Before something else is printed: takes the bar away until the next show().
  void clear();

 private:
  const std::size_t steps_;
  const Elsewhere elsewhere_;
  const bool terminal_;
  std::size_t done_ = 0;
};

}  // namespace overlapack::tools
