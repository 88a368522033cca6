// Circles: a CPU LAPACK that hands a call on to the name that it came from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cpu/lapack.hpp"

namespace overlapack::compat {

/// What tells one call of a thread from others: a number made of others.
class CallKey {
 public:
  CallKey& add(std::uint64_t value) {
    key_ = (key_ ^ value) * 0x9e3779b97f4a7c15;
    key_ ^= key_ >> 32;
    return *this;
  }
  /// The options and sizes among a routine's arguments: they stand before the first matrix. Later
  /// ones may be arrays that must not be read.
  template <class First, class... Others>
  CallKey& add_sizes(First first, Others... others) {
    using Value = std::remove_pointer_t<First>;
    if constexpr (std::is_pointer_v<First> && std::is_integral_v<Value> && std::is_const_v<Value>) {
      add(static_cast<std::uint64_t>(*first)).add_sizes(others...);
    }
    return *this;
  }
  CallKey& add_sizes() { return *this; }
  bool operator==(const CallKey& other) const { return key_ == other.key_; }

 private:
  std::uint64_t key_ = 0;
};

/// A call of an exported name that this thread is in.
class CallUnderWay {
 public:
  explicit CallUnderWay(CallKey key) {
    Calls& calls = calls_;
    const void* const place = __builtin_frame_address(0);
    // Calls that were left by longjmp() lie where the stack has been given up.
    while (calls.count > 0 && calls.at[calls.count - 1].place <= place) --calls.count;
    before_ = calls.count;
    again_ = std::any_of(calls.at, calls.at + before_,
                         [&](const Call& outer) { return outer.key == key; });
    if (before_ < kMost) calls.at[calls.count++] = {place, key};
  }
  ~CallUnderWay() { calls_.count = before_; }
  CallUnderWay(const CallUnderWay&) = delete;

  /// Whether the thread is in the same call already, so that it goes in a circle.
  bool again() const { return again_; }

 private:
  struct Call {
    const void* place;
    CallKey key;
  };
  static constexpr std::size_t kMost = 16;  // more than a driver and all that it calls
  struct Calls {
    std::size_t count;
    Call at[kMost];
  };
  static inline thread_local Calls calls_{};

  std::size_t before_;
  bool again_;
};

}  // namespace overlapack::compat
