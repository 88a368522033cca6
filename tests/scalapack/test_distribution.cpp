// Which rows and columns lie where, against counting one by one; and matrices that all ranks of a
// grid, played one after the other, put together and take apart again. No MPI is needed for that.
#include <gtest/gtest.h>

#include <vector>

#include "distribution.hpp"
#include "redistribute.hpp"

namespace overlapack::scalapack {
namespace {

/// What `dealing` says, as the textbook does: blocks in turn.
Index owner_by_turns(const Dealing& dealing, Index index) {
  Index owner = dealing.source;
  for (Index block = 0; block < index / dealing.block; ++block) {
    owner = (owner + 1) % dealing.processes;
  }
  return owner;
}

TEST(Distribution, IsDealtBlockByBlock) {
  for (const Index block : {1, 3, 8}) {
    for (const Index processes : {1, 2, 5}) {
      for (Index source = 0; source < processes; ++source) {
        const Dealing dealing{block, source, processes};
        std::vector<Index> counts(static_cast<std::size_t>(processes));
        for (Index index = 0; index < 50; ++index) {
          const Index owner = owner_by_turns(dealing, index);
          Index& count = counts[static_cast<std::size_t>(owner)];
          EXPECT_EQ(dealing.owner(index), owner);
          EXPECT_EQ(dealing.local(index), count++);
          for (Index process = 0; process < processes; ++process) {
            EXPECT_EQ(dealing.count_of(process, index + 1),
                      counts[static_cast<std::size_t>(process)]);
          }
        }
      }
    }
  }
}

TEST(Distribution, HasRunsOfWhatLiesTogether) {
  const Dealing dealing{4, 1, 3};
  for (Index process = 0; process < 3; ++process) {
    for (const Index first : {0, 2, 5, 12}) {
      Index next = 0;
      for (const auto& run : runs(dealing, process, first, 23)) {
        EXPECT_GE(run.first, next);
        for (Index i = 0; i < run.count; ++i) {
          EXPECT_EQ(dealing.owner(first + run.first + i), process);
          EXPECT_EQ(dealing.local(first + run.first + i), run.local + i);
        }
        next = run.first + run.count;
      }
    }
  }
  // All of a single process's lie together.
  EXPECT_EQ(runs({4, 0, 1}, 0, 2, 23).size(), 1u);
}

/// The local part of a rank of a matrix whose element (i, j) is 1000 i + j.
class LocalPart {
 public:
  LocalPart(const Grid& grid, Matrix matrix) : matrix_(matrix) {
    const Dealing rows = matrix.row_dealing(grid), columns = matrix.column_dealing(grid);
    matrix_.layout.lld = static_cast<int>(rows.count_of(grid.row, matrix.layout.rows)) + 1;
    values_.assign(
        static_cast<std::size_t>(matrix_.layout.lld *
                                 (columns.count_of(grid.column, matrix.layout.columns) + 1)),
        -1);
    for (Index j = 0; j < matrix.layout.columns; ++j) {
      for (Index i = 0; i < matrix.layout.rows; ++i) {
        if (rows.owner(i) != grid.row || columns.owner(j) != grid.column) continue;
        values_[static_cast<std::size_t>(rows.local(i) + columns.local(j) * matrix_.layout.lld)] =
            static_cast<double>(1000 * i + j);
      }
    }
    matrix_.data = reinterpret_cast<char*>(values_.data());
  }
  const Matrix& matrix() const { return matrix_; }
  std::vector<double>& values() { return values_; }

 private:
  Matrix matrix_;
  std::vector<double> values_;
};

class Redistribution : public testing::TestWithParam<Part> {};

TEST_P(Redistribution, PutsTogetherAndTakesApart) {
  constexpr Index kRows = 21, kColumns = 21, kRow = 4, kColumn = 7, kLd = 24;
  const Matrix a{nullptr, kRows, kColumns, kRow, kColumn, {1, 0, 27, 30, 4, 7, 1, 2, 0}};
  const auto belongs = [&](Index i, Index j) {
    return GetParam() == Part::whole || (GetParam() == Part::lower ? i >= j : i <= j);
  };
  std::vector<double> whole(kLd * kColumns, -2);
  const Whole shared{reinterpret_cast<char*>(whole.data()), kLd};
  const auto for_each_rank = [&](auto body) {
    for (int row = 0; row < 2; ++row) {
      for (int column = 0; column < 3; ++column) body(Grid{2, 3, row, column});
    }
  };
  for_each_rank([&](const Grid& grid) {
    put(LocalPart(grid, a).matrix(), grid, GetParam(), sizeof(double), shared);
  });
  for (Index j = 0; j < kColumns; ++j) {
    for (Index i = 0; i < kLd; ++i) {
      double& element = whole[static_cast<std::size_t>(i + j * kLd)];
      const bool is_part = i < kRows && belongs(i, j);
      ASSERT_EQ(element, is_part ? static_cast<double>(1000 * (i + kRow) + j + kColumn) : -2)
          << i << ", " << j;
      element += 0.5;  // the other elements as well, which nobody may take
    }
  }
  for_each_rank([&](const Grid& grid) {
    LocalPart part(grid, a);
    const std::vector<double> before = part.values();
    take(part.matrix(), grid, GetParam(), sizeof(double), shared);
    for (std::size_t k = 0; k < before.size(); ++k) {
      const Index i = static_cast<Index>(before[k]) / 1000 - kRow;
      const Index j = static_cast<Index>(before[k]) % 1000 - kColumn;
      const bool is_part =
          before[k] >= 0 && i >= 0 && i < kRows && j >= 0 && j < kColumns && belongs(i, j);
      EXPECT_EQ(part.values()[k], before[k] + (is_part ? 0.5 : 0));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Parts, Redistribution,
                         testing::Values(Part::whole, Part::lower, Part::upper));

}  // namespace
}  // namespace overlapack::scalapack
