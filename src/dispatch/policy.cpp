#include "dispatch/policy.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <sstream>
#include <utility>

#include "algorithms/update/on_device.hpp"
#include "device/residues.hpp"

namespace overlapack::dispatch {
namespace {

int type_index(char type) {
  return static_cast<int>(std::find(std::begin(kTypeLetters), std::end(kTypeLetters), type) -
                          std::begin(kTypeLetters));
}

std::optional<Index> parse_integer(const std::string& text) {
  Index value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

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

/// Bytes of device memory that the algorithms take for a call: the matrix and the right-hand sides,
/// which Cholesky holds twice and, besides, as they come and go and, of the latter, as messages in
/// double precision. A mixed-precision solver holds them once more, beside a factorization in
/// double precision if that in single precision does not do. An update takes what there is, but a
/// few block columns at least.
double memory_needed(Routine routine, char type, const Shape& shape, Index nb) {
  if (routine == Routine::cholupdate) {
    return algorithms::chol_update_memory(shape.n, shape.nrhs, nb, element_size(type));
  }
  Index columns = is_cholesky(routine) ? 2 * shape.n + 5 * shape.nrhs : shape.n + shape.nrhs;
  // A mixed-precision solver has A in double precision, and what it falls back to. That takes more
  // than what it refines with, which is given back before.
  if (is_mixed(routine)) columns += shape.n + 4 * shape.nrhs;
  return static_cast<double>(element_size(type)) * static_cast<double>(shape.m + 256) *
         static_cast<double>(columns);
}

/// Bytes beyond that for a matrix that comes in halves.
double memory_for_halves(char type, const Shape& shape) {
  return static_cast<double>(element_size(type)) * static_cast<double>(shape.n + 64) *
         static_cast<double>(shape.n);
}

/// Bytes beyond that for the matrix of an LU by rows. (Of a mixed-precision solver the one in
/// double precision counts, to which it falls back.)
double memory_by_rows(char type, const Shape& shape) {
  return static_cast<double>(element_size(type)) * static_cast<double>(shape.n + shape.nrhs + 64) *
         static_cast<double>(shape.m);
}

/// Bytes beyond that for long sums by residues: the factor of a Cholesky factorization as such, and
/// the sums of a block column; the same of L in LU, and L once more.
double memory_for_residues(Routine routine, char type, const Shape& shape, Index nb) {
  const auto n = static_cast<double>(shape.n + 128), width = static_cast<double>(nb);
  const double planes = type == 'z' ? 4 : 1, products = type == 'z' ? 3 : 1;  // ResidueForm's
  if (is_lu(routine)) {  // in blocks of 512 columns, or of residues of 4 x 8 blocks, in 3 queues
    const auto m = static_cast<double>(shape.m + 128), least = std::min(m, n);
    const auto element = static_cast<double>(element_size(type));
    return (m - least / 2) * least * (planes * residues::kModuli + element) +
           3 * residues::kModuli *
               (products * m * 512 * sizeof(std::int32_t) + planes * 4 * width * 8 * width);
  }
  constexpr Index kTileRows = 256;  // of the products; a block of an upper triangle is rows
  const auto rows = static_cast<double>(round_up(nb, kTileRows));
  return n * n * (planes * residues::kModuli + sizeof(double) / width) +
         products * n * rows * residues::kModuli * sizeof(std::int32_t);
}

/// Bytes beyond that for products of split operands: the factor of a Cholesky factorization once
/// more, in its split form; of an LU L, and panels in six queues, where either factor may be the
/// left one.
double memory_to_split(Routine routine, char type, const Shape& shape, Index nb) {
  const bool complex = type == 'c' || type == 'z';
  const auto m = static_cast<double>(shape.m + 64), n = static_cast<double>(shape.n + shape.nrhs);
  const double left = complex ? 12 : 3, right = complex ? 6 : 3;
  const auto summands = static_cast<double>(nb);
  constexpr auto bytes = static_cast<double>(sizeof(float));
  if (is_cholesky(routine)) return bytes * (left * m * n + right * n * summands);
  if (is_lu(routine)) {
    // Of each number of L its reals, and 32 more for each 256 of them.
    const double least = std::min(m, n), of_l = (complex ? 2.25 : 1.125) * (m - least / 2) * least;
    return bytes * (of_l + 6 * summands * (left + right) * std::max(m, n));
  }
  return 0;
}

/// Block sizes measured on an H200 (double precision): narrow ones, because the chain of diagonal
/// blocks and panels decides, and the updates have a long inner dimension anyway. Products of
/// residues are a third faster with wide ones. In a complex LU they pay for so few summands that
/// narrow ones let more columns have them.
///
/// The regions of an update are wider the more vectors there are, because these come home with each
/// of them, wider in a large matrix, because the rows of an upper factor are copied in pieces of
/// this length, and narrower if so much staging memory would be excessive.
Index default_nb(Routine routine, char type, const Shape& shape, bool residues = false) {
  const Index size = std::min(shape.m, shape.n);
  if (routine == Routine::cholupdate) {
    constexpr Index kUnit = 64, kStagingBytes = 64 << 20;
    const Index least = size < 8192 ? 256 : 512;
    const Index affordable = kStagingBytes / (static_cast<Index>(element_size(type)) * size);
    const Index width = std::min(std::max(least, 8 * shape.nrhs), std::max<Index>(affordable, 1));
    return std::max(width / kUnit * kUnit, kUnit);
  }
  if (is_lu(routine)) {
    return size <= 4096 ? 128 : size < 12288 || (type == 'z' && residues) ? 256 : 512;
  }
  return size <= 1024 ? 128 : size < (residues ? 9216 : 32768) ? 256 : 512;
}

/// The order of the triangle that goes up first, in whole blocks. 0: all goes up by columns.
/// Measured on an H200 and H100s: it pays where the device takes about as long as the link, in real
/// double precision, and in complex one where long sums are by residues. Half of the order makes
/// the largest block, behind which all results go home, as small as it gets; where the device takes
/// longer than the link, more may come first.
Index leading_order(char type, Index n, Index nb, bool residues, Upload upload) {
  constexpr Index kLarge = 4096, kVeryLarge = 12288;
  const bool pays = (type == 'd' && n >= kLarge) || (type == 'z' && n >= kVeryLarge && residues);
  if (upload == Upload::columns || (upload != Upload::triangle && !pays)) return 0;
  const Index leading = n < kVeryLarge ? n / 2 : type == 'z' ? 3 * n / 5 : 7 * n / 10;
  return leading / nb * nb;
}

/// A process's number among those of a parallel program on this machine.
int rank_on_machine(const std::function<const char*(const char*)>& lookup) {
  constexpr Index kMost = 1 << 20;
  for (const char* const of_launcher :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
        "PALS_LOCAL_RANKID", "SLURM_LOCALID"}) {
    const char* const text = lookup(of_launcher);
    if (text == nullptr) continue;
    const std::optional<Index> rank = parse_integer(text);
    if (rank && *rank >= 0 && *rank <= kMost) return static_cast<int>(*rank);
  }
  return 0;
}

/// Whether high words go up first. In small matrices factors in single precision are better than 21
/// bits are, and such matrices arrive soon enough, as all do for Cholesky factorizations.
bool goes_up_in_halves(Routine routine, Index n, Upload upload) {
  constexpr Index kPays = 6144;
  return upload == Upload::halves || (upload != Upload::columns && is_lu(routine) && n >= kPays);
}

}  // namespace

bool is_lu(Routine routine) {
  switch (routine) {
    case Routine::getrf:
    case Routine::gesv:
    case Routine::sgesv:
    case Routine::cgesv:
      return true;
    default:
      return false;
  }
}

bool is_cholesky(Routine routine) {
  switch (routine) {
    case Routine::potrf:
    case Routine::posv:
    case Routine::sposv:
    case Routine::cposv:
      return true;
    default:
      return false;
  }
}

constexpr std::array<Setting, 13> kSettings = {{
    {"OVERLAPACK_DEVICE", "auto|cuda[:i]|host|off",
     "where large calls go: auto, cuda = the CUDA device on which the program itself works, or "
     "else the first one (processes of a parallel program take turns); cuda:i = that device; "
     "host = the emulated device (for tests); off = every call to the CPU LAPACK",
     accept_device},
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
    {"OVERLAPACK_MEMORY_LIMIT", "a number of bytes, perhaps with K, M or G for powers of 1024",
     "device memory that calls may take in all; a call that needs more goes to the CPU LAPACK. "
     "(Updates of a Cholesky factor make do with little, whatever the size.) What the driver, "
     "cuBLAS and kernels need beside the matrices does not count. Default no limit",
     [](Settings& settings, const std::string& text) {
       settings.memory_limit = parse_bytes(text);
       return settings.memory_limit > 0;
     }},
    {"OVERLAPACK_PROFILE", "a path",
     "the file of measured break-even sizes that `overlapack tune` writes; default "
     "overlapack/profile under $XDG_CACHE_HOME or ~/.cache",
     [](Settings& settings, const std::string& text) {
       settings.profile = text;
       return true;
     }},
    {"OVERLAPACK_CPU_LAPACK", "a path of a shared library",
     "the CPU LAPACK to use, instead of the one found in the process",
     [](Settings& settings, const std::string& text) {
       settings.cpu_lapack = text;
       return true;
     }},
    {"OVERLAPACK_VERBOSE", "0|1|a path with a '/'",
     "1 = one line per call on stderr; a path = the same lines appended to that file",
     [](Settings& settings, const std::string& text) {
       if (text.find('/') != std::string::npos) settings.log = text;
       settings.verbose = text == "1" || !settings.log.empty();
       return settings.verbose || text == "0";
     }},
}};

std::optional<int> cuda_index_of(const std::string& device) {
  constexpr Index kMost = 1024;
  const std::string cuda = "cuda:";
  if (device.rfind(cuda, 0) != 0) return std::nullopt;
  const std::optional<Index> index = parse_integer(device.substr(cuda.size()));
  if (!index || *index < 0 || *index > kMost) return std::nullopt;
  return static_cast<int>(*index);
}

Settings parse_settings(const std::function<const char*(const char*)>& lookup,
                        std::vector<std::string>& complaints) {
  Settings result;
  result.rank = rank_on_machine(lookup);
  for (const Setting& setting : kSettings) {
    const char* const text = lookup(setting.name);
    if (text == nullptr || *text == '\0' || setting.accept(result, text)) continue;
    complaints.push_back(std::string(setting.name) + "='" + text +
                         "' is ignored; accepted: " + setting.values);
  }
  return result;
}

Index& Profile::at(Routine routine, char type) {
  return threshold[static_cast<std::size_t>(routine)][static_cast<std::size_t>(type_index(type))];
}

Index Profile::at(Routine routine, char type) const {
  return const_cast<Profile*>(this)->at(routine, type);
}

bool& Profile::is_read(Routine routine, char type) {
  return read[static_cast<std::size_t>(routine)][static_cast<std::size_t>(type_index(type))];
}

bool Profile::is_read(Routine routine, char type) const {
  return const_cast<Profile*>(this)->is_read(routine, type);
}

std::string Profile::source_of(Routine routine, char type) const {
  return is_read(routine, type) ? source : built_in();
}

std::string Profile::built_in() const {
  return unread.empty() ? kBuiltIn : kBuiltIn + ("; " + unread);
}

Profile builtin_profile() {
  // High enough that no machine with a current GPU loses; a first call pays for starting CUDA.
  Profile profile;
  for (auto& row : profile.threshold) row.fill(2048);
  for (Routine routine : {Routine::potrs, Routine::getrs}) {
    for (char type : kTypeLetters) profile.at(routine, type) = 1024;
  }
  return profile;
}

/// In the place of a size.
constexpr const char* kNeverInProfiles = "never";

std::string threshold_text(Index threshold) {
  return threshold >= kNever ? kNeverInProfiles : std::to_string(threshold);
}

std::optional<Profile> parse_profile(const std::string& text, std::string& complaint) {
  Profile profile = builtin_profile();
  std::istringstream lines(text);
  lines.exceptions(std::ios::badbit);  // a stream without memory throws
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    words.exceptions(std::ios::badbit);
    std::string name, value, excess;
    if (!(words >> name)) continue;
    words >> value;
    const std::optional<Index> threshold =
        value == kNeverInProfiles ? std::optional<Index>(kNever) : parse_integer(value);
    const auto routine = std::find_if(std::begin(kRoutineNames), std::end(kRoutineNames),
                                      [&](const char* r) { return name.substr(1) == r; });
    const bool known = routine != std::end(kRoutineNames) && type_index(name[0]) < 4 &&
                       exists(static_cast<Routine>(routine - std::begin(kRoutineNames)), name[0]);
    if (!known || !threshold || *threshold < 1 || (words >> excess)) {
      constexpr std::size_t kEnough = 40;  // characters of what may be no text at all
      std::string quoted = line.substr(0, kEnough);
      std::replace_if(
          quoted.begin(), quoted.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
      complaint = "line " + std::to_string(number) +
                  ": expected a routine and a size, as in 'dpotrf 384', or never, not '" + quoted +
                  (line.size() > kEnough ? "...'" : "'");
      return std::nullopt;
    }
    const auto r = static_cast<std::size_t>(routine - std::begin(kRoutineNames));
    const auto t = static_cast<std::size_t>(type_index(name[0]));
    profile.threshold[r][t] = *threshold;
    profile.read[r][t] = true;
  }
  return profile;
}

std::string format_profile(const Profile& profile, const std::string& comment) {
  std::ostringstream heading, entries;
  std::istringstream lines(comment);
  for (std::string line; std::getline(lines, line);) heading << "# " << line << '\n';
  for (std::size_t r = 0; r < kRoutineCount; ++r) {
    for (std::size_t t = 0; t < 4; ++t) {
      if (!profile.read[r][t]) continue;
      entries << kTypeLetters[t] << kRoutineNames[r] << ' '
              << threshold_text(profile.threshold[r][t]) << '\n';
    }
  }
  return entries.str().empty() ? std::string() : heading.str() + entries.str();
}

std::size_t element_size(char type) {
  switch (type) {
    case 's':
      return 4;
    case 'z':
      return 16;
    default:
      return 8;
  }
}

std::string profile_path(const Settings& settings) {
  if (!settings.profile.empty()) return settings.profile;
  if (const char* cache = secure_getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::string(cache) + "/overlapack/profile";
  }
  if (const char* home = secure_getenv("HOME"); home != nullptr && *home == '/') {
    return std::string(home) + "/.cache/overlapack/profile";
  }
  return {};
}

Index size_of(Routine routine, const Shape& shape) {
  const auto order = static_cast<double>(shape.n);
  if (is_cholesky(routine) || routine == Routine::cholupdate) return shape.n;
  if (!is_lu(routine)) return std::min(shape.n, shape.nrhs);
  const auto m = static_cast<double>(shape.m);
  return std::llround(std::cbrt(m * order * std::min(m, order)));
}

Index break_even(Routine routine, char type, const Shape& shape, const Settings& settings,
                 const Profile& profile) {
  if (settings.min_n) return *settings.min_n;
  const Index threshold = profile.at(routine, type);
  if (routine != Routine::cholupdate || threshold >= kNever) return threshold;
  const auto vectors = static_cast<double>(std::clamp<Index>(shape.nrhs, 1, kManyVectors));
  const double ratio = static_cast<double>(kManyVectors) / vectors;
  return std::llround(static_cast<double>(threshold) * ratio * ratio);
}

double flops_of(Routine routine, char type, const Shape& shape) {
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n);
  const auto nrhs = static_cast<double>(shape.nrhs);
  const double k = std::min(m, n);
  const double cholesky = n * n * n / 3;
  const double lu = 2 * (m * n * k - (m + n) * k * k / 2 + k * k * k / 3);
  // An update takes as many as a solve: nrhs products for each of n^2 / 2 elements, at twice the
  // operations of V V^H.
  const double solve = 2 * n * n * nrhs;
  const double scale = type == 'c' || type == 'z' ? 4 : 1;
  return scale * (solve + (is_cholesky(routine) ? cholesky : is_lu(routine) ? lu : 0));
}

double flops_done(Routine routine, char type, const Shape& shape, Index info) {
  if (info <= 0) return flops_of(routine, type, shape);
  if (is_cholesky(routine)) return flops_of(Routine::potrf, type, {info - 1, info - 1, 0});
  return is_lu(routine) ? flops_of(Routine::getrf, type, {shape.m, shape.n, 0})
                        : flops_of(routine, type, shape);
}

bool wants_device(Routine routine, char type, const Shape& shape, const Settings& settings,
                  const Profile& profile) {
  return settings.device != DeviceChoice::off &&
         size_of(routine, shape) >= break_even(routine, type, shape, settings, profile);
}

Index copy_threads(const Settings& settings, Index cores) {
  if (settings.threads > 0) return settings.threads;
  // One core is left to the caller, one to the issuing thread and one to the system; more copy
  // threads than about a dozen gain nothing on any link.
  return std::clamp<Index>(cores - 3, 1, 13);
}

bool worth_starting(Routine routine, char type, const Shape& shape, const Settings& settings,
                    double spent, Index cores) {
  if (settings.device != DeviceChoice::automatic || settings.min_n) return true;
  constexpr double kFlopsPerCore = 1e10;  // what a CPU LAPACK reaches at the sizes in question
  const double seconds =
      flops_of(routine, type, shape) / (kFlopsPerCore * static_cast<double>(cores));
  return spent + seconds >= kStartSeconds;
}

Plan plan(Routine routine, char type, const Shape& shape, const Settings& settings,
          const Profile& profile, std::size_t device_memory, bool resident) {
  Plan plan;
  plan.split = plan.residues = plan.by_rows = false;  // until it is known that there is memory
  if (settings.device == DeviceChoice::off) {
    plan.why = "OVERLAPACK_DEVICE=off";
    return plan;
  }
  const bool large = resident || wants_device(routine, type, shape, settings, profile);
  plan.why = "size " + std::to_string(size_of(routine, shape)) + (large ? " >= " : " < ") +
             threshold_text(break_even(routine, type, shape, settings, profile)) + " (" +
             (settings.min_n ? "OVERLAPACK_MIN_N" : profile.source_of(routine, type)) + ")";
  if (resident) plan.why = "an operand lies on the device";
  if (!large) return plan;
  if (device_memory == 0) {
    plan.why = "no device";
    return plan;
  }
  constexpr double kUsable = 0.9;  // of the device's memory
  double usable = kUsable * static_cast<double>(device_memory);
  const auto limit = static_cast<double>(settings.memory_limit);
  const bool limited = limit > 0 && limit < usable;
  if (limited) usable = limit;
  plan.nb = settings.nb > 0 ? std::min(settings.nb, std::max({shape.m, shape.n, Index{1}}))
                            : default_nb(routine, type, shape);
  double needed = memory_needed(routine, type, shape, plan.nb);
  constexpr Index kNarrow = 32;  // regions of an update, where memory is short
  while (routine == Routine::cholupdate && settings.nb == 0 && needed > usable &&
         plan.nb >= 2 * kNarrow) {
    plan.nb /= 2;
    needed = memory_needed(routine, type, shape, plan.nb);
  }
  if (needed > usable) {
    plan.why = limited ? "needs more device memory than OVERLAPACK_MEMORY_LIMIT allows"
                       : "larger than the device's memory";
    return plan;
  }
  plan.memory = static_cast<std::size_t>(usable);
  plan.on_device = true;
  // The device's own panel kernels beat a round trip through the CPU on every GPU measured.
  plan.hybrid = settings.algorithm == Algorithm::hybrid;
  plan.textbook = settings.algorithm == Algorithm::textbook && !is_mixed(routine) &&
                  (is_lu(routine) || is_cholesky(routine));
  // What makes it faster takes memory of its own, as far as there is some.
  const auto affords = [&](double bytes) {
    const bool enough = needed + bytes <= usable;
    if (enough) needed += bytes;
    return enough;
  };
  const bool single = type == 's' || type == 'c' || is_mixed(routine);
  plan.split =
      !settings.strict_fp32 && single && affords(memory_to_split(routine, type, shape, plan.nb));
  plan.by_rows = is_lu(routine) && affords(memory_by_rows(type, shape));
  plan.halves = is_mixed(routine) && !resident &&
                goes_up_in_halves(routine, shape.n, settings.upload) &&
                affords(memory_for_halves(type, shape));
  const bool exist = (type == 'd' || type == 'z') && (is_cholesky(routine) || plan.by_rows);
  const Index nb_of_residues =
      settings.nb > 0 || is_mixed(routine) ? plan.nb : default_nb(routine, type, shape, true);
  plan.residues = !settings.strict_fp64 && exist &&
                  affords(memory_for_residues(routine, type, shape, nb_of_residues));
  if (plan.residues) plan.nb = nb_of_residues;
  if (is_cholesky(routine) && !is_mixed(routine) && !resident) {
    plan.leading = leading_order(type, shape.n, plan.nb, plan.residues, settings.upload);
  }
  if (plan.split && is_mixed(routine) && settings.refine != Precision::fp32) {
    plan.precision = settings.refine;
    plan.why += std::string("; products in ") + name_of(plan.precision) + " (OVERLAPACK_REFINE)";
  }
  return plan;
}

}  // namespace overlapack::dispatch
