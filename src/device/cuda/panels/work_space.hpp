// The work space of an operation, cut into pieces.
#pragma once

#include "core/scalar.hpp"

namespace overlapack::cuda {

/// Each piece begins where 16 bytes can be loaded at a time. Where there is no memory yet, it tells
/// how much is needed.
class WorkSpace {
 public:
  explicit WorkSpace(char* begin) : begin_(begin) {}
  template <class U>
  U* take(Index count) {
    U* const piece = reinterpret_cast<U*>(begin_ + bytes_);
    bytes_ += round_up(count * static_cast<Index>(sizeof(U)), kAlignment);
    return piece;
  }
  Index bytes() const { return bytes_; }

 private:
  static constexpr Index kAlignment = 16;
  char* const begin_;
  Index bytes_ = 0;
};

}  // namespace overlapack::cuda
