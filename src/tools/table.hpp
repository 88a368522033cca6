// Tables for people: plain text or Markdown.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace overlapack::tools {

/// A number with two or three significant digits and no exponent: 0.00012, 0.123, 4.56, 78.9,
/// 12345.
/// "-" for NaN.
std::string brief(double value);

/// Breaks a text into lines of at most `width` characters behind an indentation.
std::string wrap(const std::string& text, std::size_t width, const std::string& indentation = "");

/// Columns of the terminal that a stream leads to; of std::cout or std::cerr. 100 if it leads
/// elsewhere.
std::size_t columns_of(const std::ostream& out);

enum class TableStyle { text, markdown };

/// Prints rows under titles. The first `left` columns are flush left, the others right; each is as
/// wide as its widest cell. A table of text that is wider than columns_of(out) is broken into parts
/// that are not, each of which begins with the first `left` columns.
void print_table(std::ostream& out, const std::vector<std::string>& titles,
                 const std::vector<std::vector<std::string>>& rows, std::size_t left = 1,
                 TableStyle style = TableStyle::text);

}  // namespace overlapack::tools
