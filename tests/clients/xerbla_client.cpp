// A program with an xerbla_ of its own, as LAPACK allows: it must be called exactly once for every
// argument error of every routine, with the routine's name and the argument's position; info must
// be minus the position and the arrays must stay as they are. Prints every report and ends with
// status 1 if one is wrong. Built with ILP64 defined it checks the names with 64-bit integers.

#include <cctype>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "overlapack/lapack.h"

#ifdef ILP64
using Integer = std::int64_t;
#  define XERBLA xerbla_64_
#  define SPELT(name) name##_64_
#else
using Integer = std::int32_t;
#  define XERBLA xerbla_
#  define SPELT(name) name##_
#endif

namespace {

struct Report {
  std::string name;
  Integer position;
};
std::vector<Report> reports;
int failures = 0;

void expect(const std::string& routine, Integer position, Integer info, bool untouched) {
  std::string name;
  for (const char c : routine) name += static_cast<char>(std::toupper(c));
  const bool good = reports.size() == 1 && reports[0].name == name &&
                    reports[0].position == position && info == -position && untouched;
  std::printf("%s argument %d: info %d, %zu report(s)", routine.c_str(), static_cast<int>(position),
              static_cast<int>(info), reports.size());
  for (const Report& r : reports) {
    std::printf(", %s %d", r.name.c_str(), static_cast<int>(r.position));
  }
  std::printf("%s%s\n", untouched ? "" : ", arrays changed", good ? "" : "  WRONG");
  if (!good) ++failures;
  reports.clear();
}

template <class T>
struct Real {
  using Type = T;
};
template <class R>
struct Real<std::complex<R>> {
  using Type = R;
};

template <class T>
struct Lapack {
  using Size = std::size_t;
  using I = const Integer*;
  std::string letter;
  void (*potrf)(const char*, I, T*, I, Integer*, Size);
  void (*potrs)(const char*, I, I, const T*, I, T*, I, Integer*, Size);
  void (*posv)(const char*, I, I, T*, I, T*, I, Integer*, Size);
  void (*getrf)(I, I, T*, I, Integer*, Integer*);
  void (*getrs)(const char*, I, I, const T*, I, const Integer*, T*, I, Integer*, Size);
  void (*gesv)(I, I, T*, I, Integer*, T*, I, Integer*);
  void (*trtrs)(const char*, const char*, const char*, I, I, const T*, I, T*, I, Integer*, Size,
                Size, Size);
  using R = typename Real<T>::Type;
  using W = std::conditional_t<std::is_same_v<R, T>, Integer, R>;
  void (*gecon)(const char*, I, const T*, I, const R*, R*, T*, W*, Integer*, Size);
  void (*pocon)(const char*, I, const T*, I, const R*, R*, T*, W*, Integer*, Size);
  void (*trcon)(const char*, const char*, const char*, I, const T*, I, R*, T*, W*, Integer*, Size,
                Size, Size);
};

// The arguments of a call that is wrong in one place, or in two where the first must be reported.
// All are valid for n = 2, nrhs = 1, lda = ldb = 2 and the letter 'L' or 'N'.
struct Arguments {
  enum Wrong { kLetter, kN, kRhs, kLda, kLdb } first_wrong;
  char letter;
  Integer n, nrhs, lda, ldb;
};
const Arguments kSolves[] = {
    {Arguments::kLetter, '/', 2, 1, 2, 2}, {Arguments::kN, '*', -1, 1, 2, 2},
    {Arguments::kRhs, '*', 2, -1, 2, 2},   {Arguments::kLda, '*', 2, 1, 1, 2},
    {Arguments::kLdb, '*', 2, 1, 2, 1},    {Arguments::kLetter, '/', -1, -1, 0, 0},
    {Arguments::kN, '*', -1, -1, 0, 0},    {Arguments::kRhs, '*', 2, -1, 1, 1},
    {Arguments::kLda, '*', 0, 0, 0, 1},    {Arguments::kLdb, '*', 0, 0, 1, 0},
};

template <class T>
class Check {
 public:
  explicit Check(const Lapack<T>& lapack) : lapack_(lapack) {}

  void run() {
    factorizations();
    triangular_solves();
    conditions();
    for (const Arguments& valid : kSolves) {
      Arguments c = valid;
      if (c.letter == '*') c.letter = 'L';
      solve("potrs", c, {1, 2, 3, 5, 7}, [&] {
        lapack_.potrs(&c.letter, &c.n, &c.nrhs, a_.data(), &c.lda, b_.data(), &c.ldb, &info_, 1);
      });
      solve("posv", c, {1, 2, 3, 5, 7}, [&] {
        lapack_.posv(&c.letter, &c.n, &c.nrhs, a_.data(), &c.lda, b_.data(), &c.ldb, &info_, 1);
      });
      if (c.first_wrong != Arguments::kLetter) {
        solve("gesv", c, {0, 1, 2, 4, 7}, [&] {
          lapack_.gesv(&c.n, &c.nrhs, a_.data(), &c.lda, ipiv_, b_.data(), &c.ldb, &info_);
        });
        c.letter = 'T';
      }
      solve("getrs", c, {1, 2, 3, 5, 8}, [&] {
        lapack_.getrs(&c.letter, &c.n, &c.nrhs, a_.data(), &c.lda, ipiv_, b_.data(), &c.ldb, &info_,
                      1);
      });
    }
  }

 private:
  void factorizations() {
    const struct {
      Integer position;
      char uplo;
      Integer n, lda;
    } potrf[] = {{1, '/', 2, 2},  {2, 'L', -1, 2}, {4, 'U', 2, 1},
                 {1, '/', -1, 0}, {2, 'U', -1, 0}, {4, 'L', 0, 0}};
    for (const auto& c : potrf) {
      reset();
      lapack_.potrf(&c.uplo, &c.n, a_.data(), &c.lda, &info_, 1);
      expect(lapack_.letter + "potrf", c.position, info_, untouched());
    }
    const struct {
      Integer position, m, n, lda;
    } getrf[] = {{1, -1, 2, 2},  {2, 2, -1, 2}, {4, 2, 1, 1},
                 {1, -1, -1, 0}, {2, 2, -1, 1}, {4, 0, 0, 0}};
    for (const auto& c : getrf) {
      reset();
      lapack_.getrf(&c.m, &c.n, a_.data(), &c.lda, ipiv_, &info_);
      expect(lapack_.letter + "getrf", c.position, info_, untouched());
    }
  }

  void triangular_solves() {
    const struct {
      Integer position;
      char uplo, trans, diag;
      Integer n, nrhs, lda, ldb;
    } wrong[] = {{1, '/', 'N', 'N', 2, 1, 2, 2},   {2, 'L', '/', 'N', 2, 1, 2, 2},
                 {3, 'U', 'T', '/', 2, 1, 2, 2},   {4, 'L', 'C', 'U', -1, 1, 2, 2},
                 {5, 'L', 'N', 'N', 2, -1, 2, 2},  {7, 'U', 'N', 'N', 2, 1, 1, 2},
                 {9, 'L', 'N', 'N', 2, 1, 2, 1},   {1, '/', '/', '/', -1, -1, 0, 0},
                 {2, 'L', '/', '/', -1, -1, 0, 0}, {3, 'L', 'N', '/', -1, -1, 0, 0},
                 {4, 'L', 'N', 'N', -1, -1, 0, 0}, {5, 'L', 'N', 'N', 2, -1, 1, 1},
                 {7, 'L', 'N', 'N', 0, 0, 0, 1},   {9, 'L', 'N', 'N', 0, 0, 1, 0}};
    for (const auto& c : wrong) {
      reset();
      lapack_.trtrs(&c.uplo, &c.trans, &c.diag, &c.n, &c.nrhs, a_.data(), &c.lda, b_.data(), &c.ldb,
                    &info_, 1, 1, 1);
      expect(lapack_.letter + "trtrs", c.position, info_, untouched());
    }
  }

  void conditions() {
    using R = typename Lapack<T>::R;
    R rcond = 0;
    typename Lapack<T>::W second[4] = {};
    const struct {
      Integer position;
      char letter;
      Integer n, lda;
      R norm;
    } wrong[] = {{1, '/', 2, 2, 1},   {2, '*', -1, 2, 1},  {4, '*', 2, 1, 1}, {5, '*', 2, 2, -1},
                 {1, '/', -1, 0, -1}, {2, '*', -1, 0, -1}, {4, '*', 0, 0, -1}};
    for (const auto& c : wrong) {
      const char norm = c.letter == '*' ? '1' : c.letter, uplo = c.letter == '*' ? 'L' : c.letter;
      reset();
      lapack_.gecon(&norm, &c.n, a_.data(), &c.lda, &c.norm, &rcond, b_.data(), second, &info_, 1);
      expect(lapack_.letter + "gecon", c.position, info_, untouched());
      reset();
      lapack_.pocon(&uplo, &c.n, a_.data(), &c.lda, &c.norm, &rcond, b_.data(), second, &info_, 1);
      expect(lapack_.letter + "pocon", c.position, info_, untouched());
    }
    const struct {
      Integer position;
      char norm, uplo, diag;
      Integer n, lda;
    } triangles[] = {{1, 'M', 'L', 'N', 2, 2},  {2, 'O', '/', 'N', 2, 2},
                     {3, 'I', 'U', '/', 2, 2},  {4, '1', 'L', 'U', -1, 2},
                     {6, 'O', 'L', 'N', 2, 1},  {1, '/', '/', '/', -1, 0},
                     {2, 'O', '/', '/', -1, 0}, {3, 'O', 'L', '/', -1, 0},
                     {4, 'O', 'L', 'N', -1, 0}, {6, 'O', 'L', 'N', 0, 0}};
    for (const auto& c : triangles) {
      reset();
      lapack_.trcon(&c.norm, &c.uplo, &c.diag, &c.n, a_.data(), &c.lda, &rcond, b_.data(), second,
                    &info_, 1, 1, 1);
      expect(lapack_.letter + "trcon", c.position, info_, untouched());
    }
  }

  template <class Call>
  void solve(const char* name, const Arguments& c, const Integer (&positions)[5], Call call) {
    reset();
    call();
    expect(lapack_.letter + name, positions[c.first_wrong], info_, untouched());
  }

  void reset() {
    info_ = 99;
    a_.assign(16, T(3));
    b_.assign(16, T(5));
    for (Integer& p : ipiv_) p = 2;
  }
  bool untouched() const {
    return a_ == std::vector<T>(16, T(3)) && b_ == std::vector<T>(16, T(5)) && ipiv_[0] == 2 &&
           ipiv_[1] == 2;
  }

  const Lapack<T>& lapack_;
  std::vector<T> a_, b_;
  Integer ipiv_[2];
  Integer info_;
};

template <class T>
void check(const Lapack<T>& lapack) {
  Check<T>(lapack).run();
}

template <class T>
struct Inverses {
  using Size = std::size_t;
  using I = const Integer*;
  std::string letter;
  void (*trtri)(const char*, const char*, I, T*, I, Integer*, Size, Size);
  void (*lauum)(const char*, I, T*, I, Integer*, Size);
  void (*potri)(const char*, I, T*, I, Integer*, Size);
  void (*getri)(I, T*, I, I, T*, I, Integer*);
};

/// Every argument of them that can be wrong, alone and with all later ones wrong, too.
template <class T>
void check_inverses(const Inverses<T>& lapack) {
  std::vector<T> a(16, T(3)), work(16, T(5));
  const auto untouched = [&] {
    return a == std::vector<T>(16, T(3)) && work == std::vector<T>(16, T(5));
  };
  const struct {
    Integer position;
    char uplo, diag;
    Integer n, lda;
  } triangles[] = {{1, '/', 'N', 2, 2},  {2, 'L', '/', 2, 2},  {3, 'U', 'U', -1, 2},
                   {5, 'L', 'N', 2, 1},  {1, '/', '/', -1, 0}, {2, 'L', '/', -1, 0},
                   {3, 'U', 'N', -1, 0}, {5, 'L', 'N', 0, 0}};
  Integer info = 99;
  for (const auto& c : triangles) {
    lapack.trtri(&c.uplo, &c.diag, &c.n, a.data(), &c.lda, &info, 1, 1);
    expect(lapack.letter + "trtri", c.position, info, untouched());
    if (c.position == 2) continue;
    const Integer position = c.position - (c.position > 1);  // without diag
    lapack.lauum(&c.uplo, &c.n, a.data(), &c.lda, &info, 1);
    expect(lapack.letter + "lauum", position, info, untouched());
    lapack.potri(&c.uplo, &c.n, a.data(), &c.lda, &info, 1);
    expect(lapack.letter + "potri", position, info, untouched());
  }
  const Integer ipiv[2] = {2, 2};
  const struct {
    Integer position, n, lda, lwork;
  } getri[] = {{1, -1, 2, 2}, {3, 2, 1, 2}, {6, 2, 2, 1}, {1, -1, 0, 0},
               {3, 2, 1, 0},  {6, 0, 1, 0}, {3, 2, 1, -1}};
  for (const auto& c : getri) {
    lapack.getri(&c.n, a.data(), &c.lda, ipiv, work.data(), &c.lwork, &info);
    expect(lapack.letter + "getri", c.position, info, untouched());
  }
}

/// Routines of QR, or of LQ.
template <class T>
struct Qr {
  using Size = std::size_t;
  using I = const Integer*;
  std::string letter;
  std::string factor, make_q, multiply;  ///< "geqrf", "orgqr", "ormqr"
  bool rows;                             ///< of LQ
  void (*geqrf)(I, I, T*, I, T*, T*, I, Integer*);
  void (*orgqr)(I, I, I, T*, I, const T*, T*, I, Integer*);
  void (*ormqr)(const char*, const char*, I, I, I, const T*, I, const T*, T*, I, T*, I, Integer*,
                Size, Size);
};

/// What no call may touch.
template <class T>
struct Arrays {
  std::vector<T> a = std::vector<T>(16, T(3)), b = std::vector<T>(16, T(5)),
                 work = std::vector<T>(16, T(6)), tau = std::vector<T>(2, T(4));
  bool untouched() const { return *this == Arrays(); }
  bool operator==(const Arrays& other) const {
    return a == other.a && b == other.b && work == other.work && tau == other.tau;
  }
};

/// Likewise. What orgqr replaces is 3 x 2 or, of LQ, 2 x 3, and so is C.
template <class T>
void check_qr(const Qr<T>& lapack) {
  Arrays<T> x;
  Integer info = 99;
  const struct {
    Integer position, m, n, k, lda, lwork;  // positions are those of orgqr
  } columns[] = {{1, -1, 2, 2, 2, 2},   {2, 2, -1, 0, 2, 2},  {3, 3, 2, 3, 3, 2},
                 {3, 3, 2, -1, 3, 2},   {5, 3, 2, 2, 2, 2},   {8, 3, 2, 2, 3, 1},
                 {1, -1, -1, -1, 0, 0}, {2, 2, -1, -1, 0, 0}, {2, 2, 3, 4, 0, 0},
                 {5, 3, 2, 2, 2, 0},    {5, 3, 2, 2, 2, -1},  {8, 3, 2, 2, 3, -2}},
    rows[] = {{1, -1, 2, 2, 2, 2}, {2, 2, -1, 0, 2, 2}, {3, 2, 3, 3, 2, 2},    {3, 2, 3, -1, 2, 2},
              {5, 2, 3, 2, 1, 2},  {8, 2, 3, 2, 2, 1},  {1, -1, -1, -1, 0, 0}, {2, 2, -1, -1, 0, 0},
              {2, 3, 2, 4, 0, 0},  {5, 2, 3, 2, 1, 0},  {5, 2, 3, 2, 1, -1},   {8, 2, 3, 2, 2, -2}};
  for (const auto& c : lapack.rows ? rows : columns) {
    lapack.orgqr(&c.m, &c.n, &c.k, x.a.data(), &c.lda, x.tau.data(), x.work.data(), &c.lwork,
                 &info);
    expect(lapack.letter + lapack.make_q, c.position, info, x.untouched());
    if (c.position == 3 || (lapack.rows ? c.n < c.m : c.n > c.m)) continue;
    lapack.geqrf(&c.m, &c.n, x.a.data(), &c.lda, x.tau.data(), x.work.data(), &c.lwork, &info);
    expect(lapack.letter + lapack.factor, c.position - (c.position > 2), info, x.untouched());
  }
  const struct {
    Integer position;
    char side, trans;
    Integer m, n, k, lda, ldc, lwork;
  } products[] = {{1, '/', 'N', 3, 2, 2, 3, 3, 3},    {2, 'L', '/', 3, 2, 2, 3, 3, 3},
                  {3, 'L', 'N', -1, 2, 2, 3, 3, 3},   {4, 'R', 'N', 3, -1, 0, 2, 3, 3},
                  {5, 'L', 'N', 3, 2, 4, 3, 3, 3},    {5, 'R', 'N', 3, 2, 3, 2, 3, 3},
                  {7, 'L', 'N', 3, 2, 2, 1, 3, 3},    {7, 'R', 'N', 3, 2, 2, 1, 3, 3},
                  {10, 'L', 'N', 3, 2, 2, 3, 2, 3},   {12, 'L', 'N', 3, 2, 2, 3, 3, 1},
                  {12, 'R', 'N', 3, 2, 2, 3, 3, 2},   {1, '/', '/', -1, -1, -1, 0, 0, 0},
                  {2, 'R', '/', -1, -1, -1, 0, 0, 0}, {3, 'R', 'N', -1, -1, -1, 0, 0, 0},
                  {4, 'L', 'N', 3, -1, -1, 0, 0, 0},  {5, 'L', 'N', 3, 2, -1, 0, 0, 0},
                  {7, 'L', 'N', 3, 2, 2, 0, 0, 0},    {10, 'R', 'N', 3, 2, 2, 2, 0, 0}};
  for (const auto& c : products) {
    lapack.ormqr(&c.side, &c.trans, &c.m, &c.n, &c.k, x.a.data(), &c.lda, x.tau.data(), x.b.data(),
                 &c.ldc, x.work.data(), &c.lwork, &info, 1, 1);
    expect(lapack.letter + lapack.multiply, c.position, info, x.untouched());
  }
}

template <class T>
struct Blocks {
  using Size = std::size_t;
  using I = const Integer*;
  std::string letter;
  void (*geqrt)(I, I, I, T*, I, T*, I, T*, Integer*);
  void (*gemqrt)(const char*, const char*, I, I, I, I, const T*, I, const T*, I, T*, I, T*,
                 Integer*, Size, Size);
};

template <class T>
void check_blocks(const Blocks<T>& lapack) {
  Arrays<T> x;
  Integer info = 99;
  const struct {
    Integer position, m, n, nb, lda, ldt;
  } factors[] = {{1, -1, 2, 2, 2, 2},  {2, 2, -1, 2, 2, 2}, {3, 3, 2, 3, 3, 3},
                 {3, 3, 2, 0, 3, 3},   {5, 3, 2, 2, 2, 2},  {7, 3, 2, 2, 3, 1},
                 {1, -1, -1, 0, 0, 0}, {2, 2, -1, 0, 0, 0}, {3, 3, 2, 0, 0, 0},
                 {5, 3, 2, 2, 2, 0}};
  for (const auto& c : factors) {
    lapack.geqrt(&c.m, &c.n, &c.nb, x.a.data(), &c.lda, x.b.data(), &c.ldt, x.work.data(), &info);
    expect(lapack.letter + "geqrt", c.position, info, x.untouched());
  }
  const struct {
    Integer position;
    char side, trans;
    Integer m, n, k, nb, ldv, ldt, ldc;
  } products[] = {{1, '/', 'N', 3, 2, 2, 2, 3, 2, 3},    {2, 'L', '/', 3, 2, 2, 2, 3, 2, 3},
                  {3, 'L', 'N', -1, 2, 2, 2, 3, 2, 3},   {4, 'R', 'N', 3, -1, 0, 2, 3, 2, 3},
                  {5, 'R', 'N', 3, 2, 3, 2, 3, 2, 3},    {6, 'L', 'N', 3, 2, 2, 3, 3, 3, 3},
                  {6, 'L', 'N', 3, 2, 2, 0, 3, 2, 3},    {8, 'L', 'N', 3, 2, 2, 2, 2, 2, 3},
                  {10, 'L', 'N', 3, 2, 2, 2, 3, 1, 3},   {12, 'R', 'N', 3, 2, 2, 2, 3, 2, 2},
                  {2, 'R', '/', -1, -1, -1, 0, 0, 0, 0}, {5, 'L', 'N', 3, 2, -1, 0, 0, 0, 0},
                  {8, 'R', 'N', 3, 2, 2, 1, 1, 0, 0},    {10, 'R', 'N', 3, 2, 2, 1, 2, 0, 0}};
  for (const auto& c : products) {
    lapack.gemqrt(&c.side, &c.trans, &c.m, &c.n, &c.k, &c.nb, x.a.data(), &c.ldv, x.a.data(),
                  &c.ldt, x.b.data(), &c.ldc, x.work.data(), &info, 1, 1);
    expect(lapack.letter + "gemqrt", c.position, info, x.untouched());
  }
}

template <class T>
void check_gels(const std::string& letter,
                void (*gels)(const char*, const Integer*, const Integer*, const Integer*, T*,
                             const Integer*, T*, const Integer*, T*, const Integer*, Integer*,
                             std::size_t)) {
  Arrays<T> x;
  Integer info = 99;
  const struct {
    Integer position;
    char trans;
    Integer m, n, nrhs, lda, ldb, lwork;
  } wrong[] = {
      {1, '/', 3, 2, 1, 3, 3, 4},   {2, 'N', -1, 2, 1, 3, 3, 4},   {3, 'N', 3, -1, 1, 3, 3, 4},
      {4, 'N', 3, 2, -1, 3, 3, 4},  {6, 'N', 3, 2, 1, 2, 3, 4},    {8, 'N', 2, 3, 1, 2, 2, 4},
      {10, 'N', 3, 2, 1, 3, 3, 3},  {1, '/', -1, -1, -1, 0, 0, 0}, {2, 'N', -1, -1, -1, 0, 0, 0},
      {3, 'N', 3, -1, -1, 0, 0, 0}, {4, 'N', 3, 2, -1, 0, 0, 0},   {6, 'N', 3, 2, 1, 0, 0, 0},
      {8, 'N', 3, 2, 1, 3, 0, 0},   {8, 'N', 3, 2, 1, 3, 0, -1}};
  for (const auto& c : wrong) {
    gels(&c.trans, &c.m, &c.n, &c.nrhs, x.a.data(), &c.lda, x.b.data(), &c.ldb, x.work.data(),
         &c.lwork, &info, 1);
    expect(letter + "gels", c.position, info, x.untouched());
  }
}

/// What a routine of an eigenproblem is asked. All of it is valid.
template <class T>
struct Eigenproblem {
  using R = typename Real<T>::Type;
  static constexpr bool kComplex = !std::is_same_v<R, T>;
  static constexpr Integer kEnough = 100;
  Integer itype = 1;
  char jobz = 'V', range = 'A', uplo = 'L', side = 'L', trans = 'N', compz = 'I';
  Integer n = 2, m = 2, lda = 2, ldb = 2, il = 1, iu = 2, ldz = 2;
  R vl = 1, vu = 2;
  Integer lwork = kEnough, lrwork = kEnough, liwork = kEnough, found = 9, info = 99;
  Arrays<T> x;
  R w[2] = {9, 9}, rwork[2] = {9, 9};
  Integer iwork[4] = {9, 9, 9, 9};

  bool untouched() const {
    return x.untouched() && w[0] == 9 && w[1] == 9 && rwork[0] == 9 && iwork[0] == 9 && found == 9;
  }
  /// call(rwork...) with what complex numbers take besides.
  template <class Call>
  void with_rwork(Call call) {
    if constexpr (kComplex) {
      call(rwork);
    } else {
      call();
    }
  }
  template <class Call>
  void with_sized_rwork(Call call) {
    if constexpr (kComplex) {
      call(rwork, &lrwork);
    } else {
      call();
    }
  }
};

/// Makes one argument wrong.
template <class T>
using Spoil = void (*)(Eigenproblem<T>&);
template <class T>
struct Wrong {
  Integer position;
  Spoil<T> spoil;
};

/// Every argument that can be wrong, in LAPACK's order, alone and with all later ones wrong, too.
template <class T, class Call>
void check_eigenproblem(const std::string& routine, const std::vector<Wrong<T>>& wrong, Call call) {
  for (std::size_t first = 0; first < wrong.size(); ++first) {
    for (const std::size_t last : {first, wrong.size() - 1}) {
      Eigenproblem<T> asked;
      for (std::size_t k = last + 1; k-- > first;) wrong[k].spoil(asked);
      call(asked);
      expect(routine, wrong[first].position, asked.info, asked.untouched());
    }
  }
}

template <class T, class Ev, class Evd, class Evr, class Evx, class Gv, class Gvd, class Gvx,
          class Trd, class Gtr, class Mtr, class Stedc>
void check_eigen(const std::string& letter, Ev ev, Evd evd, Evr evr, Evx evx, Gv gv, Gvd gvd,
                 Gvx gvx, Trd trd, Gtr gtr, Mtr mtr, Stedc stedc) {
  using P = Eigenproblem<T>;
  using List = std::vector<Wrong<T>>;
  const std::string sy = letter + (P::kComplex ? "he" : "sy"),
                    org = letter + (P::kComplex ? "un" : "or");
  const Spoil<T> itype = [](P&p) { p.itype = 4; }, jobz = [](P&p) { p.jobz = '/'; },
                 range = [](P&p) { p.range = '/'; }, uplo = [](P&p) { p.uplo = '/'; },
                 n = [](P&p) { p.n = -1; }, lda = [](P&p) { p.lda = 1; },
                 ldb = [](P&p) { p.ldb = 1; }, lwork = [](P&p) { p.lwork = 0; },
                 lrwork = [](P&p) { p.lrwork = 0; }, liwork = [](P&p) { p.liwork = 0; };
  const Spoil<T> vu = [](P&p) { p.range = 'V', p.vu = p.vl; },
                 il = [](P&p) { p.range = 'I', p.il = 3; },
                 iu = [](P&p) { p.range = 'I', p.iu = 3; }, ldz = [](P&p) { p.ldz = 1; };
  const auto with_sizes = [&](List list, Integer position) {
    list.push_back({position, lwork});
    if (P::kComplex) list.push_back({position + 2, lrwork});
    list.push_back({position + (P::kComplex ? 4 : 2), liwork});
    return list;
  };
  const List of_ev = {{1, jobz}, {2, uplo}, {3, n}, {5, lda}};
  const List of_gv = {{1, itype}, {2, jobz}, {3, uplo}, {4, n}, {6, lda}, {8, ldb}};
  const List of_evr = {{1, jobz}, {2, range}, {3, uplo}, {4, n},   {6, lda},
                       {8, vu},   {9, il},    {10, iu},  {15, ldz}};
  List list = of_ev;
  list.push_back({8, lwork});
  check_eigenproblem<T>(sy + "ev", list, [&](P& p) {
    p.with_rwork([&](auto... rwork) {
      ev(&p.jobz, &p.uplo, &p.n, p.x.a.data(), &p.lda, p.w, p.x.work.data(), &p.lwork, rwork...,
         &p.info, 1, 1);
    });
  });
  check_eigenproblem<T>(sy + "evd", with_sizes(of_ev, 8), [&](P& p) {
    p.with_sized_rwork([&](auto... rwork) {
      evd(&p.jobz, &p.uplo, &p.n, p.x.a.data(), &p.lda, p.w, p.x.work.data(), &p.lwork, rwork...,
          p.iwork, &p.liwork, &p.info, 1, 1);
    });
  });
  const typename P::R abstol = 0;
  check_eigenproblem<T>(sy + "evr", with_sizes(of_evr, 18), [&](P& p) {
    p.with_sized_rwork([&](auto... rwork) {
      evr(&p.jobz, &p.range, &p.uplo, &p.n, p.x.a.data(), &p.lda, &p.vl, &p.vu, &p.il, &p.iu,
          &abstol, &p.found, p.w, p.x.b.data(), &p.ldz, p.iwork, p.x.work.data(), &p.lwork,
          rwork..., p.iwork, &p.liwork, &p.info, 1, 1, 1);
    });
  });
  list = of_evr;
  list.push_back({17, lwork});
  check_eigenproblem<T>(sy + "evx", list, [&](P& p) {
    p.with_rwork([&](auto... rwork) {
      evx(&p.jobz, &p.range, &p.uplo, &p.n, p.x.a.data(), &p.lda, &p.vl, &p.vu, &p.il, &p.iu,
          &abstol, &p.found, p.w, p.x.b.data(), &p.ldz, p.x.work.data(), &p.lwork, rwork...,
          p.iwork, p.iwork, &p.info, 1, 1, 1);
    });
  });
  list = of_gv;
  list.push_back({11, lwork});
  check_eigenproblem<T>(sy + "gv", list, [&](P& p) {
    p.with_rwork([&](auto... rwork) {
      gv(&p.itype, &p.jobz, &p.uplo, &p.n, p.x.a.data(), &p.lda, p.x.b.data(), &p.ldb, p.w,
         p.x.work.data(), &p.lwork, rwork..., &p.info, 1, 1);
    });
  });
  check_eigenproblem<T>(sy + "gvd", with_sizes(of_gv, 11), [&](P& p) {
    p.with_sized_rwork([&](auto... rwork) {
      gvd(&p.itype, &p.jobz, &p.uplo, &p.n, p.x.a.data(), &p.lda, p.x.b.data(), &p.ldb, p.w,
          p.x.work.data(), &p.lwork, rwork..., p.iwork, &p.liwork, &p.info, 1, 1);
    });
  });
  check_eigenproblem<T>(sy + "gvx",
                        List{{1, itype},
                             {2, jobz},
                             {3, range},
                             {4, uplo},
                             {5, n},
                             {7, lda},
                             {9, ldb},
                             {11, vu},
                             {12, il},
                             {13, iu},
                             {18, ldz},
                             {20, lwork}},
                        [&](P& p) {
                          p.with_rwork([&](auto... rwork) {
                            gvx(&p.itype, &p.jobz, &p.range, &p.uplo, &p.n, p.x.a.data(), &p.lda,
                                p.x.b.data(), &p.ldb, &p.vl, &p.vu, &p.il, &p.iu, &abstol, &p.found,
                                p.w, p.x.b.data(), &p.ldz, p.x.work.data(), &p.lwork, rwork...,
                                p.iwork, p.iwork, &p.info, 1, 1, 1);
                          });
                        });
  const List of_trd = {{1, uplo}, {2, n}, {4, lda}};
  list = of_trd;
  list.push_back({9, lwork});
  check_eigenproblem<T>(sy + "trd", list, [&](P& p) {
    trd(&p.uplo, &p.n, p.x.a.data(), &p.lda, p.w, p.w, p.x.tau.data(), p.x.work.data(), &p.lwork,
        &p.info, 1);
  });
  list = of_trd;
  list.push_back({7, lwork});
  check_eigenproblem<T>(org + "gtr", list, [&](P& p) {
    gtr(&p.uplo, &p.n, p.x.a.data(), &p.lda, p.x.tau.data(), p.x.work.data(), &p.lwork, &p.info, 1);
  });
  check_eigenproblem<T>(org + "mtr",
                        List{{1, [](P& p) { p.side = '/'; }},
                             {2, uplo},
                             {3, [](P& p) { p.trans = P::kComplex ? 'T' : 'C'; }},
                             {4, [](P& p) { p.m = -1; }},
                             {5, n},
                             {7, lda},
                             {10, ldb},
                             {12, lwork}},
                        [&](P& p) {
                          mtr(&p.side, &p.uplo, &p.trans, &p.m, &p.n, p.x.a.data(), &p.lda,
                              p.x.tau.data(), p.x.b.data(), &p.ldb, p.x.work.data(), &p.lwork,
                              &p.info, 1, 1, 1);
                        });
  check_eigenproblem<T>(letter + "stedc",
                        with_sizes({{1, [](P& p) { p.compz = '/'; }}, {2, n}, {6, ldz}}, 8),
                        [&](P& p) {
                          p.with_sized_rwork([&](auto... rwork) {
                            stedc(&p.compz, &p.n, p.w, p.w, p.x.b.data(), &p.ldz, p.x.work.data(),
                                  &p.lwork, rwork..., p.iwork, &p.liwork, &p.info, 1);
                          });
                        });
}

/// Every argument of the mixed-precision solvers that can be wrong, with all later ones wrong, too.
/// call(letter, n, nrhs, lda, ldb, ldx, info) returns whether all arrays are as they were.
template <class Call>
void check_mixed(const std::string& routine, bool has_letter, Call call) {
  const struct {
    Integer position;
    char letter;
    Integer n, nrhs, lda, ldb, ldx;
  } wrong[] = {{1, '/', 2, 1, 2, 2, 2},   {2, 'L', -1, 1, 2, 2, 2},  {3, 'L', 2, -1, 2, 2, 2},
               {5, 'U', 2, 1, 1, 2, 2},   {7, 'U', 2, 1, 2, 1, 2},   {9, 'L', 2, 1, 2, 2, 1},
               {1, '/', -1, -1, 0, 0, 0}, {2, 'L', -1, -1, 0, 0, 0}, {3, 'L', 2, -1, 1, 1, 1},
               {5, 'U', 0, 0, 0, 0, 0},   {7, 'U', 0, 0, 1, 0, 0},   {9, 'L', 0, 0, 1, 1, 0}};
  for (const auto& c : wrong) {
    if (!has_letter && c.position == 1) continue;
    Integer info = 99;
    const bool untouched = call(c.letter, c.n, c.nrhs, c.lda, c.ldb, c.ldx, info);
    // Without the letter the sizes come one place earlier; behind lda stands ipiv.
    expect(routine, c.position - (!has_letter && c.position <= 5), info, untouched);
  }
}

/// Calls `solve` with arrays that no call may touch, and iter, which must become 0.
template <class T, class S, class Solve>
bool leaves_arrays(Solve solve) {
  std::vector<T> a(16, T(3)), b(16, T(5)), x(16, T(7)), work(16, T(9));
  std::vector<S> swork(16, S(11));
  Integer ipiv[2] = {2, 2}, iter = 99;
  solve(a.data(), ipiv, b.data(), x.data(), work.data(), swork.data(), &iter);
  return a == std::vector<T>(16, T(3)) && b == std::vector<T>(16, T(5)) &&
         x == std::vector<T>(16, T(7)) && work == std::vector<T>(16, T(9)) &&
         swork == std::vector<S>(16, S(11)) && ipiv[0] == 2 && ipiv[1] == 2 && iter == 0;
}

}  // namespace

extern "C" void XERBLA(const char* name, const Integer* position, std::size_t length) {
  std::string text(name, length);
  text.erase(text.find_last_not_of(' ') + 1);
  reports.push_back({text, *position});
}

int main() {
  check_inverses<float>({"s", SPELT(strtri), SPELT(slauum), SPELT(spotri), SPELT(sgetri)});
  check_inverses<double>({"d", SPELT(dtrtri), SPELT(dlauum), SPELT(dpotri), SPELT(dgetri)});
  check_inverses<std::complex<float>>(
      {"c", SPELT(ctrtri), SPELT(clauum), SPELT(cpotri), SPELT(cgetri)});
  check_inverses<std::complex<double>>(
      {"z", SPELT(ztrtri), SPELT(zlauum), SPELT(zpotri), SPELT(zgetri)});
  check_qr<float>(
      {"s", "geqrf", "orgqr", "ormqr", false, SPELT(sgeqrf), SPELT(sorgqr), SPELT(sormqr)});
  check_qr<float>(
      {"s", "gelqf", "orglq", "ormlq", true, SPELT(sgelqf), SPELT(sorglq), SPELT(sormlq)});
  check_qr<double>(
      {"d", "geqrf", "orgqr", "ormqr", false, SPELT(dgeqrf), SPELT(dorgqr), SPELT(dormqr)});
  check_qr<double>(
      {"d", "gelqf", "orglq", "ormlq", true, SPELT(dgelqf), SPELT(dorglq), SPELT(dormlq)});
  check_qr<std::complex<float>>(
      {"c", "geqrf", "ungqr", "unmqr", false, SPELT(cgeqrf), SPELT(cungqr), SPELT(cunmqr)});
  check_qr<std::complex<float>>(
      {"c", "gelqf", "unglq", "unmlq", true, SPELT(cgelqf), SPELT(cunglq), SPELT(cunmlq)});
  check_qr<std::complex<double>>(
      {"z", "geqrf", "ungqr", "unmqr", false, SPELT(zgeqrf), SPELT(zungqr), SPELT(zunmqr)});
  check_qr<std::complex<double>>(
      {"z", "gelqf", "unglq", "unmlq", true, SPELT(zgelqf), SPELT(zunglq), SPELT(zunmlq)});
  check_blocks<float>({"s", SPELT(sgeqrt), SPELT(sgemqrt)});
  check_blocks<double>({"d", SPELT(dgeqrt), SPELT(dgemqrt)});
  check_blocks<std::complex<float>>({"c", SPELT(cgeqrt), SPELT(cgemqrt)});
  check_blocks<std::complex<double>>({"z", SPELT(zgeqrt), SPELT(zgemqrt)});
  check_gels<float>("s", SPELT(sgels));
  check_gels<double>("d", SPELT(dgels));
  check_gels<std::complex<float>>("c", SPELT(cgels));
  check_gels<std::complex<double>>("z", SPELT(zgels));
  check_eigen<float>("s", SPELT(ssyev), SPELT(ssyevd), SPELT(ssyevr), SPELT(ssyevx), SPELT(ssygv),
                     SPELT(ssygvd), SPELT(ssygvx), SPELT(ssytrd), SPELT(sorgtr), SPELT(sormtr),
                     SPELT(sstedc));
  check_eigen<double>("d", SPELT(dsyev), SPELT(dsyevd), SPELT(dsyevr), SPELT(dsyevx), SPELT(dsygv),
                      SPELT(dsygvd), SPELT(dsygvx), SPELT(dsytrd), SPELT(dorgtr), SPELT(dormtr),
                      SPELT(dstedc));
  check_eigen<std::complex<float>>("c", SPELT(cheev), SPELT(cheevd), SPELT(cheevr), SPELT(cheevx),
                                   SPELT(chegv), SPELT(chegvd), SPELT(chegvx), SPELT(chetrd),
                                   SPELT(cungtr), SPELT(cunmtr), SPELT(cstedc));
  check_eigen<std::complex<double>>("z", SPELT(zheev), SPELT(zheevd), SPELT(zheevr), SPELT(zheevx),
                                    SPELT(zhegv), SPELT(zhegvd), SPELT(zhegvx), SPELT(zhetrd),
                                    SPELT(zungtr), SPELT(zunmtr), SPELT(zstedc));
#ifdef ILP64
  check<float>({"s", spotrf_64_, spotrs_64_, sposv_64_, sgetrf_64_, sgetrs_64_, sgesv_64_,
                strtrs_64_, sgecon_64_, spocon_64_, strcon_64_});
  check<double>({"d", dpotrf_64_, dpotrs_64_, dposv_64_, dgetrf_64_, dgetrs_64_, dgesv_64_,
                 dtrtrs_64_, dgecon_64_, dpocon_64_, dtrcon_64_});
  check<std::complex<float>>({"c", cpotrf_64_, cpotrs_64_, cposv_64_, cgetrf_64_, cgetrs_64_,
                              cgesv_64_, ctrtrs_64_, cgecon_64_, cpocon_64_, ctrcon_64_});
  check<std::complex<double>>({"z", zpotrf_64_, zpotrs_64_, zposv_64_, zgetrf_64_, zgetrs_64_,
                               zgesv_64_, ztrtrs_64_, zgecon_64_, zpocon_64_, ztrcon_64_});
#else
  check<float>({"s", spotrf_, spotrs_, sposv_, sgetrf_, sgetrs_, sgesv_, strtrs_, sgecon_, spocon_,
                strcon_});
  check<double>({"d", dpotrf_, dpotrs_, dposv_, dgetrf_, dgetrs_, dgesv_, dtrtrs_, dgecon_, dpocon_,
                 dtrcon_});
  check<std::complex<float>>({"c", cpotrf_, cpotrs_, cposv_, cgetrf_, cgetrs_, cgesv_, ctrtrs_,
                              cgecon_, cpocon_, ctrcon_});
  check<std::complex<double>>({"z", zpotrf_, zpotrs_, zposv_, zgetrf_, zgetrs_, zgesv_, ztrtrs_,
                               zgecon_, zpocon_, ztrcon_});
#endif
  using Z = std::complex<double>;
  using C = std::complex<float>;
  check_mixed(
      "dsgesv", false,
      [](char, Integer n, Integer nrhs, Integer lda, Integer ldb, Integer ldx, Integer& info) {
        return leaves_arrays<double, float>([&](double* a, Integer* ipiv, double* b, double* x,
                                                double* work, float* swork, Integer* iter) {
          SPELT(dsgesv)(&n, &nrhs, a, &lda, ipiv, b, &ldb, x, &ldx, work, swork, iter, &info);
        });
      });
  check_mixed(
      "zcgesv", false,
      [](char, Integer n, Integer nrhs, Integer lda, Integer ldb, Integer ldx, Integer& info) {
        return leaves_arrays<Z, C>(
            [&](Z* a, Integer* ipiv, Z* b, Z* x, Z* work, C* swork, Integer* iter) {
              double rwork[2];
              SPELT(zcgesv)
              (&n, &nrhs, a, &lda, ipiv, b, &ldb, x, &ldx, work, swork, rwork, iter, &info);
            });
      });
  check_mixed(
      "dsposv", true,
      [](char uplo, Integer n, Integer nrhs, Integer lda, Integer ldb, Integer ldx, Integer& info) {
        return leaves_arrays<double, float>([&](double* a, Integer*, double* b, double* x,
                                                double* work, float* swork, Integer* iter) {
          SPELT(dsposv)(&uplo, &n, &nrhs, a, &lda, b, &ldb, x, &ldx, work, swork, iter, &info, 1);
        });
      });
  check_mixed(
      "zcposv", true,
      [](char uplo, Integer n, Integer nrhs, Integer lda, Integer ldb, Integer ldx, Integer& info) {
        return leaves_arrays<Z, C>(
            [&](Z* a, Integer*, Z* b, Z* x, Z* work, C* swork, Integer* iter) {
              double rwork[2];
              SPELT(zcposv)
              (&uplo, &n, &nrhs, a, &lda, b, &ldb, x, &ldx, work, swork, rwork, iter, &info, 1);
            });
      });
  std::printf("%d wrong\n", failures);
  return failures == 0 ? 0 : 1;
}
