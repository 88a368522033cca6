#include "chart.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "svg.hpp"

namespace overlapack::bench {
namespace {

constexpr double kWidth = 620, kHeight = 420;                         // of a chart
constexpr double kLeft = 70, kRight = 125, kAbove = 40, kBelow = 55;  // around its axes
constexpr double kHeading = 80;                                       // above all charts

const char* dashes(const Curve& curve) { return curve.dashed ? "5 3" : ""; }

void draw(Svg& svg, double left, double top, const Chart& chart) {
  double first = INFINITY, last = 0, low = INFINITY, high = 0;
  std::set<double> abscissas;
  for (const Curve& curve : chart.curves) {
    for (const auto& [x, y] : curve.points) {
      abscissas.insert(x);
      first = std::min(first, x / 1.15);
      last = std::max(last, x * 1.15);
      low = std::min(low, y / 1.3);
      high = std::max(high, y * 1.3);
    }
  }
  const double x0 = left + kLeft, x1 = left + kWidth - kRight, y0 = top + kHeight - kBelow,
               y1 = top + kAbove;
  const auto at_x = [&](double x) {
    return x0 + (x1 - x0) * std::log(x / first) / std::log(last / first);
  };
  const auto at_y = [&](double y) {
    return y0 + (y1 - y0) * std::log(y / low) / std::log(high / low);
  };

  svg.text((x0 + x1) / 2, y1 - 12, chart.title, {15, "middle", "#222", true});
  if (high == 0) {
    svg.text((x0 + x1) / 2, (y0 + y1) / 2, "nothing was measured", {12, "middle"});
    return;
  }
  for (const double tick : log_ticks(low, high)) {
    svg.line(x0, at_y(tick), x1, at_y(tick), "#ddd");
    svg.text(x0 - 6, at_y(tick) + 4, plain(tick), {11, "end"});
  }
  double free_from = left;  // no label of the axis may begin before
  for (const double x : abscissas) {
    const std::string text = plain(x);
    const double at = at_x(x), half = Svg::width_of(text, 11) / 2;
    svg.line(at, y0, at, y1, "#eee");
    svg.line(at, y0, at, y0 + 4, "#222");
    if (at - half < free_from) continue;
    svg.text(at, y0 + 17, text, {11, "middle"});
    free_from = at + half + 4;
  }
  svg.line(x0, y0, x1, y0, "#222");
  svg.line(x0, y0, x0, y1, "#222");
  svg.text((x0 + x1) / 2, y0 + 38, chart.x_label, {12, "middle"});
  svg.text(left + 18, (y0 + y1) / 2, chart.y_label, {12, "middle", "#222", false, -90});

  struct Label {
    double x, y, wanted;
    const Curve* curve;
  };
  std::vector<Label> labels;
  std::set<std::string> labelled;
  for (const Curve& curve : chart.curves) {
    std::vector<std::pair<double, double>> points;
    for (const auto& [x, y] : curve.points) points.emplace_back(at_x(x), at_y(y));
    if (points.empty()) continue;
    std::sort(points.begin(), points.end());
    svg.polyline(points, curve.colour, 2, dashes(curve));
    for (const auto& [px, py] : points) svg.circle(px, py, 3, curve.colour);
    if (!labelled.insert(curve.name).second) continue;
    labels.push_back({points.back().first, points.back().second, points.back().second, &curve});
  }
  // Each curve is named at its end; names that would overlap move down.
  std::sort(labels.begin(), labels.end(),
            [](const Label& a, const Label& b) { return a.wanted < b.wanted; });
  constexpr double kLine = 14;
  for (std::size_t i = 1; i < labels.size(); ++i) {
    labels[i].y = std::max(labels[i].y, labels[i - 1].y + kLine);
  }
  for (const Label& label : labels) {
    svg.line(label.x + 4, label.wanted, x1 + 6, label.y, label.curve->colour, 0.7);
    svg.text(x1 + 9, label.y + 4, label.curve->name, {12, "start", label.curve->colour});
  }
}

/// The names of all charts' curves, each once.
void draw_legend(Svg& svg, double y, const std::vector<Chart>& charts) {
  std::set<std::string> named;
  double x = 20;
  for (const Chart& chart : charts) {
    for (const Curve& curve : chart.curves) {
      if (curve.points.empty() || !named.insert(curve.name).second) continue;
      svg.line(x, y, x + 22, y, curve.colour, 2, dashes(curve));
      svg.circle(x + 11, y, 3, curve.colour);
      svg.text(x + 28, y + 4, curve.name, {12});
      x += 28 + Svg::width_of(curve.name, 12) + 18;
    }
  }
}

}  // namespace

std::string picture(const std::string& title, const std::string& about,
                    const std::vector<Chart>& charts) {
  const std::size_t columns = std::min<std::size_t>(charts.size(), 2);
  const std::size_t lines = (charts.size() + columns - 1) / columns;
  Svg svg(std::max(kWidth * static_cast<double>(columns), 900.0),
          kHeading + kHeight * static_cast<double>(lines));
  svg.text(20, 26, title, {17, "start", "#222", true});
  svg.text(20, 46, about, {12, "start", "#555"});
  draw_legend(svg, 66, charts);
  for (std::size_t c = 0; c < charts.size(); ++c) {
    draw(svg, kWidth * static_cast<double>(c % columns),
         kHeading + kHeight * static_cast<double>(c / columns), charts[c]);
  }
  return svg.str();
}

}  // namespace overlapack::bench
