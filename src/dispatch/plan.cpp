#include "dispatch/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "algorithms/update/on_device.hpp"
#include "device/residues.hpp"

namespace overlapack::dispatch {
namespace {

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

/// Whether high words go up first. In small matrices factors in single precision are better than 21
/// bits are, and such matrices arrive soon enough, as all do for Cholesky factorizations.
bool goes_up_in_halves(Routine routine, Index n, Upload upload) {
  constexpr Index kPays = 6144;
  return upload == Upload::halves || (upload != Upload::columns && is_lu(routine) && n >= kPays);
}

}  // namespace

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
