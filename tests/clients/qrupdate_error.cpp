// Compares the errors of updated Cholesky factors with those of the real qrupdate, the library that
// the command line names: after a hundred updates and downdates in a row, and after a downdate that
// leaves the matrix barely definite. Ends with 1 if one of ours is too large.

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "overlapack/overlapack.h"

namespace {

/// A type, its real type, and those in which its errors are measured.
template <class T, class W>
struct Type {
  using Scalar = T;
  using Wide = W;
  using Real = decltype(std::abs(T()));
  using WideReal = decltype(std::abs(W()));
  using Up = void(const std::int32_t*, T*, const std::int32_t*, T*, Real*);
  using Down = void(const std::int32_t*, T*, const std::int32_t*, T*, Real*, std::int32_t*);
  using Update = void(char, std::int64_t, std::int64_t, T*, std::int64_t, const T*, std::int64_t,
                      int, std::int64_t*);

  const char* letter;
  Up* up;
  Down* down;
  Update* update;
};

double conjugate(double x) { return x; }
long double conjugate(long double x) { return x; }
template <class R>
std::complex<R> conjugate(std::complex<R> x) {
  return std::conj(x);
}

/// By columns.
template <class T>
struct Matrix {
  Matrix(int m, int n) : rows(m), cols(n), data(static_cast<std::size_t>(m * n)) {}
  T& operator()(int i, int j) { return data[static_cast<std::size_t>(i + j * rows)]; }
  const T& operator()(int i, int j) const { return data[static_cast<std::size_t>(i + j * rows)]; }

  int rows, cols;
  std::vector<T> data;
};

template <class To, class From>
Matrix<To> converted(const Matrix<From>& from) {
  Matrix<To> to(from.rows, from.cols);
  std::transform(from.data.begin(), from.data.end(), to.data.begin(),
                 [](From x) { return static_cast<To>(x); });
  return to;
}

using Random = std::mt19937_64;

void set_random(Random& random, double& x) {
  x = static_cast<double>(random() >> 11) / 4503599627370496.0 - 1.0;  // in [-1, 1)
}
template <class R>
void set_random(Random& random, R& x) {
  double y;
  set_random(random, y);
  x = static_cast<R>(y);
}
template <class R>
void set_random(Random& random, std::complex<R>& x) {
  R parts[2];
  for (R& part : parts) set_random(random, part);
  x = {parts[0], parts[1]};
}
template <class T>
Matrix<T> random_matrix(Random& random, int m, int n) {
  Matrix<T> a(m, n);
  for (T& x : a.data) set_random(random, x);
  return a;
}

/// A Hermitian matrix with these eigenvalues, of which the vectors are random.
template <class W, class R>
Matrix<W> with_eigenvalues(Random& random, const std::vector<R>& values) {
  const int n = static_cast<int>(values.size());
  Matrix<W> a(n, n);
  for (int i = 0; i < n; ++i) a(i, i) = values[static_cast<std::size_t>(i)];
  for (int reflector = 0; reflector < 3; ++reflector) {  // A := H A H, H = I - 2 u u^H
    auto u = random_matrix<W>(random, n, 1), p = Matrix<W>(n, 1);
    R square = 0;
    for (const W& x : u.data) square += std::norm(x);
    for (W& x : u.data) x /= std::sqrt(square);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) p(i, 0) += a(i, j) * u(j, 0);
    }
    W product = 0;
    for (int i = 0; i < n; ++i) product += conjugate(u(i, 0)) * p(i, 0);
    for (int i = 0; i < n; ++i) p(i, 0) -= product * u(i, 0);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        a(i, j) -= R(2) * (u(i, 0) * conjugate(p(j, 0)) + p(i, 0) * conjugate(u(j, 0)));
      }
    }
  }
  return a;
}

/// A + sign V V^H, the upper triangle.
template <class W, class T>
void add_products(Matrix<W>& a, const Matrix<T>& v, int sign) {
  const auto wide = converted<W>(v);
  for (int l = 0; l < v.cols; ++l) {
    for (int j = 0; j < a.cols; ++j) {
      const W x = conjugate(wide(j, l)) * W(static_cast<float>(sign));
      for (int i = 0; i <= j; ++i) a(i, j) += wide(i, l) * x;
    }
  }
}

/// R^H R, the upper triangle.
template <class W, class T>
Matrix<W> square_of(const Matrix<T>& r) {
  const auto wide = converted<W>(r);
  Matrix<W> a(r.rows, r.cols);
  for (int j = 0; j < r.cols; ++j) {
    for (int i = 0; i <= j; ++i) {
      for (int l = 0; l <= i; ++l) a(i, j) += conjugate(wide(l, i)) * wide(l, j);
    }
  }
  return a;
}

/// R from A = R^H R, rounded.
template <class T, class W>
Matrix<T> factor_of(Matrix<W> a) {
  for (int j = 0; j < a.cols; ++j) {
    for (int i = 0; i <= j; ++i) {
      W rest = a(i, j);
      for (int l = 0; l < i; ++l) rest -= conjugate(a(l, i)) * a(l, j);
      a(i, j) = i < j ? rest / a(i, i) : W(std::sqrt(std::real(rest)));
    }
    for (int i = j + 1; i < a.rows; ++i) a(i, j) = W(0);
  }
  return converted<T>(a);
}

/// The largest |R^H R - A|; infinite if something is not a number.
template <class W, class T>
double error_of(const Matrix<T>& r, const Matrix<W>& a) {
  const auto product = square_of<W>(r);
  double worst = 0;
  for (int j = 0; j < a.cols; ++j) {
    for (int i = 0; i <= j; ++i) {
      const auto error = static_cast<double>(std::abs(product(i, j) - a(i, j)));
      worst = error <= std::numeric_limits<double>::max() ? std::max(worst, error) : HUGE_VAL;
    }
  }
  return worst;
}

/// Updates a factor by all columns of V. Returns whether that was possible.
template <class S, class T>
bool by_one_vector_at_a_time(const S& type, Matrix<T>& r, const Matrix<T>& v, int sign) {
  const std::int32_t n = r.rows;
  std::vector<typename S::Real> cosines(static_cast<std::size_t>(n));
  for (int l = 0; l < v.cols; ++l) {
    std::vector<T> x(&v(0, l), &v(0, l) + n);
    std::int32_t info = 0;
    if (sign > 0) {
      type.up(&n, r.data.data(), &n, x.data(), cosines.data());
    } else {
      type.down(&n, r.data.data(), &n, x.data(), cosines.data(), &info);
    }
    if (info != 0) return false;
  }
  return true;
}
template <class S, class T>
bool by_all_vectors(const S& type, Matrix<T>& r, const Matrix<T>& v, int sign) {
  std::int64_t info = -99;
  type.update('U', r.rows, v.cols, r.data.data(), r.rows, v.data.data(), r.rows, sign, &info);
  return info == 0;
}

/// The errors of both in an experiment, summed up over several matrices. The largest error of one
/// matrix may be three times that of another one of its kind, in either library.
struct Errors {
  double ours = 0, theirs = 0;
};

template <class S>
class Comparison {
  using T = typename S::Scalar;
  using W = typename S::Wide;
  using WideReal = typename S::WideReal;

 public:
  Comparison(const S& ours, const S& theirs) : ours_(ours), theirs_(theirs) {}

  /// Errors are to be within twice qrupdate's. Returns how often ours were not.
  int run() {
    for (const int n : {60, 133}) {
      for (const int k : {1, 16}) {
        judge("hundred pairs", n, k, [&](Random& random) { return hundred_pairs(random, n, k); });
        for (const bool in_between : {false, true}) {
          judge(in_between ? "barely definite, others in between" : "barely definite", n, k,
                [&](Random& random) { return barely_definite(random, n, k, in_between); });
        }
      }
    }
    return worse_;
  }

 private:
  /// Where a factor starts, by what it is changed one after the other, and the matrix of which it
  /// should be the factor at the end.
  struct Experiment {
    Matrix<T> start;
    std::vector<Matrix<T>> vectors;
    std::vector<int> signs;
    Matrix<W> exact;
  };

  /// Up and down by random vectors, of the factor of B B^H + I.
  Experiment hundred_pairs(Random& random, int n, int k) {
    Matrix<W> a(n, n);
    for (int i = 0; i < n; ++i) a(i, i) = W(1);
    add_products(a, random_matrix<T>(random, n, n), +1);
    const auto start = factor_of<T>(a);
    Experiment experiment{start, {}, {}, square_of<W>(start)};
    for (int pair = 0; pair < 100; ++pair) {
      const auto v = random_matrix<T>(random, n, k);
      for (const int sign : {+1, -1}) {
        experiment.vectors.push_back(v);
        experiment.signs.push_back(sign);
      }
    }
    return experiment;
  }

  /// Of the eigenvalues that the downdate leaves, the smallest is 1e-8 of the largest; in single
  /// precision, where rounding the factor alone changes them by more than that, 1e-5. The others
  /// are as large as the largest or lie in between.
  Experiment barely_definite(Random& random, int n, int k, bool in_between) {
    const bool single = std::numeric_limits<typename S::Real>::digits < 30;
    const WideReal smallest = single ? WideReal(1e-5L) : WideReal(1e-8L);
    std::vector<WideReal> values(static_cast<std::size_t>(n), WideReal(1));
    values.back() = smallest;
    for (int i = 0; in_between && i < n; ++i) {
      values[static_cast<std::size_t>(i)] = std::pow(smallest, WideReal(i) / WideReal(n - 1));
    }
    auto a = with_eigenvalues<W>(random, values);
    const auto v = random_matrix<T>(random, n, k);
    add_products(a, v, +1);
    const auto start = factor_of<T>(a);
    auto exact = square_of<W>(start);
    add_products(exact, v, -1);
    return {start, {v}, {-1}, exact};
  }

  template <class Way>
  double error(const Experiment& experiment, const Way& way, const S& type) {
    auto r = experiment.start;
    for (std::size_t i = 0; i < experiment.vectors.size(); ++i) {
      if (!way(type, r, experiment.vectors[i], experiment.signs[i])) return HUGE_VAL;
    }
    return error_of(r, experiment.exact);
  }

  template <class Make>
  void judge(const char* name, int n, int k, const Make& make) {
    constexpr unsigned kMatrices = 8;
    Errors all_vectors, by_one;
    for (unsigned seed = 1; seed <= kMatrices; ++seed) {
      Random random(seed);
      const Experiment experiment = make(random);
      const double theirs = error(experiment, by_one_vector_at_a_time<S, T>, theirs_);
      all_vectors.theirs += theirs;
      all_vectors.ours += error(experiment, by_all_vectors<S, T>, ours_);
      by_one.theirs += theirs;
      if (k == 1) by_one.ours += error(experiment, by_one_vector_at_a_time<S, T>, ours_);
    }
    compare(name, "cholupdate", n, k, all_vectors);
    if (k == 1) compare(name, "ch1up and ch1dn", n, k, by_one);
  }

  void compare(const char* name, const char* who, int n, int k, const Errors& errors) {
    constexpr double kLimit = 2;
    const double ratio = errors.ours / errors.theirs;
    const bool right = errors.theirs < HUGE_VAL && ratio <= kLimit;
    std::printf("%s %s: %s, n = %d, k = %d: %.2f times the error of qrupdate%s\n", ours_.letter,
                name, who, n, k, ratio, right ? "" : "  TOO MUCH");
    worse_ += !right;
  }

  S ours_, theirs_;
  int worse_ = 0;
};

template <class T, class W>
int compare(void* qrupdate, const Type<T, W>& ours) {
  using S = Type<T, W>;
  const auto find = [&](const char* name) {
    void* const found = dlsym(qrupdate, (std::string(ours.letter) + name).c_str());
    if (found == nullptr) std::exit(EXIT_FAILURE);
    return found;
  };
  const S theirs{ours.letter, reinterpret_cast<typename S::Up*>(find("ch1up_")),
                 reinterpret_cast<typename S::Down*>(find("ch1dn_")), nullptr};
  if (theirs.up == ours.up) std::exit(EXIT_FAILURE);  // nothing to compare with
  return Comparison<S>(ours, theirs).run();
}

}  // namespace

int main(int argc, char** argv) {
  void* const qrupdate = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (qrupdate == nullptr) {
    std::printf("no qrupdate: %s\n", argc == 2 ? dlerror() : "not named");
    return EXIT_FAILURE;
  }
  using C = std::complex<float>;
  using Z = std::complex<double>;
  int worse = compare<float, double>(qrupdate, {"s", sch1up_, sch1dn_, ovl_scholupdate});
  worse += compare<double, long double>(qrupdate, {"d", dch1up_, dch1dn_, ovl_dcholupdate});
  worse += compare<C, Z>(qrupdate, {"c", cch1up_, cch1dn_, ovl_ccholupdate});
  worse +=
      compare<Z, std::complex<long double>>(qrupdate, {"z", zch1up_, zch1dn_, ovl_zcholupdate});
  std::printf("%d errors of ours are too large\n", worse);
  return worse == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
