// Calls of ?syevd and ?heevd, by the exported names and by those of the CPU LAPACK.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "cpu/calling.hpp"
#include "cpu/eigen.hpp"
#include "overlapack/lapack.h"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"

namespace overlapack::testing_support::evd {

using Integer = std::int32_t;

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// What a call is asked. The triangle that it must not read is sentinels.
template <class T>
struct Question {
  char jobz;
  Uplo uplo;
  Padded<T> whole;
};

/// What a call takes, and leaves: with the least workspaces, and a sentinel behind each array.
template <class T>
struct Result {
  using R = Real<T>;
  explicit Result(const Question<T>& question)
      : q(question),
        least(cpu::least_sizes(cpu::EigenDriver::evd, false, is_complex<T>, q.jobz == 'V',
                               q.whole.rows())),
        a(q.whole),
        w(at(a.rows() + 1), sentinel<R>()),
        work(at(least.work + 1), sentinel<T>()),
        rwork(at(least.rwork + 1), sentinel<R>()),
        iwork(at(least.iwork + 1), kUntouched) {
    a.forbid_other_triangle(q.uplo);
  }

  /// By the exported name or, with `theirs`, by the CPU LAPACK.
  void run(bool theirs = false, T* elsewhere = nullptr) {
    const char uplo = static_cast<char>(q.uplo);
    const auto n = static_cast<Integer>(a.rows()), lda = static_cast<Integer>(a.ld()),
               lwork = static_cast<Integer>(least.work), lrwork = static_cast<Integer>(least.rwork),
               liwork = static_cast<Integer>(least.iwork);
    T* const in_place = elsewhere != nullptr ? elsewhere : a.data();
    const cpu::Lapack<T>& lapack = cpu::lapack<T>(cpu::Family::lp64);
    using Types = cpu::Signature<T, Integer>;
    if constexpr (is_complex<T>) {
      using F = typename Types::heevd;
      F* const call = theirs ? cpu::as<F>(lapack.find(row_of("heevd"), false)) : Exported<T>::heevd;
      call(&q.jobz, &uplo, &n, in_place, &lda, w.data(), work.data(), &lwork, rwork.data(), &lrwork,
           iwork.data(), &liwork, &info, 1, 1);
    } else {
      using F = typename Types::syevd;
      F* const call = theirs ? cpu::as<F>(lapack.find(row_of("syevd"), false)) : Exported<T>::syevd;
      call(&q.jobz, &uplo, &n, in_place, &lda, w.data(), work.data(), &lwork, iwork.data(), &liwork,
           &info, 1, 1);
    }
  }
  Index n() const { return a.rows(); }
  void expect_ends_untouched() const {
    EXPECT_TRUE(a.padding_untouched());
    EXPECT_EQ(w.back(), sentinel<R>());
    EXPECT_EQ(work.back(), sentinel<T>());
    EXPECT_EQ(rwork.back(), sentinel<R>());
    EXPECT_EQ(iwork.back(), kUntouched);
  }
  bool same_bits_as(const Result& other) const {
    return std::memcmp(w.data(), other.w.data(), sizeof(R) * w.size()) == 0 &&
           same_bits(a, other.a);
  }

  static constexpr Integer kUntouched = -7;
  const Question<T> q;
  const cpu::EigenSizes least;
  Padded<T> a;
  std::vector<R> w;
  std::vector<T> work;
  std::vector<R> rwork;
  std::vector<Integer> iwork;
  Integer info = 77;
};

template <class T>
Result<T> solve(const Question<T>& q, bool theirs = false, T* elsewhere = nullptr) {
  Result<T> result(q);
  result.run(theirs, elsewhere);
  return result;
}

}  // namespace overlapack::testing_support::evd
