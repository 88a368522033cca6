// Charts of curves on logarithmic scales, and pictures made of charts.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace overlapack::bench {

/// Points (x, y) joined by a line. Curves of one name belong together: the legend and the label at
/// the end of the curve name them once.
struct Curve {
  std::string name;
  const char* colour;
  std::vector<std::pair<double, double>> points;  ///< none if nothing was measured
  bool dashed = false;
};

struct Chart {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;
};

/// The charts, in rows of two, under a heading of a title, a line about it and a legend.
std::string picture(const std::string& title, const std::string& about,
                    const std::vector<Chart>& charts);

}  // namespace overlapack::bench
