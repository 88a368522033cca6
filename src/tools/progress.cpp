#include "tools/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "tools/table.hpp"

namespace overlapack::tools {

Progress::Progress(std::size_t steps)
    : steps_(std::max<std::size_t>(steps, 1)), terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::show(const std::string& text) {
  if (!terminal_) return;
  constexpr std::size_t kWidth = 30;
  const std::size_t done = std::min(done_, steps_), filled = kWidth * done / steps_;
  std::string line = "[" + std::string(filled, '#') + std::string(kWidth - filled, '.') + "] " +
                     std::to_string(100 * done / steps_) + " %  " + text;
  line.resize(std::min(line.size(), columns_of(std::cerr) - 1));  // a second line would stay
  std::cerr << "\r\033[K" << line << std::flush;
  drawn_ = true;
}

void Progress::line(const std::string& text) {
  show(text);
  if (!terminal_) std::cerr << text << '\n';
}

void Progress::clear() {
  if (drawn_) std::cerr << "\r\033[K" << std::flush;
  drawn_ = false;
}

}  // namespace overlapack::tools
