#include "algorithms/getrf.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <numeric>

#include "algorithms/panel_on_cpu.hpp"
#include "algorithms/split.hpp"
#include "algorithms/transfer.hpp"
#include "cpu/reference.hpp"
#include "device/timeline.hpp"

namespace overlapack::algorithms {
namespace {

/// The block columns of an m x n matrix: panels up to column min(m, n), then what is only updated.
std::vector<Range> block_columns(Index m, Index n, Index nb) {
  const Index k = std::min(m, n);
  std::vector<Range> blocks = partition(k, nb);
  for (Range range : partition(n - k, nb)) blocks.push_back({k + range.first, k + range.last});
  return blocks;
}

/// Applies to every panel's columns the interchanges of the panels to its right, which were found
/// after it had come home. Each column is one gather by the composed permutation.
template <class T>
void apply_later_interchanges(Device& device, HostView<T> a, const std::vector<Index>& pivots,
                              Index nb, Index threads) {
  constexpr Index kColumns = 64;  // per task: enough to pay for composing the permutation
  const auto k = static_cast<Index>(pivots.size());
  std::vector<Range> tasks;
  for (Range block : partition(k, nb)) {
    for (Range part : partition(block.size(), kColumns)) {
      if (block.last < k) {
        tasks.push_back({block.first + part.first, block.first + part.last});
      }
    }
  }
  const auto gather = [&](Range columns, Index first) {  // rows above `first` are final
    std::vector<Index> source(at(a.rows - first));
    std::iota(source.begin(), source.end(), first);
    for (Index j = first; j < k; ++j) {
      std::swap(source[at(j - first)], source[at(pivots[at(j)] - 1 - first)]);
    }
    std::vector<T> gathered(source.size());
    for (Index c = columns.first; c < columns.last; ++c) {
      T* const column = &a(0, c);
      for (std::size_t i = 0; i < source.size(); ++i) gathered[i] = column[source[i]];
      std::copy(gathered.begin(), gathered.end(), column + first);
    }
  };
  const auto permute = [&](Index t) {
    const Range columns = tasks[at(t)];
    const Span span(device, "interchange", columns.first / nb);
    const Index first = (columns.first / nb + 1) * nb;
    try {
      gather(columns, first);
    } catch (const std::bad_alloc&) {  // nothing has been moved yet: swap by swap needs no memory
      reference::laswp(a.block(0, columns.first, a.rows, columns.size()), first, k, pivots.data());
    }
  };
  const auto count = static_cast<Index>(tasks.size());
  if (count > 1) {
    Workers::instance().parallel_for(std::min(threads, count), count, permute);
  } else if (count == 1) {
    permute(0);
  }
}

}  // namespace

template <class T>
Index gesv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, HostView<T> a,
           std::vector<Index>& pivots, HostView<T> b, Index& committed) {
  const Index m = a.rows, n = a.cols, k = std::min(m, n), nb = options.nb;
  const std::vector<Range> blocks = block_columns(m, n, nb);
  const auto count = static_cast<Index>(blocks.size());
  const auto panels = static_cast<Index>(partition(k, nb).size());
  const Index width = std::min(nb, k);
  const Index total = count + (b.empty() ? 0 : 1);  // B is one more block column of [A B]
  Kernels<T>& kernels = device.kernels<T>();
  pivots.assign(at(k), 0);

  const DeviceMatrix<T> matrix(device, m, n + b.cols);
  const DeviceView<T> A = matrix.view();
  const Buffer<Index> device_pivots(device, Space::device, k), info(device, Space::device, panels);
  const Buffer<Index> host_pivots(device, Space::host, k), status(device, Space::host, panels);
  std::unique_ptr<PanelOnCpu<T>> panel_on_cpu;
  if (options.hybrid) {
    panel_on_cpu = std::make_unique<PanelOnCpu<T>>(device, cpu, m, width);
  }
  std::vector<EventLease> final;  // final[i]: panel i holds its part of L and U
  for (Index i = 0; i < panels; ++i) final.emplace_back(device);
  EventLease updated(device), caught_up(device);
  const Subtraction<T> in_panel(device, options, m, width, width),
      in_update(device, options, m, n + b.cols, width),
      in_catch_up(device, options, m, n + b.cols, width);  // one for each queue
  const QueueLease panel(device, Priority::high, "panel"),
      update(device, Priority::normal, "update"), catch_up(device, Priority::normal, "catch up");
  Transfer transfer(device, options.threads, committed);

  const auto columns_of = [&](Index first, Index last) -> Range {  // of blocks [first, last)
    if (first >= last) return {};
    return {first < count ? blocks[at(first)].first : n,
            last <= count ? blocks[at(last - 1)].last : n + b.cols};
  };
  const auto pivots_of = [&](Index i) {
    return DeviceView<Index>(device_pivots.data() + blocks[at(i)].first, blocks[at(i)].size());
  };

  for (Index j = 0; j < count; ++j) {
    const Range c = blocks[at(j)];
    const auto region =
        make_region<T>(a.block(0, c.first, m, c.size()), A.block(0, c.first, m, c.size()));
    transfer.add_upload(region);
    if (j >= panels) {
      transfer.add_download(region);
      continue;
    }
    Index* const here = host_pivots.data() + c.first;
    transfer.add_download(region,
                          {{pivots_of(j).data, here, sizeof(Index) * at(c.size())},
                           {info.data() + j, status.data() + j, sizeof(Index)}},
                          [&pivots, here, c] {
                            std::copy(here, here + c.size(), pivots.begin() + c.first);
                            return true;
                          });
  }
  const auto first_zero_pivot = [&status, panels] {
    const Index* const zero = std::find_if(status.data(), status.data() + panels,
                                           [](Index failed) { return failed != 0; });
    return zero == status.data() + panels ? 0 : *zero;
  };
  if (!b.empty()) {
    const auto region = make_region<T>(b, A.block(0, n, n, b.cols));
    transfer.add_upload(region);
    transfer.add_download(region, {}, [first_zero_pivot] {
      return first_zero_pivot() == 0;  // else B stays as it is
    });
  }
  panel->zero(info.data(), sizeof(Index) * at(panels));
  transfer.start();

  // Step i on the columns c: interchange, U_ic := L_ii^-1 A_ic, A(i+1:, c) -= L(i+1:, i) U_ic.
  const auto apply = [&](Queue& queue, const Subtraction<T>& subtract, Index i, Range c) {
    if (c.empty()) return;
    const Index i0 = blocks[at(i)].first, i1 = blocks[at(i)].last, w = i1 - i0;
    const Span span(queue, "update", i);
    const DeviceView<T> u = A.block(i0, c.first, w, c.size());
    kernels.swap_rows(queue, A.block(i0, c.first, m - i0, c.size()), pivots_of(i), i0);
    kernels.trsm(queue, Side::left, Uplo::lower, Op::none, Diag::unit, T(1), A.block(i0, i0, w, w),
                 u);
    subtract(queue, A.block(i1, i0, m - i1, w), u, A.block(i1, c.first, m - i1, c.size()));
  };
  // Blocks [0, joined) take part in the updates. Blocks [joined, pending) have arrived later and
  // catch up on a queue of their own until they are needed: a late block has many small steps to
  // make, and the next panel must not wait for them.
  Index joined = std::min<Index>(2, total), pending = joined;
  const auto arrive = [&](Index end, Index steps) {
    const Range newcomers{pending, std::min(end, total)};
    if (newcomers.size() <= 0) return;
    for (Index j = newcomers.first; j < newcomers.last; ++j) transfer.before(*catch_up, j);
    for (Index i = 0; i < steps; ++i) {
      catch_up->wait(*final[at(i)]);
      apply(*catch_up, in_catch_up, i, columns_of(newcomers.first, newcomers.last));
    }
    pending = newcomers.last;
  };
  const auto join = [&] {
    catch_up->record(*caught_up);
    update->wait(*caught_up);
    joined = pending;
  };

  transfer.before(*panel, 0);
  if (joined > 1) transfer.before(*update, 1);
  for (Index i = 0; i < panels; ++i) {
    const Index i0 = blocks[at(i)].first, w = blocks[at(i)].size();
    const DeviceView<T> current = A.block(i0, i0, m - i0, w);
    const DeviceView<Index> panel_info(info.data() + i, 1);
    if (options.hybrid) {
      panel_on_cpu->start(*panel, current);
    } else {
      Span span(*panel, "panel", i);
      kernels.getrf_panel(*panel, current, pivots_of(i), panel_info, i0);
      span.end();
      panel->record(*final[at(i)]);
      transfer.release(*panel, i);
    }
    // Meanwhile step i - 1 on everything to the right of this panel.
    if (i >= 1) {
      update->wait(*final[at(i - 1)]);
      apply(*update, in_update, i - 1, columns_of(i + 1, joined));
    }
    update->record(*updated);
    if (i >= 1) {
      catch_up->wait(*final[at(i - 1)]);
      apply(*catch_up, in_catch_up, i - 1, columns_of(joined, pending));
    }
    // Two blocks arrive for every panel: the link brings them faster than panels are factored. The
    // next panel but one must have joined by the next step.
    if (joined == pending) arrive(2 * i + 4, i);
    if (joined < i + 3) join();
    if (options.hybrid) {
      panel_on_cpu->finish(*panel, current, pivots_of(i), panel_info, i0);
      panel->record(*final[at(i)]);
      transfer.release(*panel, i);
    }
    if (i + 1 < panels) {  // the next panel, ahead of the rest
      panel->wait(*updated);
      apply(*panel, in_panel, i, columns_of(i + 1, i + 2));
    }
  }

  // What has no panel of its own: the columns beyond row m of a wide matrix, and B.
  update->wait(*final[at(panels - 1)]);
  apply(*update, in_update, panels - 1, columns_of(panels, joined));
  catch_up->wait(*final[at(panels - 1)]);
  apply(*catch_up, in_catch_up, panels - 1, columns_of(std::max(joined, panels), pending));
  arrive(total, panels);
  join();
  for (Index j = panels; j < count; ++j) transfer.release(*update, j);
  if (!b.empty()) {
    Span span(*update, "solve", count);
    kernels.trsm(*update, Side::left, Uplo::upper, Op::none, Diag::non_unit, T(1),
                 A.block(0, 0, n, n), A.block(0, n, n, b.cols));
    span.end();
    transfer.release(*update, count);
  }
  transfer.finish();
  if (device.kind_of(a.data) == MemoryKind::device) {
    const DeviceView<T> factors(a.data, m, n, a.ld);
    for (Index i = 1; i < panels; ++i) {
      const Index i0 = blocks[at(i)].first;
      kernels.swap_rows(*update, factors.block(i0, 0, m - i0, i0), pivots_of(i), i0);
    }
    update->synchronize();
  } else {
    apply_later_interchanges(device, a, pivots, nb, options.threads);
  }
  return first_zero_pivot();
}

template <class T>
Index resume_gesv(const cpu::Lapack<T>& cpu, Index nb, HostView<T> a, std::vector<Index>& pivots,
                  HostView<T> b, Index committed) {
  const Index m = a.rows, n = a.cols, p = std::min(m, n);
  const Index c = std::min(committed, n);  // columns of A that came home
  const Index k = std::min(c, p);          // of them, those with a pivot
  const Index solved = committed - c;
  const auto column_block = [&](Index first, Index last) {
    return a.block(0, first, m, last - first);
  };

  // Bring the columns that came home to the state after k columns: a panel of which only a part
  // came home has seen interchanges beyond k, earlier panels have not seen all before k.
  const Index partial = k < p ? k / nb * nb : p;
  if (partial < k) {
    reference::laswp(column_block(partial, k), k, std::min(partial + nb, p), pivots.data(), false);
  }
  for (Range block : partition(std::min(partial, k), nb)) {
    reference::laswp(column_block(block.first, block.last), block.last, k, pivots.data(), true);
  }
  Index info = 0;
  for (Index j = k; j > 0; --j) {
    if (a(j - 1, j - 1) == T(0)) info = j;
  }

  if (c < n) {
    const HostView<T> rest = column_block(c, n);
    const HostView<T> u12 = rest.block(0, 0, k, n - c);
    reference::laswp(rest, 0, k, pivots.data(), true);
    cpu.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, T(1), a.block(0, 0, k, k), u12);
    if (k < p) {
      const HostView<T> a22 = rest.block(k, 0, m - k, n - c);
      cpu.gemm(Op::none, Op::none, T(-1), a.block(k, 0, m - k, k), u12, T(1), a22);
      const Index failed = cpu.getrf(a22, cpu::Pivots(pivots.data() + k));
      if (info == 0 && failed != 0) info = k + failed;
      for (Index j = k; j < p; ++j) pivots[at(j)] += k;
      reference::laswp(column_block(0, k), k, p, pivots.data(), true);
    }
  }
  if (info == 0 && solved < b.cols) {
    cpu.getrs(Op::none, a, cpu::Pivots(pivots.data()), b.block(0, solved, n, b.cols - solved));
  }
  return info;
}

#define OVERLAPACK_INSTANTIATE(T)                                                               \
  template Index gesv<T>(Device&, const cpu::Lapack<T>&, const Options&, HostView<T>,           \
                         std::vector<Index>&, HostView<T>, Index&);                             \
  template Index resume_gesv<T>(const cpu::Lapack<T>&, Index, HostView<T>, std::vector<Index>&, \
                                HostView<T>, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
