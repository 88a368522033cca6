#include "dispatch/settings.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <utility>

#include "host/nearest.hpp"

namespace overlapack::dispatch {
namespace {

/// A number of bytes: digits, and perhaps K, M or G for powers of 1024. 0 if it is none.
std::size_t parse_bytes(std::string text) {
  int shift = 0;
  if (!text.empty()) {
    const std::size_t letter = std::string("kKmMgG").find(text.back());
    if (letter != std::string::npos) {
      shift = 10 * (static_cast<int>(letter) / 2 + 1);
      text.pop_back();
    }
  }
  const std::optional<Index> value = parse_integer(text);
  const bool valid = value && *value >= 1 && *value <= (std::numeric_limits<Index>::max() >> shift);
  return valid ? static_cast<std::size_t>(*value) << shift : 0;
}

std::optional<Index> positive(const std::string& text) {
  const std::optional<Index> value = parse_integer(text);
  return value && *value >= 1 ? value : std::nullopt;
}

/// Makes `choice` what `text` names. False if it names none.
template <class T>
bool choose(T& choice, const std::string& text,
            std::initializer_list<std::pair<const char*, T>> names) {
  for (const auto& [name, value] : names) {
    if (text != name) continue;
    choice = value;
    return true;
  }
  return false;
}

bool accept_device(Settings& settings, const std::string& text) {
  if (const std::optional<int> index = cuda_index_of(text)) {
    settings.device = DeviceChoice::cuda;
    settings.cuda_index = index;
    return true;
  }
  return choose(settings.device, text,
                {{"auto", DeviceChoice::automatic},
                 {"cuda", DeviceChoice::cuda},
                 {"host", DeviceChoice::host},
                 {"off", DeviceChoice::off}});
}

bool accept_scalapack(Settings& settings, const std::string& text) {
  const std::string grid = "grid:";
  if (text.rfind(grid, 0) != 0) {
    return choose(settings.scalapack, text,
                  {{"auto", Scalapack::automatic}, {"off", Scalapack::off}});
  }
  const std::optional<Index> ranks = positive(text.substr(grid.size()));
  if (!ranks) return false;
  settings.scalapack = Scalapack::grid;
  settings.scalapack_ranks = *ranks;
  return true;
}

bool accept_keep_memory(Settings& settings, const std::string& text) {
  constexpr Index kMaxSeconds = 1000000;
  if (text == "forever") {
    settings.keep_memory = kForEver;
    return true;
  }
  const std::optional<Index> seconds = parse_integer(text);
  if (!seconds || *seconds < 0 || *seconds > kMaxSeconds) return false;
  settings.keep_memory = std::chrono::seconds(*seconds);
  return true;
}

/// A process's number among those of a parallel program on this machine.
int rank_on_machine(const std::function<const char*(const char*)>& lookup) {
  constexpr Index kMaxRank = 1 << 20;
  for (const char* const of_launcher :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
        "PALS_LOCAL_RANKID", "SLURM_LOCALID"}) {
    const char* const text = lookup(of_launcher);
    if (text == nullptr) continue;
    const std::optional<Index> rank = parse_integer(text);
    if (rank && *rank >= 0 && *rank <= kMaxRank) return static_cast<int>(*rank);
  }
  return 0;
}

/// Gives a setting its value; an empty one is the default. False if it is not accepted.
bool give(Settings& settings, std::size_t place, const std::string& value) {
  if (value.empty()) return true;
  if (!kSettings[place].accept(settings, value)) return false;
  settings.given[place] = value;
  return true;
}

constexpr bool kFixed = true;

}  // namespace

std::optional<Index> parse_integer(const std::string& text) {
  Index value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

constexpr std::array<Setting, kSettingCount> kSettings = {{
    {"OVERLAPACK_DEVICE", "auto|cuda[:i]|host|off",
     "where large calls go: auto, cuda = the CUDA device on which the program itself works, or "
     "else the first one (processes of a parallel program take turns); cuda:i = that device; "
     "host = the emulated device (for tests); off = every call to the CPU LAPACK",
     accept_device, kFixed},
    {"OVERLAPACK_MIN_N", "a whole number >= 1",
     "send calls of at least this size to the device, instead of the measured break-even",
     [](Settings& settings, const std::string& text) {
       settings.min_n = positive(text);
       return settings.min_n.has_value();
     }},
    {"OVERLAPACK_ALGORITHM", "auto|tiled|hybrid|textbook",
     "tiled = everything on the device; hybrid = panels on the CPU, updates on the device; "
     "textbook = no overlap of copies and computation (for new devices and tests)",
     [](Settings& settings, const std::string& text) {
       return choose(settings.algorithm, text,
                     {{"auto", Algorithm::automatic},
                      {"tiled", Algorithm::tiled},
                      {"hybrid", Algorithm::hybrid},
                      {"textbook", Algorithm::textbook}});
     }},
    {"OVERLAPACK_NB", "a whole number >= 1", "block size, instead of one chosen by the size",
     [](Settings& settings, const std::string& text) {
       settings.nb = positive(text).value_or(0);
       return settings.nb > 0;
     }},
    {"OVERLAPACK_FP32", "auto|strict",
     "large products of single precision: auto = on the tensor cores, each number split into two "
     "of FP16, where that is faster; strict = in FP32 throughout",
     [](Settings& settings, const std::string& text) {
       return choose(settings.strict_fp32, text, {{"auto", false}, {"strict", true}});
     }},
    {"OVERLAPACK_FP64", "auto|strict",
     "long sums of Cholesky and LU factorizations in double precision: auto = of small integers "
     "on the tensor cores, as accurate, where that is faster; strict = in FP64 throughout",
     [](Settings& settings, const std::string& text) {
       return choose(settings.strict_fp64, text, {{"auto", false}, {"strict", true}});
     }},
    {"OVERLAPACK_UPLOAD", "auto|columns|triangle|halves",
     "how a matrix of the host goes up: columns = by block columns (block rows of an upper "
     "triangle); triangle = for Cholesky, a leading triangle first, which brings more work for "
     "its bytes, then what is below it; halves = for mixed-precision solvers, the high words of "
     "all numbers first, which are enough to factor; auto = the last two for large matrices, "
     "halves for LU",
     [](Settings& settings, const std::string& text) {
       return choose(settings.upload, text,
                     {{"auto", Upload::automatic},
                      {"columns", Upload::columns},
                      {"triangle", Upload::triangle},
                      {"halves", Upload::halves}});
     }},
    {"OVERLAPACK_REFINE", "auto|fp32|tf32|fp16",
     "large products of mixed-precision solvers (dsgesv and its sisters): fp32 = as those of "
     "single precision; tf32 = of operands rounded to TF32; fp16 = of operands rounded to FP16. "
     "What does not converge is factored again in the next higher precision, at last in double; "
     "auto = fp32. OVERLAPACK_FP32=strict means fp32, too",
     [](Settings& settings, const std::string& text) {
       return choose(settings.refine, text,
                     {{"auto", Precision::fp32},
                      {"fp32", Precision::fp32},
                      {"tf32", Precision::tf32},
                      {"fp16", Precision::fp16}});
     }},
    {"OVERLAPACK_THREADS", "a whole number from 1 to 1024",
     "threads that copy between the program's memory and the device's staging memory; default "
     "all cores that the process may use but 3, at least 1 and at most 13. Also those of a "
     "Cholesky update on the CPU and of NumPy's copies; default one for each core, at most 16",
     [](Settings& settings, const std::string& text) {
       const Index threads = positive(text).value_or(0);
       if (threads <= 1024) settings.threads = threads;
       return settings.threads > 0;
     }},
    {"OVERLAPACK_COPIES", "auto|strict",
     "NumPy's copies of matrices: auto = columns are read and written before NumPy asks for them, "
     "where what that relies on can be checked; strict = each call reads and writes its operands "
     "and nothing else",
     [](Settings& settings, const std::string& text) {
       return choose(settings.strict_copies, text, {{"auto", false}, {"strict", true}});
     }},
    {"OVERLAPACK_MEMORY_LIMIT",
     "a number of bytes >= 1, perhaps with K, M or G for powers of 1024 (no limit: leave it unset; "
     "no device: OVERLAPACK_DEVICE=off)",
     "device memory that calls may take in all; a call that needs more goes to the CPU LAPACK. "
     "(Updates of a Cholesky factor make do with little, whatever the size.) What the driver, "
     "cuBLAS and kernels need beside the matrices does not count. Default no limit",
     [](Settings& settings, const std::string& text) {
       settings.memory_limit = parse_bytes(text);
       return settings.memory_limit > 0;
     }},
    {"OVERLAPACK_KEEP_MEMORY", "a whole number from 0 to 1000000|forever",
     "seconds without a call on the device after which its memory is given back, for other "
     "programs and libraries. The next call takes it again, which costs milliseconds. 0 = after "
     "each call; forever = when the process ends. Default 5",
     accept_keep_memory},
    {"OVERLAPACK_PROFILE", "a path",
     "the file of measured break-even sizes that `overlapack tune` writes; default "
     "overlapack/profile under $XDG_CACHE_HOME or ~/.cache",
     [](Settings& settings, const std::string& text) {
       settings.profile = text;
       return true;
     },
     kFixed},
    {"OVERLAPACK_CPU_LAPACK", "a path of a shared library",
     "the CPU LAPACK to use, instead of the one found in the process",
     [](Settings& settings, const std::string& text) {
       settings.cpu_lapack = text;
       return true;
     },
     kFixed},
    {"OVERLAPACK_VERBOSE", "0|1|a path with a '/'",
     "1 = one line per call on stderr; a path = the same lines appended to that file",
     [](Settings& settings, const std::string& text) {
       if (text.rfind(kQuestion, 0) == 0) return true;
       settings.log_of_summary = text.rfind(kSummaryLog, 0) == 0;
       const std::string path = settings.log_of_summary ? text.substr(kSummaryLog.size()) : text;
       if (path.find('/') != std::string::npos) settings.log = path;
       settings.verbose = text == "1" || !settings.log.empty();
       return settings.verbose || text == "0";
     }},
    {"OVERLAPACK_NVTX", "calls|blocks",
     "what a profiler shows that reads NVTX, as Nsight Systems does: calls = a range for each "
     "call; blocks = also one for each block of a factorization and each chunk that is copied. "
     "Without a profiler there are none",
     [](Settings& settings, const std::string& text) {
       return choose(settings.nvtx_blocks, text, {{"calls", false}, {"blocks", true}});
     },
     kFixed},
    {"OVERLAPACK_SCALAPACK", "auto|grid:i|off",
     "who serves ScaLAPACK's names, where liboverlapack_scalapack.so has them: auto = a GPU, if "
     "all "
     "ranks of a grid are on one host that has one; grid:i = the program's own ScaLAPACK on a grid "
     "of i of the ranks (for tests); off = the program's own ScaLAPACK",
     accept_scalapack, kFixed},
    {"OVERLAPACK_SCALAPACK_MIN_N", "a whole number >= 1",
     "the least size of ScaLAPACK's calls that a GPU serves. Default 2048",
     [](Settings& settings, const std::string& text) {
       const std::optional<Index> size = positive(text);
       if (size) settings.scalapack_min_n = *size;
       return size.has_value();
     },
     kFixed},
}};

std::optional<int> cuda_index_of(const std::string& device) {
  constexpr Index kMaxDeviceIndex = 1024;
  const std::string cuda = "cuda:";
  if (device.rfind(cuda, 0) != 0) return std::nullopt;
  const std::optional<Index> index = parse_integer(device.substr(cuda.size()));
  if (!index || *index < 0 || *index > kMaxDeviceIndex) return std::nullopt;
  return static_cast<int>(*index);
}

std::string quoted(const std::string& text) {
  constexpr std::size_t kMaxQuotedCharacters = 40;
  std::string beginning = text.substr(0, kMaxQuotedCharacters);
  std::replace_if(
      beginning.begin(), beginning.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return "'" + beginning + (text.size() > kMaxQuotedCharacters ? "...'" : "'");
}

Settings parse_settings(const std::function<const char*(const char*)>& lookup,
                        std::vector<std::string>& complaints) {
  Settings result;
  result.rank = rank_on_machine(lookup);
  for (std::size_t i = 0; i < kSettingCount; ++i) {
    const char* const text = lookup(kSettings[i].name);
    if (text == nullptr || give(result, i, text)) continue;
    complaints.push_back(std::string(kSettings[i].name) + "=" + quoted(text) +
                         " is ignored; accepted: " + kSettings[i].values);
  }
  return result;
}

std::optional<Settings> with(const Settings& settings, std::size_t place,
                             const std::string& value) {
  Settings result;
  result.rank = settings.rank;
  for (std::size_t i = 0; i < kSettingCount; ++i) {
    if (!give(result, i, i == place ? value : settings.given[i])) return std::nullopt;
  }
  return result;
}

std::vector<std::string> unknown_settings(const char* const* environment) {
  constexpr std::string_view kPrefix = "OVERLAPACK_";
  // What environment modules and CMake say of an installation, and tests of ScaLAPACK's names.
  constexpr std::string_view kOthers[] = {"OVERLAPACK_ROOT", "OVERLAPACK_DIR", "OVERLAPACK_HOME",
                                          "OVERLAPACK_SCALAPACK_FAULT"};
  std::vector<std::string> known, messages;
  for (const Setting& setting : kSettings) known.push_back(setting.name + kPrefix.size());
  if (environment == nullptr) return {};  // after clearenv()
  for (; *environment != nullptr; ++environment) {
    const std::string_view variable = *environment;
    const std::string_view name = variable.substr(0, variable.find('='));
    if (name.substr(0, kPrefix.size()) != kPrefix || name.size() + 1 >= variable.size()) continue;
    const std::string rest(name.substr(kPrefix.size()));
    const bool is_known =
        std::find(known.begin(), known.end(), rest) != known.end() ||
        std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers);
    if (is_known) continue;
    const std::string meant = nearest(rest, known);
    messages.push_back("no setting is called " + quoted(std::string(name)) +
                       (meant.empty() ? "" : "; did you mean OVERLAPACK_" + meant + "?"));
  }
  return messages;
}

Index copy_threads(const Settings& settings, Index cores) {
  if (settings.threads > 0) return settings.threads;
  // One core is left to the caller, one to the issuing thread and one to the system; more copy
  // threads than about a dozen gain nothing on any link.
  return std::clamp<Index>(cores - 3, 1, 13);
}

}  // namespace overlapack::dispatch
