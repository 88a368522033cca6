#include "fault.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace overlapack::scalapack {
namespace {

thread_local int places_before_fault = 0;  // 0: none

}  // namespace

void begin_faults(int rank) {
  int failing_rank = 0, place = 0;
  const char* const text = secure_getenv("OVERLAPACK_SCALAPACK_FAULT");
  const bool asked = text != nullptr && std::sscanf(text, "%d:%d", &failing_rank, &place) == 2;
  places_before_fault = asked && rank == failing_rank ? place : 0;
}

void may_fail() {
  if (places_before_fault > 0 && --places_before_fault == 0) {
    throw std::runtime_error("OVERLAPACK_SCALAPACK_FAULT");
  }
}

}  // namespace overlapack::scalapack
