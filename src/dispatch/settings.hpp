// What the environment says of where calls go and how they are carried out.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/shared/shape.hpp"
#include "core/scalar.hpp"
#include "core/view.hpp"

namespace overlapack::dispatch {

enum class Algorithm { automatic, tiled, hybrid, textbook };
enum class DeviceChoice { automatic, cuda, host, off };
enum class Scalapack { automatic, grid, off };
using algorithms::Upload;
inline constexpr std::size_t kSettingCount = 18;

/// What the environment says (docs/user/settings.md). Empty or absent means the default.
struct Settings {
  DeviceChoice device = DeviceChoice::automatic;
  std::optional<int> cuda_index;  ///< none: the GPU that the program itself uses, or by `rank`
  int rank = 0;                   ///< among a parallel program's processes on this machine
  std::optional<Index> min_n;     ///< OVERLAPACK_MIN_N: overrides every break-even
  Algorithm algorithm = Algorithm::automatic;
  Index nb = 0;                ///< OVERLAPACK_NB: block size, 0 = chosen by size
  Index threads = 0;           ///< OVERLAPACK_THREADS: copy threads, 0 = by the number of cores
  bool strict_fp32 = false;    ///< OVERLAPACK_FP32=strict: no products of split operands
  bool strict_fp64 = false;    ///< OVERLAPACK_FP64=strict: no products of residues
  bool strict_copies = false;  ///< OVERLAPACK_COPIES=strict: of NumPy, in their operands alone
  Upload upload = Upload::automatic;  ///< OVERLAPACK_UPLOAD
  /// OVERLAPACK_REFINE: of the large products of mixed-precision solvers
  Precision refine = Precision::fp32;
  std::string profile;           ///< OVERLAPACK_PROFILE: path of the profile file
  std::string cpu_lapack;        ///< OVERLAPACK_CPU_LAPACK: path of the CPU LAPACK
  std::size_t memory_limit = 0;  ///< OVERLAPACK_MEMORY_LIMIT: of device memory, 0 = none
  /// OVERLAPACK_KEEP_MEMORY: of the device, without a call
  std::chrono::milliseconds keep_memory = std::chrono::seconds(5);
  bool verbose = false;         ///< OVERLAPACK_VERBOSE: log every call
  std::string log;              ///< file the log is appended to; empty means stderr
  bool log_of_summary = false;  ///< `log` is there only as long as somebody will read it
  bool nvtx_blocks = false;     ///< OVERLAPACK_NVTX=blocks: ranges of blocks, too
  Scalapack scalapack = Scalapack::automatic;  ///< OVERLAPACK_SCALAPACK: who serves its names
  Index scalapack_ranks = 0;                   ///< those of the grid of OVERLAPACK_SCALAPACK=grid:i
  Index scalapack_min_n = 2048;                ///< OVERLAPACK_SCALAPACK_MIN_N
  /// The values as they were given, in the order of kSettings; empty for a default.
  std::array<std::string, kSettingCount> given;
};

/// For Settings::keep_memory.
inline constexpr std::chrono::milliseconds kForEver = std::chrono::milliseconds::max();

/// Before the path in OVERLAPACK_VERBOSE: the file of `overlapack run --summary`, which is removed
/// when the program has ended. A process that outlives the program does not make it again, and has
/// nothing to complain of.
inline constexpr std::string_view kSummaryLog = "summary:";
/// Likewise: the file of `overlapack info -- PROGRAM`, for no calls (compat/presence.cpp).
inline constexpr std::string_view kQuestion = "question:";

/// One environment variable: for parsing, `overlapack info` and `overlapack run`. Users read of it
/// in docs/user/settings.md.
struct Setting {
  const char* name;
  const char* values;
  const char* meaning;
  /// Takes a value, which is not empty. False, and the default remains, if it is not accepted.
  bool (*accept)(Settings&, const std::string&);
  /// Whether its value is in use for the life of the process. Calls read all others as they begin,
  /// so that those may change at any time.
  bool fixed = false;
};
extern const std::array<Setting, kSettingCount> kSettings;

/// 3 of "cuda:3", which is a setting and a device's name; none of anything else.
std::optional<int> cuda_index_of(const std::string& device);
/// All of a text as a number; none if it is not one.
std::optional<Index> parse_integer(const std::string& text);

/// The beginning of a text, in quotation marks, as messages have it. What a terminal might not
/// print is a question mark.
std::string quoted(const std::string& text);

/// Reads the settings through `lookup` (a getenv). A bad value adds one message, which names the
/// variable and the accepted values, to `complaints` and is ignored. `rank` is what the launcher of
/// a parallel program says (Open MPI, Intel MPI and MPICH, MVAPICH, PALS, Slurm), or 0.
Settings parse_settings(const std::function<const char*(const char*)>& lookup,
                        std::vector<std::string>& complaints);
/// The same settings but for the one at a place in kSettings, which gets a value or, if that is
/// empty, its default. None if it does not accept the value.
std::optional<Settings> with(const Settings& settings, std::size_t place, const std::string& value);
/// What there is to say of an environment's variables that are called like settings and are none:
/// "no setting is called 'OVERLAPACK_MINN'; did you mean OVERLAPACK_MIN_N?".
std::vector<std::string> unknown_settings(const char* const* environment);
/// Copy threads of a transfer, on a machine with that many cores.
Index copy_threads(const Settings& settings, Index cores);

}  // namespace overlapack::dispatch
