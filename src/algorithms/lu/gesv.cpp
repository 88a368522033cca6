// LU factorizations and solves of matrices of the caller.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/inverse/inverse.hpp"
#include "algorithms/lu/flows.hpp"
#include "algorithms/lu/lu.hpp"
#include "algorithms/lu/out_of_core.hpp"
#include "algorithms/lu/schedule.hpp"
#include "algorithms/lu/textbook.hpp"
#include "algorithms/lu/unit_matrix.hpp"
#include "algorithms/solve/solve.hpp"
#include "device/timeline.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {
namespace {

/// Whether so many right-hand sides may be the unit matrix, and it is worth to find that out.
bool may_be_unit(const Device& device, Index n, Index nrhs) {
  return nrhs == n && n >= device.tuning().inverse.unit_from_order;
}

/// Options for solve_unit(), whose blocks are wider than those of a factorization. OVERLAPACK_NB is
/// about the latter.
Options for_unit(const Device& device, Options options) {
  options.nb = device.tuning().inverse.block_columns;
  return options;
}

/// What gesv() is called with.
template <class T>
struct Call {
  Device& device;
  const cpu::Lapack<T>& cpu;
  const Options& options;
  Input<T> input;
  HostView<T> a;
  Interchanges& interchanges;
  HostView<T> b;
  Index& committed;
};

/// X := U^-1 B, once A is factored. Its groups are downloads from number `first` on.
template <class T>
void back_substitute(Lu<T>& lu, Transfer& transfer, Index first) {
  const DeviceView<T> rhs = lu.matrix().rhs();
  const Span span(lu.update(), "solve", lu.matrix().count());
  for (const Range& group : groups_of(lu.update().device(), rhs.cols)) {
    lu.solve_with_u(rhs.block({0, rhs.rows}, group));
    transfer.release(lu.update(), first++);
  }
}

template <class T>
Index info_of(const Lu<T>& lu) {
  return first_failure(lu.panels().info());
}

/// Hands the interchanges, which are home, to the caller.
template <class T>
void give_pivots(const Lu<T>& lu, Interchanges& interchanges) {
  const Buffer<Index>& pivots = lu.panels().staged_pivots();
  std::copy_n(pivots.data(), pivots.size(), interchanges.pivots.begin());
}

/// Declares that B goes up and X comes home. Returns the number of the upload.
template <class T>
Index add_rhs(Transfer& transfer, const Lu<T>& lu, const Call<T>& call) {
  const DeviceView<T> there = lu.matrix().rhs();
  const Range all = {0, there.rows};
  for (const Range& group : groups_of(call.device, there.cols)) {
    // B stays as it is if A is singular.
    transfer.add_download(make_region<T>(call.b.block(all, group), there.block(all, group)),
                          [&lu] { return info_of(lu) == 0; });
  }
  return transfer.add_upload(make_region<T>(call.input.b, there));
}

/// Of a matrix in the device's memory.
template <class T>
Index solve_resident(const Call<T>& call, Lu<T>& lu) {
  std::optional<Transfer> transfer;  // of B
  if (!call.b.empty()) {
    transfer.emplace(call.device, call.options.threads, call.committed);
    add_rhs(*transfer, lu, call);
    transfer->start();
  }
  ResidentFlow<T> flow(call.device, lu, call.input.a, call.a, transfer ? &*transfer : nullptr);
  lu.factor(flow);
  if (transfer) {
    back_substitute(lu, *transfer, 0);
    transfer->finish();
  }
  flow.finish();
  give_pivots(lu, call.interchanges);
  return info_of(lu);
}

/// Of few blocks in the device's memory, without right-hand sides and in the place of the input.
/// For more, columns lie better in a matrix of our own, and copies take none of the time.
template <class T>
Index factor_in_place(const Call<T>& call) {
  Lu<T> lu(call.device, call.cpu, call.options, call.a.rows, call.a.cols, 0, on_device(call.a));
  InPlaceFlow<T> flow(call.device, lu);
  lu.factor(flow);
  flow.finish();
  give_pivots(lu, call.interchanges);
  return info_of(lu);
}

/// Declares the blocks of A and of B, in the order in which they move. Returns the numbers of
/// uploads by blocks.
template <class T>
std::vector<Index> add_blocks(Transfer& transfer, const Lu<T>& lu, const Call<T>& call,
                              LaterInterchanges<T>& later) {
  const LuMatrix<T>& matrix = lu.matrix();
  std::vector<Index> uploads;
  for (Index b = 0; b < matrix.count(); ++b) {
    const Range c = matrix.block(b);
    const auto block = [&](auto x) { return x.block(0, c.first, matrix.rows(), c.size()); };
    const DeviceView<T> there = block(matrix.view());
    uploads.push_back(transfer.add_upload(make_region<T>(block(call.input.a), there)));
    const Region home = make_region<T>(block(call.a), there);
    if (b >= matrix.pivot_blocks()) {
      transfer.add_download(home);
      continue;
    }
    transfer.add_download(home, [&later, b] {
      later.arrives(b);
      return true;
    });
  }
  if (!call.b.empty()) uploads.push_back(add_rhs(transfer, lu, call));
  return uploads;
}

/// Of a matrix in the host's memory. `idle` does one task for idle threads, or says that there is
/// none.
template <class T>
Index solve_streamed(const Call<T>& call, Lu<T>& lu, const std::function<bool()>& idle = {}) {
  const Options& options = call.options;
  LaterInterchanges<T> later(call.device, call.a, lu.panels().staged_pivots(), lu.panels().known(),
                             call.interchanges, options.nb);
  Transfer transfer(call.device, options.threads, call.committed);
  std::vector<Index> uploads = add_blocks(transfer, lu, call, later);
  // The hybrid form's CPU LAPACK wants the cores while the device computes.
  if (!options.hybrid) {
    transfer.when_idle([&](Index home) { return later.advance(home) || (idle && idle()); });
  }
  transfer.start();

  const bool on_device = call.device.kind_of(call.input.a.data) == MemoryKind::device;
  TransferFlow<T> flow(transfer, lu, std::move(uploads), on_device ? lu.matrix().total() : 0);
  lu.factor(flow);
  if (!call.b.empty()) back_substitute(lu, transfer, lu.matrix().count());
  transfer.finish();
  constexpr Index kIssuerAndCaller = 2;  // who have nothing else to do now
  later.finish(options.threads + kIssuerAndCaller);
  return info_of(lu);
}

/// Of right-hand sides that seem to be the unit matrix. They do not go up: without them A is
/// factored. If they are that, solves with L make use of their zeros. If not, they are solved for
/// with the factors at home.
template <class T>
Index solve_without(const Call<T>& call, UnitMatrix<T>& unit) {
  std::optional<Lu<T>> lu(std::in_place, call.device, call.cpu, call.options, call.a.rows,
                          call.a.cols, 0);
  Call<T> factors = call;
  factors.b = {};
  const Index info = solve_streamed(factors, *lu, [&unit] { return unit.advance(); });
  if (info != 0) return info;
  const std::vector<Index>& pivots = call.interchanges.pivots;
  if (!unit.finish(call.options.threads)) {
    lu.reset();  // getrs() takes as much memory
    Index solved = 0;
    try {
      getrs<T>(call.device, call.options, Op::none, call.a, pivots, call.b, solved);
    } catch (...) {
      call.committed = call.a.cols + solved;
      throw;
    }
    return 0;
  }
  lu->interchange_left(lu->update(), lu->matrix().view(), {0, lu->matrix().pivot_blocks()});
  lu->update().synchronize();
  try {
    solve_unit<T>(call.device, for_unit(call.device, call.options), lu->matrix().view(), pivots,
                  call.b);
  } catch (...) {
    unit.restore(call.options.threads);
    throw;
  }
  return 0;
}

}  // namespace

template <class T>
Index gesv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Input<T> input,
           HostView<T> a, Interchanges& interchanges, HostView<T> b, Index& committed) {
  if (options.textbook) return textbook_gesv(device, options, input, a, interchanges, b);
  const Index pivots = std::min(a.rows, a.cols);
  interchanges.pivots.assign(at(pivots), 0);
  interchanges.seen.assign(at(pivots), 0);
  if (options.out_of_core) {
    return gesv_out_of_core(device, cpu, options, a, interchanges, b, committed);
  }
  const Call<T> call{device, cpu, options, input, a, interchanges, b, committed};
  const bool resident = device.kind_of(a.data) == MemoryKind::device;
  const bool in_place = resident && b.empty() && input.a.data == a.data;
  const Index few_blocks = device.tuning().lu.immediate_interchanges_up_to_blocks;
  if (in_place && pivots <= few_blocks * options.nb) return factor_in_place(call);
  const bool may_be =
      may_be_unit(device, a.cols, b.cols) && input.a.data == a.data && input.b.data == b.data;
  if (may_be && !resident && device.kind_of(b.data) != MemoryKind::device) {
    UnitMatrix<T> unit(b);
    if (unit.is_likely()) return solve_without(call, unit);
  }
  Lu<T> lu(device, cpu, options, a.rows, a.cols, b.cols);
  return resident ? solve_resident(call, lu) : solve_streamed(call, lu);
}

template <class T>
std::size_t gesv_bytes(Device& device, const Options& options, Index m, Index n, Index nrhs,
                       bool resident) {
  const std::size_t interchanged = LuPanels<T>::bytes_to_interchange(device, options, m, n),
                    solved = Lu<T>::bytes(device, options, m, n, nrhs);
  if (resident) return solved + interchanged;
  if (!may_be_unit(device, n, nrhs)) return solved;
  return std::max(solved, Lu<T>::bytes(device, options, n, n, 0) + interchanged +
                              triangle_in_place_bytes<T>(for_unit(device, options), n));
}

#define OVERLAPACK_INSTANTIATE(T)                                                               \
  template Index gesv<T>(Device&, const cpu::Lapack<T>&, const Options&, Input<T>, HostView<T>, \
                         Interchanges&, HostView<T>, Index&);                                   \
  template std::size_t gesv_bytes<T>(Device&, const Options&, Index, Index, Index, bool);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
