// The columns of Q from reflectors, and the rows of that of LQ, on every device.
#include <gtest/gtest.h>

#include "algorithms/qr/orgqr.hpp"
#include "qr/reflectors.hpp"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using algorithms::at;

template <class T>
class Orgqr : public RoutedTest {
 protected:
  void call(cpu::Reflectors kind, Padded<T>& a, const Reflectors<T>& given, Index nb,
            Index& committed) {
    algorithms::Options options;
    options.nb = nb;
    options.threads = 2;
    algorithms::orgqr<T>(this->device(), options, kind, a.view(), given.taus(), committed);
  }
  /// The last `committed` columns are those of Q, or rows of its adjoint, and all others as they
  /// were.
  void expect_right(cpu::Reflectors kind, const Padded<T>& a, const Reflectors<T>& given,
                    Index committed) {
    EXPECT_TRUE(a.padding_untouched());
    const auto columns = kind == cpu::Reflectors::rows ? adjoint(a) : a;
    expect_final(columns, given.a, given.product(columns.cols()), kThreshold * epsilon<T>(),
                 [&](Index, Index j) { return j >= columns.cols() - committed; });
  }
};
TYPED_TEST_SUITE(Orgqr, Precisions);

struct Case {
  Index m, n, k;
};

TYPED_TEST(Orgqr, OfAllShapes) {
  using T = TypeParam;
  for (const Case& c : {Case{1, 1, 1}, Case{33, 33, 33}, Case{70, 70, 70}, Case{90, 35, 35},
                        Case{90, 60, 35}, Case{200, 3, 1}, Case{64, 64, 16}, Case{130, 129, 128}}) {
    const Reflectors<T> given(c.m, c.n, c.k);
    for (const cpu::Reflectors kind : kKinds) {
      for (const Index nb : {16, 48}) {
        SCOPED_TRACE(testing::Message() << name_of(kind) << c.m << " x " << c.n << ", " << c.k
                                        << " reflectors, nb " << nb);
        auto a = given.stored(kind);
        Index committed = 0;
        this->call(kind, a, given, nb, committed);
        EXPECT_EQ(committed, c.n);
        this->expect_right(kind, a, given, committed);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(Orgqr, ReflectorsMayBeTheUnitMatrix) {
  using T = TypeParam;
  const Reflectors<T> given(40, 30, 20, {0, 7, 16, 19});
  for (const cpu::Reflectors kind : kKinds) {
    auto a = given.stored(kind);
    Index committed = 0;
    this->call(kind, a, given, 8, committed);
    this->expect_right(kind, a, given, committed);
  }
}

TYPED_TEST(Orgqr, OfAMatrixOnTheDevice) {
  using T = TypeParam;
  const Reflectors<T> given(50, 40, 33);
  for (const cpu::Reflectors kind : kKinds) {
    auto a = given.stored(kind);
    OnDevice<T> there(this->device(), a);
    algorithms::Options options;
    options.nb = 16;
    Index committed = 0;
    algorithms::orgqr<T>(this->device(), options, kind, there.view(), given.taus(), committed);
    there.fetch();
    this->expect_right(kind, a, given, committed);
  }
}

TYPED_TEST(Orgqr, FaultsAtEveryAction) {
  using T = TypeParam;
  const bool every = std::is_same_v<T, double> && device_under_test() == "lazy";
  const Reflectors<T> given(60, 50, 45);
  for (const cpu::Reflectors kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    Padded<T> a;
    Index committed = 0;
    const Index faults = this->with_faults(
        every ? 1 : 11, [&] { a = given.stored(kind), committed = 0; },
        [&] {
          try {
            this->call(kind, a, given, 16, committed);
            EXPECT_EQ(committed, 50);
          } catch (const DeviceError&) {
          }
          this->expect_right(kind, a, given, committed);
        });
    EXPECT_GT(faults, 1);
    if (this->HasFailure()) return;
  }
}

}  // namespace
}  // namespace overlapack
