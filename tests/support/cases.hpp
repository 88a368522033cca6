// Tables of cases: a test has one body, which runs once for each row of a table.
#pragma once

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "support/matrices.hpp"

namespace overlapack::testing_support {

namespace detail {

template <class Case, class... Values>
void add_combinations(std::vector<Case>& cases, const std::tuple<Values...>& values) {
  cases.push_back(std::apply([](const Values&... value) { return Case{value...}; }, values));
}
template <class Case, class... Values, class List, class... Lists>
void add_combinations(std::vector<Case>& cases, const std::tuple<Values...>& values,
                      const List& list, const Lists&... lists) {
  for (const auto& value : list) {
    add_combinations(cases, std::tuple_cat(values, std::make_tuple(value)), lists...);
  }
}

}  // namespace detail

/// All combinations of a value of each list, as Case{x, y, ...}. Those of the last list change
/// fastest.
template <class Case, class... Lists>
std::vector<Case> cross(const Lists&... lists) {
  std::vector<Case> cases;
  detail::add_combinations(cases, std::tuple<>(), lists...);
  return cases;
}

constexpr bool kBools[] = {false, true};
constexpr Part kParts[] = {Part::all, Part::lower, Part::upper};

inline const char* name_of(Part part) {
  return part == Part::all ? "all" : part == Part::lower ? "lower part" : "upper part";
}

struct Shape {
  Index rows, cols;
};
inline std::ostream& operator<<(std::ostream& stream, const Shape& shape) {
  return stream << shape.rows << "x" << shape.cols;
}

/// Whether part of a matrix has element i, j.
inline bool inside(Part part, Index i, Index j, Index diagonal = 0) {
  return part == Part::all || (part == Part::lower ? i >= j + diagonal : i <= j + diagonal);
}

/// Whether right(i, j) for all elements of a matrix of that shape.
template <class Right>
testing::AssertionResult all_elements(Shape shape, Right right) {
  for (Index j = 0; j < shape.cols; ++j) {
    for (Index i = 0; i < shape.rows; ++i) {
      if (!right(i, j)) return testing::AssertionFailure() << "element " << i << "," << j;
    }
  }
  return testing::AssertionSuccess();
}

/// Whether x(i, j) == y(i, j) for all elements of x. Says where not.
template <class X, class Y>
testing::AssertionResult equal_elements(const X& x, const Y& y) {
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      if (x(i, j) != y(i, j)) {
        return testing::AssertionFailure()
               << "element " << i << "," << j << ": " << x(i, j) << ", not " << y(i, j);
      }
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace overlapack::testing_support
