// What computes in place of the program's ScaLAPACK.
#pragma once

#include <memory>
#include <string>

#include "call.hpp"

namespace overlapack::scalapack {

class Ranks;

/// An engine of one context. All ranks of it call the first four functions together, one after the
/// other (serve.cpp). The first three may throw on some ranks and not on others: then all of them
/// leave the call to the program's ScaLAPACK, for which nothing has been written yet. Whoever
/// throws has taken part in all communication of the function before.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Memory for a call.
  virtual void reserve(const Call& call) = 0;
  /// Brings A, B and pivots, as far as the routine reads them, to the engine.
  virtual void fetch(const Call& call) = 0;
  /// Throws also if LAPACK's info is not 0.
  virtual void compute(const Call& call) = 0;
  /// Brings the results into the caller's memory. Does not fail.
  virtual void store(const Call& call) = 0;

  /// For the call log: "grid:2x2".
  virtual std::string where() const = 0;
};

/// The program's own ScaLAPACK on a grid of some of the ranks, with blocks of its own.
std::unique_ptr<Engine> make_grid_engine(Ranks& ranks);
/// This library for LAPACK on one of the ranks, all of which are on one host. Null on all of them
/// if the device of that rank does not start; `why` says so then.
std::unique_ptr<Engine> make_one_host_engine(Ranks& ranks, std::string& why);

}  // namespace overlapack::scalapack
