#include "tools/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <new>

#include "cpu/eigen.hpp"
#include "cpu/qr.hpp"
#include "host/workers.hpp"
#include "tools/problems/row.hpp"
#include "tools/problems/triangle.hpp"

namespace overlapack::tools {
namespace {

constexpr int kProbes = 2;

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): 64 well-mixed bits for each input.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t bits(std::uint64_t seed, Index i, Index j) {
  return mix(seed + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(i) + 1) +
             0xd1b54a32d192ed03u * (static_cast<std::uint64_t>(j) + 1));
}

/// In [-1/2, 1/2).
double to_unit(std::uint64_t z) {
  return static_cast<double>(static_cast<std::int64_t>(z)) * 0x1p-64;
}

template <class T>
T uniform(std::uint64_t seed, Index i, Index j, double scale) {
  const std::uint64_t z = bits(seed, i, j);
  if constexpr (is_complex<T>) {
    return T(static_cast<Real<T>>(scale * to_unit(z)),
             static_cast<Real<T>>(scale * to_unit(mix(z))));
  } else {
    return static_cast<T>(scale * to_unit(z));
  }
}

template <class Wide>
double squared_norm(const std::vector<Wide>& x) {
  double sum = 0;
  for (const Wide& xi : x) sum += std::norm(xi);
  return sum;
}

std::string name_and_shape(const Call& call) {
  std::string text =
      name_of(call) + " m=" + std::to_string(call.shape.m) + " n=" + std::to_string(call.shape.n);
  if (has_right_hand_sides(call.routine)) text += " nrhs=" + std::to_string(call.shape.nrhs);
  return text + " lda=" + std::to_string(call.lda);
}

/// A vector of +-1.
template <class Wide>
std::vector<Wide> signs(std::uint64_t seed, Index count) {
  std::vector<Wide> x(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    x[static_cast<std::size_t>(i)] = bits(~seed, i, 0) & 1 ? Wide(1) : Wide(-1);
  }
  return x;
}

}  // namespace

std::string name_of(const Call& call) { return call.type + std::string(name_of(call.routine)); }

std::string title_of(Routine routine) {
  std::string title = name_of(routine);
  for (const char type : dispatch::kTypeLetters) {
    if (dispatch::is_mixed(routine) && dispatch::exists(routine, type)) return type + title;
  }
  return title;
}

bool parse_name(const std::string& name, Call& call) {
  for (const char type : dispatch::kTypeLetters) {
    for (std::size_t r = 0; r < dispatch::kLapackRoutineCount; ++r) {
      if (name != type + std::string(dispatch::kRoutineNames[r])) continue;
      call.type = type;
      call.routine = static_cast<Routine>(r);
      return dispatch::exists(call.routine, type);
    }
  }
  return false;
}

bool has_right_hand_sides(Routine routine) {
  return dispatch::traits_of(routine).right_hand_sides == dispatch::RightHandSides::some;
}

bool has_eigenvectors(Routine routine) {
  return dispatch::traits_of(routine).right_hand_sides == dispatch::RightHandSides::eigenvectors;
}

bool is_factor_given(Routine routine) {
  return dispatch::traits_of(routine).given == dispatch::Given::factors;
}

bool is_rectangular(Routine routine) {
  return routine == Routine::getrf || routine == Routine::geqrf || routine == Routine::gelqf ||
         routine == Routine::gels;
}

bool has_problem(const Call& call) {
  const Matrix given = row_of<double>(call.routine).matrix;
  if (given != Matrix::reflectors && given != Matrix::reflectors_in_rows) return true;
  const bool on_the_left = !has_right_hand_sides(call.routine) || call.ldb >= call.shape.m;
  return call.shape.m == call.shape.n && on_the_left;
}

bool is_for_device(Routine routine) {
  return dispatch::builtin_profile().at(routine, dispatch::kTypeLetters[0]) < dispatch::kNever;
}

Call square_call(Routine routine, char type, Index n, Index nrhs, Index pad) {
  Call call;
  call.routine = routine;
  call.type = type;
  call.shape = {n, n, has_right_hand_sides(routine) ? nrhs : has_eigenvectors(routine) ? n : 0};
  call.lda = std::max<Index>(1, n + pad);
  call.ldb = has_right_hand_sides(routine) ? call.lda : 0;
  return call;
}

template <class T>
template <class U>
auto Problem<T>::allocate(Index rows, Index cols) -> Array<U> {
  std::size_t bytes = 0;
  const bool too_many =
      __builtin_mul_overflow(std::max<Index>(rows, 1), std::max<Index>(cols, 1), &bytes) ||
      __builtin_mul_overflow(bytes, sizeof(U), &bytes);
  void* const memory = too_many ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return Array<U>(static_cast<U*>(memory));
}

template <class T>
Problem<T>::Problem(const Call& call) : call_(call), matrix_(row_of<T>(call.routine).matrix) {
  const double n = static_cast<double>(std::max<Index>(call.shape.n, 1));
  const bool factor_given = is_factor_given(call.routine);
  scale_ = factor_given ? 1 / std::sqrt(n) : 1;
  diagonal_ = factor_given ? 1 : std::sqrt(n) + 1;
  const Shape& shape = call.shape;
  if (std::max({shape.m, shape.n, shape.nrhs, call.lda, call.ldb}) > kMaxWholeNumber) {
    throw std::runtime_error(name_and_shape(call) + " is too large for 32-bit integers");
  }
  try {
    a_ = allocate<T>(call.lda, shape.n);
    b_ = allocate<T>(call.ldb, shape.nrhs);
    if (row_of<T>(call.routine).keeps_factor) given_ = allocate<T>(shape.n, shape.n);
    const bool has_reflectors = row_of<T>(call.routine).has_reflectors;
    if (call.routine == Routine::getri) work_size_ = shape.n * kWorkColumns;
    if (has_reflectors) {  // ?ormqr has a triangle there, too
      const Index lines = call.routine == Routine::gelqf ? shape.m : shape.n;
      work_size_ = (std::max(lines, shape.nrhs) + kWorkColumns + 1) * kWorkColumns;
      tau_.resize(static_cast<std::size_t>(std::min(shape.m, shape.n)));
    }
    if (work_size_ > 0) work_ = allocate<T>(work_size_, 1);
    if (dispatch::is_mixed(call.routine)) {
      x_ = allocate<T>(call.ldb, shape.nrhs);
      work_ = allocate<T>(shape.n, shape.nrhs);
      swork_ = allocate<Single<T>>(shape.n, shape.n + shape.nrhs);
      rwork_ = allocate<Real<T>>(shape.n, 1);
    }
    if (row_of<T>(call.routine).estimates) {
      work_ = allocate<T>(shape.n, 4);
      rwork_ = allocate<Real<T>>(shape.n, 2);
    }
    if (row_of<T>(call_.routine).eigen) allocate_eigen_work();
    const bool general = matrix_ == Matrix::general && !has_reflectors;
    if (general || matrix_ == Matrix::lu_factors)
      pivots_.resize(static_cast<std::size_t>(std::min(shape.m, shape.n)));
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("not enough memory for " + name_and_shape(call) +
                             "; use smaller sizes");
  }
}

template <class T>
void Problem<T>::allocate_eigen_work() {
  const Index n = call_.shape.n;
  const auto sizes = cpu::least_sizes(cpu::EigenDriver::evd, false, is_complex<T>, true, n);
  const Index blocks = kWorkColumns * std::max(n, call_.shape.nrhs);
  work_size_ = std::max(sizes.work, blocks);
  work_ = allocate<T>(work_size_, 1);
  eigen_.rwork_size = std::max(sizes.rwork, 24 * n);
  if (is_complex<T>) eigen_.rwork = allocate<Real<T>>(eigen_.rwork_size, 1);
  eigen_.integers.resize(static_cast<std::size_t>(10 * n + 3));
  eigen_.support.resize(static_cast<std::size_t>(2 * n));
  eigen_.values.resize(static_cast<std::size_t>(2 * n));
  eigen_.z = allocate<T>(n, n);
  if (row_of<T>(call_.routine).generalized) eigen_.b = allocate<T>(n, n);
  tau_.resize(static_cast<std::size_t>(n));
}

template <class T>
T Problem<T>::entry_a(Index i, Index j) const {
  if (matrix_ == Matrix::general) return uniform<T>(seed_, i, j, scale_);
  if (i == j) return T(static_cast<Real<T>>(diagonal_));
  if (matrix_ == Matrix::lu_factors || i > j) return uniform<T>(seed_, i, j, scale_);
  return conj(uniform<T>(seed_, j, i, scale_));
}

template <class T>
T Problem<T>::entry_b(Index i, Index j) const {
  return uniform<T>(seed_ + 1, i, j, 1.0);
}

/// With it reflector j is unitary: 2 / (v^H v).
template <class T>
T Problem<T>::tau_of(Index j) const {
  const bool rows = matrix_ == Matrix::reflectors_in_rows;
  double squares = 1;
  for (Index i = j + 1; i < (rows ? call_.shape.n : call_.shape.m); ++i) {
    squares += std::norm(Wide(rows ? a()(j, i) : a()(i, j)));
  }
  return T(static_cast<Real<T>>(2 / squares));
}

template <class T>
void Problem<T>::make_tau() {
  if (matrix_ != Matrix::reflectors && matrix_ != Matrix::reflectors_in_rows) return;
  in_parallel(static_cast<Index>(tau_.size()), [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) tau_[static_cast<std::size_t>(j)] = tau_of(j);
  });
  if (!row_of<T>(call_.routine).has_triangles) return;
  const HostView<T> v = a(), t(work(), kTriangleOrder, v.cols, kTriangleOrder);
  for (Index j = 0; j < t.cols; ++j) t(j % t.rows, j) = tau_[static_cast<std::size_t>(j)];
  cpu::textbook::make_triangles<T>(v, t);
}

template <class T>
void Problem<T>::generate(std::uint64_t seed) {
  seed_ = mix(seed);
  in_parallel(call_.shape.n, [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) {
      T* const column = a_.get() + j * call_.lda;
      for (Index i = 0; i < call_.lda; ++i) column[i] = i < call_.shape.m ? entry_a(i, j) : T(0);
      if (given_) std::copy_n(column, call_.shape.n, given_.get() + j * call_.shape.n);
    }
  });
  for (Index j = 0; j < call_.shape.nrhs; ++j) {
    T* const column = b_.get() + j * call_.ldb;
    for (Index i = 0; i < call_.ldb; ++i) column[i] = i < rows_of_b() ? entry_b(i, j) : T(0);
  }
  make_tau();
  std::fill(pivots_.begin(), pivots_.end(), 0);
  if (matrix_ == Matrix::lu_factors) {
    for (Index i = 0; i < call_.shape.n; ++i) {
      const auto below = static_cast<std::uint64_t>(call_.shape.n - i);
      pivots_[static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(i + 1 + static_cast<Index>(bits(seed_ + 2, i, 0) % below));
    }
  }
  info = iter = 0;
  rcond = 0;
  if (row_of<T>(call_.routine).prepare != nullptr) row_of<T>(call_.routine).prepare(*this);
}

/// The input matrix, looked up again, times x; and its Frobenius norm.
template <class T>
auto Problem<T>::input_times(const Vector& x, double& frobenius) const -> Vector {
  Vector y(static_cast<std::size_t>(call_.shape.m));
  double squares = 0;
  std::mutex mutex;
  in_parallel(call_.shape.n, [&](Index begin, Index end) {
    Vector sum(y.size());
    double part = 0;
    for (Index j = begin; j < end; ++j) {
      const Wide xj = x[static_cast<std::size_t>(j)];
      for (Index i = 0; i < call_.shape.m; ++i) {
        const Wide aij(entry_a(i, j));
        part += std::norm(aij);
        sum[static_cast<std::size_t>(i)] += aij * xj;
      }
    }
    std::lock_guard<std::mutex> lock(mutex);
    squares += part;
    for (std::size_t i = 0; i < sum.size(); ++i) y[i] += sum[i];
  });
  frobenius = std::sqrt(squares);
  return y;
}

/// The adjoint of the input matrix times x.
template <class T>
auto Problem<T>::input_adjoint_times(const Vector& x) const -> Vector {
  Vector y(static_cast<std::size_t>(call_.shape.n));
  in_parallel(call_.shape.n, [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) {
      Wide sum(0);
      for (Index i = 0; i < call_.shape.m; ++i) {
        sum += conj(Wide(entry_a(i, j))) * x[static_cast<std::size_t>(i)];
      }
      y[static_cast<std::size_t>(j)] = sum;
    }
  });
  return y;
}

template <class T>
auto Problem<T>::factor_times(HostView<const T> f, Vector x, Op op) const -> Vector {
  if (pivots_.empty()) {
    const bool lower = call_.uplo == Uplo::lower;
    const Op first = lower ? Op::conj_trans : Op::none, second = lower ? Op::none : Op::conj_trans;
    x = triangle_times(call_.uplo, first, Diag::non_unit, f, x);
    return triangle_times(call_.uplo, second, Diag::non_unit, f, x);
  }
  const Index k = std::min(f.rows, f.cols);
  const HostView<const T> l = f.block(0, 0, f.rows, k), u = f.block(0, 0, k, f.cols);
  const auto swap = [&](std::size_t i) {
    std::swap(x[i], x[static_cast<std::size_t>(pivots_[i] - 1)]);
  };
  if (op == Op::none) {
    x = triangle_times(Uplo::upper, op, Diag::non_unit, u, x);
    x = triangle_times(Uplo::lower, op, Diag::unit, l, x);
    for (std::size_t i = pivots_.size(); i-- > 0;) swap(i);
    return x;
  }
  for (std::size_t i = 0; i < pivots_.size(); ++i) swap(i);
  x = triangle_times(Uplo::lower, op, Diag::unit, l, x);
  return triangle_times(Uplo::upper, op, Diag::non_unit, u, x);
}

/// A x + B B^H x, where A is given by its factor.
template <class T>
auto Problem<T>::updated_times(const Vector& x) const -> Vector {
  Vector y = factor_times(given(), x, Op::none);
  for (Index j = 0; j < call_.shape.nrhs; ++j) {
    const T* const v = &b()(0, j);
    Wide dot(0);
    for (std::size_t i = 0; i < x.size(); ++i) dot += Wide(conj(v[i])) * x[i];
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += Wide(v[i]) * dot;
  }
  return y;
}

double residual_limit(const Call& call) {
  constexpr double kResidualLimit = 30, kOrderOfLimit = 1000;
  const bool grows = with_type(
      call.type, [&](auto one) { return row_of<decltype(one)>(call.routine).limit_grows; });
  return grows ? kResidualLimit * std::max(1.0, static_cast<double>(call.shape.n) / kOrderOfLimit)
               : kResidualLimit;
}

namespace {

/// LAPACK's.
template <class T>
constexpr double kEps = static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) / 2;

/// That of the numbers from which random vectors are made.
std::uint64_t seed_of(std::uint64_t seed, int probe) {
  return mix(seed + 3 + static_cast<std::uint64_t>(probe));
}

}  // namespace

template <class T>
double Problem<T>::residual() const {
  return row_of<T>(call_.routine).residual(*this);
}

template <class T>
bool Problem<T>::pivots_are_valid() const {
  for (std::size_t i = 0; i < pivots_.size(); ++i) {
    if (pivots_[i] <= static_cast<Index>(i) || pivots_[i] > call_.shape.m) return false;
  }
  return true;
}

/// `input(x, norm)` is what the product of the factors with x should be, and sets the norm of A.
template <class T>
template <class Input>
double Problem<T>::residual_of_new_factors(Input input) const {
  if (!pivots_are_valid()) return std::numeric_limits<double>::infinity();
  double squares = 0, norm_a = 0;
  for (int probe = 0; probe < kProbes; ++probe) {
    const Vector x = signs<Wide>(seed_of(seed_, probe), call_.shape.n);
    Vector difference = input(x, norm_a);
    const Vector product = factor_times(a(), x, Op::none);
    for (std::size_t i = 0; i < product.size(); ++i) difference[i] -= product[i];
    squares += squared_norm(difference) / kProbes;
  }
  const double order = static_cast<double>(std::max(call_.shape.m, call_.shape.n));
  return std::sqrt(squares) / (order * norm_a * kEps<T>);
}

template <class T>
double Problem<T>::residual_of_factors() const {
  return residual_of_new_factors(
      [this](const Vector& x, double& norm_a) { return input_times(x, norm_a); });
}

template <class T>
double Problem<T>::residual_of_update() const {
  return residual_of_new_factors([this](const Vector& x, double& norm_a) {
    Vector y = updated_times(x);
    norm_a = std::sqrt(squared_norm(y));
    return y;
  });
}

/// That of (B - op(A) X) x.
template <class T>
double Problem<T>::residual_of_solution() const {
  const HostView<T> solution = x_ ? x() : b();
  const auto times = row_of<T>(call_.routine).times;
  double worst = 0, norm_a = 0;
  for (int probe = 0; probe < kProbes; ++probe) {
    const std::uint64_t seed = seed_of(seed_, probe);
    const Vector x = signs<Wide>(seed, call_.shape.nrhs);
    Vector bx(static_cast<std::size_t>(call_.shape.n)), xx(bx.size());
    for (Index j = 0; j < call_.shape.nrhs; ++j) {
      for (Index i = 0; i < call_.shape.n; ++i) {
        bx[static_cast<std::size_t>(i)] += Wide(entry_b(i, j)) * x[static_cast<std::size_t>(j)];
        xx[static_cast<std::size_t>(i)] += Wide(solution(i, j)) * x[static_cast<std::size_t>(j)];
      }
    }
    Vector ax;
    if (times != nullptr) {
      norm_a = std::sqrt(squared_norm(times(*this, signs<Wide>(seed, call_.shape.n))));
      ax = times(*this, xx);
    } else {
      ax = input_times(xx, norm_a);
    }
    for (std::size_t i = 0; i < bx.size(); ++i) bx[i] -= ax[i];
    const double scaled = std::sqrt(squared_norm(bx) / squared_norm(xx)) / (norm_a * kEps<T>);
    if (!(scaled <= worst)) worst = scaled;  // keeps a NaN
  }
  return worst;
}

/// The residual of the solution is orthogonal to op(A). Where there is a solution it is zero.
template <class T>
double Problem<T>::residual_of_least_squares() const {
  const bool direct = call_.op == Op::none;
  const Index m = call_.shape.m, n = call_.shape.n, nrhs = call_.shape.nrhs;
  double worst = 0, norm_a = 0;
  const auto times_a = [&](const Vector& x, bool plain) {
    return plain ? input_times(x, norm_a) : input_adjoint_times(x);
  };
  for (int probe = 0; probe < kProbes; ++probe) {
    const Vector x = signs<Wide>(seed_of(seed_, probe), nrhs);
    Vector rest(static_cast<std::size_t>(direct ? m : n)),
        xx(static_cast<std::size_t>(direct ? n : m));
    for (Index j = 0; j < nrhs; ++j) {
      const Wide xj = x[static_cast<std::size_t>(j)];
      for (std::size_t i = 0; i < rest.size(); ++i) {
        rest[i] += Wide(entry_b(static_cast<Index>(i), j)) * xj;
      }
      for (std::size_t i = 0; i < xx.size(); ++i) xx[i] += Wide(b()(static_cast<Index>(i), j)) * xj;
    }
    const Vector product = times_a(xx, direct);
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= product[i];
    const double error = std::sqrt(squared_norm(times_a(rest, !direct)));
    const double size = norm_a * std::sqrt(squared_norm(xx)) + std::sqrt(squared_norm(rest));
    const double scaled = error / (norm_a * size * kEps<T>);
    if (!(scaled <= worst)) worst = scaled;  // keeps a NaN
  }
  return worst;
}

template <class T>
double Problem<T>::residual_of_condition(Real<T> reference) const {
  const double ratio = static_cast<double>(rcond) / static_cast<double>(reference);
  return 30 * std::abs(std::log(ratio)) / std::log(3.0);
}

/// That of X, by products with it and with A: whether A X = I, or X = A.
template <class T>
double Problem<T>::residual_of_result(bool inverse) const {
  const auto& row = row_of<T>(call_.routine);
  double error = 0, of_a = 0, of_x = 0;  // squares of norms
  const auto times = [&](const Vector& x) {
    double norm = 0;
    return row.times != nullptr ? row.times(*this, x) : input_times(x, norm);
  };
  for (int probe = 0; probe < kProbes; ++probe) {
    const Vector x = signs<Wide>(seed_of(seed_, probe), call_.shape.n);
    const Vector xx = row.result_times(*this, x), ax = times(x);
    Vector difference = inverse ? times(xx) : xx;
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= inverse ? x[i] : ax[i];
    error += squared_norm(difference) / kProbes;
    of_a += squared_norm(ax) / kProbes;
    of_x += squared_norm(xx) / kProbes;
  }
  const double scale = std::sqrt(inverse ? of_a * of_x : of_a);
  return std::sqrt(error) / (static_cast<double>(call_.shape.n) * scale * kEps<T>);
}

template <class T>
double Problem<T>::residual_of_unit(Vector (*times)(const Problem&, Vector x)) const {
  double error = 0;  // the square of a norm
  for (int probe = 0; probe < kProbes; ++probe) {
    const Vector x = signs<Wide>(seed_of(seed_, probe), call_.shape.n);
    Vector difference = times(*this, x);
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= x[i];
    error += squared_norm(difference) / kProbes;
  }
  return std::sqrt(error) / (static_cast<double>(call_.shape.n) * kEps<T>);
}

template <class T>
double Problem<T>::residual_of_inverse() const {
  return residual_of_result(true);
}

template <class T>
double Problem<T>::residual_of_product() const {
  return residual_of_result(false);
}

#define OVERLAPACK_INSTANTIATE(T) template class Problem<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::tools
