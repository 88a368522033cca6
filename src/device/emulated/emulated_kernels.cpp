#include "device/emulated/emulated_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "cpu/reference.hpp"
#include "cpu/reflectors.hpp"
#include "device/emulated/formats.hpp"

namespace overlapack::emulated {
namespace {

template <class T>
class EmulatedKernels final : public Kernels<T> {
 public:
  EmulatedKernels(Device& device, Machine& machine) : Kernels<T>(device), machine_(machine) {}

 private:
  void do_gemm(Queue& queue, Op op_a, Op op_b, T alpha, DeviceView<const T> a,
               DeviceView<const T> b, T beta, DeviceView<T> c) override {
    enqueue(queue, "gemm", [=] {
      const bool fit =
          rows(op_a, a) == c.rows && cols(op_b, b) == c.cols && cols(op_a, a) == rows(op_b, b);
      require(fit, "gemm", "the shapes do not fit");
      const HostView<T> to = open("gemm", c);
      if (beta == T(1) && is_complex<T>) {
        // As cuBLAS does: 1 + 0i times a number whose imaginary part is a NaN is one in both parts.
        for (Index j = 0; j < to.cols; ++j) {
          for (Index i = 0; i < to.rows; ++i)
            to(i, j) = reference::detail::multiply(beta, to(i, j));
        }
      }
      reference::gemm<T>(op_a, op_b, alpha, open("gemm", a), open("gemm", b), beta, to);
    });
  }

  void do_copy(Queue& queue, Op op, DeviceView<const T> a, DeviceView<T> b) override {
    enqueue(queue, "copy", [=] {
      require(rows(op, a) == b.rows && cols(op, a) == b.cols, "copy", "the shapes do not fit");
      const HostView<const T> from = open("copy", a);
      const HostView<T> to = open("copy", b);
      for (Index j = 0; j < b.cols; ++j) {
        for (Index i = 0; i < b.rows; ++i) {
          const T x = op == Op::none ? from(i, j) : from(j, i);
          to(i, j) = op == Op::conj_trans ? conj(x) : x;
        }
      }
    });
  }

  void do_herk(Queue& queue, Uplo uplo, Op op, Real<T> alpha, DeviceView<const T> a, Real<T> beta,
               DeviceView<T> c) override {
    enqueue(queue, "herk", [=] {
      require(op != Op::trans && rows(op, a) == c.rows && c.rows == c.cols, "herk",
              "the shapes do not fit");
      reference::herk<T>(uplo, op, alpha, open("herk", a), beta, open("herk", c));
    });
  }

  void do_hemv(Queue& queue, Uplo uplo, DeviceView<const T> a, DeviceView<const T> x,
               DeviceView<T> y, DeviceView<T> work) override {
    enqueue(queue, "hemv", [=] {
      require(a.rows == a.cols && x.rows == a.rows && y.rows == a.rows && x.cols == 1 &&
                  y.cols == 1 && work.rows >= Kernels<T>::hemv_work(a.rows),
              "hemv", "the shapes do not fit");
      const HostView<const T> matrix = open("hemv", a), from = open("hemv", x);
      const HostView<T> to = open("hemv", y);
      open("hemv", work);
      for (Index j = 0; j < a.cols; ++j) {
        to(j) -= real(matrix(j, j)) * from(j);
        for (Index i = j + 1; i < a.rows; ++i) {
          const T l = uplo == Uplo::lower ? matrix(i, j) : conj(matrix(j, i));
          to(i) -= l * from(j);
          to(j) -= conj(l) * from(i);
        }
      }
    });
  }

  void do_trsm(Queue& queue, Side side, Uplo uplo, Op op, Diag diag, T alpha, DeviceView<const T> a,
               DeviceView<T> b) override {
    enqueue(queue, "trsm", [=] {
      require(a.rows == a.cols && a.rows == (side == Side::left ? b.rows : b.cols), "trsm",
              "the shapes do not fit");
      reference::trsm<T>(side, uplo, op, diag, alpha, open("trsm", a), open("trsm", b));
    });
  }

  /// Small, so that small matrices have many panels.
  Index do_potrf_panel_width() const override { return 16; }

  void do_potrf_panel(Queue& queue, Uplo uplo, DeviceView<const T> a, DeviceView<T> factor,
                      DeviceView<Index> info, Index offset, DeviceView<T> notes) override {
    enqueue(queue, "potrf_panel", [=] {
      const bool lower = uplo == Uplo::lower;
      const Index n = lower ? a.cols : a.rows, below = (lower ? a.rows : a.cols) - n;
      require(n <= do_potrf_panel_width() && below >= 0 && factor.rows == a.rows &&
                  factor.cols == a.cols && info.rows == 1 && info.cols == 1 &&
                  (notes.empty() || notes.rows == do_potrf_notes()),
              "potrf_panel", "the shapes do not fit");
      const HostView<const T> from = open_anywhere("potrf_panel", a);
      const HostView<T> to = open_anywhere("potrf_panel", factor);
      const HostView<Index> host_info = open_anywhere("potrf_panel", info);
      const auto rows_below = [&](auto x, Index width) {
        return lower ? x.block(n, 0, below, width) : x.block(0, n, width, below);
      };
      const HostView<T> diagonal = to.block(0, 0, n, n);
      reference::lacpy<T>(from.block(0, 0, n, n), diagonal, part_of(uplo));
      reference::lacpy<T>(rows_below(from, n), rows_below(to, n));
      const Index k = reference::potrf(uplo, diagonal);
      if (k != 0 && host_info(0) == 0) host_info(0) = offset + k;
      if (!notes.empty()) {  // the factor and, beyond it, its order
        const HostView<T> noted = open("potrf_panel", notes);
        reference::lacpy<T>(diagonal, HostView<T>(noted.data, n, n, n), part_of(uplo));
        noted(notes.rows - 1, 0) = T(static_cast<Real<T>>(n));
      }
      const Index good = k == 0 ? n : k - 1;
      reference::trsm<T>(lower ? Side::right : Side::left, uplo, Op::conj_trans, Diag::non_unit,
                         T(1), HostView<const T>(diagonal.block(0, 0, good, good)),
                         rows_below(to, good));
    });
  }

  Index do_potrf_notes() const override {
    return do_potrf_panel_width() * do_potrf_panel_width() + 1;
  }

  void do_potrf_rows(Queue& queue, Uplo uplo, DeviceView<const T> notes, DeviceView<const T> a,
                     DeviceView<T> factor) override {
    enqueue(queue, "potrf_rows", [=] {
      const bool lower = uplo == Uplo::lower;
      const Index n = lower ? a.cols : a.rows;
      require(notes.rows == do_potrf_notes() && factor.rows == a.rows && factor.cols == a.cols,
              "potrf_rows", "the shapes do not fit");
      const HostView<const T> noted = open("potrf_rows", notes);
      require(noted(notes.rows - 1, 0) == T(static_cast<Real<T>>(n)), "potrf_rows",
              "the notes are on a block of another order");
      const HostView<T> to = open("potrf_rows", factor);
      reference::lacpy<T>(open("potrf_rows", a), to);
      reference::trsm<T>(lower ? Side::right : Side::left, uplo, Op::conj_trans, Diag::non_unit,
                         T(1), HostView<const T>(noted.data, n, n, n), to);
    });
  }

  void do_invert_blocks(Queue& queue, Uplo uplo, DeviceView<const T> factor, DeviceView<T> inverses,
                        DeviceView<Real<T>> conditions) override {
    enqueue(queue, "invert_blocks", [=] {
      const Index n = factor.rows, order = inverses.rows, count = quotient_up(n, order);
      require(factor.cols == n && inverses.cols == n && order <= do_potrf_panel_width() &&
                  conditions.rows == count && conditions.cols == 1,
              "invert_blocks", "the shapes do not fit");
      const HostView<const T> from = open("invert_blocks", factor);
      const HostView<T> to = open("invert_blocks", inverses);
      const HostView<Real<T>> of_block = open_anywhere("invert_blocks", conditions);
      for (Index b = 0; b < count; ++b) {
        const Index first = b * order, size = std::min(order, n - first);
        of_block(b) = reference::invert_factor<T>(uplo, from.block(first, first, size, size),
                                                  to.block(0, first, size, size));
      }
    });
  }

  void do_back_substitute(Queue& queue, Uplo uplo, DeviceView<const T> factor,
                          DeviceView<const T> inverses, DeviceView<T> x,
                          DeviceView<Index> progress) override {
    enqueue(queue, "back_substitute", [=] {
      const Index n = factor.rows, order = inverses.rows;
      require(factor.cols == n && inverses.cols == n && x.rows == n && order > 0 &&
                  progress.rows >=
                      Kernels<T>::substitution_with_factor_progress(quotient_up(n, order), x.cols),
              "back_substitute", "the shapes do not fit");
      const bool lower = uplo == Uplo::lower;
      const HostView<const T> l = open("back_substitute", factor);
      const HostView<const T> inverse = open("back_substitute", inverses);
      const HostView<T> to = open("back_substitute", x);
      for (Index first = (n - 1) / order * order; first >= 0; first -= order) {
        const Index size = std::min(order, n - first);
        const HostView<T> rows = to.block(first, 0, size, x.cols);
        std::vector<T> y;
        for (Index j = 0; j < x.cols; ++j) y.insert(y.end(), &rows(0, j), &rows(0, j) + size);
        reference::gemm<T>(Op::conj_trans, Op::none, T(1), inverse.block(0, first, size, size),
                           HostView<const T>(y.data(), size, x.cols, size), T(0), rows);
        reference::gemm<T>(lower ? Op::conj_trans : Op::none, Op::none, T(-1),
                           lower ? l.block(first, 0, size, first) : l.block(0, first, first, size),
                           HostView<const T>(rows), T(1), to.block(0, 0, first, x.cols));
      }
    });
  }

  void do_eliminate(Queue& queue, Uplo uplo, DeviceView<const T> factor,
                    DeviceView<const T> inverses, DeviceView<T> x, Index width,
                    DeviceView<T> states, DeviceView<Index> progress) override {
    enqueue(queue, "eliminate", [=] {
      const bool lower = uplo == Uplo::lower;
      const Index m = x.rows, k = x.cols, n = inverses.cols, order = inverses.rows;
      const Index panels = quotient_up(n, width);
      require((lower ? factor.rows : factor.cols) == m &&
                  (lower ? factor.cols : factor.rows) == n && n <= m && order > 0 &&
                  (width % order == 0 || n <= order) && (n == m || n % order == 0) &&
                  states.rows == m && states.cols == panels * k &&
                  progress.rows >=
                      Kernels<T>::substitution_with_factor_progress(quotient_up(n, order), k),
              "eliminate", "the shapes do not fit");
      const HostView<const T> l = open("eliminate", factor), inverse = open("eliminate", inverses);
      const HostView<T> to = open("eliminate", x), kept = open("eliminate", states);
      for (Index first = 0; first < n; first += order) {
        const Index size = std::min(order, n - first), last = first + size;
        if (first % width == 0) {
          for (Index j = 0; j < k; ++j) {
            std::copy_n(&to(first, j), m - first, &kept(first, first / width * k + j));
          }
        }
        const HostView<T> rows = to.block(first, 0, size, k);
        std::vector<T> y;
        for (Index j = 0; j < k; ++j) y.insert(y.end(), &rows(0, j), &rows(0, j) + size);
        reference::gemm<T>(Op::none, Op::none, T(1), inverse.block(0, first, size, size),
                           HostView<const T>(y.data(), size, k, size), T(0), rows);
        reference::gemm<T>(
            lower ? Op::none : Op::conj_trans, Op::none, T(-1),
            lower ? l.block(last, first, m - last, size) : l.block(first, last, size, m - last),
            HostView<const T>(rows), T(1), to.block(last, 0, m - last, k));
      }
    });
  }

  Index do_getrf_panel_width() const override { return 2; }
  void do_getrf_panel(Queue& queue, DeviceView<T> a, DeviceView<Index> pivots,
                      DeviceView<Index> home, DeviceView<Index> info, Index offset,
                      Event* begun) override {
    if (begun != nullptr) queue.record(*begun);
    enqueue(queue, "getrf_panel", [=] {
      const Index steps = std::min(a.rows, a.cols);
      require(pivots.rows >= steps && pivots.cols == 1 && home.rows >= steps && home.cols == 1 &&
                  info.rows == 1 && info.cols == 1,
              "getrf_panel", "the shapes do not fit");
      const HostView<Index> host_pivots = open("getrf_panel", pivots);
      const HostView<Index> host_info = open_anywhere("getrf_panel", info);
      const Index k = reference::getrf(open("getrf_panel", a), host_pivots.data);
      for (Index j = 0; j < steps; ++j) host_pivots(j) += offset;
      std::copy_n(host_pivots.data, steps, open_anywhere("getrf_panel", home).data);
      if (k != 0 && host_info(0) == 0) host_info(0) = offset + k;
    });
  }

  void do_swap_rows(Queue& queue, DeviceView<T> a, DeviceView<const Index> pivots, Index offset,
                    bool forward) override {
    enqueue(queue, "swap_rows", [=] {
      const std::vector<Index> local = local_pivots("swap_rows", pivots, offset, a.rows);
      reference::laswp(open("swap_rows", a), 0, pivots.rows, local.data(), forward);
    });
  }

  void do_swap_columns(Queue& queue, DeviceView<T> a, DeviceView<const Index> pivots,
                       Index offset) override {
    enqueue(queue, "swap_columns", [=] {
      const std::vector<Index> local = local_pivots("swap_columns", pivots, offset, a.cols);
      exchange_columns(open("swap_columns", a), local);
    });
  }

  void do_compose_interchanges(Queue& queue, DeviceView<const Index> pivots, Index offset, Index nb,
                               DeviceView<Index> sources) override {
    enqueue(queue, "compose_interchanges", [=] {
      const char* const name = "compose_interchanges";
      const Index m = sources.rows, panels = sources.cols;
      require(nb > 0 && panels == quotient_up(pivots.rows, nb), name, "the shapes do not fit");
      const std::vector<Index> local = local_pivots(name, pivots, offset, m);
      const HostView<Index> to = open(name, sources);
      for (Index p = 0; p < panels; ++p) {
        Index* const source = &to(0, p);
        std::iota(source, source + m, Index{0});
        for (Index j = p * nb; j < pivots.rows; ++j) {
          std::swap(source[j], source[local[static_cast<std::size_t>(j)] - 1]);
        }
      }
    });
  }

  Index do_permutable_rows() const override { return 100; }  // few, so that tests have more

  void do_permute_rows(Queue& queue, DeviceView<T> a, Index width,
                       DeviceView<const Index> sources) override {
    enqueue(queue, "permute_rows", [=] {
      const char* const name = "permute_rows";
      require(width > 0 && sources.rows == a.rows && a.rows <= do_permutable_rows() &&
                  sources.cols >= quotient_up(a.cols, width),
              name, "the shapes do not fit");
      const HostView<const Index> from = open(name, sources);
      const HostView<T> to = open(name, a);
      for (Index c = 0; c < a.cols; ++c) {
        const std::vector<T> copy(&to(0, c), &to(0, c) + a.rows);
        for (Index i = 0; i < a.rows; ++i) {
          const Index source = from(i, c / width);
          require(source >= 0 && source < a.rows, name, "a source is no row");
          to(i, c) = copy[static_cast<std::size_t>(source)];
        }
      }
    });
  }

  void do_interchange_and_solve(Queue& queue, DeviceView<const T> l, DeviceView<const Index> pivots,
                                Index offset, DeviceView<T> a) override {
    enqueue(queue, "interchange_and_solve", [=] {
      const char* const name = "interchange_and_solve";
      const std::vector<Index> local = pivots_of_panel(name, l, pivots, offset, a.rows);
      reference::laswp(open(name, a), 0, pivots.rows, local.data());
      reference::trsm<T>(Side::left, Uplo::lower, Op::none, Diag::unit, T(1), open(name, l),
                         open(name, a.block(0, 0, l.rows, a.cols)));
    });
  }

  // Few rows and columns, so that tests have more.
  bool do_has_step_at_once(Index rows, Index order, Index columns) const override {
    return rows > order && rows <= 60 && columns <= 4;
  }

  void do_step_at_once(Queue& queue, DeviceView<const T> panel, DeviceView<const Index> pivots,
                       Index offset, DeviceView<T> a) override {
    enqueue(queue, "step_at_once", [=] {
      const char* const name = "step_at_once";
      const Index w = panel.cols, below = panel.rows - w;
      require(a.rows == panel.rows, name, "the shapes do not fit");
      const DeviceView<const T> l11 = panel.block(0, 0, w, w);
      const std::vector<Index> local = pivots_of_panel(name, l11, pivots, offset, a.rows);
      reference::laswp(open(name, a), 0, pivots.rows, local.data());
      const HostView<T> u = open(name, a.block(0, 0, w, a.cols));
      reference::trsm<T>(Side::left, Uplo::lower, Op::none, Diag::unit, T(1), open(name, l11), u);
      reference::gemm<T>(Op::none, Op::none, T(-1), open(name, panel.block(w, 0, below, w)), u,
                         T(1), open(name, a.block(w, 0, below, a.cols)));
    });
  }

  void do_interchange_and_solve_by_rows(Queue& queue, DeviceView<const T> l,
                                        DeviceView<const Index> pivots, Index offset,
                                        DeviceView<T> a,
                                        DeviceView<const Index> inverses) override {
    enqueue(queue, "interchange_and_solve_by_rows", [=] {
      const char* const name = "interchange_and_solve_by_rows";
      const Index n = l.rows, order = Kernels<T>::kInverted;
      require(l.cols == n && a.cols >= n, name, "the shapes do not fit");
      if (!pivots.empty()) {
        exchange_columns(open(name, a), pivots_of_panel(name, l, pivots, offset, a.cols));
      }
      const HostView<const T> triangle = open(name, l);
      const HostView<T> x = open(name, a.block(0, 0, a.rows, n));
      for (Index i = 0; i < n; i += order) {
        const Range block = {i, std::min(i + order, n)}, rest = {block.last, n}, all = {0, a.rows};
        const HostView<T> of_block = x.block(all, block);
        const HostView<const T> on_diagonal = triangle.block(block, block);
        const bool multiplied =
            !inverses.empty() &&
            multiply_by_inverse(open(name, inverse_of(inverses, i, block.size())), of_block);
        if (!multiplied) {
          reference::trsm<T>(Side::right, Uplo::lower, Op::conj_trans, Diag::unit, T(1),
                             on_diagonal, of_block);
        }
        reference::gemm<T>(Op::none, Op::conj_trans, T(-1), of_block, triangle.block(rest, block),
                           T(1), x.block(all, rest));
      }
    });
  }

  void do_find_inverses(Queue& queue, DeviceView<const T> lu, DeviceView<Index> inverses) override {
    enqueue(queue, "find_inverses", [=] {
      const char* const name = "find_inverses";
      require(lu.rows == lu.cols && inverses.rows >= Kernels<T>::elements_of_inverses(lu.rows),
              name, "the shapes do not fit");
      const HostView<const T> factors = open(name, lu);
      for (Index i = 0; i < lu.rows; i += Kernels<T>::kInverted) {
        const Index n = std::min(Kernels<T>::kInverted, lu.rows - i);
        invert(factors.block(i, i, n, n), open(name, inverse_of(inverses, i, n)));
      }
    });
  }
  /// That of the block of order n that begins with row i: the largest modulus of its elements, as
  /// compared with the sizes of rows, and these, in double precision.
  template <class W>
  static DeviceView<W> inverse_of(DeviceView<W> inverses, Index i, Index n) {
    return inverses.block(Kernels<T>::elements_of_inverses(i), 0,
                          Kernels<T>::elements_of_inverses(n), 1);
  }
  template <class W>
  static auto elements_of_inverse(HostView<W> inverse) {
    using D = std::conditional_t<std::is_const_v<W>, const Double<T>, Double<T>>;
    return reinterpret_cast<D*>(inverse.data + 1);
  }

  /// Rows of the inverse one after the other, up to the diagonal.
  static void invert(HostView<const T> lu, HostView<Index> inverse) {
    const Index n = lu.rows;
    Double<T>* const v = elements_of_inverse(inverse);
    double largest = 1;
    std::vector<double> sizes(static_cast<std::size_t>(n));  // of rows of U
    const auto size_of = [&](Index i) -> double& { return sizes[static_cast<std::size_t>(i)]; };
    for (Index j = std::max<Index>(n - Kernels<T>::kSizing, 0); j < n; ++j) {
      for (Index i = 0; i <= j; ++i) {
        const double size = std::abs(Double<T>(lu(i, j)));
        size_of(i) = std::isfinite(size) ? std::max(size_of(i), size)
                                         : std::numeric_limits<double>::infinity();
      }
    }
    for (Index i = 0; i < n; ++i) {
      Double<T>* const row = v + i * (i + 1) / 2;
      for (Index j = 0; j <= i; ++j) {
        Double<T> sum = i == j ? 1 : 0;
        for (Index k = j; k < i; ++k) sum -= Double<T>(lu(i, k)) * v[k * (k + 1) / 2 + j];
        row[j] = sum;
        const double size = std::abs(sum) * size_of(j) / size_of(i);
        largest =
            std::isfinite(size) ? std::max(largest, size) : std::numeric_limits<double>::infinity();
      }
    }
    *reinterpret_cast<double*>(inverse.data) = largest;
  }
  /// X := X V^H, if V is moderate and X is finite; or else false. (It would do to leave out only
  /// the rows that are not.)
  static bool multiply_by_inverse(HostView<const Index> inverse, HostView<T> x) {
    const double largest = *reinterpret_cast<const double*>(inverse.data);
    const auto finite = [](T y) { return std::isfinite(std::abs(y)); };
    if (largest > Kernels<T>::kLargestOfInverse) return false;
    for (Index j = 0; j < x.cols; ++j) {
      if (!std::all_of(&x(0, j), &x(0, j) + x.rows, finite)) return false;
    }
    const Double<T>* const v = elements_of_inverse(inverse);
    for (Index r = 0; r < x.rows; ++r) {
      for (Index i = x.cols - 1; i >= 0; --i) {
        Double<T> sum = 0;
        for (Index k = 0; k <= i; ++k) sum += Double<T>(x(r, k)) * conj(v[i * (i + 1) / 2 + k]);
        x(r, i) = T(sum);
      }
    }
    return true;
  }

  /// Small, so that small matrices have many panels.
  Index do_update_panel_width() const override { return 8; }

  void do_update_panel(Queue& queue, Uplo uplo, DeviceView<const T> a, DeviceView<T> factor,
                       Index plus, DeviceView<const T> v, DeviceView<T> rest,
                       DeviceView<Index> info, Index offset, DeviceView<Real<T>> c,
                       DeviceView<T> s) override {
    enqueue(queue, "update_panel", [=] {
      const bool lower = uplo == Uplo::lower;
      const Index m = lower ? a.rows : a.cols, n = lower ? a.cols : a.rows, k = v.cols;
      require(n <= do_update_panel_width() && m >= n && v.rows == m && plus <= k &&
                  rest.rows == m - n && (rest.cols == k || m == n) && info.rows == 1 &&
                  factor.rows == a.rows && factor.cols == a.cols &&
                  (c.empty() || (k == 1 && plus == 1 && c.rows == n && s.rows == n)),
              "update_panel", "the shapes do not fit");
      std::vector<T> l_memory(static_cast<std::size_t>(m * n)),
          z_memory(static_cast<std::size_t>(k * n)), v_memory(static_cast<std::size_t>(m * k)),
          w(static_cast<std::size_t>(m));
      std::vector<Real<T>> t(static_cast<std::size_t>(n));
      const HostView<T> l(l_memory.data(), m, n, m), local(v_memory.data(), m, k, m);
      reference::load_columns<T>(uplo, open("update_panel", a), l);
      reference::lacpy<T>(open("update_panel", v), local);
      Index good = n;
      for (const int sign : {1, -1}) {
        const HostView<T> x =
            sign > 0 ? local.block(0, 0, m, plus) : local.block(0, plus, m, k - plus);
        if (x.empty()) continue;
        const HostView<T> z(z_memory.data(), x.cols, n, x.cols);
        good = std::min(good, reference::reflect<T>(sign, l, x, z, t.data(), w.data()));
      }
      reference::store_columns<T>(uplo, l, open("update_panel", factor));
      if (m > n) reference::lacpy<T>(local.block(n, 0, m - n, k), open("update_panel", rest));
      const HostView<Index> host_info = open("update_panel", info);
      if (good < n && host_info(0) == 0) host_info(0) = offset + good + 1;
      if (!c.empty()) {
        store_rotations(t, z_memory, open("update_panel", c), open("update_panel", s));
      }
    });
  }

  static void store_rotations(const std::vector<Real<T>>& t, const std::vector<T>& z,
                              HostView<Real<T>> cosines, HostView<T> sines) {
    for (Index j = 0; j < cosines.rows; ++j) {
      const Real<T> tj = t[static_cast<std::size_t>(j)];
      cosines(j) = (1 - tj) / tj;
      sines(j) = conj(z[static_cast<std::size_t>(j)]) / tj;
    }
  }

  void do_update_bases(Queue& queue, int sign, DeviceView<const T> w, Index width, Index first,
                       double limit, DeviceView<Double<T>> grams, DeviceView<Double<T>> bases,
                       DeviceView<Index> unfit) override {
    enqueue(queue, "update_bases", [=] {
      using D = Double<T>;
      const Index k = w.cols, last = first + quotient_up(w.rows, width);
      require(k <= Kernels<T>::kUpdateVectors && grams.rows == k && grams.cols >= last * k &&
                  bases.rows == k && bases.cols >= (last + 1) * k && unfit.rows == 1,
              "update_bases", "the shapes do not fit");
      const HostView<const T> rows = open("update_bases", w);
      const HostView<D> sums = open("update_bases", grams.block(0, 0, k, last * k));
      const HostView<D> results = open("update_bases", bases.block(0, 0, k, (last + 1) * k));
      const HostView<Index> found = open("update_bases", unfit);
      const auto vectors = static_cast<std::size_t>(k);
      for (Index p = first; p < last; ++p) {
        const Index top = (p - first) * width, count = std::min(width, w.rows - top);
        for (Index j = 0; j < k; ++j) {
          for (Index i = 0; i < k; ++i) {
            D sum(0);
            for (Index r = top; r < top + count; ++r) {
              sum += conj(D(rows(r, i))) * D(rows(r, j));
            }
            sums(i, p * k + j) = static_cast<double>(sign) * sum;
          }
        }
      }
      for (Index p = first == 0 ? 0 : first + 1; p <= last; ++p) {
        std::vector<D> memory(vectors * vectors);
        const HostView<D> t(memory.data(), k, k, k), inverse = results.block(0, p * k, k, k);
        double largest = 1, largest_inverse = 1;
        for (Index j = 0; j < k; ++j) {
          for (Index i = 0; i < k; ++i) {
            t(i, j) = inverse(i, j) = D(i == j ? 1 : 0);
            for (Index q = 0; q < p; ++q) t(i, j) += sums(i, q * k + j);
          }
          largest = std::max(largest, real(t(j, j)));
        }
        const bool definite = reference::potrf<D>(Uplo::upper, t) == 0;
        reference::trsm<D>(Side::left, Uplo::upper, Op::none, Diag::non_unit, D(1), t, inverse);
        for (Index i = 0; i < k; ++i) {
          double squares = 0;
          for (Index j = i; j < k; ++j) squares += std::norm(inverse(i, j));
          if (!(squares <= largest_inverse)) largest_inverse = squares;
        }
        if (!definite || !(largest * largest_inverse <= limit)) found(0) = 1;
      }
    });
  }

  void do_update_panels(Queue& queue, Uplo uplo, int sign, DeviceView<T> a,
                        DeviceView<const T> states, Index k, DeviceView<const Double<T>> bases,
                        DeviceView<Double<T>> reflectors, DeviceView<Index> info,
                        DeviceView<Real<T>> c, DeviceView<T> s) override {
    enqueue(queue, "update_panels", [=] {
      using D = Double<T>;
      const bool lower = uplo == Uplo::lower;
      const Index width = do_update_panel_width();
      const Index m = lower ? a.rows : a.cols, n = lower ? a.cols : a.rows;
      const Index panels = quotient_up(n, width);
      require(m >= n && (m == n || n % width == 0) && k <= Kernels<T>::kUpdateVectors &&
                  states.rows == m && states.cols == panels * k && bases.rows == k &&
                  bases.cols >= panels * k &&
                  reflectors.rows * reflectors.cols >= Kernels<T>::kUpdateReflector * n &&
                  info.rows == 1 &&
                  (c.empty() || (k == 1 && sign > 0 && c.rows == n && s.rows == n)),
              "update_panels", "the shapes do not fit");
      for (Index p = 0; p < panels; ++p) {
        const Index first = p * width, cols = std::min(width, n - first), rows = m - first;
        std::vector<T> l_memory(static_cast<std::size_t>(rows * cols)),
            z_memory(static_cast<std::size_t>(k * cols)),
            v_memory(static_cast<std::size_t>(rows * k)), w(static_cast<std::size_t>(rows));
        std::vector<Real<T>> t(static_cast<std::size_t>(cols));
        const HostView<T> l(l_memory.data(), rows, cols, rows), v(v_memory.data(), rows, k, rows);
        const HostView<T> z(z_memory.data(), k, cols, k);
        const HostView<T> factor = open("update_panels", lower ? a.block(first, first, rows, cols)
                                                               : a.block(first, first, cols, rows));
        reference::load_columns<T>(uplo, factor, l);
        const HostView<const T> state = open("update_panels", states.block(first, p * k, rows, k));
        const HostView<const D> base = open("update_panels", bases.block(0, p * k, k, k));
        for (Index j = 0; j < k; ++j) {
          for (Index i = 0; i < rows; ++i) {
            D sum(0);
            for (Index q = 0; q <= j; ++q) sum += D(state(i, q)) * base(q, j);
            v(i, j) = static_cast<T>(sum);
          }
        }
        const Index good = reference::reflect<T>(sign, l, v, z, t.data(), w.data());
        reference::store_columns<T>(uplo, l, factor);
        if (good < cols) open("update_panels", info)(0) = first + good + 1;
        if (!c.empty()) {
          store_rotations(t, z_memory, open("update_panels", c.block(first, 0, cols, 1)),
                          open("update_panels", s.block(first, 0, cols, 1)));
        }
      }
    });
  }

  void do_find_not_finite(Queue& queue, Part part, DeviceView<const T> a,
                          DeviceView<Index> found) override {
    enqueue(queue, "find_not_finite", [=] {
      const HostView<const T> from = open("find_not_finite", a);
      const HostView<Index> result = open("find_not_finite", found);
      for (Index j = 0; j < a.cols; ++j) {
        const Range column = rows_of_column(part, 0, a.rows, j);
        for (Index i = column.first; i < column.last; ++i) {
          if (!std::isfinite(abs1(from(i, j)))) result(0) = 1;
        }
      }
    });
  }

  /// Always, so that tests of any size see them.

  void do_split(Queue& queue, SplitForm form, Side side, Op op, DeviceView<const T> from,
                DeviceView<Real<T>> to, DeviceView<const Real<T>> sizes, Weigh weigh) override {
    enqueue(queue, "split", [=] {
      const bool left = side == Side::left;
      const Index k = left ? cols(op, from) : rows(op, from);
      const Index n = left ? rows(op, from) : cols(op, from);
      require(to.rows == this->split_rows(form, k) && to.cols == this->split_cols(side, n) &&
                  form.section <= this->kSplitSection,
              "split", "the shapes do not fit");
      require(form.precision != Precision::fp32 || aligned(to), "split", "unaligned columns");
      require(sizes.empty() || (form.precision == Precision::fp32 && sizes.rows == k), "split",
              "the sizes do not fit");
      if constexpr (Kernels<T>::kSplits) {
        split<T>(form, side, op, open("split", from), open("split", to), open("split", sizes),
                 weigh);
      } else {
        require(false, "split", "not in double precision");
      }
    });
  }

  void do_split_gemm(Queue& queue, SplitForm form, Index k, Real<T> alpha,
                     DeviceView<const Real<T>> a, DeviceView<const Real<T>> b, Real<T> beta,
                     DeviceView<T> c) override {
    enqueue(queue, "split_gemm", [=] {
      require(a.rows == this->split_rows(form, k) && b.rows == a.rows &&
                  a.cols == this->split_cols(Side::left, c.rows) &&
                  b.cols == this->split_cols(Side::right, c.cols) &&
                  form.section <= this->kSplitSection,
              "split_gemm", "the shapes do not fit");
      if constexpr (Kernels<T>::kSplits) {
        // An array of complex numbers may be accessed as one of real numbers ([complex.numbers]).
        constexpr Index reals = is_complex<T> ? 2 : 1;
        const HostView<T> host_c = open("split_gemm", c);
        const HostView<float> real_c(reinterpret_cast<float*>(host_c.data), reals * c.rows, c.cols,
                                     reals * c.ld);
        const auto host_a = open("split_gemm", a), host_b = open("split_gemm", b);
        if (form.precision == Precision::fp32) {
          require(aligned(a) && aligned(b), "split_gemm", "unaligned columns");
          split_gemm(reals * form.section, reals * k, alpha, host_a, host_b, beta, real_c);
        } else {
          split_gemm(form.precision, alpha, host_a, host_b, beta, real_c);
        }
      } else {
        require(false, "split_gemm", "not in double precision");
      }
    });
  }
  /// All columns begin at multiples of 32 bytes, as split forms in FP32 must.
  static bool aligned(DeviceView<const Real<T>> a) {
    constexpr std::size_t kBytes = 32;
    return a.empty() || (reinterpret_cast<std::uintptr_t>(a.data) % kBytes == 0 &&
                         static_cast<std::size_t>(a.ld) * sizeof(Real<T>) % kBytes == 0);
  }

  /// Not for every sum, so that tests of any size see both ways.
  Index do_residue_unit() const override { return 2; }
  Index do_residue_work(Index m, Index n) const override {
    constexpr Index kTileRows = 16;  // so that it matters what is a row
    return ResidueForm<T>::kProducts * residues::kModuli * round_up(m, kTileRows) * n;
  }

  void do_residues(Queue& queue, const ResidueForm<T>& of,
                   DeviceView<const Real<T>> before) override {
    enqueue(queue, "residues", [=] {
      check("residues", of);
      require(of.squares.rows == of.rows() && of.first_long.rows == 1, "residues",
              "the shapes do not fit");
      require(before.empty() || (before.rows == of.rows() && before.cols == 1), "residues",
              "the shapes do not fit");
      if constexpr (Kernels<T>::kResidues) {
        to_residues<T>(of.op, open("residues", of.matrix),
                       open("residues", DeviceView<const Real<T>>(of.scales)),
                       open("residues", before), open("residues", of.squares),
                       places_in("residues", of));
        const HostView<const Real<T>> squares =
            open("residues", DeviceView<const Real<T>>(of.squares));
        Index& first_long = open("residues", of.first_long)(0);
        for (Index i = of.rows() - 1; i >= 0; --i) {
          if (!(squares(i) <= residues::kLongest)) first_long = std::min(first_long, of.first + i);
        }
      }
    });
  }

  void do_scaled_residues(Queue& queue, Weigh weigh, const ResidueForm<T>& of,
                          DeviceView<const Real<T>> sizes) override {
    enqueue(queue, "scaled_residues", [=] {
      check("scaled_residues", of);
      require(of.has_found_scales() && of.first_long.empty() &&
                  (sizes.empty() || (sizes.rows == of.summands() && sizes.cols == 1)),
              "scaled_residues", "the shapes do not fit");
      if constexpr (Kernels<T>::kResidues) {
        to_scaled_residues<T>(of.op, weigh, open("scaled_residues", of.matrix),
                              open("scaled_residues", sizes), open("scaled_residues", of.scales),
                              places_in("scaled_residues", of));
      }
    });
  }

  void do_residue_gemm(Queue& queue, const ResidueForm<T>& a, const ResidueForm<T>& b, T beta,
                       DeviceView<T> c, DeviceView<std::int32_t> work) override {
    enqueue(queue, "residue_gemm", [=] {
      check("residue_gemm", a);
      check("residue_gemm", b);
      require(a.rows() == c.rows && b.rows() == c.cols && a.summands() == b.summands() &&
                  a.has_found_scales() == b.has_found_scales() &&
                  work.rows >= this->residue_work(c.rows, c.cols),
              "residue_gemm", "the shapes do not fit");
      if constexpr (Kernels<T>::kResidues) {
        open("residue_gemm", work);
        const HostView<T> result = open("residue_gemm", c);
        const Factor left = factor("residue_gemm", a), right = factor("residue_gemm", b);
        for (Index j = 0; j < c.cols; ++j) {
          for (Index i = 0; i < c.rows; ++i) {
            const T v = product(left, i, right, j);
            result(i, j) = beta == T(0) ? -v : beta * result(i, j) - v;
          }
        }
      }
    });
  }
  void check(const char* operation, const ResidueForm<T>& form) const {
    const Index n = form.rows(), k = form.summands(), unit = do_residue_unit();
    require(Kernels<T>::kResidues, operation, "not in this precision");
    require(form.op != Op::trans && form.numbers.rows == k && form.numbers.cols == n &&
                form.scales.rows == n && form.stride >= (n - 1) * form.numbers.ld + k,
            operation, "the shapes do not fit");
    require(k % unit == 0 && form.numbers.ld % unit == 0 && form.stride % unit == 0 &&
                form.next_plane % unit == 0 && (form.next_plane >= k) == is_complex<T> &&
                reinterpret_cast<std::uintptr_t>(form.numbers.data) % unit == 0,
            operation, "not a multiple of the unit");
    for (int number = 0; number < residues::kModuli; ++number) {
      for (Index plane = 0; plane < ResidueForm<T>::kPlanes; ++plane) {
        const DeviceView<std::int8_t>& first = form.numbers;
        open(operation,
             DeviceView<std::int8_t>(first.data + number * form.stride + plane * form.next_plane,
                                     first.rows, first.cols, first.ld));
      }
    }
  }
  /// Where the residue of number l of row i for a modulus goes, in a plane.
  auto places_in(const char* operation, const ResidueForm<T>& form) const {
    const HostView<std::int8_t> numbers = open(operation, form.numbers);
    return [numbers, next = form.stride, next_plane = form.next_plane](Index l, Index i, int number,
                                                                       int plane) -> std::int8_t& {
      return (&numbers(l, i))[number * next + plane * next_plane];
    };
  }
  /// A factor as this machine's CPU sees it.
  struct Factor {
    Op op;
    HostView<const T> matrix;
    HostView<const Real<T>> scales, squares;
    HostView<const std::int8_t> numbers;
    Index stride, next_plane, first, first_long;
    double unit;
    bool is_short(Index i) const { return squares.empty() || squares(i) <= residues::kLongest; }
    bool is_first_long(Index i) const { return first + i == first_long; }
    T operator()(Index i, Index l) const {
      return op == Op::none ? matrix(i, l) : conj(matrix(l, i));
    }
  };
  Factor factor(const char* operation, const ResidueForm<T>& form) const {
    return {form.op,
            open(operation, form.matrix),
            open(operation, DeviceView<const Real<T>>(form.scales)),
            open(operation, DeviceView<const Real<T>>(form.squares)),
            open(operation, DeviceView<const std::int8_t>(form.numbers)),
            form.stride,
            form.next_plane,
            form.first,
            form.has_found_scales() ? -1 : open(operation, form.first_long)(0),
            form.unit()};
  }
  /// The sum of products of row i of A and the conjugate row j of B.
  static T product(const Factor& a, Index i, const Factor& b, Index j) {
    T v(0);
    if constexpr (Kernels<T>::kResidues) {
      if (a.is_short(i) && b.is_short(j)) {
        // The smaller scale first: a sum times the larger one may overflow. A NaN remains one.
        double first = a.scales(i), second = b.scales(j);
        if (second < first) std::swap(first, second);
        const auto value = [&](const Sums& sums) {
          return from_residues(sums) * (a.unit * b.unit * first) * second;
        };
        const Sums sums = sums_of(a, i, b, j, 0);
        if constexpr (is_complex<T>) {
          const Sums of_imaginary = sums_of(a, i, b, j, 1), of_both = sums_of(a, i, b, j, 2);
          Sums re, im;
          for (std::size_t p = 0; p < sums.size(); ++p) {
            re[p] = sums[p] + of_imaginary[p];
            im[p] = of_both[p] - sums[p] + of_imaginary[p];
          }
          return {value(re), value(im)};
        } else {
          return value(sums);
        }
      }
      if (!a.is_first_long(i) && !b.is_first_long(j)) return nan();
      for (Index l = 0; l < a.numbers.rows; ++l) v += a(i, l) * conj(b(j, l));
    }
    return v;
  }
  /// NaN in all parts.
  static T nan() {
    constexpr auto kNan = std::numeric_limits<Real<T>>::quiet_NaN();
    if constexpr (is_complex<T>) {
      return {kNan, kNan};
    } else {
      return kNan;
    }
  }
  /// Those of one of the products (ResidueForm), for each modulus.
  using Sums = std::array<std::int64_t, residues::kModuli>;
  static Sums sums_of(const Factor& a, Index i, const Factor& b, Index j, int product) {
    const Index of_a = product * a.next_plane;
    const Index of_b = (product == 2 ? 3 : product) * b.next_plane;
    Sums sums = {};
    for (Index number = 0; number < residues::kModuli; ++number) {
      const std::int8_t* const x = &a.numbers(0, i) + number * a.stride + of_a;
      const std::int8_t* const y = &b.numbers(0, j) + number * b.stride + of_b;
      for (Index l = 0; l < a.numbers.rows; ++l)
        sums[static_cast<std::size_t>(number)] += x[l] * y[l];
    }
    return sums;
  }

  void do_column_norms(Queue& queue, DeviceView<const T> a, DeviceView<Real<T>> norms) override {
    enqueue(queue, "column_norms", [=] {
      require(norms.rows == a.cols && norms.cols == 1, "column_norms", "the shapes do not fit");
      const HostView<const T> from = open("column_norms", a);
      const HostView<Real<T>> to = open("column_norms", norms);
      for (Index j = 0; j < a.cols; ++j) to(j) = reference::max_norm(a.rows, &from(0, j));
    });
  }

  void do_norm(Queue& queue, Norm norm, Symmetry symmetry, Uplo uplo, DeviceView<const T> a,
               DeviceView<Real<T>> work, DeviceView<Real<T>> result) override {
    enqueue(queue, "norm", [=] {
      const bool given_by_triangle = symmetry != Symmetry::none;
      require(result.rows == 1 && result.cols == 1 &&
                  (!given_by_triangle || (a.rows == a.cols && work.rows >= a.rows)),
              "norm", "the shapes do not fit");
      if (given_by_triangle) open("norm", work);
      std::vector<Real<T>> sums(static_cast<std::size_t>(a.rows));
      open("norm", result)(0) =
          reference::norm<T>(norm, symmetry, uplo, open("norm", a), sums.data());
    });
  }

  void do_extreme(Queue& queue, bool largest, DeviceView<const Real<T>> a,
                  DeviceView<Real<T>> result) override {
    enqueue(queue, "extreme", [=] {
      require(result.rows == 1 && result.cols == 1, "extreme", "the shapes do not fit");
      const HostView<const Real<T>> from = open("extreme", a);
      const Real<T> sign = largest ? 1 : -1;
      Real<T> extreme = -std::numeric_limits<Real<T>>::infinity();
      for (Index j = 0; j < a.cols; ++j) {
        for (Index i = 0; i < a.rows; ++i) {
          extreme = reference::max_or_nan(extreme, sign * from(i, j));
        }
      }
      open("extreme", result)(0) = sign * extreme;
    });
  }

  void do_round(Queue& queue, Part part, DeviceView<const T> from, DeviceView<Single<T>> to,
                DeviceView<Index> overflow, DeviceView<const Real<T>> row_sizes,
                DeviceView<const Real<T>> column_sizes) override {
    enqueue(queue, "round", [=] {
      require(Kernels<T>::kRounds, "round", "not in single precision");
      require(to.rows == from.rows && to.cols == from.cols && overflow.rows == 1, "round",
              "the shapes do not fit");
      const std::vector<Real<T>> by_row = inverse_powers("round", row_sizes, from.rows);
      const std::vector<Real<T>> by_column = inverse_powers("round", column_sizes, from.cols);
      const HostView<const T> double_from = open("round", from);
      const HostView<Single<T>> single_to = open("round", to);
      for (Index j = 0; j < from.cols; ++j) {
        const Range rows = rows_of_column(part, 0, from.rows, j);
        for (Index i = rows.first; i < rows.last; ++i) {
          const T x = double_from(i, j);
          const Real<T> scale =
              by_row[static_cast<std::size_t>(i)] * by_column[static_cast<std::size_t>(j)];
          single_to(i, j) = static_cast<Single<T>>(scale * x);
          if (overflows_single(x)) open("round", overflow)(0) = 1;
        }
      }
    });
  }

  /// All ones where there are no sizes.
  std::vector<Real<T>> inverse_powers(const char* operation, DeviceView<const Real<T>> sizes,
                                      Index count) {
    std::vector<Real<T>> powers(static_cast<std::size_t>(count), 1);
    if (sizes.data == nullptr) return powers;
    require(sizes.rows == count && sizes.cols == 1, operation, "the shapes do not fit");
    const HostView<const Real<T>> host = open(operation, sizes);
    for (Index i = 0; i < count; ++i) {
      powers[static_cast<std::size_t>(i)] =
          static_cast<Real<T>>(inverse_power(static_cast<double>(host(i))));
    }
    return powers;
  }

  void do_round_high(Queue& queue, Part part, DeviceView<const Single<T>> high,
                     DeviceView<Single<T>> to) override {
    enqueue(queue, "round high words", [=] {
      require(Kernels<T>::kRounds, "round high words", "not in single precision");
      require(to.rows == high.rows && to.cols == high.cols, "round high words",
              "the shapes do not fit");
      const HostView<const Single<T>> words = open("round high words", high);
      const HostView<Single<T>> single_to = open("round high words", to);
      for (Index j = 0; j < to.cols; ++j) {
        const Range rows = rows_of_column(part, 0, to.rows, j);
        for (Index i = rows.first; i < rows.last; ++i) {
          single_to(i, j) = static_cast<Single<T>>(join_words(words(i, j), Single<T>(0)));
        }
      }
    });
  }

  void do_join(Queue& queue, Part part, DeviceView<const Single<T>> high,
               DeviceView<const Single<T>> low, DeviceView<T> to,
               DeviceView<Index> overflow) override {
    enqueue(queue, "join words", [=] {
      require(Kernels<T>::kRounds, "join words", "not in single precision");
      require(to.rows == high.rows && to.cols == high.cols && low.rows == high.rows &&
                  low.cols == high.cols && overflow.rows == 1,
              "join words", "the shapes do not fit");
      const HostView<const Single<T>> high_words = open("join words", high),
                                      low_words = open("join words", low);
      const HostView<T> double_to = open("join words", to);
      for (Index j = 0; j < to.cols; ++j) {
        const Range rows = rows_of_column(part, 0, to.rows, j);
        for (Index i = rows.first; i < rows.last; ++i) {
          double_to(i, j) = static_cast<T>(join_words(high_words(i, j), low_words(i, j)));
          if (overflows_single(double_to(i, j))) open("join words", overflow)(0) = 1;
        }
      }
    });
  }

  void do_widen(Queue& queue, DeviceView<const Single<T>> from, T beta, DeviceView<T> to,
                DeviceView<const Real<T>> row_sizes) override {
    enqueue(queue, "widen", [=] {
      require(Kernels<T>::kRounds, "widen", "not in single precision");
      require(to.rows == from.rows && to.cols == from.cols, "widen", "the shapes do not fit");
      const std::vector<Real<T>> by_row = inverse_powers("widen", row_sizes, from.rows);
      const HostView<const Single<T>> single_from = open("widen", from);
      const HostView<T> double_to = open("widen", to);
      for (Index j = 0; j < to.cols; ++j) {
        for (Index i = 0; i < to.rows; ++i) {
          const T x = by_row[static_cast<std::size_t>(i)] * T(single_from(i, j));
          double_to(i, j) = beta == T(0) ? x : x + beta * double_to(i, j);
        }
      }
    });
  }

  void do_find_links(Queue& queue, Uplo uplo, Diag diag, DeviceView<const T> a,
                     DeviceView<Index> links) override {
    enqueue(queue, "find_links", [=] {
      require(Kernels<T>::kSplits, "find_links", "not in double precision");
      require(a.rows == a.cols && links.rows >= Kernels<T>::substitution_links(a.rows),
              "find_links", "the shapes do not fit");
      open("find_links", a);
      std::fill_n(open("find_links", links).data, links.rows, triangle_number(uplo, diag, a.rows));
    });
  }
  /// What tells the links of one triangle from those of another.
  static Index triangle_number(Uplo uplo, Diag diag, Index n) {
    return 4 * n + (uplo == Uplo::lower ? 2 : 0) + (diag == Diag::unit ? 1 : 0);
  }

  void do_substitute(Queue& queue, Uplo uplo, Diag diag, DeviceView<const T> a,
                     DeviceView<const Index> links, DeviceView<T> x,
                     DeviceView<Index> progress) override {
    enqueue(queue, "substitute", [=] {
      const Index needed = Kernels<T>::substitution_links(a.rows);
      require(a.rows == a.cols && a.rows == x.rows &&
                  progress.rows >= Kernels<T>::substitution_progress(a.rows, x.cols) &&
                  links.rows >= needed,
              "substitute", "the shapes do not fit");
      const HostView<const Index> found = open("substitute", links);
      require(std::all_of(found.data, found.data + needed,
                          [&](Index x) { return x == triangle_number(uplo, diag, a.rows); }),
              "substitute", "the links are not those of this triangle");
      open("substitute", progress);
      reference::trsm<T>(Side::left, uplo, Op::none, diag, T(1), open("substitute", a),
                         open("substitute", x));
    });
  }

  void do_mirror(Queue& queue, Uplo uplo, DeviceView<T> a) override {
    enqueue(queue, "mirror", [=] {
      require(a.rows == a.cols, "mirror", "the matrix is not square");
      const HostView<T> matrix = open("mirror", a);
      for (Index j = 0; j < a.cols; ++j) {
        matrix(j, j) = T(real(matrix(j, j)));
        for (Index i = j + 1; i < a.rows; ++i) {
          if (uplo == Uplo::lower) {
            matrix(j, i) = conj(matrix(i, j));
          } else {
            matrix(i, j) = conj(matrix(j, i));
          }
        }
      }
    });
  }

  template <class Work>
  void enqueue(Queue& queue, const char* operation, Work work) {
    require(&queue.device() == &this->device_, operation, "the queue is one of another device");
    static_cast<EmulatedQueue&>(queue).enqueue(std::move(work));
  }

  static Index rows(Op op, const DeviceView<const T>& a) {
    return op == Op::none ? a.rows : a.cols;
  }
  static Index cols(Op op, const DeviceView<const T>& a) {
    return op == Op::none ? a.cols : a.rows;
  }

  /// The pivots for a matrix whose first row is row `offset`, once they are known to be rows of it.
  std::vector<Index> local_pivots(const char* operation, const DeviceView<const Index>& pivots,
                                  Index offset, Index rows) const {
    const HostView<const Index> host_pivots = open(operation, pivots);
    require(pivots.cols == 1 && pivots.rows <= rows, operation, "the shapes do not fit");
    std::vector<Index> local(static_cast<std::size_t>(pivots.rows));
    for (Index j = 0; j < pivots.rows; ++j) {
      const Index p = host_pivots(j) - offset;
      require(1 <= p && p <= rows, operation, "a pivot is no row of the matrix");
      local[static_cast<std::size_t>(j)] = p;
    }
    return local;
  }
  /// The same of a panel, of whose rows `l` has the first.
  std::vector<Index> pivots_of_panel(const char* operation, const DeviceView<const T>& l,
                                     const DeviceView<const Index>& pivots, Index offset,
                                     Index rows) const {
    require(l.rows == l.cols && l.rows == pivots.rows, operation, "the shapes do not fit");
    const std::vector<Index> local = local_pivots(operation, pivots, offset, rows);
    for (std::size_t j = 0; j < local.size(); ++j) {
      require(local[j] > static_cast<Index>(j), operation, "a pivot is above its own row");
    }
    return local;
  }
  /// Exchanges column j and column local[j] - 1, for all j in turn.
  static void exchange_columns(HostView<T> a, const std::vector<Index>& local) {
    for (Index j = 0; j < static_cast<Index>(local.size()); ++j) {
      const Index p = local[static_cast<std::size_t>(j)] - 1;
      if (p != j) std::swap_ranges(&a(0, j), &a(0, j) + a.rows, &a(0, p));
    }
  }

  /// The view as this machine's CPU sees it, once it is known to lie in device memory.
  template <class U>
  HostView<U> open(const char* operation, const DeviceView<U>& view,
                   Space space = Space::device) const {
    if (!view.empty()) {
      require(view.ld >= view.rows, operation, "a leading dimension is less than the rows");
      machine_.memory.check(
          operation, space, view.data,
          static_cast<std::size_t>((view.cols - 1) * view.ld + view.rows) * sizeof(U));
    }
    return {view.data, view.rows, view.cols, view.ld};
  }
  /// The same if it may lie in staging memory as well.
  template <class U>
  HostView<U> open_anywhere(const char* operation, const DeviceView<U>& view) const {
    const bool staged = machine_.memory.holds(Space::host, view.data, sizeof(U));
    return open(operation, view, staged ? Space::host : Space::device);
  }

  Machine& machine_;
};

}  // namespace

template <class T>
std::unique_ptr<Kernels<T>> make_kernels(Device& device, Machine& machine) {
  return std::make_unique<EmulatedKernels<T>>(device, machine);
}

#define OVERLAPACK_INSTANTIATE(T) \
  template std::unique_ptr<Kernels<T>> make_kernels<T>(Device&, Machine&);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::emulated
