// NumPy's loops of copies, by a program that looks at the matrices between two copies. What has
// been read or written there that no call has named yet?
//
// The argument says what is expected:
//   ahead      columns are read and written before they are named
//   along      what lies in one line of a matrix by rows is read together; nothing is written early
//   operands   each call reads and writes what it names
#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "support/numpy_loop.hpp"

extern "C" void scipy_dcopy_64_(const std::int64_t* n, const double* x, const std::int64_t* incx,
                                double* y, const std::int64_t* incy);

#ifdef WATCHER
extern "C" __attribute__((visibility("default"))) void WATCHER();
void WATCHER() {}
#endif

namespace {

using overlapack::testing_support::numpy_loop;

constexpr std::int64_t kRows = 2100, kColumns = 900;
using Matrix = std::unique_ptr<double, void (*)(void*)>;

Matrix new_matrix() {
  return {overlapack::testing_support::numpy_memory(kRows * kColumns), std::free};
}

bool is_there(const double* element) {
  const auto page = reinterpret_cast<std::uintptr_t>(element) / 4096 * 4096;
  unsigned char there = 1;
  return mincore(reinterpret_cast<void*>(page), 4096, &there) != 0 || (there & 1) != 0;
}

/// Of one loop: how many elements were copied before their columns were named.
struct Seen {
  int read = 0, written = 0;
  bool provided = false;  // memory for the last column, well before it was named
};

/// One element of each column: that of the row in the middle.
struct Loop {
  double *x, *y;
  std::int64_t x_pitch, y_pitch, column;
  Seen seen;

  /// The first columns tell the library what comes. To look at new memory would provide it.
  static constexpr std::int64_t kFirst = 4, kLast = kColumns - 100;

  static void look(void* data) {
    auto& loop = *static_cast<Loop*>(data);
    const std::int64_t next = ++loop.column;
    if (next < kFirst || next >= kLast) return;
    double& from = loop.x[next * loop.x_pitch];
    if (loop.y[next * loop.y_pitch] == from) ++loop.seen.written;
    from = -from;
    if (next == kLast - 1) loop.seen.provided = is_there(loop.y + (kColumns - 1) * loop.y_pitch);
  }
};

Seen run(double* x, bool by_rows, double* y) {
  constexpr std::int64_t kMiddle = kRows / 2, kByRows = kMiddle * kColumns;
  Loop loop = by_rows ? Loop{x + kByRows, y + kMiddle, 1, kRows, 0, {}}
                      : Loop{x + kMiddle, y + kByRows, kRows, 1, 0, {}};
  if (by_rows) {
    numpy_loop(&scipy_dcopy_64_, kRows, kColumns, {x, kColumns, 1}, {y, 1, kRows}, &Loop::look,
               &loop);
  } else {
    numpy_loop(&scipy_dcopy_64_, kRows, kColumns, {x, 1, kRows}, {y, kColumns, 1}, &Loop::look,
               &loop);
  }
  for (std::int64_t j = Loop::kFirst; j < Loop::kLast; ++j) {
    if (loop.y[j * loop.y_pitch] != loop.x[j * loop.x_pitch]) ++loop.seen.read;
  }
  return loop.seen;
}

enum class Verdict { as_expected, wrong, unclear };

/// Somebody else may have the core for a while, and then less is copied early.
Verdict judge(const char* expected, const Seen& in, const Seen& back) {
  constexpr int kMost = kColumns / 2;
  if (std::strcmp(expected, "ahead") == 0) {
    const bool all = in.read > kMost && in.written > kMost && back.read > kMost;
    return all && back.written > kMost && in.provided ? Verdict::as_expected : Verdict::unclear;
  }
  if (in.written + back.written + back.read > 0) return Verdict::wrong;
  if (std::strcmp(expected, "along") == 0) {
    return in.read > kMost ? Verdict::as_expected : Verdict::unclear;
  }
  const bool operands = in.read == 0 && !in.provided;
  return operands && std::strcmp(expected, "operands") == 0 ? Verdict::as_expected : Verdict::wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const expected = argc == 2 ? argv[1] : "";
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // or it would grow
  // In a program that is linked to a fixed address, malloc() then has one there, too.
  void* (*volatile const allocate)(std::size_t) = &std::malloc;
  const Matrix a(static_cast<double*>(allocate(kRows * kColumns * sizeof(double))), std::free);
  Verdict verdict = Verdict::unclear;
  for (int attempt = 0; attempt < 50 && verdict == Verdict::unclear; ++attempt) {
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) a.get()[i] = static_cast<double>(i + 1);
    const Matrix memory = new_matrix(), result = new_matrix();
    const Seen in = run(a.get(), true, memory.get());
    const Seen back = run(memory.get(), false, result.get());
    verdict = judge(expected, in, back);
    std::printf("expected %s; in: read %d, written %d, provided %d; back: read %d, written %d\n",
                expected, in.read, in.written, in.provided ? 1 : 0, back.read, back.written);
  }
  return verdict == Verdict::as_expected ? 0 : 1;
}
