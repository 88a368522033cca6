// A comparison as a picture: time against order, both on logarithmic scales, a chart per routine.
#include "chart.hpp"
#include "report.hpp"

namespace overlapack::bench {
namespace {

constexpr struct {
  const char* name;
  Cell Row::*cell;
  const char* colour;
} kContenders[] = {{"ours", &Row::ours, "#d55e00"},
                   {"CPU", &Row::cpu, "#666666"},
                   {"copy+cuSOLVER", &Row::round_trip, "#0072b2"},
                   {"cuSOLVER", &Row::resident, "#009e73"}};

Chart empty_chart(const Call& call) {
  Chart chart{name_and_case(call), "order n", "milliseconds", {}};
  for (const auto& contender : kContenders) {
    chart.curves.push_back({contender.name, contender.colour, {}});
  }
  return chart;
}

}  // namespace

std::string comparison_svg(const std::vector<Row>& rows,
                           const std::vector<std::pair<std::string, std::string>>& machine,
                           bool emulated) {
  std::vector<Chart> charts;
  for (const Row& row : rows) {
    if (charts.empty() || charts.back().title != name_and_case(row.call)) {
      charts.push_back(empty_chart(row.call));
    }
    auto curve = charts.back().curves.begin();
    for (const auto& contender : kContenders) {
      const double ms = (row.*contender.cell).timing.ms;
      if (ms > 0) curve->points.emplace_back(static_cast<double>(row.call.shape.n), ms);  // no NaN
      ++curve;
    }
  }
  return picture("Time from host memory to host memory (cuSOLVER: on the device)",
                 machine_line(machine, emulated), charts);
}

}  // namespace overlapack::bench
