#include "host/nearest.hpp"

#include <algorithm>
#include <cstddef>

namespace overlapack {
namespace {

/// Mistakes between two words: the distance of optimal string alignment.
std::size_t mistakes(const std::string& a, const std::string& b) {
  // Row i has the distances of the first i letters of `a` to the beginnings of `b`.
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + change});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows.back().back();
}

}  // namespace

std::string nearest(const std::string& typed, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = typed.size() / 3 + 1;  // what is as far is not close
  for (const std::string& name : known) {
    const std::size_t distance = mistakes(typed, name);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

std::string did_you_mean(const std::string& typed, const std::vector<std::string>& known) {
  const std::string name = nearest(typed, known);
  return name.empty() ? name : "; did you mean " + name + "?";
}

}  // namespace overlapack
