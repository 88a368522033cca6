// Writes down what the calling thread gives the device to do in factorizations of many shapes, and
// a checksum of each result. scripts/compare-launches compares two builds by it: a change that is
// to move code only must not change a line.
//
// The emulated device runs work lazily, so the order of launches does not depend on timing. What
// copy threads and the issuing thread do is left out, as are waits of the host and new events,
// whose number does depend on it.
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/cholesky/cholesky.hpp"
#include "algorithms/lu/lu.hpp"
#include "bench/resident_matrix.hpp"
#include "device/emulated/emulated_device.hpp"
#include "support/matrices.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

/// Prints the actions of the thread that made it.
class Launches : public Observer {
 public:
  void before(Action action, const char* name, double amount) override {
    static constexpr const char* kNames[] = {
        "allocate", "create", "up", "down", "kernel", "record", "wait", "synchronize", "give back"};
    if (std::this_thread::get_id() != thread_) return;
    if (action == Action::create || action == Action::synchronize) return;
    std::printf("%s %s %.0f\n", kNames[static_cast<int>(action)], name, amount);
  }

 private:
  const std::thread::id thread_ = std::this_thread::get_id();
};

/// FNV-1a of the bytes of a matrix.
template <class T>
std::uint64_t checksum(const Padded<T>& a) {
  std::uint64_t sum = 14695981039346656037u;
  for (Index j = 0; j < a.cols(); ++j) {
    const auto* const column = reinterpret_cast<const unsigned char*>(&a(0, j));
    for (std::size_t i = 0; i < sizeof(T) * static_cast<std::size_t>(a.rows()); ++i) {
      sum = (sum ^ column[i]) * 1099511628211u;
    }
  }
  return sum;
}

/// Where the operands lie: in the host's memory; in the device's; there, with A to be factored
/// from a copy of it.
enum class Place { host, device, copied };

struct Case {
  char routine;  // 'l' for LU, 'c' for Cholesky
  Index m, n, nrhs;
  Place place;
  Uplo uplo;
  algorithms::Options options;
};

std::string name_of(const Case& one, char letter) {
  static constexpr const char* kPlaces[] = {"host", "device", "copied"};
  const algorithms::Options& o = one.options;
  std::string name{letter};
  name += one.routine == 'l' ? std::string(" lu") : " cholesky " + std::string(1, char(one.uplo));
  for (const Index number : {one.m, one.n, one.nrhs}) name += " " + std::to_string(number);
  name += std::string(" ") + kPlaces[static_cast<int>(one.place)] + " nb=" + std::to_string(o.nb);
  if (o.leading > 0) name += " leading=" + std::to_string(o.leading);
  if (o.hybrid) name += " hybrid";
  if (!o.by_rows) name += " by columns";
  if (!o.residues) name += " without residues";
  if (!o.split) name += " unsplit";
  return name;
}

template <class T>
void run(const Case& one) {
  const std::unique_ptr<Device> device = make_emulated_device();
  const cpu::Lapack<T>& cpu = cpu::lapack<T>(cpu::Family::lp64);
  Padded<T> a =
      one.routine == 'l' ? random_matrix<T>(one.m, one.n, 1) : positive_definite<T>(one.n, 1);
  Padded<T> b = random_matrix<T>(one.m, one.nrhs, 2);
  bench::ResidentMatrix<T> there(*device, one.m, one.n, one.m), input(*device, one.m, one.n, one.m),
      rhs(*device, one.m, std::max<Index>(one.nrhs, 1), one.m);
  const bool resident = one.place != Place::host;
  HostView<T> view_a = a.view(), view_b = b.view();
  HostView<const T> view_input = view_a;
  if (resident) {
    there.upload(a.view());
    input.upload(a.view());
    view_a = as_argument(there.view());
    view_input = one.place == Place::copied ? as_argument(input.view()) : view_a;
    if (one.nrhs > 0) {
      rhs.upload(b.view());
      view_b = as_argument(rhs.view());
    }
  }
  std::printf("== %s\n", name_of(one, ScalarTraits<T>::letter).c_str());
  Launches launches;
  device->set_observer(&launches);
  algorithms::Interchanges interchanges;
  Index committed = 0, info = 0;
  if (one.routine == 'l') {
    info = algorithms::gesv<T>(*device, cpu, one.options, {view_input, view_b}, view_a,
                               interchanges, view_b, committed);
  } else {
    info = algorithms::posv<T>(*device, cpu, one.options, one.uplo, {view_input, view_b}, view_a,
                               view_b, committed);
  }
  device->set_observer(nullptr);
  if (resident) {
    there.download(a.view());
    if (one.nrhs > 0) rhs.download(b.view());
  }
  Index pivots = 0;
  for (const Index pivot : interchanges.pivots) pivots = (pivots * 31 + pivot) % 1000003;
  std::printf("info %lld pivots %lld a %016llx b %016llx\n", static_cast<long long>(info),
              static_cast<long long>(pivots), static_cast<unsigned long long>(checksum(a)),
              static_cast<unsigned long long>(checksum(b)));
}

std::vector<Case> cases_of_lu() {
  const auto options = [](Index nb) {
    algorithms::Options all;
    all.nb = nb;
    return all;
  };
  std::vector<Case> cases;
  struct Shape {
    Index m, n, nrhs, nb;
  };
  // Few panels and many; tall and wide; panels of one step and of several; long steps (nb = 4).
  for (const Shape& s : std::vector<Shape>{{3, 3, 0, 2},
                                           {30, 30, 2, 2},
                                           {40, 17, 0, 4},
                                           {17, 40, 0, 4},
                                           {90, 90, 0, 8},
                                           {120, 120, 3, 4},
                                           {120, 90, 0, 4},
                                           {90, 140, 0, 4},
                                           {150, 150, 0, 16}}) {
    for (const Place place : {Place::host, Place::device, Place::copied}) {
      const Case one{'l', s.m, s.n, s.nrhs, place, Uplo::lower, options(s.nb)};
      cases.push_back(one);
      for (bool algorithms::Options::*const off :
           {&algorithms::Options::by_rows, &algorithms::Options::residues,
            &algorithms::Options::split}) {
        cases.push_back(one);
        cases.back().options.*off = false;
      }
      cases.push_back(one);
      cases.back().options.hybrid = true;
    }
  }
  return cases;
}

std::vector<Case> cases_of_cholesky() {
  std::vector<Case> cases;
  struct Shape {
    Index n, nrhs, nb, leading;
  };
  for (const Shape& s : std::vector<Shape>{
           {7, 0, 16, 0}, {40, 0, 16, 0}, {50, 3, 20, 0}, {100, 2, 8, 48}, {130, 0, 16, 64}}) {
    for (const Place place : {Place::host, Place::device}) {
      for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        algorithms::Options options;
        options.nb = s.nb;
        options.leading = place == Place::host ? s.leading : 0;
        cases.push_back({'c', s.n, s.n, s.nrhs, place, uplo, options});
        for (bool algorithms::Options::*const off :
             {&algorithms::Options::residues, &algorithms::Options::split}) {
          cases.push_back({'c', s.n, s.n, s.nrhs, place, uplo, options});
          cases.back().options.*off = false;
        }
        options.hybrid = true;
        cases.push_back({'c', s.n, s.n, s.nrhs, place, uplo, options});
      }
    }
  }
  return cases;
}

}  // namespace
}  // namespace overlapack

int main() {
  using namespace overlapack;
  for (const std::vector<Case>& cases : {cases_of_lu(), cases_of_cholesky()}) {
    for (const Case& one : cases) {
      run<float>(one);
      run<double>(one);
      run<std::complex<float>>(one);
      run<std::complex<double>>(one);
    }
  }
}
