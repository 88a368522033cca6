#include "trace.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>
#include <tuple>

#include "report.hpp"
#include "svg.hpp"
#include "tools/table.hpp"

namespace overlapack::bench {
namespace {

struct Lane {
  std::string name;
  bool on_device;
  int place;  // uploads above what computes, downloads below it, host threads at the end
};

std::vector<Lane> lanes_of(const std::vector<TimedSpan>& spans) {
  std::vector<Lane> lanes;
  for (const TimedSpan& span : spans) {
    const auto same = [&span](const Lane& lane) { return lane.name == span.lane; };
    if (std::any_of(lanes.begin(), lanes.end(), same)) continue;
    const std::string_view kind = span.name;
    const int place = !span.on_device ? 3 : kind == "download" ? 2 : kind == "upload" ? 0 : 1;
    lanes.push_back({span.lane, span.on_device, place});
  }
  std::sort(lanes.begin(), lanes.end(), [](const Lane& a, const Lane& b) {
    return std::tuple(a.place, a.name.size(), a.name) < std::tuple(b.place, b.name.size(), b.name);
  });
  return lanes;
}

std::size_t number_of(const std::string& lane, const std::vector<Lane>& lanes) {
  const auto same = [&lane](const Lane& other) { return other.name == lane; };
  return static_cast<std::size_t>(std::find_if(lanes.begin(), lanes.end(), same) - lanes.begin());
}

std::string label(const TimedSpan& span) {
  return std::string(span.name) + " " + std::to_string(span.block);
}

std::string title_of(const TracedCall& traced) {
  return name_and_case(traced.call) + ", n = " + std::to_string(traced.call.shape.n) + ": " +
         tools::brief(traced.ms) + " ms; bound " + tools::brief(traced.bound_ms) + " ms (" +
         traced.bound_by + ")";
}

/// Colours that most people can tell apart (Okabe and Ito), and whether white is readable on them.
struct Colour {
  std::string_view kind;
  const char* fill;
  bool dark;
};
constexpr Colour kColours[] = {{"upload", "#56b4e9", false},  {"panel", "#d55e00", true},
                               {"update", "#0072b2", true},   {"solve", "#cc79a7", false},
                               {"download", "#009e73", true}, {"pack", "#b9d9ee", false},
                               {"unpack", "#a9d8c6", false},  {"interchange", "#f0e442", false}};
constexpr Colour kOther = {"other", "#999999", false};

const Colour& colour_of(std::string_view kind) {
  for (const Colour& colour : kColours) {
    if (colour.kind == kind) return colour;
  }
  return kOther;
}

}  // namespace

nlohmann::json trace_events(const TracedCall& traced) {
  constexpr int kProcess = 1;
  const std::vector<Lane> lanes = lanes_of(traced.spans);
  nlohmann::json events = nlohmann::json::array();
  events.push_back({{"ph", "M"},
                    {"name", "process_name"},
                    {"pid", kProcess},
                    {"args", {{"name", title_of(traced)}}}});
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    events.push_back({{"ph", "M"},
                      {"name", "thread_name"},
                      {"pid", kProcess},
                      {"tid", i + 1},
                      {"args", {{"name", lanes[i].name}}}});
    events.push_back({{"ph", "M"},
                      {"name", "thread_sort_index"},
                      {"pid", kProcess},
                      {"tid", i + 1},
                      {"args", {{"sort_index", i + 1}}}});
  }
  std::map<Index, std::vector<const TimedSpan*>> way;  // of each block through the device
  for (const TimedSpan& span : traced.spans) {
    events.push_back({{"ph", "X"},
                      {"name", label(span)},
                      {"cat", span.name},
                      {"pid", kProcess},
                      {"tid", number_of(span.lane, lanes) + 1},
                      {"ts", span.begin},
                      {"dur", span.end - span.begin},
                      {"args", {{"block", span.block}}}});
    if (!span.on_device) continue;
    auto& stops = way[span.block];  // at the first span of each kind
    const auto same = [&span](const TimedSpan* stop) {
      return stop->name == std::string_view(span.name);
    };
    if (std::none_of(stops.begin(), stops.end(), same)) stops.push_back(&span);
  }
  for (const auto& [block, stops] : way) {
    for (std::size_t i = 0; i < stops.size() && stops.size() > 1; ++i) {
      const bool last = i + 1 == stops.size();
      nlohmann::json arrow = {{"ph", i == 0 ? "s"
                                     : last ? "f"
                                            : "t"},
                              {"name", "block"},
                              {"cat", "block"},
                              {"id", block},
                              {"pid", kProcess},
                              {"tid", number_of(stops[i]->lane, lanes) + 1},
                              {"ts", stops[i]->begin}};
      if (last) arrow["bp"] = "e";  // it ends at the span around this time, not at the next one
      events.push_back(arrow);
    }
  }
  nlohmann::json about = {{"routine", name_of(traced.call)},
                          {"n", traced.call.shape.n},
                          {"ms", traced.ms},
                          {"residual", traced.residual},
                          {"bound_ms", traced.bound_ms},
                          {"bound_by", traced.bound_by},
                          {"emulated", traced.emulated}};
  for (const auto& [name, value] : traced.machine) about[name] = value;
  return {{"displayTimeUnit", "ms"}, {"otherData", about}, {"traceEvents", events}};
}

std::string timeline_svg(const TracedCall& traced) {
  constexpr double kLeft = 130, kRight = 30, kPlot = 1400, kTop = 100, kGap = 5;
  const std::vector<Lane> lanes = lanes_of(traced.spans);
  std::vector<double> tops, heights;
  double bottom = kTop;
  for (const Lane& lane : lanes) {
    tops.push_back(bottom);
    heights.push_back(lane.on_device ? 26 : 14);
    bottom += heights.back() + kGap;
  }
  double end = std::max(traced.ms, traced.bound_ms);
  for (const TimedSpan& span : traced.spans) end = std::max(end, span.end / 1e3);
  const auto x = [&](double ms) { return kLeft + kPlot * ms / end; };

  Svg svg(kLeft + kPlot + kRight, bottom + 45);
  svg.text(kLeft, 26, title_of(traced), {18, "start", "#222", true});
  const std::string about = machine_line(traced.machine, traced.emulated) +
                            "; numbers are blocks; marking costs time of its own";
  svg.text(kLeft, 46, about, {12, "start", "#555"});

  double legend = kLeft;
  for (const Colour& colour : kColours) {
    const auto same = [&colour](const TimedSpan& span) { return span.name == colour.kind; };
    if (std::none_of(traced.spans.begin(), traced.spans.end(), same)) continue;
    svg.rectangle(legend, 58, 14, 14, colour.fill);
    svg.text(legend + 19, 70, std::string(colour.kind), {12});
    legend += 19 + Svg::width_of(std::string(colour.kind), 12) + 16;
  }

  for (const double tick : ticks(0, end, 12)) {
    svg.line(x(tick), kTop - 4, x(tick), bottom, "#ddd");
    svg.text(x(tick), bottom + 15, plain(tick), {12, "middle"});
  }
  svg.text(kLeft + kPlot / 2, bottom + 35, "ms since the call began", {12, "middle"});
  const double bound = x(traced.bound_ms);
  const bool left_of_line = bound > kLeft + kPlot - 60;
  svg.line(bound, kTop - 14, bound, bottom, "#b00020", 1.5, "5 3");
  svg.text(bound + (left_of_line ? -5 : 5), kTop - 8, "bound",
           {12, left_of_line ? "end" : "start", "#b00020"});
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    svg.text(kLeft - 8, tops[i] + heights[i] / 2 + 4, lanes[i].name,
             {lanes[i].on_device ? 13.0 : 10.0, "end"});
  }
  for (const TimedSpan& span : traced.spans) {
    const std::size_t lane = number_of(span.lane, lanes);
    const Colour& colour = colour_of(span.name);
    const double left = x(span.begin / 1e3), width = x(span.end / 1e3) - left;
    char times[96];
    std::snprintf(times, sizeof times, ": %.3f ms, from %.3f to %.3f",
                  (span.end - span.begin) / 1e3, span.begin / 1e3, span.end / 1e3);
    svg.rectangle(left, tops[lane], std::max(width, 0.3), heights[lane], colour.fill, "bar",
                  label(span) + times);
    const std::string number = std::to_string(span.block);
    if (lanes[lane].on_device && Svg::width_of(number, 11) + 4 <= width) {
      svg.text(left + width / 2, tops[lane] + heights[lane] / 2 + 4, number,
               {11, "middle", colour.dark ? "#fff" : "#222"});
    }
  }
  return svg.str();
}

}  // namespace overlapack::bench
