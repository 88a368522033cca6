// Times of ScaLAPACK's pdpotrf and pdgetrf on all ranks that it is started with, for
// scripts/scalapack-times, which runs it with the library for ScaLAPACK's names and without.
//
//   scalapack_times pdpotrf|pdgetrf N BLOCK CALLS
//
// The first rank prints the milliseconds of each call, and the residual of a solve with the last
// factors: |b - A x| / (eps n |A| |x|).
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

extern "C" {
void Cblacs_pinfo(int*, int*);
void Cblacs_get(int, int, int*);
void Cblacs_gridinit(int*, const char*, int, int);
void Cblacs_gridinfo(int, int*, int*, int*, int*);
void Cblacs_barrier(int, const char*);
void Cblacs_exit(int);
int numroc_(const int*, const int*, const int*, const int*, const int*);
double pdlange_(const char*, const int*, const int*, const double*, const int*, const int*,
                const int*, double*, std::size_t);
void pdgemv_(const char*, const int*, const int*, const double*, const double*, const int*,
             const int*, const int*, const double*, const int*, const int*, const int*, const int*,
             const double*, double*, const int*, const int*, const int*, const int*, std::size_t);
void pdpotrf_(const char*, const int*, double*, const int*, const int*, const int*, int*,
              std::size_t);
void pdpotrs_(const char*, const int*, const int*, double*, const int*, const int*, const int*,
              double*, const int*, const int*, const int*, int*, std::size_t);
void pdgetrf_(const int*, const int*, double*, const int*, const int*, const int*, int*, int*);
void pdgetrs_(const char*, const int*, const int*, double*, const int*, const int*, const int*,
              int*, double*, const int*, const int*, const int*, int*, std::size_t);
}

namespace {

using Clock = std::chrono::steady_clock;
const int kZero = 0, kOne = 1;

struct Grid {
  int context = -1, rows = 1, columns = 1, row = -1, column = -1;
};

/// As square as it gets.
Grid make_grid(int ranks) {
  Grid grid;
  for (int rows = 2; rows * rows <= ranks; ++rows) {
    if (ranks % rows == 0) grid.rows = rows;
  }
  grid.columns = ranks / grid.rows;
  Cblacs_get(-1, 0, &grid.context);
  Cblacs_gridinit(&grid.context, "Row", grid.rows, grid.columns);
  Cblacs_gridinfo(grid.context, &grid.rows, &grid.columns, &grid.row, &grid.column);
  return grid;
}

struct Matrix {
  Matrix(const Grid& grid, int rows, int columns, int block) {
    local_rows = numroc_(&rows, &block, &grid.row, &kZero, &grid.rows);
    local_columns = numroc_(&columns, &block, &grid.column, &kZero, &grid.columns);
    const int d[] = {1, grid.context, rows, columns, block, block, 0, 0, std::max(1, local_rows)};
    std::copy(std::begin(d), std::end(d), descriptor);
    data.resize(static_cast<std::size_t>(std::max(1, local_rows)) *
                static_cast<std::size_t>(std::max(1, local_columns)));
  }
  int descriptor[9], local_rows, local_columns;
  std::vector<double> data;
};

/// A number between -1/2 and 1/2 for each pair of indices, whatever their order.
double some(int i, int j) {
  std::uint64_t value =
      static_cast<std::uint64_t>(std::max(i, j)) << 32 | static_cast<std::uint32_t>(std::min(i, j));
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return static_cast<double>((value ^ value >> 31) >> 11) * 0x1p-53 - 0.5;
}

/// Symmetric, and as large on the diagonal as `diagonal`.
void fill(Matrix& a, const Grid& grid, int block, double diagonal) {
  const auto global = [block](int local, int process, int processes) {
    return (local / block * processes + process) * block + local % block;
  };
  for (int l = 0; l < a.local_columns; ++l) {
    const int j = global(l, grid.column, grid.columns);
    for (int k = 0; k < a.local_rows; ++k) {
      const int i = global(k, grid.row, grid.rows);
      a.data[static_cast<std::size_t>(k) +
             static_cast<std::size_t>(l) * static_cast<std::size_t>(a.descriptor[8])] =
          some(i, j) + (i == j ? diagonal : 0);
    }
  }
}

double norm(const Matrix& a) {
  double unused = 0;
  return pdlange_("F", &a.descriptor[2], &a.descriptor[3], a.data.data(), &kOne, &kOne,
                  a.descriptor, &unused, 1);
}

}  // namespace

int main(int count, char** arguments) {
  int rank = 0, ranks = 0;
  Cblacs_pinfo(&rank, &ranks);
  if (count != 5) return 2;
  const bool cholesky = std::strcmp(arguments[1], "pdpotrf") == 0;
  const int n = std::atoi(arguments[2]), block = std::atoi(arguments[3]);
  const int calls = std::atoi(arguments[4]);

  const Grid grid = make_grid(ranks);
  Matrix a(grid, n, n, block);
  fill(a, grid, block, cholesky ? n : 0);
  Matrix factors = a, b(grid, n, 1, block);
  std::fill(b.data.begin(), b.data.end(), 1.0);
  std::vector<int> pivots(static_cast<std::size_t>(a.descriptor[8] + block));
  int info = 0;
  for (int call = 0; call < calls; ++call) {
    factors.data = a.data;
    Cblacs_barrier(grid.context, "All");
    const Clock::time_point begin = Clock::now();
    if (cholesky) {
      pdpotrf_("L", &n, factors.data.data(), &kOne, &kOne, factors.descriptor, &info, 1);
    } else {
      pdgetrf_(&n, &n, factors.data.data(), &kOne, &kOne, factors.descriptor, pivots.data(), &info);
    }
    Cblacs_barrier(grid.context, "All");
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    if (rank == 0) std::printf("%.6f ", ms);
  }

  Matrix x = b;
  if (cholesky) {
    pdpotrs_("L", &n, &kOne, factors.data.data(), &kOne, &kOne, factors.descriptor, x.data.data(),
             &kOne, &kOne, x.descriptor, &info, 1);
  } else {
    pdgetrs_("N", &n, &kOne, factors.data.data(), &kOne, &kOne, factors.descriptor, pivots.data(),
             x.data.data(), &kOne, &kOne, x.descriptor, &info, 1);
  }
  const double minus_one = -1, one = 1;
  pdgemv_("N", &n, &n, &minus_one, a.data.data(), &kOne, &kOne, a.descriptor, x.data.data(), &kOne,
          &kOne, x.descriptor, &kOne, &one, b.data.data(), &kOne, &kOne, b.descriptor, &kOne, 1);
  const double residual =
      norm(b) / (std::numeric_limits<double>::epsilon() * n * norm(a) * norm(x));
  if (rank == 0) std::printf("residual %.2e info %d\n", residual, info);
  Cblacs_exit(0);
}
