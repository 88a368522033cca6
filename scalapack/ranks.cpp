#include "ranks.hpp"

#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <mutex>

#include "blacs.hpp"
#include "host/messages.hpp"
#include "host/once.hpp"
#include "lapack_library.hpp"

namespace overlapack::scalapack {
namespace {

using dispatch::DeviceChoice;
using dispatch::Scalapack;

struct All {
  std::mutex mutex;
  std::map<int, Ranks> of_context;
};
All& all_ranks() {
  static Once<All> once;
  return once.get([] { return new All; });
}

Grid grid_of(int context) {
  Grid grid;
  blacs()->gridinfo(context, &grid.rows, &grid.columns, &grid.row, &grid.column);
  return grid;
}

/// A number of 60 bits for what ranks must share to share memory: the host, as it has been booted,
/// and the numbers of its processes, which containers have of their own.
std::size_t find_host_identity() {
  std::string text;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), text);
  char name[64] = {};
  const ssize_t length = readlink("/proc/self/ns/pid", name, sizeof name - 1);
  if (length > 0) text += name;
  return std::hash<std::string>()(text) >> 4;
}

std::size_t host_identity() {
  static Once<std::size_t> once;
  return once.get([] { return new std::size_t(find_host_identity()); });
}

/// Whether this process may have a GPU and the library that uses it. Nothing is loaded.
bool may_lead() {
  const DeviceChoice device = settings().device;
  if (device == DeviceChoice::off || lapack_library_file().empty()) return false;
  return device == DeviceChoice::host || access("/dev/nvidiactl", F_OK) == 0 ||
         access("/dev/dxg", F_OK) == 0;
}

const char* reason_against(Scalapack engine, bool on_one_host, int leader) {
  if (engine == Scalapack::off) return "OVERLAPACK_SCALAPACK=off";
  if (engine == Scalapack::grid) return "";
  if (!on_one_host) return "the ranks are on several hosts";
  return leader == kNone ? "no rank has a GPU" : "";
}

/// One reduction: of what the first rank alone decides, the others say nothing.
Terms come_to_terms(int context, const Grid& grid) {
  constexpr int kMask = (1 << 30) - 1;
  const std::size_t host = host_identity();
  const int high = static_cast<int>(host >> 30) & kMask, low = static_cast<int>(host) & kMask;
  std::vector<int> values(4, kNone);
  if (grid.rank() == 0) {
    const auto number = [](Index value) { return static_cast<int>(std::min<Index>(value, kMask)); };
    values = {static_cast<int>(settings().scalapack), number(settings().scalapack_ranks),
              number(settings().scalapack_min_n), number(settings().nb)};
  }
  const int leader = may_lead() ? grid.rank() : kNone;
  values.insert(values.end(), {leader, high, kMask - high, low, kMask - low});
  take_minima(context, values);

  Terms terms;
  terms.engine = static_cast<Scalapack>(values[0]);
  terms.grid_ranks = std::min(values[1], grid.size());
  terms.min_n = values[2];
  terms.nb = values[3];
  terms.leader = values[4];
  const bool on_one_host = values[5] == kMask - values[6] && values[7] == kMask - values[8];
  terms.why = reason_against(terms.engine, on_one_host, terms.leader);
  return terms;
}

dispatch::Settings* read_settings() {
  std::vector<std::string> complaints;
  auto* const settings = new dispatch::Settings(
      dispatch::parse_settings([](const char* name) { return secure_getenv(name); }, complaints));
  for (const std::string& complaint : complaints) {  // of the others the library for LAPACK speaks
    const bool ours = complaint.rfind("OVERLAPACK_SCALAPACK", 0) == 0;
    if (ours && settings->rank == 0) write_to_standard_error("overlapack: " + complaint + "\n");
  }
  return settings;
}

}  // namespace

const dispatch::Settings& settings() {
  static Once<dispatch::Settings> once;
  return once.get(read_settings);
}

Ranks::Ranks(int context, const Grid& grid)
    : context_(context), grid_(grid), terms_(come_to_terms(context, grid)) {}

Ranks* Ranks::of(int context) {
  All& all = all_ranks();
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.of_context.find(context);
    if (found != all.of_context.end()) return &found->second;
  }
  if (blacs() == nullptr) return nullptr;
  const Grid grid = grid_of(context);
  if (!grid.has_us()) return nullptr;
  // Not under the lock: others may come to terms in another context.
  Ranks ranks(context, grid);
  const std::lock_guard<std::mutex> lock(all.mutex);
  return &all.of_context.emplace(context, std::move(ranks)).first->second;
}

void Ranks::forget(int context) {
  All& all = all_ranks();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.of_context.erase(context);
}

void Ranks::forget_all() {
  All& all = all_ranks();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.of_context.clear();
}

Engine* Ranks::engine() {
  if (!engine_ && terms_.why.empty()) {
    engine_ = terms_.engine == Scalapack::grid ? make_grid_engine(*this)
                                               : make_one_host_engine(*this, terms_.why);
  }
  return engine_.get();
}

}  // namespace overlapack::scalapack
