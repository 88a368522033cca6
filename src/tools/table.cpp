#include "tools/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

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

void print_table(std::ostream& out, const std::vector<std::string>& titles,
                 const std::vector<std::vector<std::string>>& rows, std::size_t left,
                 TableStyle style) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < titles.size(); ++c) {
    widths.push_back(titles[c].size());
    for (const auto& row : rows) widths[c] = std::max(widths[c], row[c].size());
  }
  const bool markdown = style == TableStyle::markdown;
  const auto print = [&](const std::vector<std::string>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string fill(widths[c] - cells[c].size(), ' ');
      out << (markdown ? "| " : c > 0 ? "  " : "");
      const bool last = c + 1 == cells.size() && !markdown;  // no blanks at the end of a line
      out << (c >= left ? fill + cells[c]
              : last    ? cells[c]
                        : cells[c] + fill)
          << (markdown ? " " : "");
    }
    out << (markdown ? "|\n" : "\n");
  };
  print(titles);
  if (markdown) {
    for (std::size_t c = 0; c < titles.size(); ++c) {
      out << '|' << std::string(widths[c] + 1, '-') << (c < left ? '-' : ':');
    }
    out << "|\n";
  }
  for (const auto& row : rows) print(row);
}

}  // namespace overlapack::tools
