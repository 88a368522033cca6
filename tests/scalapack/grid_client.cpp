// A program that calls ScaLAPACK as programs do, on four ranks. It prints a line for each call: the
// routine, info, whether the result is right, and whether all else is untouched. The lines must be
// the same with the library for ScaLAPACK's names and without (check_client.py).
//
//   grid_client calls|wrong|loops|faults FILE
//
// The lines go to the file, since ScaLAPACK writes of wrong arguments on standard output.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#define DECLARE(t)                                                                                 \
  void p##t##potrf_(const char*, const int*, void*, const int*, const int*, const int*, int*,      \
                    std::size_t);                                                                  \
  void p##t##potrs_(const char*, const int*, const int*, void*, const int*, const int*,            \
                    const int*, void*, const int*, const int*, const int*, int*, std::size_t);     \
  void p##t##posv_(const char*, const int*, const int*, void*, const int*, const int*, const int*, \
                   void*, const int*, const int*, const int*, int*, std::size_t);                  \
  void p##t##getrf_(const int*, const int*, void*, const int*, const int*, const int*, int*,       \
                    int*);                                                                         \
  void p##t##getrs_(const char*, const int*, const int*, void*, const int*, const int*,            \
                    const int*, int*, void*, const int*, const int*, const int*, int*,             \
                    std::size_t);                                                                  \
  void p##t##gesv_(const int*, const int*, void*, const int*, const int*, const int*, int*, void*, \
                   const int*, const int*, const int*, int*);
extern "C" {
void Cblacs_pinfo(int*, int*);
void Cblacs_get(int, int, int*);
void Cblacs_gridmap(int*, int*, int, int, int);
void Cblacs_gridinit(int*, const char*, int, int);
void Cblacs_gridinfo(int, int*, int*, int*, int*);
void Cblacs_gridexit(int);
void blacs_gridexit_(const int*);
void Cblacs_exit(int);
void Cdgsum2d(int, const char*, const char*, int, int, double*, int, int, int);
int numroc_(const int*, const int*, const int*, const int*, const int*);
DECLARE(s)
DECLARE(d)
DECLARE(c)
DECLARE(z)
}

namespace {

template <class T>
struct Routines;
#define ROUTINES(t, T)                          \
  template <>                                   \
  struct Routines<T> {                          \
    static constexpr char letter = #t[0];       \
    static constexpr auto potrf = p##t##potrf_; \
    static constexpr auto potrs = p##t##potrs_; \
    static constexpr auto posv = p##t##posv_;   \
    static constexpr auto getrf = p##t##getrf_; \
    static constexpr auto getrs = p##t##getrs_; \
    static constexpr auto gesv = p##t##gesv_;   \
  };
ROUTINES(s, float)
ROUTINES(d, double)
ROUTINES(c, std::complex<float>)
ROUTINES(z, std::complex<double>)

using Number = std::complex<double>;

struct Grid {
  int context = -1, rows = -1, columns = -1, row = -1, column = -1;

  bool has_us() const { return row >= 0; }
  bool is_first() const { return row == 0 && column == 0; }
  void sum(std::vector<double>& values) const {
    const int count = static_cast<int>(values.size());
    Cdgsum2d(context, "All", " ", count, 1, values.data(), count, -1, -1);
  }
  /// The sum of what the ranks say.
  double sum(double value) const {
    std::vector<double> values = {value};
    sum(values);
    return values[0];
  }
};

Grid look_at(int context) {
  Grid grid;
  grid.context = context;
  if (context >= 0) {
    Cblacs_gridinfo(context, &grid.rows, &grid.columns, &grid.row, &grid.column);
  }
  return grid;
}

int system_context() {
  int context = -1;
  Cblacs_get(-1, 0, &context);
  return context;
}

Grid make_grid(const char* order, int rows, int columns) {
  int context = system_context();
  Cblacs_gridinit(&context, order, rows, columns);
  return look_at(context);
}

/// Ranks of a grid in an order that is neither by rows nor by columns.
Grid map_grid() {
  int context = system_context();
  int ranks[] = {3, 0, 2, 1};
  Cblacs_gridmap(&context, ranks, 2, 2, 2);
  return look_at(context);
}

/// A number between -1 and 1 that depends on two others.
double some(int i, int j) {
  unsigned value = static_cast<unsigned>(i) * 2654435761U + static_cast<unsigned>(j) * 40503U + 77U;
  value ^= value >> 15;
  value *= 2246822519U;
  value ^= value >> 13;
  return static_cast<double>(value % 20001U) / 10000.0 - 1.0;
}
template <class T>
T make(double real, double imaginary) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(real);
  } else {
    return T(static_cast<typename T::value_type>(real),
             static_cast<typename T::value_type>(imaginary));
  }
}

/// How a matrix is laid out, and where in it sub(A) begins, counted from 1.
struct Layout {
  int block = 8;
  int i = 1, j = 1;
  int row_source = 0, column_source = 0;
  int column_block = 0;  // if it is another one
  int columns_of_block() const { return column_block > 0 ? column_block : block; }
};

/// sub(A), in a matrix with a few rows and columns more, whose local parts have rows to spare.
template <class T>
class Matrix {
 public:
  /// value(i, j) is the element of sub(A), from 0.
  template <class Value>
  Matrix(const Grid& grid, int rows, int columns, const Layout& layout, Value value)
      : grid(grid), rows(rows), columns(columns), layout(layout) {
    constexpr int kMore = 3, kSpare = 2;
    const int all_rows = layout.i - 1 + rows + kMore, all_columns = layout.j - 1 + columns + kMore;
    const int nb = layout.columns_of_block();
    const int local_rows =
        numroc_(&all_rows, &layout.block, &grid.row, &layout.row_source, &grid.rows);
    local_columns = numroc_(&all_columns, &nb, &grid.column, &layout.column_source, &grid.columns);
    ld = std::max(1, local_rows) + kSpare;
    const int d[] = {1,
                     grid.context,
                     all_rows,
                     all_columns,
                     layout.block,
                     nb,
                     layout.row_source,
                     layout.column_source,
                     ld};
    std::copy(std::begin(d), std::end(d), descriptor);
    local.assign(static_cast<std::size_t>(ld) * std::max(1, local_columns), make<T>(-7, -7));
    each([&](int i, int j, T& element) {
      const bool inside = i >= 0 && i < rows && j >= 0 && j < columns;
      element = inside ? value(i, j) : make<T>(some(i, j), 3);
    });
    before = local;
  }

  /// Calls visit(i, j, element) for the elements of this rank, also those around sub(A).
  template <class Visit>
  void each(Visit visit) {
    const int nb = layout.columns_of_block();
    for (int j = 0; j < descriptor[3]; ++j) {
      if ((j / nb + layout.column_source) % grid.columns != grid.column) continue;
      for (int i = 0; i < descriptor[2]; ++i) {
        if ((i / layout.block + layout.row_source) % grid.rows != grid.row) continue;
        const int local_i = i / layout.block / grid.rows * layout.block + i % layout.block;
        const int local_j = j / nb / grid.columns * nb + j % nb;
        visit(i - layout.i + 1, j - layout.j + 1,
              local[static_cast<std::size_t>(local_i) + static_cast<std::size_t>(local_j) * ld]);
      }
    }
  }

  /// All of sub(A), column by column, on all ranks.
  std::vector<Number> whole() {
    std::vector<double> values(2 * static_cast<std::size_t>(rows) * columns);
    each([&](int i, int j, T& element) {
      if (i < 0 || i >= rows || j < 0 || j >= columns) return;
      const std::size_t place =
          2 * (static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * rows);
      values[place] = std::real(element);
      values[place + 1] = std::imag(element);
    });
    grid.sum(values);
    std::vector<Number> result(values.size() / 2);
    for (std::size_t k = 0; k < result.size(); ++k) result[k] = {values[2 * k], values[2 * k + 1]};
    return result;
  }

  /// Whether nothing has changed on any rank, bit for bit, but elements for which may(i, j).
  template <class May>
  bool untouched_but(May may) {
    std::vector<char> free(local.size());
    each([&](int i, int j, T& element) {
      const bool inside = i >= 0 && i < rows && j >= 0 && j < columns;
      if (inside && may(i, j)) free[static_cast<std::size_t>(&element - local.data())] = 1;
    });
    int changes = 0;
    for (std::size_t k = 0; k < local.size(); ++k) {
      if (!free[k] && std::memcmp(&local[k], &before[k], sizeof(T)) != 0) ++changes;
    }
    return grid.sum(changes) == 0;
  }
  bool untouched() {
    return untouched_but([](int, int) { return false; });
  }

  const Grid grid;
  const int rows, columns;
  const Layout layout;
  int descriptor[9];
  int ld, local_columns;
  std::vector<T> local, before;
};

Number at(const std::vector<Number>& matrix, int ld, int i, int j) {
  return matrix[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * ld];
}

/// Whether two matrices are the same but for rounding errors.
template <class T>
bool close(const std::vector<Number>& a, const std::vector<Number>& b, int n) {
  using Real = decltype(std::abs(T{}));
  double error = 0, size = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    error = std::max(error, std::abs(a[k] - b[k]));
    size = std::max(size, std::abs(a[k]));
    if (std::isnan(std::abs(a[k] - b[k]))) return false;
  }
  return error <= 10.0 * n * static_cast<double>(std::numeric_limits<Real>::epsilon()) * size;
}

std::vector<Number> product(const std::vector<Number>& a, const std::vector<Number>& b, int m,
                            int k, int n) {
  std::vector<Number> c(static_cast<std::size_t>(m) * n);
  for (int j = 0; j < n; ++j) {
    for (int l = 0; l < k; ++l) {
      for (int i = 0; i < m; ++i)
        c[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * m] +=
            at(a, m, i, l) * at(b, k, l, j);
    }
  }
  return c;
}

template <class Value>
std::vector<Number> made(int m, int n, Value value) {
  std::vector<Number> result;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) result.push_back(value(i, j));
  }
  return result;
}

const char* output = nullptr;

void report(const Grid& grid, const std::string& what, int info, bool right, bool untouched) {
  if (!grid.is_first()) return;
  std::FILE* const file = std::fopen(output, "a");
  if (file == nullptr) std::exit(1);
  std::fprintf(file, "%s: info %d, %s, %s\n", what.c_str(), info, right ? "right" : "WRONG",
               untouched ? "else untouched" : "ELSE TOUCHED");
  std::fclose(file);
}

/// A positive definite matrix, of which one triangle is given and the other one is something else.
template <class T>
T definite(char uplo, int n, int i, int j) {
  if (i == j) return make<T>(n + some(i, i), 0);
  if ((i > j) != (uplo == 'L')) return make<T>(some(i + 1000, j), 5);
  const int low = std::min(i, j), high = std::max(i, j);
  return make<T>(some(low, high), (i > j ? 1 : -1) * some(high, low));
}
/// The same, all of it.
template <class T>
Number definite_whole(int n, int i, int j) {
  return Number(definite<T>(i > j ? 'L' : 'U', n, i, j));
}

template <class T>
T general(int n, int i, int j) {
  return make<T>(some(i, j) + (i + 1 == n - j ? 3 : 0),
                 some(j + 500, i));  // large off the diagonal
}
template <class T>
T right_side(int i, int j) {
  return make<T>(some(i + 300, j), some(j, i + 300));
}

std::string name(char letter, const char* routine, const std::string& rest) {
  return std::string("p") + letter + routine + rest;
}
std::string text(const Grid& grid, int m, int n, const Layout& at) {
  return " " + std::to_string(m) + "x" + std::to_string(n) + " on " + std::to_string(grid.rows) +
         "x" + std::to_string(grid.columns) + " from " + std::to_string(at.i) + "," +
         std::to_string(at.j) + " source " + std::to_string(at.row_source) + "," +
         std::to_string(at.column_source);
}

bool in_triangle(char uplo, int i, int j) { return uplo == 'L' ? i >= j : i <= j; }

// ---- routines
// ------------------------------------------------------------------------------------

/// potrf, then potrs; and posv.
template <class T>
void try_cholesky(const Grid& grid, char uplo, int n, int nrhs, const Layout& layout,
                  const Layout& of_b) {
  using R = Routines<T>;
  const auto element = [&](int i, int j) { return definite<T>(uplo, n, i, j); };
  const auto rhs = [](int i, int j) { return right_side<T>(i, j); };
  const std::vector<Number> a =
      made(n, n, [&](int i, int j) { return definite_whole<T>(n, i, j); });
  const std::vector<Number> b = made(n, nrhs, [&](int i, int j) { return Number(rhs(i, j)); });
  const auto triangle = [&](int i, int j) { return in_triangle(uplo, i, j); };
  const auto everything = [](int, int) { return true; };
  const std::string rest = std::string(1, uplo) + text(grid, n, n, layout);

  Matrix<T> factors(grid, n, n, layout, element);
  int info = -99;
  R::potrf(&uplo, &n, factors.local.data(), &layout.i, &layout.j, factors.descriptor, &info, 1);
  const std::vector<Number> f = factors.whole();
  const auto lower = made(n, n, [&](int i, int j) {
    if (i < j) return Number();
    return uplo == 'L' ? at(f, n, i, j) : std::conj(at(f, n, j, i));
  });
  const auto upper = made(n, n, [&](int i, int j) { return std::conj(at(lower, n, j, i)); });
  report(grid, name(R::letter, "potrf ", rest), info,
         close<T>(a, product(lower, upper, n, n, n), n), factors.untouched_but(triangle));

  const std::vector<T> factored = factors.local;
  factors.before = factored;
  Matrix<T> x(grid, n, nrhs, of_b, rhs);
  info = -99;
  R::potrs(&uplo, &n, &nrhs, factors.local.data(), &layout.i, &layout.j, factors.descriptor,
           x.local.data(), &of_b.i, &of_b.j, x.descriptor, &info, 1);
  report(grid, name(R::letter, "potrs ", rest), info,
         close<T>(b, product(a, x.whole(), n, n, nrhs), n),
         factors.untouched() && x.untouched_but(everything));

  Matrix<T> both(grid, n, n, layout, element);
  Matrix<T> y(grid, n, nrhs, of_b, rhs);
  info = -99;
  R::posv(&uplo, &n, &nrhs, both.local.data(), &layout.i, &layout.j, both.descriptor,
          y.local.data(), &of_b.i, &of_b.j, y.descriptor, &info, 1);
  report(grid, name(R::letter, "posv ", rest), info,
         close<T>(b, product(a, y.whole(), n, n, nrhs), n),
         both.untouched_but(triangle) && y.untouched_but(everything));
}

/// The pivots of sub(A) on all ranks, from 0; empty if ranks of a row differ.
template <class T>
std::vector<int> pivots_of(const Matrix<T>& a, const std::vector<int>& pivots) {
  const Grid& grid = a.grid;
  const Layout& layout = a.layout;
  const int count = std::min(a.rows, a.columns);
  std::vector<double> sums(static_cast<std::size_t>(count));
  const auto each = [&](auto visit) {
    for (int k = 0; k < count; ++k) {
      const int i = layout.i - 1 + k;
      if ((i / layout.block + layout.row_source) % grid.rows != grid.row) continue;
      visit(k, pivots[static_cast<std::size_t>(i / layout.block / grid.rows * layout.block +
                                               i % layout.block)] -
                   layout.i);
    }
  };
  each([&](int k, int pivot) { sums[static_cast<std::size_t>(k)] += pivot; });
  grid.sum(sums);
  std::vector<int> result;
  for (const double sum : sums) result.push_back(static_cast<int>(sum) / grid.columns);
  double different = 0;
  each([&](int k, int pivot) { different += pivot != result[static_cast<std::size_t>(k)]; });
  return grid.sum(different) == 0 ? result : std::vector<int>();
}

/// getrf of any shape.
template <class T>
void try_getrf(const Grid& grid, int m, int n, const Layout& layout) {
  using R = Routines<T>;
  const auto element = [&](int i, int j) { return general<T>(n, i, j); };
  Matrix<T> a(grid, m, n, layout, element);
  std::vector<int> own(static_cast<std::size_t>(a.ld + layout.block), -1);
  int info = -99;
  R::getrf(&m, &n, a.local.data(), &layout.i, &layout.j, a.descriptor, own.data(), &info);
  const std::vector<Number> f = a.whole();
  const int k = std::min(m, n);
  const auto l = made(m, k, [&](int i, int j) { return i > j ? at(f, m, i, j) : Number(i == j); });
  const auto u = made(k, n, [&](int i, int j) { return i <= j ? at(f, m, i, j) : Number(); });
  std::vector<Number> interchanged =
      made(m, n, [&](int i, int j) { return Number(element(i, j)); });
  const std::vector<int> pivots = pivots_of(a, own);
  bool right = !pivots.empty();
  for (int i = 0; right && i < k; ++i) {
    const int pivot = pivots[static_cast<std::size_t>(i)];
    right = pivot >= i && pivot < m;
    for (int j = 0; right && j < n; ++j) {
      std::swap(interchanged[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * m],
                interchanged[static_cast<std::size_t>(pivot) + static_cast<std::size_t>(j) * m]);
    }
  }
  report(grid, name(R::letter, "getrf", text(grid, m, n, layout)), info,
         right && close<T>(interchanged, product(l, u, m, k, n), n),
         a.untouched_but([](int, int) { return true; }));
}

/// getrs of A, its transpose and its adjoint; and gesv.
template <class T>
void try_lu_solves(const Grid& grid, int n, int nrhs, const Layout& layout, const Layout& of_b) {
  using R = Routines<T>;
  const auto element = [&](int i, int j) { return general<T>(n, i, j); };
  const auto rhs = [](int i, int j) { return right_side<T>(i, j); };
  const std::vector<Number> b = made(n, nrhs, [&](int i, int j) { return Number(rhs(i, j)); });
  const auto everything = [](int, int) { return true; };
  const std::string rest = text(grid, n, n, layout);

  Matrix<T> factors(grid, n, n, layout, element);
  std::vector<int> pivots(static_cast<std::size_t>(factors.ld + layout.block), -1);
  int info = -99;
  R::getrf(&n, &n, factors.local.data(), &layout.i, &layout.j, factors.descriptor, pivots.data(),
           &info);
  factors.before = factors.local;
  for (const char trans : {'N', 'T', 'C'}) {
    const auto a = made(n, n, [&](int i, int j) {
      if (trans == 'N') return Number(element(i, j));
      const Number other(element(j, i));
      return trans == 'T' ? other : std::conj(other);
    });
    Matrix<T> x(grid, n, nrhs, of_b, rhs);
    info = -99;
    R::getrs(&trans, &n, &nrhs, factors.local.data(), &layout.i, &layout.j, factors.descriptor,
             pivots.data(), x.local.data(), &of_b.i, &of_b.j, x.descriptor, &info, 1);
    report(grid, name(R::letter, "getrs ", trans + rest), info,
           close<T>(b, product(a, x.whole(), n, n, nrhs), 10 * n),
           factors.untouched() && x.untouched_but(everything));
  }

  Matrix<T> a(grid, n, n, layout, element);
  Matrix<T> x(grid, n, nrhs, of_b, rhs);
  info = -99;
  R::gesv(&n, &nrhs, a.local.data(), &layout.i, &layout.j, a.descriptor, pivots.data(),
          x.local.data(), &of_b.i, &of_b.j, x.descriptor, &info);
  const auto whole = made(n, n, [&](int i, int j) { return Number(element(i, j)); });
  report(grid, name(R::letter, "gesv", rest), info,
         close<T>(b, product(whole, x.whole(), n, n, nrhs), 10 * n),
         a.untouched_but(everything) && x.untouched_but(everything));
}

template <class T>
void try_all(const Grid& grid) {
  if (!grid.has_us()) return;
  // Blocks that divide nothing, a corner of a larger matrix, and other sources of rows and columns.
  const int last_row = grid.rows - 1, last_column = grid.columns - 1;
  const Layout corner{8, 9, 17, last_row, last_column};
  const Layout beside_corner{8, 9, 4, last_row, 0, 5};  // the rows lie where the corner's do
  for (const char uplo : {'L', 'U'}) {
    try_cholesky<T>(grid, uplo, 37, 5, {}, {});
    try_cholesky<T>(grid, uplo, 37, 7, corner, beside_corner);
  }
  try_getrf<T>(grid, 37, 37, {});
  try_getrf<T>(grid, 45, 29, corner);
  try_getrf<T>(grid, 29, 45, {5, 6, 1, 0, last_column});
  try_lu_solves<T>(grid, 37, 5, {}, {});
  try_lu_solves<T>(grid, 37, 7, corner, beside_corner);
}

void try_calls() {
  for (const Grid& grid : {make_grid("Row", 2, 2), make_grid("Col", 2, 2), make_grid("Row", 1, 4),
                           make_grid("Col", 4, 1), make_grid("Row", 1, 3), map_grid()}) {
    try_all<double>(grid);
    if (grid.rows != grid.columns) continue;
    try_all<float>(grid);
    try_all<std::complex<float>>(grid);
    try_all<std::complex<double>>(grid);
  }
}

// ---- wrong arguments, and matrices without a factorization
// ---------------------------------------

/// The arguments of the calls below, of which one is made wrong.
struct Arguments {
  char option;
  int n, nrhs, i, j, ib, jb;
  int* descriptor;
  int* descriptor_b;
};

template <class Change>
void try_wrong(const Grid& grid, const char* what, Change change) {
  constexpr int kOrder = 24, kRightSides = 3;
  const auto definite_element = [](int i, int j) { return definite<double>('L', kOrder, i, j); };
  for (const char* const routine : {"potrf", "potrs", "posv", "getrf", "getrs", "gesv"}) {
    Matrix<double> a(grid, kOrder, kOrder, {}, definite_element);
    Matrix<double> b(grid, kOrder, kRightSides, {}, right_side<double>);
    std::vector<int> pivots(100);
    for (std::size_t k = 0; k < pivots.size(); ++k) pivots[k] = static_cast<int>(k) + 1;
    const std::string is = routine;
    Arguments x{
        is == "getrs" ? 'N' : 'L', kOrder, kRightSides, 1, 1, 1, 1, a.descriptor, b.descriptor};
    change(x);
    double* const pa = a.local.data();
    double* const pb = b.local.data();
    int info = -99;
    if (is == "potrf") pdpotrf_(&x.option, &x.n, pa, &x.i, &x.j, a.descriptor, &info, 1);
    if (is == "getrf") pdgetrf_(&x.n, &x.n, pa, &x.i, &x.j, a.descriptor, pivots.data(), &info);
    if (is == "potrs") {
      pdpotrs_(&x.option, &x.n, &x.nrhs, pa, &x.i, &x.j, a.descriptor, pb, &x.ib, &x.jb,
               b.descriptor, &info, 1);
    }
    if (is == "posv") {
      pdposv_(&x.option, &x.n, &x.nrhs, pa, &x.i, &x.j, a.descriptor, pb, &x.ib, &x.jb,
              b.descriptor, &info, 1);
    }
    if (is == "getrs") {
      pdgetrs_(&x.option, &x.n, &x.nrhs, pa, &x.i, &x.j, a.descriptor, pivots.data(), pb, &x.ib,
               &x.jb, b.descriptor, &info, 1);
    }
    if (is == "gesv") {
      pdgesv_(&x.n, &x.nrhs, pa, &x.i, &x.j, a.descriptor, pivots.data(), pb, &x.ib, &x.jb,
              b.descriptor, &info);
    }
    const bool refused = info < 0;
    report(grid, "pd" + is + " with " + what, info, true,
           !refused || (a.untouched() && b.untouched()));
  }
}

/// Factorizations that end early. What they leave of A is ScaLAPACK's, too.
void try_failing(const Grid& grid, const char* what, int i, int j, double value) {
  constexpr int kOrder = 24;
  for (const bool lu : {false, true}) {
    Matrix<double> a(grid, kOrder, kOrder, {}, [&](int row, int column) {
      const bool changed = (i < 0 || row == i) && column == j;
      return changed ? value : definite<double>('L', kOrder, row, column);
    });
    std::vector<int> pivots(100);
    const int n = kOrder, one = 1;
    int info = -99;
    if (lu) {
      pdgetrf_(&n, &n, a.local.data(), &one, &one, a.descriptor, pivots.data(), &info);
    } else {
      pdpotrf_("L", &n, a.local.data(), &one, &one, a.descriptor, &info, 1);
    }
    double sum = 0;
    for (const Number& element : a.whole()) sum += std::isnan(std::abs(element)) ? 1 : 0;
    const bool untouched =
        a.untouched_but([&](int row, int column) { return lu || in_triangle('L', row, column); });
    report(grid, std::string(lu ? "pdgetrf" : "pdpotrf") + " of a matrix with " + what, info, true,
           untouched);
  }
}

/// A rank outside a grid calls, too, with a context that is none.
void try_outside() {
  const Grid grid = make_grid("Row", 1, 3);
  const int n = 8, one = 1;
  if (grid.has_us()) {
    try_cholesky<double>(grid, 'L', n, 1, {}, {});
    return Cblacs_gridexit(grid.context);
  }
  int descriptor[] = {1, -1, n, n, n, n, 0, 0, n};
  std::vector<double> a(64), b(64);
  Grid alone;
  alone.row = alone.column = 0;  // so that it reports
  int info = -99;
  pdpotrf_("L", &n, a.data(), &one, &one, descriptor, &info, 1);
  report(alone, "pdpotrf outside the grid", info, true, true);
  pdposv_("L", &n, &one, a.data(), &one, &one, descriptor, b.data(), &one, &one, descriptor, &info,
          1);
  report(alone, "pdposv outside the grid", info, true, true);
}

void try_wrong_calls() {
  const Grid grid = make_grid("Row", 2, 2);
  try_wrong(grid, "nothing wrong", [](Arguments&) {});
  try_wrong(grid, "another option", [](Arguments& x) { x.option = 'X'; });
  try_wrong(grid, "n = 0", [](Arguments& x) { x.n = 0; });
  try_wrong(grid, "nrhs = 0", [](Arguments& x) { x.nrhs = 0; });
  try_wrong(grid, "n = -1", [](Arguments& x) { x.n = -1; });
  try_wrong(grid, "nrhs = -1", [](Arguments& x) { x.nrhs = -1; });
  try_wrong(grid, "n too large", [](Arguments& x) { x.n = 100; });
  try_wrong(grid, "ia = 0", [](Arguments& x) { x.i = 0; });
  try_wrong(grid, "ja = 0", [](Arguments& x) { x.j = 0; });
  try_wrong(grid, "ia in a block", [](Arguments& x) { x.i = 3, x.n = 8; });
  try_wrong(grid, "ja in a block", [](Arguments& x) { x.j = 3, x.n = 8; });
  try_wrong(grid, "ib in a block", [](Arguments& x) { x.ib = 3, x.n = 8; });
  try_wrong(grid, "ib elsewhere", [](Arguments& x) { x.ib = 9, x.n = 8; });
  try_wrong(grid, "ib = 0", [](Arguments& x) { x.ib = 0; });
  for (const int entry : {0, 2, 3, 4, 5, 6, 7, 8}) {
    const std::string number = std::to_string(entry + 1);
    for (const int value : {-1, 0, 7}) {
      if (entry >= 6 && entry < 8 && value == 0) continue;  // the right source
      const std::string is = " = " + std::to_string(value);
      try_wrong(grid, ("entry " + number + " of desca" + is).c_str(),
                [&](Arguments& x) { x.descriptor[entry] = value; });
      if (entry == 4 || entry == 5) continue;  // ScaLAPACK divides by those of B
      try_wrong(grid, ("entry " + number + " of descb" + is).c_str(),
                [&](Arguments& x) { x.descriptor_b[entry] = value; });
    }
  }
  try_wrong(grid, "an lld too small on one rank", [&](Arguments& x) {
    if (grid.is_first()) x.descriptor[8] = 1;
  });
  try_wrong(grid, "other n on one rank", [&](Arguments& x) {
    if (grid.is_first()) x.n = 16;
  });
  try_outside();
  try_failing(grid, "a zero column", -1, 9, 0);
  try_failing(grid, "a negative pivot", 17, 17, -1);
  try_failing(grid, "a zero first pivot", 0, 0, 0);
}

// ---- lives of grids
// ------------------------------------------------------------------------------

void try_loops() {
  for (int k = 0; k < 40; ++k) {
    const Grid one = k % 2 == 0 ? make_grid("Row", 2, 2) : make_grid("Row", 1, 3);
    const Grid other = k % 3 == 0 ? make_grid("Col", 4, 1) : map_grid();
    for (const Grid* const grid : {&one, &other, &one}) {
      if (!grid->has_us()) continue;
      try_cholesky<double>(*grid, 'L', 11 + k, 2, {}, {});
    }
    if (one.has_us()) k % 5 == 0 ? Cblacs_gridexit(one.context) : blacs_gridexit_(&one.context);
    if (k < 35 && other.has_us()) Cblacs_gridexit(other.context);  // the last ones stay
  }
}

// ---- failures
// ------------------------------------------------------------------------------------

void try_faults() {
  const Layout layout;
  for (int rank = 0; rank < 4; ++rank) {
    for (int place = 1; place <= 6; ++place) {
      const std::string fault = std::to_string(rank) + ":" + std::to_string(place);
      setenv("OVERLAPACK_SCALAPACK_FAULT", fault.c_str(), 1);
      const Grid grid = make_grid("Row", 2, 2);
      try_cholesky<double>(grid, 'U', 20 + place, 3, layout, layout);
      try_lu_solves<double>(grid, 30 + place, 3, layout, layout);  // which takes more memory
      Cblacs_gridexit(grid.context);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  int rank = 0, ranks = 0;
  Cblacs_pinfo(&rank, &ranks);
  if (ranks != 4 || count != 3) return 2;
  const std::string what = arguments[1];
  output = arguments[2];
  if (what == "calls") try_calls();
  if (what == "wrong") try_wrong_calls();
  if (what == "loops") try_loops();
  if (what == "faults") try_faults();
  Cblacs_exit(0);
}
