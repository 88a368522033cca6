// Waiting for what comes soon.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "host/workers.hpp"

namespace overlapack {

/// Waiting for another thread or the device: a few spins, then let others run, then sleep. Were the
/// many copy threads to stay on their cores while idle, a CPU LAPACK that works at the same time
/// (the hybrid algorithms, another thread of the application) would wait for its own threads at
/// every step. The issuing thread and the caller stay awake longer: every step of the device goes
/// through them.
class Backoff {
 public:
  enum Patience { kCopyThreadSpins = 512, kIssuerSpins = 4096 };
  explicit Backoff(Patience patience) : patience_(patience) {}
  void operator()() {
    ++spins_;
    if (spins_ < 256) {
      pause_spinning();
    } else if (spins_ < patience_) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  void reset() { spins_ = 0; }
  /// True at the 64th, 128th, 256th, ... step: often enough to find a failure after as long again
  /// as one has waited, and seldom enough to cost nothing.
  bool time_to_ask() const { return spins_ >= 64 && (spins_ & (spins_ - 1)) == 0; }

 private:
  Patience patience_;
  std::uint64_t spins_ = 0;
};

}  // namespace overlapack
