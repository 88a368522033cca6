#include "tools/table.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string_view>

namespace overlapack::tools {

std::string brief(double value) {
  if (std::isnan(value)) return "-";
  const double size = std::abs(value);
  int decimals = size < 1 ? 3 : size < 10 ? 2 : size < 100 ? 1 : 0;
  if (size > 0 && size < 0.01) decimals = 1 - static_cast<int>(std::floor(std::log10(size)));
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string wrap(const std::string& text, std::size_t width, const std::string& indentation) {
  std::istringstream words(text);
  std::string lines, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines += indentation + line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + indentation + line;
}

std::size_t columns_of(const std::ostream& out) {
  constexpr std::size_t kElsewhere = 100, kLeast = 40;
  const int file = &out == &std::cerr ? STDERR_FILENO : STDOUT_FILENO;
  winsize size = {};
  const bool known = (&out == &std::cerr || &out == &std::cout) &&
                     ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::max<std::size_t>(size.ws_col, kLeast) : kElsewhere;
}

namespace {

/// A table and the widths of its columns.
class Table {
 public:
  Table(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows,
        std::size_t left)
      : titles_(titles), rows_(rows), left_(left) {
    for (std::size_t c = 0; c < titles.size(); ++c) {
      widths_.push_back(titles[c].size());
      for (const auto& row : rows) widths_[c] = std::max(widths_[c], row[c].size());
    }
  }

  void print_markdown(std::ostream& out) const {
    const auto print = [&](const std::vector<std::string>& cells) {
      for (std::size_t c = 0; c < cells.size(); ++c) out << "| " << padded(cells, c) << ' ';
      out << "|\n";
    };
    print(titles_);
    for (std::size_t c = 0; c < titles_.size(); ++c) {
      out << '|' << std::string(widths_[c] + 1, '-') << (c < left_ ? '-' : ':');
    }
    out << "|\n";
    for (const auto& row : rows_) print(row);
  }

  void print_text(std::ostream& out, std::size_t width) const {
    std::size_t next = std::min(left_, titles_.size());
    do {
      std::vector<std::size_t> columns;
      std::size_t taken = 0;
      const auto take = [&](std::size_t c) {
        columns.push_back(c);
        taken += widths_[c] + kGap.size();
      };
      for (std::size_t c = 0; c < left_ && c < titles_.size(); ++c) take(c);
      const std::size_t begin = next;
      while (next < titles_.size() && (next == begin || taken + widths_[next] <= width)) {
        take(next++);
      }
      if (begin > left_) out << '\n';
      print_columns(out, columns);
    } while (next < titles_.size());
  }

 private:
  static constexpr std::string_view kGap = "  ";

  std::string padded(const std::vector<std::string>& cells, std::size_t c) const {
    const std::string fill(widths_[c] - cells[c].size(), ' ');
    return c < left_ ? cells[c] + fill : fill + cells[c];
  }
  void print_columns(std::ostream& out, const std::vector<std::size_t>& columns) const {
    const auto print = [&](const std::vector<std::string>& cells) {
      std::string line;
      for (const std::size_t c : columns) {
        line += (line.empty() ? "" : kGap.data()) + padded(cells, c);
      }
      out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
    };
    print(titles_);
    for (const auto& row : rows_) print(row);
  }

  const std::vector<std::string>& titles_;
  const std::vector<std::vector<std::string>>& rows_;
  const std::size_t left_;
  std::vector<std::size_t> widths_;
};

}  // namespace

void print_table(std::ostream& out, const std::vector<std::string>& titles,
                 const std::vector<std::vector<std::string>>& rows, std::size_t left,
                 TableStyle style) {
  const Table table(titles, rows, left);
  if (style == TableStyle::markdown) {
    table.print_markdown(out);
  } else {
    table.print_text(out, columns_of(out));
  }
}

}  // namespace overlapack::tools
