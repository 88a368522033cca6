// The timeline of one call.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "device/timeline.hpp"
#include "tools/problem.hpp"

namespace overlapack::bench {

/// A call that ran with a timeline. Marking costs time: it takes longer than without.
struct TracedCall {
  tools::Call call;
  std::vector<std::pair<std::string, std::string>> machine;
  bool emulated = false;
  double ms = 0;
  double residual = 0;
  double bound_ms = 0;
  std::string bound_by;          ///< "flops" or "link"
  std::vector<TimedSpan> spans;  ///< ordered by their begin
};

/// The trace-event format that ui.perfetto.dev and chrome://tracing read: a track per queue and per
/// host thread, and an arrow per block from its upload on.
nlohmann::json trace_events(const TracedCall& traced);

}  // namespace overlapack::bench
