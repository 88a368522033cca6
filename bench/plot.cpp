// A comparison as a picture: time against order, both on logarithmic scales, a panel per routine.
#include <algorithm>
#include <cmath>

#include "report.hpp"
#include "svg.hpp"

namespace overlapack::bench {
namespace {

constexpr struct Curve {
  const char* name;
  Cell Row::*cell;
  const char* colour;
} kCurves[] = {{"ours", &Row::ours, "#d55e00"},
               {"CPU", &Row::cpu, "#666666"},
               {"copy+cuSOLVER", &Row::round_trip, "#0072b2"},
               {"cuSOLVER", &Row::resident, "#009e73"}};

constexpr double kWidth = 620, kHeight = 420;                         // of a panel
constexpr double kLeft = 70, kRight = 125, kAbove = 40, kBelow = 55;  // around its axes
constexpr double kHeading = 80;                                       // above all panels

bool measured(const Row& row, const Curve& curve) {
  const double ms = (row.*curve.cell).timing.ms;
  return ms > 0;  // not NaN
}

void draw_panel(Svg& svg, double left, double top, const std::vector<Row>& rows) {
  double low = INFINITY, high = 0;
  for (const Row& row : rows) {
    for (const Curve& curve : kCurves) {
      if (!measured(row, curve)) continue;
      low = std::min(low, (row.*curve.cell).timing.ms / 1.3);
      high = std::max(high, (row.*curve.cell).timing.ms * 1.3);
    }
  }
  const auto order = [](const Row& row) { return static_cast<double>(row.call.shape.n); };
  const auto [smallest, largest] = std::minmax_element(
      rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return order(a) < order(b); });
  const double first = order(*smallest) / 1.15, last = order(*largest) * 1.15;
  const double x0 = left + kLeft, x1 = left + kWidth - kRight, y0 = top + kHeight - kBelow,
               y1 = top + kAbove;
  const auto x = [&](double n) {
    return x0 + (x1 - x0) * std::log(n / first) / std::log(last / first);
  };
  const auto y = [&](double ms) {
    return y0 + (y1 - y0) * std::log(ms / low) / std::log(high / low);
  };

  svg.text((x0 + x1) / 2, y1 - 12, name_of(rows.front().call), {15, "middle", "#222", true});
  if (high == 0) {
    svg.text((x0 + x1) / 2, (y0 + y1) / 2, "nothing was measured", {12, "middle"});
    return;
  }
  for (const double tick : log_ticks(low, high)) {
    svg.line(x0, y(tick), x1, y(tick), "#ddd");
    svg.text(x0 - 6, y(tick) + 4, plain(tick), {11, "end"});
  }
  double free_from = left;  // no label of the axis may begin before
  for (const Row& row : rows) {
    const std::string text = plain(order(row));
    const double at = x(order(row)), half = Svg::width_of(text, 11) / 2;
    svg.line(at, y0, at, y1, "#eee");
    svg.line(at, y0, at, y0 + 4, "#222");
    if (at - half < free_from) continue;
    svg.text(at, y0 + 17, text, {11, "middle"});
    free_from = at + half + 4;
  }
  svg.line(x0, y0, x1, y0, "#222");
  svg.line(x0, y0, x0, y1, "#222");
  svg.text((x0 + x1) / 2, y0 + 38, "order n", {12, "middle"});
  svg.text(left + 18, (y0 + y1) / 2, "milliseconds", {12, "middle", "#222", false, -90});

  struct Label {
    double x, y, wanted;
    const Curve* curve;
  };
  std::vector<Label> labels;
  for (const Curve& curve : kCurves) {
    std::vector<std::pair<double, double>> points;
    for (const Row& row : rows) {
      if (!measured(row, curve)) continue;
      points.emplace_back(x(order(row)), y((row.*curve.cell).timing.ms));
    }
    if (points.empty()) continue;
    std::sort(points.begin(), points.end());
    svg.polyline(points, curve.colour, 2);
    for (const auto& [px, py] : points) svg.circle(px, py, 3, curve.colour);
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

}  // namespace

std::string comparison_svg(const std::vector<Row>& rows,
                           const std::vector<std::pair<std::string, std::string>>& machine,
                           bool emulated) {
  std::vector<std::vector<Row>> panels;
  for (const Row& row : rows) {
    if (panels.empty() || name_of(panels.back().front().call) != name_of(row.call)) {
      panels.emplace_back();
    }
    panels.back().push_back(row);
  }
  const std::size_t columns = std::min<std::size_t>(panels.size(), 2);
  const std::size_t lines = (panels.size() + columns - 1) / columns;
  Svg svg(std::max(kWidth * static_cast<double>(columns), 900.0),
          kHeading + kHeight * static_cast<double>(lines));
  svg.text(20, 26, "Time from host memory to host memory (cuSOLVER: on the device)",
           {17, "start", "#222", true});
  std::string about;
  for (const auto& [name, value] : machine) {
    if (name == "date" || name == "device" || name == "CPU") {
      about += (about.empty() ? "" : "; ") + value;
    }
  }
  svg.text(20, 46, emulated ? about + "; EMULATED: no performance figures" : about,
           {12, "start", "#555"});
  double legend = 20;
  for (const Curve& curve : kCurves) {
    const auto has_it = [&curve](const Row& row) { return measured(row, curve); };
    if (std::none_of(rows.begin(), rows.end(), has_it)) continue;
    svg.line(legend, 66, legend + 22, 66, curve.colour, 2);
    svg.circle(legend + 11, 66, 3, curve.colour);
    svg.text(legend + 28, 70, curve.name, {12});
    legend += 28 + Svg::width_of(curve.name, 12) + 18;
  }
  for (std::size_t p = 0; p < panels.size(); ++p) {
    draw_panel(svg, kWidth * static_cast<double>(p % columns),
               kHeading + kHeight * static_cast<double>(p / columns), panels[p]);
  }
  return svg.str();
}

}  // namespace overlapack::bench
