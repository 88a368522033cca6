// The contract between the algorithms and a device. device/cuda and device/emulated implement it
// and pass the same contract test (tests/device/test_device_contract.cpp).
//
// Public functions are non-virtual: they tell the observer, then call the private virtual one.
// Everything a Queue or Kernels function does is asynchronous: it is enqueued and may run at any
// time until somebody waits for it. Every function may throw DeviceError unless it is noexcept.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "core/error.hpp"
#include "core/observer.hpp"
#include "core/scalar.hpp"
#include "core/view.hpp"
#include "device/residues.hpp"
#include "device/tuning.hpp"

namespace overlapack {

class Device;
class Timeline;

/// Whether an event notes the time at which its queue reaches it. Noting costs the device a little.
enum class Timed { no, yes };

/// A point in a queue that other queues and the host can wait for. Recording again moves it.
/// An event that was never recorded counts as reached.
class Event {
 public:
  Event(Device& device, Timed timed) : device_(device), timed_(timed) {}
  virtual ~Event() = default;
  Timed timed() const { return timed_; }
  /// The host waits until the work recorded before the event is complete.
  void synchronize();
  /// Asks without waiting. On a lazy device asking makes the work before the event run.
  bool done();
  /// Microseconds of the device's clock from `earlier` to this event, negative if the device
  /// reached this one first. Waits until it has reached both. NaN if one was dropped with its
  /// queue's work. Both must have been recorded and note the time, else std::logic_error.
  double since(Event& earlier);

 protected:
  Device& device_;

 private:
  friend class Queue;
  template <class T>
  friend class Kernels;
  virtual void do_synchronize() = 0;
  virtual bool do_done() = 0;
  virtual double do_since(Event& earlier) = 0;

  const Timed timed_;
  bool recorded_ = false;
};

/// Which work a busy device starts first.
enum class Priority { normal, high };

/// What a pointer of the caller points to: ordinary memory (a GPU's managed memory counts as such),
/// page-locked memory, memory of the device at hand.
enum class MemoryKind { pageable, pinned, device };

/// A word of staging memory by which a queue tells the host how far it is; see Queue::signal().
/// Make it with placement new.
using Flag = std::atomic<std::uint32_t>;
static_assert(sizeof(Flag) == sizeof(std::uint32_t) && Flag::is_always_lock_free,
              "a device writes it as a plain word");

/// An in-order stream of operations.
class Queue {
 public:
  explicit Queue(Device& device) : device_(device) {}
  virtual ~Queue() = default;
  Device& device() const { return device_; }
  /// What its work is called in a timeline.
  const char* name() const { return name_; }

  /// Copies `count` columns of `bytes` bytes each; consecutive columns lie `to_pitch` and
  /// `from_pitch` bytes apart. Host memory must be staging memory of this device or otherwise
  /// MemoryKind::pinned and must not be touched until the copy is complete.
  void copy_to_device(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t bytes, std::size_t count);
  void copy_to_host(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                    std::size_t bytes, std::size_t count);
  template <class T>
  void copy(DeviceView<T> to, HostView<const T> from);
  template <class T>
  void copy(HostView<T> to, DeviceView<const T> from);
  template <class T>
  void copy(DeviceView<T> to, DeviceView<const T> from, Part part = Part::all);
  /// Copies a part of a rows x cols matrix with elements of `element` bytes (a multiple of 4) from
  /// one place in device memory to another; pitches in bytes. Nothing outside the part is touched.
  void copy_on_device(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t element, Index rows, Index cols, Part part = Part::all,
                      Index diagonal = 0);
  /// Sets `bytes` bytes of device memory to zero.
  void zero(void* device_memory, std::size_t bytes) { zero(device_memory, bytes, bytes, 1); }
  /// `count` pieces of so many bytes, `pitch` bytes apart.
  void zero(void* device_memory, std::size_t pitch, std::size_t bytes, std::size_t count);

  /// `flag` becomes `value` once the work enqueued before is complete; whoever reads the value
  /// (acquire) sees that work's results in staging memory. The flag must live until the queue is
  /// drained. Reading it costs nothing, but whoever waits for it must poll() now and then.
  void signal(Flag& flag, std::uint32_t value);
  /// For a host that waits for a signal of this queue: throws if the device has failed (no signal
  /// would ever come), and makes a lazy device work up to the next signal. Costs a driver call on a
  /// real one: ask rarely.
  void poll();

  void record(Event& event);
  /// Work enqueued from now on starts only after `event`'s last recording is complete.
  void wait(Event& event);
  /// The host waits until the queue is empty.
  void synchronize();
  /// Ends all use of memory by this queue: waits for work under way; work that has not started
  /// may be dropped. For clean-up after success and failure alike.
  void drain() noexcept { do_drain(); }

 protected:
  Device& device_;

 private:
  friend class QueueLease;
  const char* name_ = "";

  virtual void do_copy_to_device(void*, std::size_t, const void*, std::size_t, std::size_t,
                                 std::size_t) = 0;
  virtual void do_copy_to_host(void*, std::size_t, const void*, std::size_t, std::size_t,
                               std::size_t) = 0;
  virtual void do_copy_on_device(void*, std::size_t, const void*, std::size_t, std::size_t, Index,
                                 Index, Part, Index) = 0;
  virtual void do_zero(void*, std::size_t pitch, std::size_t bytes, std::size_t count) = 0;
  virtual void do_signal(Flag&, std::uint32_t) = 0;
  virtual void do_poll() = 0;
  virtual void do_record(Event&) = 0;
  virtual void do_wait(Event&) = 0;
  virtual void do_synchronize() = 0;
  virtual void do_drain() noexcept = 0;
};

/// What happens to the summands of one factor of a product, and is undone in the other one; see
/// Kernels<T>::split().
enum class Weigh { multiply, divide };

/// How the factors of a product are split into parts of low precision (Kernels<T>::split).
struct SplitForm {
  Precision precision;
  Index section;  ///< summands that have a common scale, with fp32

  static constexpr int kPiece = 32;  ///< numbers whose parts stand together, and floats they take
  /// Floats at the beginning of a section. With as many as a piece has, pieces are lines of the
  /// cache; with eight, products took a fifth longer.
  static constexpr int kHeader = kPiece;
};

/// A matrix with its residues (Kernels<T>::residues), n rows of k numbers, which are part of longer
/// rows perhaps.
template <class T>
struct ResidueForm {
  Op op;  ///< op(matrix) is the matrix, none or conj_trans
  DeviceView<const T> matrix;
  DeviceView<Real<T>> scales;  ///< of the rows: powers of two
  DeviceView<std::int8_t>
      numbers;   ///< k x n: the residues for the first modulus, of the first plane
  Index stride;  ///< from these to those for the next one

  // Only with scales that were given to Kernels<T>::residues(), of the rows: sums of squares up to
  // these columns, in units of the squares of scales; the number of the first row; and one element,
  // the number of the first row that is not short.
  DeviceView<Real<T>> squares = {};
  Index first = 0;
  DeviceView<Index> first_long = {};

  /// Complex T: from the residues of each plane to those of the next. Planes have the real parts of
  /// numbers, their imaginary parts, the sums of both, and real parts without imaginary ones.
  Index next_plane = 0;
  static constexpr int kPlanes = is_complex<T> ? 4 : 1;
  /// Of a complex product A B^H: A0 B0^T, A1 B1^T and A2 B3^T of the planes. The first two are its
  /// real part; the third without the first and with the second its imaginary part.
  static constexpr int kProducts = is_complex<T> ? 3 : 1;

  bool has_found_scales() const { return squares.empty(); }
  /// By which the product of scales and numbers is to be multiplied.
  double unit() const { return has_found_scales() ? 1 << residues::kSpareBits : 1; }
  Index rows() const { return op == Op::none ? matrix.rows : matrix.cols; }
  Index summands() const { return op == Op::none ? matrix.cols : matrix.rows; }
};

/// The matrix operations of a device for one precision. BLAS semantics throughout: beta = 0 means
/// that C is not read, only the `uplo` triangle of a triangular or Hermitian matrix is referenced,
/// empty operands are legal and do nothing.
template <class T>
class Kernels {
 public:
  explicit Kernels(Device& device) : device_(device) {}
  virtual ~Kernels() = default;

  /// C := alpha op(A) op(B) + beta C.
  void gemm(Queue& queue, Op op_a, Op op_b, T alpha, DeviceView<const T> a, DeviceView<const T> b,
            T beta, DeviceView<T> c);
  /// B := op(A). A and B do not overlap.
  void copy(Queue& queue, Op op, DeviceView<const T> a, DeviceView<T> b);
  /// C := alpha op(A) op(A)^H + beta C on the `uplo` triangle (?syrk for real T, ?herk for
  /// complex T, where the diagonal's imaginary part becomes zero). op is none or conj_trans.
  void herk(Queue& queue, Uplo uplo, Op op, Real<T> alpha, DeviceView<const T> a, Real<T> beta,
            DeviceView<T> c);
  /// y := y - A x for a Hermitian matrix A of which the `uplo` triangle is given (?symv, ?hemv) and
  /// two columns that do not overlap. Imaginary parts of the diagonal are ignored. `work` is work
  /// space.
  void hemv(Queue& queue, Uplo uplo, DeviceView<const T> a, DeviceView<const T> x, DeviceView<T> y,
            DeviceView<T> work);
  /// Elements of `work` that are enough.
  static constexpr Index hemv_work(Index n) {
    constexpr Index kRows = 512, kColumns = sizeof(T) == 16 ? 16 : 32;
    return n * (quotient_up(n, kColumns) + quotient_up(n, kRows));
  }
  /// B := alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), A triangular.
  void trsm(Queue& queue, Side side, Uplo uplo, Op op, Diag diag, T alpha, DeviceView<const T> a,
            DeviceView<T> b);
  /// Largest number of columns of potrf_panel() and largest order of the blocks of invert_blocks().
  Index potrf_panel_width() const { return do_potrf_panel_width(); }
  /// Cholesky factorization of a block column and what it is below the diagonal: with lower, `a` is
  /// m x n, m >= n; A11 = L11 L11^H for its first n rows, of which the lower triangle is used and
  /// written, and L21 = A21 L11^-H for the others. With upper, `a` is n x m, A11 = U11^H U11 and
  /// U12 = U11^-H A12. What A11's other triangle holds is ignored, as is the imaginary part of its
  /// diagonal. `factor` may be `a`.
  /// If the leading minor of order k is not positive definite (its pivot is <= 0 or NaN) and *info
  /// is still 0, *info becomes offset + k; columns (rows for upper) before k of `factor` are right
  /// then, all else is undefined. `info` is one element.
  /// All three may also lie in staging memory, which a device reaches by itself, once each way.
  /// `notes`, potrf_notes() elements of the device's memory unless it is empty, becomes what
  /// potrf_rows() needs to know of A11.
  void potrf_panel(Queue& queue, Uplo uplo, DeviceView<const T> a, DeviceView<T> factor,
                   DeviceView<Index> info, Index offset, DeviceView<T> notes = {});
  /// L21 = A21 L11^-H (U12 = U11^-H A12) for rows that come later than A11, from the notes on that.
  /// `a` and `factor`, which may be `a`, are these rows (columns): m x n (n x m), n the order of
  /// A11. If A11 was not positive definite, columns (rows) before k are right and all else is
  /// undefined.
  void potrf_rows(Queue& queue, Uplo uplo, DeviceView<const T> notes, DeviceView<const T> a,
                  DeviceView<T> factor);
  Index potrf_notes() const { return do_potrf_notes(); }
  /// The inverses of the diagonal blocks of a Cholesky factor L (or U = L^H), n x n; imaginary
  /// parts of its diagonal are ignored. Blocks have the order of `inverses`' rows, the last one may
  /// be smaller; `inverses` has n columns, and those of a block become its L^-1 (for both
  /// triangles) with zeros above the diagonal. `conditions` has one element for each block: Skeel's
  /// condition number || |L^-1| |L| ||_inf, which no scaling of rows of L changes. They may lie in
  /// staging memory.
  void invert_blocks(Queue& queue, Uplo uplo, DeviceView<const T> factor, DeviceView<T> inverses,
                     DeviceView<Real<T>> conditions);
  /// X := L^-H X for a Cholesky factor L (or U = L^H), n x n, with the inverses that
  /// invert_blocks() has left: as accurate as products with them. `progress` is work space.
  void back_substitute(Queue& queue, Uplo uplo, DeviceView<const T> factor,
                       DeviceView<const T> inverses, DeviceView<T> x, DeviceView<Index> progress);
  /// The beginning of forward elimination. `factor` is m x n, m >= n, from the diagonal down, with
  /// lower, and n x m with upper; `inverses` is what invert_blocks() has left of its diagonal
  /// block, in blocks whose order divides `width`, and n, too, if m > n. Of X, which has m rows,
  /// the first n rows become W = L11^-1 X1, and the others X2 - L21 W.
  ///
  /// For panel p of `width` columns, what X is before they are eliminated goes from the panel's
  /// first row on to columns p k, ... of `states`, where k is the number of columns of X.
  void eliminate(Queue& queue, Uplo uplo, DeviceView<const T> factor, DeviceView<const T> inverses,
                 DeviceView<T> x, Index width, DeviceView<T> states, DeviceView<Index> progress);
  /// Elements of `progress` for blocks of the inverses, here and above.
  static constexpr Index substitution_with_factor_progress(Index blocks, Index columns) {
    return blocks * columns * 128;
  }
  /// LU factorization with partial pivoting, in place, of an m x n panel (m >= n or m < n),
  /// by LAPACK's rule: the largest |re| + |im|, the smallest row among equals; a NaN is chosen only
  /// if it stands on the diagonal (as the reference i?amax does). pivots[j] = offset + 1 + (0-based
  /// row of the panel that was interchanged with row j): LAPACK's ipiv for a panel whose first row
  /// is row `offset` of the matrix; min(m, n) of them. The first exactly zero pivot j stores
  /// offset + j + 1 to *info if *info is still 0; the factorization goes on. `home` gets the pivots
  /// as well; it and *info may lie in staging memory.
  /// `begun`, if there is one, is recorded no later than when the panel has the multiprocessors it
  /// needs all at a time: other queues that wait for it do not take them away.
  void getrf_panel(Queue& queue, DeviceView<T> a, DeviceView<Index> pivots, DeviceView<Index> home,
                   DeviceView<Index> info, Index offset, Event* begun = nullptr);
  /// Width of the panels that take the least time for a column; one after the other, they make a
  /// wider one.
  Index getrf_panel_width() const { return do_getrf_panel_width(); }
  /// Row interchanges as ?laswp: for j = 0, 1, ... (or backwards) rows j and pivots[j]-1-offset
  /// of `a` are exchanged. One gather, not swap by swap.
  void swap_rows(Queue& queue, DeviceView<T> a, DeviceView<const Index> pivots, Index offset,
                 bool forward = true);
  /// The same interchanges, forward, of a matrix that is stored by rows, as `a`: columns j and
  /// pivots[j]-1-offset are exchanged.
  void swap_columns(Queue& queue, DeviceView<T> a, DeviceView<const Index> pivots, Index offset);
  /// The pivots of panels of nb columns, as of getrf_panel() for one after the other from row
  /// `offset` on, as permutations: of the interchanges of panel p and all later ones, row
  /// sources(i, p) is what ends up in row i, both counted from row `offset`. `sources` is
  /// m x (number of panels).
  void compose_interchanges(Queue& queue, DeviceView<const Index> pivots, Index offset, Index nb,
                            DeviceView<Index> sources);
  /// Row i of column c becomes what was row sources(i, c / width) of it, in place. `sources` are
  /// permutations, of at most permutable_rows() rows.
  void permute_rows(Queue& queue, DeviceView<T> a, Index width, DeviceView<const Index> sources);
  Index permutable_rows() const { return do_permutable_rows(); }
  /// A step of LU on the columns `a` to the right of a panel: forward interchanges as swap_rows(),
  /// then U := L^-1 U for the first rows of `a`, as many as there are pivots. L is the unit lower
  /// triangle of the square matrix `l`, on whose diagonal that of its U may tell whether rows are
  /// of different sizes. The pivots are those of a panel: row j is exchanged with itself or one
  /// below.
  void interchange_and_solve(Queue& queue, DeviceView<const T> l, DeviceView<const Index> pivots,
                             Index offset, DeviceView<T> a);
  /// A step of LU whole, by one kernel, where the device has one for such shapes: the same with L11
  /// of `panel` = [L11; L21], then A2 -= L21 U for the rows of `a` below. Returns false where it
  /// has none, and then has done nothing.
  bool step_at_once(Queue& queue, DeviceView<const T> panel, DeviceView<const Index> pivots,
                    Index offset, DeviceView<T> a);
  /// interchange_and_solve() for columns that are kept by rows, as their adjoint `a`: interchanges
  /// of its columns as swap_columns(), then X := X L^-H for the first columns of `a`. No
  /// interchanges if there are no pivots. If there are `inverses`, X is multiplied by them where
  /// that is about as accurate: where no element of an inverse is larger than kLargestOfInverse as
  /// compared with the sizes of rows, and for rows of X that are finite.
  void interchange_and_solve_by_rows(Queue& queue, DeviceView<const T> l,
                                     DeviceView<const Index> pivots, Index offset, DeviceView<T> a,
                                     DeviceView<const Index> inverses = {});
  /// Finds `inverses`: those of the diagonal blocks of order kInverted of the unit lower triangle L
  /// of a square matrix `lu`, in double precision. The size of a row is that of the largest element
  /// of U in the last kSizing columns of a block: all rows but the last few have elements in the
  /// same columns there, so sizes of columns do not matter.
  void find_inverses(Queue& queue, DeviceView<const T> lu, DeviceView<Index> inverses);
  static constexpr Index kInverted = 256, kSizing = 16;
  static constexpr double kLargestOfInverse = 16;
  /// Elements of `inverses` for a triangle of order n.
  static constexpr Index elements_of_inverses(Index n) {
    constexpr Index kTile = 16, kWords = kTile * kTile * (is_complex<T> ? 2 : 1);
    const auto of_block = [](Index order) {
      const Index tiles = quotient_up(order, kTile);
      return order > 0 ? kInverted / kTile + tiles * (tiles + 1) / 2 * kWords : 0;
    };
    return n / kInverted * of_block(kInverted) + of_block(n % kInverted);
  }

  /// Largest number of columns of update_panel().
  Index update_panel_width() const { return do_update_panel_width(); }
  /// Takes a block column of a Cholesky factor, and what V is when the columns before it have been
  /// through, to those of an updated matrix. With lower, `a` is m x n, m >= n, from the diagonal
  /// down; with upper, it is n x m. With S = diag(I, -I), whose first part has the order `plus`,
  ///
  ///   L' L'^H + V' S V'^H = L L^H + V S V^H,  and the first n rows of V' (m x k) are zero.
  ///
  /// L' goes to `factor`, which may be `a`. The other rows of V' go to `rest`, which may be those
  /// of V. Of the diagonal block one triangle is read and written; imaginary parts of the diagonal
  /// are ignored, and its elements keep their signs. Vectors of zeros change nothing. If a leading
  /// minor of order j is not positive definite after the subtraction, as far as can be told (a
  /// square of a diagonal element has no more than eps of itself left), and *info is 0, *info
  /// becomes offset + j for the smallest j; all else is undefined then. `info` is one element. For
  /// one vector that is added, column j may be asked for its rotation: if `c` and `s` are not
  /// empty, l' = c_j l + conj(s_j) v and v' = c_j v - s_j l with c_j >= 0.
  void update_panel(Queue& queue, Uplo uplo, DeviceView<const T> a, DeviceView<T> factor,
                    Index plus, DeviceView<const T> v, DeviceView<T> rest, DeviceView<Index> info,
                    Index offset, DeviceView<Real<T>> c = {}, DeviceView<T> s = {});
  /// Updates of the factor L of A to that of A + sign V V^H, panel by panel of `width` columns,
  /// where panels need not wait for each other. Let W = L^-1 V, and T(p) = I + sign (the sum of
  /// w^H w for its rows w before panel p) = R(p)^H R(p). Then V, when the columns before panel p
  /// have been through the update, is what eliminate() leaves as the state of panel p, times the
  /// upper triangular R(p)^-1. (This is Woodbury's formula for what the update adds to the Schur
  /// complement. As with every root, a unitary factor is free.)
  ///
  /// `w` has the rows of W from panel `first` on. With its k columns, columns k p, ... of `bases`
  /// become R(p)^-1 (with zeros below the diagonal) for the panels behind those of w, and for panel
  /// 0 if `first` is 0. `grams` keeps the sums of each panel between calls for consecutive panels.
  /// *unfit becomes 1 if a T(p) is not positive definite, has a NaN, or is large or has a large
  /// inverse: if max(1, T(c, c)) max(1, (T^-1)(c, c)), which also bounds the condition within a
  /// factor of k^2, is larger than `limit`.
  void update_bases(Queue& queue, int sign, DeviceView<const T> w, Index width, Index first,
                    double limit, DeviceView<Double<T>> grams, DeviceView<Double<T>> bases,
                    DeviceView<Index> unfit);
  /// Vectors that update_bases() and update_panels() take at most.
  static constexpr Index kUpdateVectors = is_complex<T> ? 8 : 32;
  /// Numbers of `reflectors` for each column.
  static constexpr Index kUpdateReflector = kUpdateVectors + 4;
  /// Does what update_panel() does in place for all panels of update_panel_width() columns of the
  /// m x n matrix `a` (n x m with upper), for k vectors with one sign: for panel p, V is the state
  /// of the panel times its base, see above; the views begin with those of the first panel. If
  /// m > n, n is a multiple of that width. `reflectors` is work space. *info becomes 1 + the number
  /// of some column if a leading minor is not definite, and otherwise stays.
  void update_panels(Queue& queue, Uplo uplo, int sign, DeviceView<T> a, DeviceView<const T> states,
                     Index k, DeviceView<const Double<T>> bases, DeviceView<Double<T>> reflectors,
                     DeviceView<Index> info, DeviceView<Real<T>> c = {}, DeviceView<T> s = {});
  /// *found becomes 1 if an element of a part of `a` (as in rows_of_column, diagonal 0) is infinite
  /// or a NaN; otherwise it stays. The imaginary part of a triangle's diagonal counts, too.
  void find_not_finite(Queue& queue, Part part, DeviceView<const T> a, DeviceView<Index> found);

  // ---- Products of split operands: the accuracy of float at the speed of FP16, or less accuracy
  // and more speed.
  //
  // Tensor cores multiply FP16 matrices many times faster than other units multiply float ones. An
  // FP16 number has a significand of 11 bits. A float is the sum hi + lo of two FP16 numbers to
  // within 2^-23 of itself, if their small range allows it, and x y = hi hi + hi lo + lo hi to
  // within 2^-21 of itself: a product of float matrices is three of FP16 matrices (Ootomo and
  // Yokota, Int. J. High Perform. Comput. Appl. 36, 2022).
  //
  // The split form of a factor is a matrix of Real<T> whose columns run along the summation, which
  // is how tensor cores read such numbers: column i is row i of a left factor or column i of a
  // right one. A complex product becomes a real one first: a row of the left factor is two columns,
  // (re, -im) and (im, re) for each number, and a column of the right one is (re, im) for each
  // number.
  //
  // A column is a sequence of sections of so many summands, of which the last one may have fewer. A
  // section begins with SplitForm::kHeader floats, the first of which is a power of two by which
  // all its numbers are to be multiplied, the others zero: what is stored is at most 2^15, and,
  // unless all is zero or so small that it is exact anyway, 2^14 is reached. Then follow the
  // numbers, 32 by 32 with zeros at the end: their high parts, then their low parts, two to a
  // float, the first in its lower half. So a number is stored to within 2^-23 of itself or 2^-39 of
  // the largest one in its section, whichever is more. A form may be cut between sections.
  //
  // The error of element (i, j) of A B is that of float in k max_l |a_il| max_l |b_lj|, not in
  // sum_l |a_il b_lj|. That makes a difference where what is large in the row and what is large in
  // the column do not meet: the L and U of an LU of rows of very different sizes are such matrices.
  // If A = A' D^-1 and B = D B' with the diagonal matrix D, it is D that must go: see `sizes`
  // below.
  //
  // Tensor cores cut sums off where float rounds them, and always toward zero; so long sums drift.
  // Therefore the sums of sections are scaled and added up in float.
  //
  // That is Precision::fp32. The less accurate forms have one part for each number and no sections.
  // With tf32 it is a TF32 number: a float of 11 bits. With fp16 it is an FP16 number (from 2^-24
  // to 65504), rounded to the nearest, to even if there are two. Two of these share an element of
  // the split form, the first in its lower half, and a zero follows an odd number of them. So a
  // split form may be cut at even numbers of summands. What is finite stays so: beyond 65504 it
  // becomes 65504. It is the caller's to scale numbers so that this does not happen, and that few
  // are subnormal.
  //
  // Infinities and NaNs spread as in any sum of products, but with fp32 an infinity may become a
  // NaN (it meets the low part of another number, which may be zero). Where a product overflows, or
  // the left factor has numbers beyond 2^103, the result may be infinite or NaN instead of the
  // other.

  /// Whether split operands exist for T: in single precision. The rest is for such T only.
  static constexpr bool kSplits = std::is_same_v<Real<T>, float>;
  /// Whether a product of an m x k and a k x n matrix is faster by split operands, the work of
  /// splitting them included.
  bool split_pays(Precision precision, Index m, Index n, Index k) const;
  /// SplitForm::section at most.
  static constexpr Index kSplitSection = is_complex<T> ? 128 : 256;
  /// Rows of the split form of a factor of a product with k summands.
  static constexpr Index split_rows(SplitForm form, Index k) {
    constexpr Index reals = is_complex<T> ? 2 : 1;
    if (form.precision == Precision::fp16) return (reals * k + 1) / 2;
    if (form.precision == Precision::tf32) return reals * k;
    constexpr Index kPiece = SplitForm::kPiece;
    const auto rows = [](Index numbers) {
      return numbers > 0 ? SplitForm::kHeader + round_up(numbers, kPiece) : 0;
    };
    return k / form.section * rows(reals * form.section) + rows(reals * (k % form.section));
  }
  /// Columns of the split form of a left factor with n rows, or of a right factor with n columns.
  static constexpr Index split_cols(Side side, Index n) {
    return is_complex<T> && side == Side::left ? 2 * n : n;
  }
  /// `to` := the split form of op(from), the factor on that side of a product. With fp32, it must
  /// lie at a multiple of 32 bytes and so must its columns. If there are `sizes`, with fp32 and for
  /// both factors, summand l of one factor is multiplied by the largest power of two that is not
  /// larger than sizes(l), within 2^-126 and 1, and that of the other one divided. So if sizes(l)
  /// are the largest numbers of these, not beyond 1, they become equal.
  void split(Queue& queue, SplitForm form, Side side, Op op, DeviceView<const T> from,
             DeviceView<Real<T>> to, DeviceView<const Real<T>> sizes = {},
             Weigh weigh = Weigh::multiply);
  /// C := alpha A B + beta C for split forms of A and B with k summands, with sums in FP32.
  void split_gemm(Queue& queue, SplitForm form, Index k, Real<T> alpha, DeviceView<const Real<T>> a,
                  DeviceView<const Real<T>> b, Real<T> beta, DeviceView<T> c);

  // ---- Products of residues: the accuracy of double at the speed of small integers.
  //
  // Tensor cores multiply int8 matrices so many times faster than other units multiply double ones
  // that a product of integers of 54 bits is faster by residues: modulo each of fourteen numbers of
  // eight bits the factors are int8 matrices, their product is exact in int32, and fourteen of
  // these tell the sum of products, which is an integer of 109 bits (Ozaki, Uchino and Imamura,
  // "Ozaki scheme II", 2025). To get there and back costs as much as a sum of 1000 products and
  // more, so that this is for long sums only.
  //
  // A number is rounded to a multiple of 2^-54 of the scale of its row, a power of two. A row is
  // short if its norm is no more than 1.375 times its scale. So the error of a product of two short
  // rows is at most 2^-53 of the product of their scales and of the root of the number of summands.
  // That is as good as double precision if the norms of rows are what errors are measured by, as
  // they are in a Cholesky factorization: with scales of 0.73 to 1.46 times the roots of the
  // diagonal of A = L L^T, every row of L is short.

  // Of complex numbers it is three products of real ones instead of four. That loses accuracy in
  // floating point (Higham, Accuracy and Stability, 23.2.4), but nothing where products are exact.

  /// Whether residues exist for T: in double precision. The rest is for such T only.
  static constexpr bool kResidues = std::is_same_v<Real<T>, double>;
  /// Whether C - A B^H, for matrices of m x k and n x k, is faster by residues, of which those of m
  /// times n numbers must be found for it.
  bool residues_pay(Index m, Index n, Index k) const;
  /// The same for scaled_residues(), where the residues of both factors must be found.
  bool scaled_residues_pay(Index m, Index n, Index k) const;
  /// Summands of products are multiples of this, and so are all distances within the residues. A
  /// product may read beyond the residues of its last rows, up to a multiple of this many rows.
  Index residue_unit() const { return do_residue_unit(); }
  /// Elements of `work` below for an m x n matrix C or a smaller one. Another number than for one
  /// of n x m.
  Index residue_work(Index m, Index n) const { return do_residue_work(m, n); }
  /// Finds the residues of.numbers of of.matrix. of.squares become those `before` (zeros, if there
  /// are none) and what the matrix adds, and *of.first_long the number of the first row that is not
  /// short any more, if that is less than what it is.
  void residues(Queue& queue, const ResidueForm<T>& of, DeviceView<const Real<T>> before);
  /// Finds scales for rows of which nothing is known, and of.numbers by them; all rows are short
  /// then, but what belongs to one with an infinity or a NaN becomes NaN. If there are `sizes`,
  /// summand l is multiplied by the largest power of two that is not larger than sizes(l), within
  /// 2^-900 and 1, or divided by it; see split(). Rows of which summands are divided must not be
  /// longer than 2^900. `of` has no squares.
  void scaled_residues(Queue& queue, Weigh weigh, const ResidueForm<T>& of,
                       DeviceView<const Real<T>> sizes);
  /// C := beta C - A B^H for short rows of A and B. What belongs to another one becomes NaN, but
  /// what belongs to the first one of all is computed in double precision, slowly.
  void residue_gemm(Queue& queue, const ResidueForm<T>& a, const ResidueForm<T>& b, T beta,
                    DeviceView<T> c, DeviceView<std::int32_t> work);

  /// Finds what substitute() multiplies by instead of solving, for a triangular n x n matrix A: a
  /// link of its chain for each block of rows, in double precision. For T in single precision only.
  void find_links(Queue& queue, Uplo uplo, Diag diag, DeviceView<const T> a,
                  DeviceView<Index> links);
  /// Rows of a block of substitute().
  static constexpr Index kSubstituted = std::is_same_v<T, float> ? 128 : 64;
  /// Elements of `links`.
  static constexpr Index substitution_links(Index n) {
    constexpr Index kWords = is_complex<T> ? 2 : 1;
    return kSplits ? quotient_up(n, kSubstituted) * (2 * kSubstituted * kSubstituted * kWords) : 0;
  }
  /// X := A^-1 X for a triangular n x n matrix A and few columns of X: what trsm() does from the
  /// left, by one kernel instead of many. `progress` is work space. In single precision `links` is
  /// what find_links() has left of the same triangle; if the inverse of a block on the diagonal
  /// overflows double precision, so may X. A NaN or an infinity may spread to elements of X before
  /// it.
  void substitute(Queue& queue, Uplo uplo, Diag diag, DeviceView<const T> a,
                  DeviceView<const Index> links, DeviceView<T> x, DeviceView<Index> progress);
  /// Elements of `progress` that are enough.
  static constexpr Index substitution_progress(Index n, Index columns) {
    constexpr Index kColumns = 4, kPerColumn = kSubstituted * Index{sizeof(T)} / 4;
    return quotient_up(n, kSubstituted) * quotient_up(columns, kColumns) * kColumns * kPerColumn;
  }

  /// Writes the other triangle of a Hermitian matrix of which the `uplo` one is given; imaginary
  /// parts of the diagonal become zero.
  void mirror(Queue& queue, Uplo uplo, DeviceView<T> a);

  // ---- Norms. A NaN anywhere makes a norm NaN, as in LAPACK.

  /// norms(j) := the largest |re| + |im| of column j, 0 if it has no element.
  void column_norms(Queue& queue, DeviceView<const T> a, DeviceView<Real<T>> norms);
  /// *result := a norm as by ?lange, or of a matrix of which the `uplo` triangle is given, as by
  /// ?lansy and ?lanhe (imaginary parts of a Hermitian matrix's diagonal are ignored). 0 if `a` has
  /// no elements. `work` is work space of a.rows elements for the latter, and is not touched
  /// otherwise.
  void norm(Queue& queue, Norm norm, Symmetry symmetry, Uplo uplo, DeviceView<const T> a,
            DeviceView<Real<T>> work, DeviceView<Real<T>> result);
  /// *result := the largest (smallest) element, or of complex numbers the largest (smallest) real
  /// or imaginary part; NaN if any is. `a` has elements.
  void largest(Queue& queue, DeviceView<const T> a, DeviceView<Real<T>> result);
  void smallest(Queue& queue, DeviceView<const T> a, DeviceView<Real<T>> result);

  // ---- Mixed precision, for T in double precision only.

  /// Whether T can be rounded to single precision.
  static constexpr bool kRounds = std::is_same_v<Real<T>, double>;
  /// Rounds a part of a matrix, as ?lag2? and ?lat2?: *overflow becomes 1 if a number of the part
  /// is beyond single precision's largest, and stays as it is otherwise. (NaNs are not.) Nothing
  /// outside the part is touched.
  ///
  /// With row_sizes or column_sizes or both, element (i, j) is divided by p(row_sizes(i)) and
  /// p(column_sizes(j)) before it is rounded; overflow is that of the element as it was. p(x) is
  /// the smallest power of two above |x|, but from 2^-500 to 2^500; for 0 and what is not finite
  /// it is 1.
  void round(Queue& queue, Part part, DeviceView<const T> from, DeviceView<Single<T>> to,
             DeviceView<Index> overflow, DeviceView<const Real<T>> row_sizes = {},
             DeviceView<const Real<T>> column_sizes = {});
  /// The same without sizes, of numbers of which only the high words are there: those of one number
  /// lie where its rounded form would. The others count as zero, so that what is rounded has 21
  /// significant bits. Nothing is said of overflow: join() knows.
  void round_high(Queue& queue, Part part, DeviceView<const Single<T>> high,
                  DeviceView<Single<T>> to);
  /// Makes numbers of their high and low words. *overflow as by round().
  void join(Queue& queue, Part part, DeviceView<const Single<T>> high,
            DeviceView<const Single<T>> low, DeviceView<T> to, DeviceView<Index> overflow);
  /// to := from + beta to, with row i of `from` divided by p(row_sizes(i)) if there are sizes.
  void widen(Queue& queue, DeviceView<const Single<T>> from, T beta, DeviceView<T> to,
             DeviceView<const Real<T>> row_sizes = {});

 protected:
  Device& device_;

 private:
  void extreme(Queue& queue, bool largest, DeviceView<const T> a, DeviceView<Real<T>> result);

  virtual void do_gemm(Queue&, Op, Op, T, DeviceView<const T>, DeviceView<const T>, T,
                       DeviceView<T>) = 0;
  virtual void do_copy(Queue&, Op, DeviceView<const T>, DeviceView<T>) = 0;
  virtual void do_herk(Queue&, Uplo, Op, Real<T>, DeviceView<const T>, Real<T>, DeviceView<T>) = 0;
  virtual void do_hemv(Queue&, Uplo, DeviceView<const T>, DeviceView<const T>, DeviceView<T>,
                       DeviceView<T>) = 0;
  virtual void do_trsm(Queue&, Side, Uplo, Op, Diag, T, DeviceView<const T>, DeviceView<T>) = 0;
  virtual Index do_potrf_panel_width() const = 0;
  virtual void do_potrf_panel(Queue&, Uplo, DeviceView<const T>, DeviceView<T>, DeviceView<Index>,
                              Index, DeviceView<T>) = 0;
  virtual void do_potrf_rows(Queue&, Uplo, DeviceView<const T>, DeviceView<const T>,
                             DeviceView<T>) = 0;
  virtual Index do_potrf_notes() const = 0;
  virtual void do_invert_blocks(Queue&, Uplo, DeviceView<const T>, DeviceView<T>,
                                DeviceView<Real<T>>) = 0;
  virtual void do_back_substitute(Queue&, Uplo, DeviceView<const T>, DeviceView<const T>,
                                  DeviceView<T>, DeviceView<Index>) = 0;
  virtual void do_eliminate(Queue&, Uplo, DeviceView<const T>, DeviceView<const T>, DeviceView<T>,
                            Index, DeviceView<T>, DeviceView<Index>) = 0;
  virtual Index do_getrf_panel_width() const = 0;
  virtual void do_getrf_panel(Queue&, DeviceView<T>, DeviceView<Index>, DeviceView<Index>,
                              DeviceView<Index>, Index, Event*) = 0;
  virtual void do_swap_rows(Queue&, DeviceView<T>, DeviceView<const Index>, Index, bool) = 0;
  virtual void do_swap_columns(Queue&, DeviceView<T>, DeviceView<const Index>, Index) = 0;
  virtual void do_compose_interchanges(Queue&, DeviceView<const Index>, Index, Index,
                                       DeviceView<Index>) = 0;
  virtual Index do_permutable_rows() const = 0;
  virtual void do_permute_rows(Queue&, DeviceView<T>, Index, DeviceView<const Index>) = 0;
  virtual void do_interchange_and_solve(Queue&, DeviceView<const T>, DeviceView<const Index>, Index,
                                        DeviceView<T>) = 0;
  virtual bool do_has_step_at_once(Index rows, Index order, Index columns) const = 0;
  virtual void do_step_at_once(Queue&, DeviceView<const T>, DeviceView<const Index>, Index,
                               DeviceView<T>) = 0;
  virtual void do_interchange_and_solve_by_rows(Queue&, DeviceView<const T>,
                                                DeviceView<const Index>, Index, DeviceView<T>,
                                                DeviceView<const Index>) = 0;
  virtual void do_find_inverses(Queue&, DeviceView<const T>, DeviceView<Index>) = 0;
  virtual Index do_update_panel_width() const = 0;
  virtual void do_update_panel(Queue&, Uplo, DeviceView<const T>, DeviceView<T>, Index,
                               DeviceView<const T>, DeviceView<T>, DeviceView<Index>, Index,
                               DeviceView<Real<T>>, DeviceView<T>) = 0;
  virtual void do_update_bases(Queue&, int, DeviceView<const T>, Index, Index, double,
                               DeviceView<Double<T>>, DeviceView<Double<T>>, DeviceView<Index>) = 0;
  virtual void do_update_panels(Queue&, Uplo, int, DeviceView<T>, DeviceView<const T>, Index,
                                DeviceView<const Double<T>>, DeviceView<Double<T>>,
                                DeviceView<Index>, DeviceView<Real<T>>, DeviceView<T>) = 0;
  virtual void do_find_not_finite(Queue&, Part, DeviceView<const T>, DeviceView<Index>) = 0;
  virtual void do_split(Queue&, SplitForm, Side, Op, DeviceView<const T>, DeviceView<Real<T>>,
                        DeviceView<const Real<T>>, Weigh) = 0;
  virtual void do_split_gemm(Queue&, SplitForm, Index k, Real<T>, DeviceView<const Real<T>>,
                             DeviceView<const Real<T>>, Real<T>, DeviceView<T>) = 0;
  virtual Index do_residue_unit() const = 0;
  virtual Index do_residue_work(Index m, Index n) const = 0;
  virtual void do_residues(Queue&, const ResidueForm<T>&, DeviceView<const Real<T>>) = 0;
  virtual void do_scaled_residues(Queue&, Weigh, const ResidueForm<T>&,
                                  DeviceView<const Real<T>>) = 0;
  virtual void do_residue_gemm(Queue&, const ResidueForm<T>&, const ResidueForm<T>&, T,
                               DeviceView<T>, DeviceView<std::int32_t>) = 0;
  virtual void do_column_norms(Queue&, DeviceView<const T>, DeviceView<Real<T>>) = 0;
  virtual void do_norm(Queue&, Norm, Symmetry, Uplo, DeviceView<const T>, DeviceView<Real<T>>,
                       DeviceView<Real<T>>) = 0;
  virtual void do_extreme(Queue&, bool largest, DeviceView<const Real<T>>, DeviceView<Real<T>>) = 0;
  virtual void do_round(Queue&, Part, DeviceView<const T>, DeviceView<Single<T>>, DeviceView<Index>,
                        DeviceView<const Real<T>>, DeviceView<const Real<T>>) = 0;
  virtual void do_round_high(Queue&, Part, DeviceView<const Single<T>>, DeviceView<Single<T>>) = 0;
  virtual void do_join(Queue&, Part, DeviceView<const Single<T>>, DeviceView<const Single<T>>,
                       DeviceView<T>, DeviceView<Index>) = 0;
  virtual void do_widen(Queue&, DeviceView<const Single<T>>, T, DeviceView<T>,
                        DeviceView<const Real<T>>) = 0;
  virtual void do_mirror(Queue&, Uplo, DeviceView<T>) = 0;
  virtual void do_find_links(Queue&, Uplo, Diag, DeviceView<const T>, DeviceView<Index>) = 0;
  virtual void do_substitute(Queue&, Uplo, Diag, DeviceView<const T>, DeviceView<const Index>,
                             DeviceView<T>, DeviceView<Index>) = 0;
};

/// Bytes of one pool of memory. A lease counts with the whole block that it was given.
struct PoolUse {
  std::size_t leased = 0;  ///< in use now
  std::size_t peak = 0;    ///< the most in use at a time since Device::reset_peak_use()
  std::size_t held = 0;    ///< in use, or kept for later
};

/// One accelerator. Thread-safe; the queues and events it makes are not.
/// Memory, queues and events come from pools that keep what is given back.
class Device {
 public:
  virtual ~Device() = default;

  const std::string& name() const { return name_; }    ///< "cuda:0", "host"
  const std::string& model() const { return model_; }  ///< "NVIDIA H200", "emulated device"
  std::size_t memory() const { return memory_; }       ///< total bytes of device memory
  bool emulated() const { return emulated_; }
  /// Whether nothing that is enqueued runs until somebody asks or waits for it, as on an emulated
  /// device: who wants progress must go on asking.
  bool works_when_asked() const { return emulated_; }
  /// What was measured of its generation.
  const Tuning& tuning() const { return tuning_; }

  template <class T>
  Kernels<T>& kernels();

  /// Throws DeviceError if `memory` belongs to another device.
  MemoryKind kind_of(const void* memory) { return do_kind_of(memory); }
  /// As long as the calling thread holds the result, operations need not make the device current
  /// one by one. Only saves time, where the program has another device or none.
  std::shared_ptr<void> make_current() { return do_make_current(); }
  /// Waits for all that has been enqueued on the device, in queues of ours or in the program's own
  /// streams, which our queues take no notice of.
  void await_all() { do_await_all(); }

  void set_observer(Observer* observer) { observer_ = observer; }
  DeviceCounters& counters() { return counters_; }
  /// The timeline that the spans of algorithms go to (device/timeline.hpp); none by default. Set it
  /// while no call is under way.
  void set_timeline(Timeline* timeline) { timeline_ = timeline; }
  Timeline* timeline() const { return timeline_; }
  /// Memory that the leases of buffer.hpp take. What the driver and its libraries take for
  /// themselves is not in it.
  PoolUse pool_use(Space space);
  void reset_peak_use();
  /// From now on leases of device memory, and what is kept idle, are at most so many bytes
  /// together; more is refused. 0: no limit.
  void set_memory_limit(std::size_t bytes);
  /// Tells the observer and counts. Called by every public operation.
  void before(Action action, const char* name, double amount = 0);

 protected:
  Device(std::string name, std::string model, std::size_t memory, bool emulated,
         const Tuning& tuning)
      : name_(std::move(name)),
        model_(std::move(model)),
        memory_(memory),
        emulated_(emulated),
        tuning_(tuning) {}
  /// Gives every pooled block, queue and event back to the driver. A subclass whose objects live
  /// only as long as itself calls it in its destructor.
  void clear_pools() noexcept;

 private:
  template <class T>
  friend class Buffer;
  friend class QueueLease;
  friend class EventLease;

  // Pooled acquisition, used by the leases in buffer.hpp.
  void* acquire(Space space, std::size_t bytes);
  void give_back(Space space, void* memory) noexcept;
  std::unique_ptr<Queue> acquire_queue(Priority priority);
  void give_back(Priority priority, std::unique_ptr<Queue> queue) noexcept;
  std::unique_ptr<Event> acquire_event(Timed timed);
  void give_back(std::unique_ptr<Event> event) noexcept;

  /// Space::host means staging memory: page-locked, so that copies to and from it run
  /// asynchronously at the speed of the link.
  virtual void* do_allocate(Space space, std::size_t bytes) = 0;
  virtual void do_free(Space space, void* memory) noexcept = 0;
  /// Called when pooled memory is handed out again; the emulated device poisons it.
  virtual void do_reuse(Space, void*, std::size_t) {}
  virtual MemoryKind do_kind_of(const void* memory) = 0;
  virtual std::unique_ptr<Queue> do_make_queue(Priority priority) = 0;
  virtual std::unique_ptr<Event> do_make_event(Timed timed) = 0;
  virtual std::shared_ptr<void> do_make_current() = 0;
  virtual void do_await_all() = 0;
  virtual Kernels<float>& do_kernels(float) = 0;
  virtual Kernels<double>& do_kernels(double) = 0;
  virtual Kernels<std::complex<float>>& do_kernels(std::complex<float>) = 0;
  virtual Kernels<std::complex<double>>& do_kernels(std::complex<double>) = 0;

  struct Block {
    void* memory;
    std::size_t bytes;
  };
  struct MemoryPool {
    std::vector<Block> idle;
    std::unordered_map<void*, std::size_t> leased;
    PoolUse use;
  };
  MemoryPool& pool(Space space) { return space == Space::device ? device_pool_ : staging_pool_; }
  void free_idle(MemoryPool& pool, Space space) noexcept;

  std::string name_, model_;
  std::size_t memory_;
  bool emulated_;
  const Tuning tuning_;
  Observer* observer_ = nullptr;
  Timeline* timeline_ = nullptr;
  DeviceCounters counters_;
  std::mutex mutex_;  // guards the pools
  MemoryPool device_pool_, staging_pool_;
  std::size_t memory_limit_ = 0;
  std::vector<std::unique_ptr<Queue>> idle_queues_[2];  // by Priority
  std::vector<std::unique_ptr<Event>> idle_events_[2];  // by Timed
};

// ---- implementation of templates ----------------------------------------------------------

template <class T>
Kernels<T>& Device::kernels() {
  return do_kernels(T{});
}

template <class T>
bool Kernels<T>::split_pays(Precision precision, Index m, Index n, Index k) const {
  return kSplits && overlapack::split_pays<T>(device_.tuning().rates, precision, m, n, k);
}

template <class T>
bool Kernels<T>::residues_pay(Index m, Index n, Index k) const {
  return kResidues && overlapack::residues_pay<T>(device_.tuning().rates, m, n, k);
}

template <class T>
bool Kernels<T>::scaled_residues_pay(Index m, Index n, Index k) const {
  return kResidues && overlapack::scaled_residues_pay<T>(device_.tuning().rates, m, n, k);
}

template <class T>
void Queue::copy(DeviceView<T> to, HostView<const T> from) {
  copy_to_device(to.data, sizeof(T) * static_cast<std::size_t>(to.ld), from.data,
                 sizeof(T) * static_cast<std::size_t>(from.ld),
                 sizeof(T) * static_cast<std::size_t>(from.rows),
                 static_cast<std::size_t>(from.cols));
}

template <class T>
void Queue::copy(HostView<T> to, DeviceView<const T> from) {
  copy_to_host(to.data, sizeof(T) * static_cast<std::size_t>(to.ld), from.data,
               sizeof(T) * static_cast<std::size_t>(from.ld),
               sizeof(T) * static_cast<std::size_t>(from.rows),
               static_cast<std::size_t>(from.cols));
}

template <class T>
void Queue::copy(DeviceView<T> to, DeviceView<const T> from, Part part) {
  copy_on_device(to.data, sizeof(T) * static_cast<std::size_t>(to.ld), from.data,
                 sizeof(T) * static_cast<std::size_t>(from.ld), sizeof(T), from.rows, from.cols,
                 part);
}

}  // namespace overlapack
