// The program's own ScaLAPACK on a grid of some of the ranks: what an engine on several GPUs does,
// without a GPU. Tests use it.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "blacs.hpp"
#include "engine.hpp"
#include "fault.hpp"
#include "invoke.hpp"
#include "ranks.hpp"
#include "redistribute.hpp"

namespace overlapack::scalapack {
namespace {

constexpr Index kDefaultBlock = 64;

class GridEngine final : public Engine {
 public:
  explicit GridEngine(Ranks& ranks);
  ~GridEngine() override {
    if (grid_.has_us()) blacs()->gridexit(context_);
  }

  void reserve(const Call& call) override;
  void fetch(const Call& call) override;
  void compute(const Call& call) override;
  void store(const Call& call) override;
  std::string where() const override {
    return "grid:" + std::to_string(rows_) + "x" + std::to_string(columns_);
  }

 private:
  /// The engine's own matrix of a shape, in `memory`.
  Matrix matrix(const Matrix& of_caller, std::size_t element_bytes, std::vector<char>& memory);
  /// By way of all ranks. Each pivot is a summand on one of them, and zero elsewhere.
  void move_pivots(const Call& from, const Grid& grid, const Call& to, const Grid& to_grid);

  Ranks& ranks_;
  int rows_, columns_;
  Index block_;
  int context_ = -1;  // of the engine's grid; -1 on ranks outside
  Grid grid_;
  Call call_{};  // the call on the engine's grid
  std::vector<char> a_, b_;
  std::vector<int> own_pivots_, pivots_;  // those of the engine's rows; all
};

/// As square as it gets, of ranks that are spread over the caller's.
GridEngine::GridEngine(Ranks& ranks) : ranks_(ranks) {
  const int count = ranks.terms().grid_ranks;
  rows_ = 1;
  for (int rows = 2; rows * rows <= count; ++rows) {
    if (count % rows == 0) rows_ = rows;
  }
  columns_ = count / rows_;
  block_ = ranks.terms().nb > 0 ? ranks.terms().nb : kDefaultBlock;
  std::vector<int> members;  // column by column, as BLACS reads them
  for (int column = 0; column < columns_; ++column) {
    for (int row = 0; row < rows_; ++row) {
      members.push_back((row * columns_ + column) * (ranks.grid().size() / count));
    }
  }
  constexpr int kSystemContext = 10;  // for BLACS: that which a context is part of
  blacs()->get(ranks.context(), kSystemContext, &context_);
  blacs()->gridmap(&context_, members.data(), rows_, rows_, columns_);
  if (context_ >= 0) {
    blacs()->gridinfo(context_, &grid_.rows, &grid_.columns, &grid_.row, &grid_.column);
  }
}

Matrix GridEngine::matrix(const Matrix& of_caller, std::size_t element_bytes,
                          std::vector<char>& memory) {
  const int block = static_cast<int>(block_);
  Matrix result;
  result.rows = of_caller.rows;
  result.columns = of_caller.columns;
  result.layout = {kBlockCyclic,
                   grid_.has_us() ? context_ : -1,
                   static_cast<int>(result.rows),
                   static_cast<int>(result.columns),
                   block,
                   block,
                   0,
                   0,
                   1};
  Index rows = 0, columns = 0;
  if (grid_.has_us()) {
    rows = result.row_dealing(grid_).count_of(grid_.row, result.rows);
    columns = result.column_dealing(grid_).count_of(grid_.column, result.columns);
    result.layout.lld = static_cast<int>(std::max<Index>(rows, 1));
  }
  memory.resize(static_cast<std::size_t>(std::max<Index>(rows * columns, 1)) * element_bytes);
  result.data = memory.data();
  return result;
}

void GridEngine::reserve(const Call& call) {
  may_fail();
  call_ = call;
  call_.a = matrix(call.a, call.element_bytes(), a_);
  if (call.has_b()) call_.b = matrix(call.b, call.element_bytes(), b_);
  own_pivots_.assign(static_cast<std::size_t>(call_.a.layout.lld + block_), 0);
  call_.pivots = own_pivots_.data();
  pivots_.assign(static_cast<std::size_t>(call.order()), 0);
}

void GridEngine::fetch(const Call& call) {
  move_matrix(call.type, part_of_a(call), call.a, call_.a, ranks_.context());
  if (call.has_b()) move_matrix(call.type, Part::whole, call.b, call_.b, ranks_.context());
  if (call.is_lu() && call.has_factors()) move_pivots(call, ranks_.grid(), call_, grid_);
  may_fail();
}

void GridEngine::compute(const Call& call) {
  const std::string name = "p" + call.lapack_name();
  const int info = grid_.has_us() ? call_scalapack(next(name.c_str()), call_) : 0;
  may_fail();
  if (info != 0) throw std::runtime_error("info=" + std::to_string(info));
}

void GridEngine::store(const Call& call) {
  if (!call.has_factors()) {
    move_matrix(call.type, part_of_a(call), call_.a, call.a, ranks_.context());
    if (call.is_lu()) move_pivots(call_, grid_, call, ranks_.grid());
  }
  if (call.has_b()) move_matrix(call.type, Part::whole, call_.b, call.b, ranks_.context());
}

void GridEngine::move_pivots(const Call& from, const Grid& grid, const Call& to,
                             const Grid& to_grid) {
  std::fill(pivots_.begin(), pivots_.end(), 0);
  if (grid.has_us() && grid.column == 0) put_pivots(from, grid, pivots_.data());
  const int count = static_cast<int>(pivots_.size());
  constexpr int kEverybody = -1;
  blacs()->igsum2d(ranks_.context(), "All", " ", count, 1, pivots_.data(), count, kEverybody,
                   kEverybody);
  if (to_grid.has_us()) take_pivots(to, to_grid, pivots_.data());
}

}  // namespace

std::unique_ptr<Engine> make_grid_engine(Ranks& ranks) {
  return std::make_unique<GridEngine>(ranks);
}

}  // namespace overlapack::scalapack
