// The ranks of a BLACS context, and what they have agreed on.
#pragma once

#include <memory>
#include <string>

#include "agree.hpp"
#include "dispatch/settings.hpp"
#include "distribution.hpp"
#include "engine.hpp"

namespace overlapack::scalapack {

/// What the ranks have agreed on at their first call: the same on all of them. Settings are those
/// of the grid's first rank, since others may have others.
struct Terms {
  dispatch::Scalapack engine = dispatch::Scalapack::off;
  int grid_ranks = 0;  ///< of the engine's grid
  Index min_n = 0;     ///< the size of calls for the engine
  int nb = 0;          ///< block size of the engine's grid; 0: the engine's own
  int leader = kNone;  ///< the first rank that may have a GPU
  std::string why;     ///< there is no engine
};

class Ranks {
 public:
  /// Of a context, to which this rank belongs; null if it does not. At the first call the ranks
  /// come to their terms.
  static Ranks* of(int context);
  /// The context ends: BLACS will use its number again.
  static void forget(int context);
  static void forget_all();

  Ranks(int context, const Grid& grid);

  int context() const { return context_; }
  const Grid& grid() const { return grid_; }
  const Terms& terms() const { return terms_; }
  /// Started by the first call that asks for it; null if there is none. All ranks ask together.
  Engine* engine();

 private:
  const int context_;
  const Grid grid_;
  Terms terms_;
  std::unique_ptr<Engine> engine_;
};

/// The settings of this process (docs/user/settings.md).
const dispatch::Settings& settings();

}  // namespace overlapack::scalapack
