// Calls qrupdate's ch1up_ and ch1dn_ for the four types and prints the results: one line
// "<routine> <label> <numbers>", compared by run_client.py with and without the library. LINPACK's
// chud_ and chdd_ are called where the process has them; qrupdate, which computes the same, stands
// in for them elsewhere.

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "overlapack/overlapack.h"

namespace {

using Integer = std::int32_t;

/// Numbers in [-1, 1).
double next_random() {
  static std::uint64_t state = 12345;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(state >> 11) / 4503599627370496.0 - 1.0;
}
void set_random(float& x) { x = static_cast<float>(next_random()); }
void set_random(double& x) { x = next_random(); }
template <class R>
void set_random(std::complex<R>& x) {
  const double re = next_random();
  x = {static_cast<R>(re), static_cast<R>(next_random())};
}

template <class R>
void print(R x) {
  std::printf(" %.9e", static_cast<double>(x));
}
template <class R>
void print(std::complex<R> x) {
  print(x.real());
  print(x.imag());
}
template <class T>
T conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x;
  } else {
    return std::conj(x);
  }
}

template <class T, class R>
struct Client {
  using Up = void(const Integer*, T*, const Integer*, T*, R*);
  using Down = void(const Integer*, T*, const Integer*, T*, R*, Integer*);
  using LinpackUp = void(T*, const Integer*, const Integer*, const T*, T*, const Integer*,
                         const Integer*, const T*, R*, R*, T*);
  using LinpackDown = void(T*, const Integer*, const Integer*, const T*, T*, const Integer*,
                           const Integer*, const T*, R*, R*, T*, Integer*);
  static constexpr Integer kOrder = 77, kLd = 80;

  std::string letter;
  Up* up;
  Down* down;
  std::vector<T> r = std::vector<T>(kLd * kOrder), u = std::vector<T>(kOrder), s = u;
  std::vector<R> w = std::vector<R>(kOrder);

  void show(const char* routine, const char* label, Integer info, bool rotations) {
    std::printf("%s%s %s info %d", letter.c_str(), routine, label, static_cast<int>(info));
    for (Integer j = 0; j < kOrder; j += 7) {
      for (Integer i = 0; i < kLd; i += 5) print(r[static_cast<std::size_t>(i + j * kLd)]);
      if (rotations) {
        print(w[static_cast<std::size_t>(j)]);
        print(s[static_cast<std::size_t>(j)]);
      }
    }
    std::printf("\n");
  }

  void call_down(const char* label, bool rotations) {
    Integer info = 99;
    s = u;
    down(&kOrder, r.data(), &kLd, s.data(), w.data(), &info);
    show("ch1dn", label, info, rotations);
  }

  void linpack(const std::vector<T>& row) {
    const Integer none = 0;
    std::vector<T> column(row);
    for (T& x : column) x = conjugate(x);
    if (void* const chud = dlsym(RTLD_DEFAULT, (letter + "chud_").c_str())) {
      reinterpret_cast<LinpackUp*>(chud)(r.data(), &kLd, &kOrder, row.data(), nullptr, &none, &none,
                                         nullptr, nullptr, w.data(), s.data());
    } else {
      s = column;
      up(&kOrder, r.data(), &kLd, s.data(), w.data());
    }
    show("chud", "update", 0, true);
    Integer info = 99;
    if (void* const chdd = dlsym(RTLD_DEFAULT, (letter + "chdd_").c_str())) {
      reinterpret_cast<LinpackDown*>(chdd)(r.data(), &kLd, &kOrder, row.data(), nullptr, &none,
                                           &none, nullptr, nullptr, w.data(), s.data(), &info);
    } else {
      s = column;
      down(&kOrder, r.data(), &kLd, s.data(), w.data(), &info);
    }
    show("chdd", "downdate", info, true);
  }

  void run() {
    for (T& x : r) set_random(x);
    for (Integer j = 0; j < kOrder; ++j) {
      r[static_cast<std::size_t>(j + j * kLd)] = T(static_cast<R>(10 + j % 3));
    }
    for (T& x : u) set_random(x);
    s = u;
    up(&kOrder, r.data(), &kLd, s.data(), w.data());
    show("ch1up", "update", 0, true);
    call_down("downdate", true);
    linpack(u);
    u[40] = T(1000);
    call_down("indefinite", false);
    r[static_cast<std::size_t>(5 + 5 * kLd)] = T(0);
    call_down("singular", false);
  }
};

template <class T, class R, class Up, class Down>
void run(const char* letter, Up up, Down down) {
  Client<T, R> client{letter, up, down};
  client.run();
}

}  // namespace

int main() {
  run<float, float>("s", sch1up_, sch1dn_);
  run<double, double>("d", dch1up_, dch1dn_);
  run<std::complex<float>, float>("c", cch1up_, cch1dn_);
  run<std::complex<double>, double>("z", zch1up_, zch1dn_);
}
