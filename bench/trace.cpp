#include "trace.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "report.hpp"
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

}  // namespace overlapack::bench
