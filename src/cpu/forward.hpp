// A routine of the CPU LAPACK with its caller's own arguments, which are copied only where the two
// have integers of different widths. So nothing needs memory where they have the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

#include "cpu/calling.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::cpu {

/// An array of integers that a routine may use, `room` of them; the first `results` are what it
/// returns in it.
template <class I>
struct Integers {
  I* data;
  Index room = 1;
  Index results = 1;
};

/// The size of a workspace.
template <class I>
struct WorkSize {
  const I* size;
};

/// An argument of the caller as a library with integers of type J takes it.
template <class J, class Argument>
class Passed {
 public:
  Passed(Argument argument) : argument_(argument) {}
  Argument get() { return argument_; }
  void give_back() {}

 private:
  Argument argument_;
};

/// A size. That of a workspace may be more than a library has use for.
template <class J, class I>
class PassedSize {
 public:
  PassedSize(const I* size)
      : size_(static_cast<J>(std::min<Index>(*size, std::numeric_limits<J>::max()))) {}
  const J* get() { return &size_; }
  void give_back() {}

 private:
  J size_;
};
template <class J>
class Passed<J, const std::int32_t*> : public PassedSize<J, std::int32_t> {
  using PassedSize<J, std::int32_t>::PassedSize;
};
template <class J>
class Passed<J, const std::int64_t*> : public PassedSize<J, std::int64_t> {
  using PassedSize<J, std::int64_t>::PassedSize;
};

template <class J, class I>
class Passed<J, WorkSize<I>> : public PassedSize<J, I> {
 public:
  Passed(WorkSize<I> argument) : PassedSize<J, I>(argument.size) {}
};

template <class J, class I>
class Passed<J, Integers<I>> {
 public:
  Passed(Integers<I> array) : array_(array) {
    if constexpr (!kSame) copy_.resize(static_cast<std::size_t>(array.room));
  }
  J* get() {
    if constexpr (kSame) {
      return array_.data;
    } else {
      return copy_.data();
    }
  }
  void give_back() {
    if constexpr (!kSame) {
      std::transform(copy_.begin(), copy_.begin() + array_.results, array_.data,
                     [](J value) { return static_cast<I>(value); });
    }
  }

 private:
  static constexpr bool kSame = std::is_same_v<I, J>;
  Integers<I> array_;
  std::vector<J> copy_;
};

/// Calls the routine of a row of the table, all arguments of which but the hidden lengths are
/// given, and returns true. Integers that it writes are given as arrays. Returns false if no
/// library has the routine or its integers are too narrow for the sizes.
template <class T, class... Arguments>
bool forward(const Lapack<T>& lapack, std::size_t row, std::initializer_list<Index> sizes,
             Arguments... arguments) {
  return call(lapack, row, sizes, [&](auto width, void* address) {
    std::tuple<Passed<decltype(width), Arguments>...> passed(arguments...);
    std::apply(
        [&](auto&... argument) {
          // At most three are read, and what is not read does no harm.
          constexpr std::size_t kLength = 1;
          using Routine = void(decltype(argument.get())..., std::size_t, std::size_t, std::size_t);
          as<Routine>(address)(argument.get()..., kLength, kLength, kLength);
          (argument.give_back(), ...);
        },
        passed);
  });
}

}  // namespace overlapack::cpu
