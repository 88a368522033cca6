// Failures that tests ask for.
#pragma once

namespace overlapack::scalapack {

/// A call begins on a rank, which fails in it as OVERLAPACK_SCALAPACK_FAULT says: with RANK:K that
/// rank fails at the K-th place of the call, from 1, where something of its own can fail.
void begin_faults(int rank);

/// Such a place. Throws std::runtime_error if a test has it so.
void may_fail();

}  // namespace overlapack::scalapack
