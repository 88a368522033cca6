// Which calls go to the device: pure functions of the call, the settings and the measured profile.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "core/scalar.hpp"

namespace overlapack::dispatch {

/// LAPACK's routines, and updates of a Cholesky factor under whatever name.
enum class Routine {
#define OVERLAPACK_ROUTINE(name, parameters, arguments) name,
#include "routines.def"
// and, behind all others,
#include "mixed_complex.def"
#include "mixed_real.def"
#undef OVERLAPACK_ROUTINE
  cholupdate,
};
inline constexpr const char* kRoutineNames[] = {
#define OVERLAPACK_ROUTINE(name, parameters, arguments) #name,
#include "routines.def"
// and, behind all others,
#include "mixed_complex.def"
#include "mixed_real.def"
#undef OVERLAPACK_ROUTINE
    "cholupdate",
};
inline constexpr std::size_t kRoutineCount = sizeof(kRoutineNames) / sizeof(kRoutineNames[0]);
inline constexpr std::size_t kLapackRoutineCount = static_cast<std::size_t>(Routine::cholupdate);
inline constexpr char kTypeLetters[] = {'s', 'd', 'c', 'z'};
inline const char* name_of(Routine routine) { return kRoutineNames[static_cast<int>(routine)]; }
/// Mixed-precision solvers: dsgesv is sgesv for the type d.
inline constexpr bool is_mixed(Routine routine) {
  return routine > Routine::gesv && routine < Routine::cholupdate;
}
/// Whether the routine exists for a type: all for all four but the mixed-precision solvers.
inline constexpr bool exists(Routine routine, char type) {
  if (!is_mixed(routine)) return true;
  return type == (routine == Routine::sgesv || routine == Routine::sposv ? 'd' : 'z');
}
/// Bytes of a number of that type.
std::size_t element_size(char type);
/// Routines that factor a matrix by LU, or by Cholesky.
bool is_lu(Routine routine);
bool is_cholesky(Routine routine);

/// m x n is the matrix (m = n for all but getrf); nrhs is 0 for the factorizations, and for an
/// update the number of vectors.
struct Shape {
  Index m = 0;
  Index n = 0;
  Index nrhs = 0;

  /// Of the largest matrix of the call.
  Index elements() const { return m * std::max(n, nrhs); }
};

enum class Algorithm { automatic, tiled, hybrid };
enum class DeviceChoice { automatic, cuda, host, off };
/// The order in which a matrix of the host goes up: by block columns (rows of an upper triangle);
/// of a Cholesky factorization a leading triangle first, and then what is below it; of a
/// mixed-precision solver the high words of all numbers first, and then the low ones.
enum class Upload { automatic, columns, triangle, halves };

/// What the environment says (README.md, "Settings"). Empty or absent means the default.
struct Settings {
  DeviceChoice device = DeviceChoice::automatic;
  std::optional<int> cuda_index;  ///< none: the GPU that the program itself uses, or by `rank`
  int rank = 0;                   ///< among a parallel program's processes on this machine
  std::optional<Index> min_n;     ///< OVERLAPACK_MIN_N: overrides every break-even
  Algorithm algorithm = Algorithm::automatic;
  Index nb = 0;              ///< OVERLAPACK_NB: block size, 0 = chosen by size
  Index threads = 0;         ///< OVERLAPACK_THREADS: copy threads, 0 = by the number of cores
  bool strict_fp32 = false;  ///< OVERLAPACK_FP32=strict: no products of split operands
  bool strict_fp64 = false;  ///< OVERLAPACK_FP64=strict: no products of residues
  Upload upload = Upload::automatic;  ///< OVERLAPACK_UPLOAD
  /// OVERLAPACK_REFINE: of the large products of mixed-precision solvers
  Precision refine = Precision::fp32;
  std::string profile;           ///< OVERLAPACK_PROFILE: path of the profile file
  std::string cpu_lapack;        ///< OVERLAPACK_CPU_LAPACK: path of the CPU LAPACK
  std::size_t memory_limit = 0;  ///< OVERLAPACK_MEMORY_LIMIT: of device memory, 0 = none
  bool verbose = false;          ///< OVERLAPACK_VERBOSE: log every call
  std::string log;               ///< file the log is appended to; empty means stderr
};

/// One environment variable: for parsing, `overlapack info` and the README.
struct Setting {
  const char* name;
  const char* values;
  const char* meaning;
  /// Takes a value, which is not empty. False, and the default remains, if it is not accepted.
  bool (*accept)(Settings&, const std::string&);
};
extern const std::array<Setting, 13> kSettings;

/// 3 of "cuda:3", which is a setting and a device's name; none of anything else.
std::optional<int> cuda_index_of(const std::string& device);

/// Reads the settings through `lookup` (a getenv). A bad value adds one message, which names the
/// variable and the accepted values, to `complaints` and is ignored. `rank` is what the launcher of
/// a parallel program says (Open MPI, Intel MPI and MPICH, MVAPICH, PALS, Slurm), or 0.
Settings parse_settings(const std::function<const char*(const char*)>& lookup,
                        std::vector<std::string>& complaints);

/// Break-even sizes. The size of a call is what size_of() says; from its threshold up a call goes
/// to the device, but for updates by few vectors (break_even()).
struct Profile {
  std::array<std::array<Index, 4>, kRoutineCount> threshold;  // [routine][type letter]
  std::array<std::array<bool, 4>, kRoutineCount> read{};      // those that are from the file
  std::string source = kBuiltIn;                              // or the file it was read from
  std::string unread;  // the file that may be there but cannot be read, and why

  Index& at(Routine routine, char type);
  Index at(Routine routine, char type) const;
  /// Whether that one is from a file.
  bool& is_read(Routine routine, char type);
  bool is_read(Routine routine, char type) const;
  /// Where that one is from.
  std::string source_of(Routine routine, char type) const;
  /// Where those are from that no file has, and why not, if one cannot be read.
  std::string built_in() const;

  static constexpr const char* kBuiltIn = "built-in";
};
/// A threshold that no call reaches.
inline constexpr Index kNever = 1000000000;
/// As in profiles: a number, or "never".
std::string threshold_text(Index threshold);
/// Conservative values for a machine nobody has measured.
Profile builtin_profile();
/// Text form: one line "dpotrf 384" per entry, '#' starts a comment. Entries that are missing keep
/// their built-in value. Returns nothing, and says why in `complaint`, if a line is malformed.
std::optional<Profile> parse_profile(const std::string& text, std::string& complaint);
/// The same of the entries that have been read, below a comment. Empty if there are none.
std::string format_profile(const Profile& profile, const std::string& comment);
/// $OVERLAPACK_PROFILE, or overlapack/profile under $XDG_CACHE_HOME or ~/.cache.
std::string profile_path(const Settings& settings);

/// The one number a call is judged by: n for Cholesky factorizations and their updates, the cube
/// root of m n min(m, n) for LU, min(n, nrhs) for potrs and getrs (a solve moves n^2 elements for
/// n^2 nrhs operations, so it is the number of right-hand sides that pays for the transfer).
Index size_of(Routine routine, const Shape& shape);
/// Vectors of an update from which on its break-even size does not depend on their number.
inline constexpr Index kManyVectors = 16;
/// The size from which on a call of this shape goes to the device: what the user says, or the
/// profile. An update by few vectors spares the CPU much of its time, but the link, which bounds
/// the device, none: by k vectors it is (kManyVectors / k)^2 times as large as the profile's.
Index break_even(Routine routine, char type, const Shape& shape, const Settings& settings,
                 const Profile& profile);
/// LAPACK's operation count in real floating-point operations.
double flops_of(Routine routine, char type, const Shape& shape);
/// The same of a call that returned `info`: what it has not done because of that does not count.
double flops_done(Routine routine, char type, const Shape& shape, Index info);

/// Where a call goes and, if to the device, how.
struct Plan : algorithms::Options {
  bool on_device = false;
  std::string why;  ///< one phrase for the call log
};

/// The first half of the decision, cheap and without opening the device: is the call large enough?
bool wants_device(Routine routine, char type, const Shape& shape, const Settings& settings,
                  const Profile& profile);
/// Copy threads of a transfer, on a machine with that many cores.
Index copy_threads(const Settings& settings, Index cores);
/// Starting CUDA takes a process about this long, once.
inline constexpr double kStartSeconds = 0.3;
/// Whether a call that is large enough for the device is a reason to start it. It is once the calls
/// that the device would have served, this one included, cost the CPU as much time as starting the
/// device does: the rule of the ski rental, at most twice the time of the best decision in
/// hindsight, and a program with one small solve does not wait for CUDA. Always true if the user
/// has named the device or the size. `spent` is the seconds of such calls so far.
bool worth_starting(Routine routine, char type, const Shape& shape, const Settings& settings,
                    double spent, Index cores);
/// The whole decision, for a device with that much memory; 0 means that there is none. `resident`:
/// the matrix lies on the device, so no size is too small.
Plan plan(Routine routine, char type, const Shape& shape, const Settings& settings,
          const Profile& profile, std::size_t device_memory, bool resident = false);

}  // namespace overlapack::dispatch
