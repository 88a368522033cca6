// The parts of the benchmark.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dispatch/residency.hpp"
#include "tools/measure.hpp"
#include "tools/table.hpp"

namespace overlapack::bench {

using tools::Call;
using tools::Contender;
using tools::Problem;
using tools::Routine;
using tools::TableStyle;
using tools::Timing;

struct Options {
  std::vector<std::string> routines;
  Index min_size = 0;  ///< orders are doubled from here
  Index max_size = 16384;
  std::vector<Index> sizes;                     ///< these orders instead, if there are any
  std::vector<std::pair<Index, Index>> shapes;  ///< or these of getrf, m x n; in a comparison
  Uplo uplo = Uplo::lower;
  Op op = Op::none;
  Index nrhs = 1;
  bool values_only = false;  ///< of eigenproblems
  Index lda_pad = 0;
  std::string device = "auto";
  std::string algorithm = "auto";
  Index nb = 0;
  Index min_n = 0;  ///< 0: 1 in a comparison, the library's own choice in a replay
  bool cpu = true;
  bool peers = true;
  int runs = 5;
  double seconds = 20;  ///< for one cell of the table
  std::string csv, json, replay;
  TableStyle style = TableStyle::text;
  std::string trace;                     ///< with --speed-of-light: of the timeline
  std::vector<Index> vectors = {16, 1};  ///< with --update
  std::vector<double> conditions = {10, 1e3, 1e5, 1e7, 1e10, 1e14};  ///< with --refine
  bool after_cpu_work = false;                                       ///< with --routing
  std::vector<Index> threads = {1, 4, 16};                           ///< with --callers
  bool resident = false;                            ///< with --refine: on the device
  std::vector<Index> block_sizes = {64, 128, 256};  ///< with --variants, as the next three
  std::vector<std::string> lu = {"unblocked", "left-looking", "crout", "right-looking"};
  std::vector<std::string> panels = {"device", "hybrid"};
  std::vector<std::string> padding = {"padded", "unpadded"};

  std::vector<Index> orders() const;
  /// Of all routines, for a tools::Progress.
  std::size_t calls() const { return routines.size() * orders().size(); }
  /// That of a routine on a matrix of order n.
  Call call(const std::string& routine, Index n) const;
};

/// A measured cell of a table, or the reason why there is none.
struct Cell {
  Timing timing;
  std::string missing;
};

/// Why a call on a matrix that lies on the device is not measured; empty if it is.
inline std::string not_recognised(const dispatch::Shape& shape) {
  if (shape.elements() >= dispatch::kSmallestResident) return {};
  return "matrices on the device are recognised from " +
         std::to_string(dispatch::kSmallestResident) + " elements on";
}

/// Ours against the CPU LAPACK and cuSOLVER. Returns the exit status.
int compare(const Options& options);
/// What a Cholesky factorization on the device spends its time on.
int show_components(const Options& options);
/// How fast the transfer engine moves matrices.
int show_transfers(const Options& options);
/// Ours against what the device's rate of products and its link allow.
int show_speed_of_light(const Options& options);
/// LU on the device in all its forms and block sizes. Returns the exit status.
int show_variants(const Options& options);
/// Updates of a Cholesky factor against the CPU, qrupdate, LINPACK and a new factorization.
int show_updates(const Options& options);
/// Mixed-precision solvers in every precision, by condition number.
int show_refinement(const Options& options);
/// Norms of matrices on the device against the speed of its memory, CUB and Thrust, and of matrices
/// on the host against the CPU LAPACK.
int show_reductions(const Options& options);
/// Each order on the CPU, on the device, and where the library sends it. Returns the exit status.
int show_routing(const Options& options);
/// Calls a second of several threads. Returns the exit status.
int show_callers(const Options& options);
/// Runs the calls of a log again.
int replay(const Options& options);

}  // namespace overlapack::bench
