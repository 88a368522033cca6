// Products with Q from reflectors, on every device.
#include <gtest/gtest.h>

#include "algorithms/qr/ormqr.hpp"
#include "qr/reflectors.hpp"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

struct Form {
  cpu::Reflectors kind;
  Side side;
  Op op;
};
std::ostream& operator<<(std::ostream& out, Form form) {
  return out << name_of(form.kind) << char(form.side) << char(form.op);
}
std::vector<Form> forms() {
  constexpr Side kSides[] = {Side::left, Side::right};
  constexpr Op kOps[] = {Op::none, Op::conj_trans};
  return cross<Form>(kKinds, kSides, kOps);
}

/// C and the product that it is to become. Q is of order m, and C has so many other lines. The Q of
/// LQ is the adjoint of the product of the reflectors.
template <class T>
struct Product {
  Product(Form form, const Reflectors<T>& given, Index lines)
      : c(form.side == Side::left ? random_matrix<T>(given.a.rows(), lines, 2, 2)
                                  : random_matrix<T>(lines, given.a.rows(), 2, 2)),
        wanted(c.rows(), c.cols()) {
    // C op(Q) is the adjoint of op(Q)^H C^H.
    const bool left = form.side == Side::left;
    Padded<Wide<T>> product(given.a.rows(), lines);
    for (Index j = 0; j < lines; ++j) {
      for (Index i = 0; i < product.rows(); ++i) {
        product(i, j) = left ? Wide<T>(c(i, j)) : conj(Wide<T>(c(j, i)));
      }
    }
    const bool adjoint = (form.kind == cpu::Reflectors::rows) != (form.op == Op::conj_trans);
    given.multiply(left != adjoint ? Op::none : Op::conj_trans, product);
    for (Index j = 0; j < wanted.cols(); ++j) {
      for (Index i = 0; i < wanted.rows(); ++i) {
        wanted(i, j) = left ? product(i, j) : conj(product(j, i));
      }
    }
  }

  Padded<T> c;
  Padded<Wide<T>> wanted;
};

template <class T>
class Ormqr : public RoutedTest {
 protected:
  static algorithms::Options options(Index nb) {
    algorithms::Options options;
    options.nb = nb;
    options.threads = 2;
    return options;
  }
  void call(Form form, const Reflectors<T>& given, Index nb, Padded<T>& c, Index& committed) {
    const auto vectors = given.stored(form.kind);
    algorithms::ormqr<T>(this->device(), options(nb), form.side, form.op,
                         {form.kind, vectors.view(), given.taus()}, c.view(), committed);
  }
  /// The first lines of C are those of the product, and all others as they were.
  void expect_right(Form form, const Product<T>& of, const Padded<T>& c, Index committed) {
    const double limit = kThreshold * epsilon<T>() * std::sqrt(static_cast<double>(of.c.rows()));
    expect_final(c, of.c, of.wanted, limit,
                 [&](Index i, Index j) { return (form.side == Side::left ? j : i) < committed; });
  }
};
TYPED_TEST_SUITE(Ormqr, Precisions);

struct Case {
  Index m, k, lines;
};

TYPED_TEST(Ormqr, OfAllFormsAndShapes) {
  using T = TypeParam;
  for (const Form form : forms()) {
    for (const Case& c :
         {Case{1, 1, 1}, Case{40, 40, 1}, Case{70, 33, 90}, Case{35, 35, 200}, Case{200, 20, 5}}) {
      SCOPED_TRACE(testing::Message() << form << ", " << c.k << " reflectors of order " << c.m
                                      << ", " << c.lines << " lines");
      const Reflectors<T> given(c.m, c.k, c.k);
      const Product<T> of(form, given, c.lines);
      auto result = of.c;
      Index committed = 0;
      this->call(form, given, 16, result, committed);
      EXPECT_EQ(committed, c.lines);
      this->expect_right(form, of, result, committed);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(Ormqr, OnTheDeviceWithReflectorsThatAreTheUnitMatrix) {
  using T = TypeParam;
  for (const Form form : forms()) {
    SCOPED_TRACE(testing::Message() << form);
    const Reflectors<T> given(50, 40, 40, {0, 15, 39});
    const Product<T> of(form, given, 30);
    auto result = of.c;
    auto vectors = given.stored(form.kind);
    OnDevice<T> v(this->device(), vectors), c(this->device(), result);
    Index committed = 0;
    algorithms::ormqr<T>(this->device(), this->options(16), form.side, form.op,
                         {form.kind, v.view(), given.taus()}, c.view(), committed);
    c.fetch();
    this->expect_right(form, of, result, committed);
  }
}

TYPED_TEST(Ormqr, FaultsAtEveryAction) {
  using T = TypeParam;
  const bool every = std::is_same_v<T, double> && device_under_test() == "lazy";
  for (const Form form : forms()) {
    SCOPED_TRACE(testing::Message() << form);
    const Reflectors<T> given(40, 30, 30);
    const Product<T> of(form, given, 70);  // more than one group
    auto c = of.c;
    Index committed = 0;
    const Index faults = this->with_faults(
        every ? 1 : 11, [&] { c = of.c, committed = 0; },
        [&] {
          try {
            this->call(form, given, 8, c, committed);
            EXPECT_EQ(committed, 70);
          } catch (const DeviceError&) {
          }
          this->expect_right(form, of, c, committed);
        });
    EXPECT_GT(faults, 1);
    if (this->HasFailure()) return;
  }
}

}  // namespace
}  // namespace overlapack
