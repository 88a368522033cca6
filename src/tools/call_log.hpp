// The call log: one line per call, written by the library under OVERLAPACK_VERBOSE, read by
// `overlapack run --summary` and `overlapack-bench --replay`.
//
//   overlapack dgetrf m=8192 n=8192 nrhs=0 lda=8192 ldb=1 uplo=- trans=- info=0 where=cuda:0
//   algorithm=tiled nb=256 ms=45.120 gflops=8123.4 up=536870912 down=536870912
//   why="size 8192 >= 2048 (built-in)"
//
// (on one line). Mixed-precision solvers have iter= and precision=, too, and parts of another call
// within=. Unknown keys are skipped, so that older readers accept newer logs.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "tools/problem.hpp"

namespace overlapack::tools {

struct LoggedCall {
  std::string name;  ///< "dgetrf"
  Shape shape;
  std::optional<Call> call;  ///< if it is a LAPACK routine's
  Index info = 0;
  std::string where;  ///< "cpu", or the device's name
  std::string why;    ///< it went there
  double ms = 0;
  double flops = 0;
  double bytes_up = 0;    ///< to the device
  double bytes_down = 0;  ///< from the device
  Index line = 0;         ///< of the log, from 1
  bool is_part = false;   ///< of a call that has a line of its own
  std::string fault;  ///< why no LAPACK can have served `call`; empty if nothing speaks against it

  /// Whether its problem can be made again.
  bool is_repeatable() const { return call && has_problem(*call); }
};

/// Reads one line. Nothing if it is not a line of the call log: a program's own output may stand
/// between.
std::optional<LoggedCall> parse_call(const std::string& line);
/// All the calls of a log, in order.
std::vector<LoggedCall> read_call_log(std::istream& in);
/// What processes have told of themselves in a log (compat/presence.cpp): all different texts
/// behind "overlapack WHAT ".
std::vector<std::string> read_told(std::istream& in, const std::string& what);

}  // namespace overlapack::tools
