// What the library knows of a family of routines, apart from how its calls are carried out.
#pragma once

#include <algorithm>
#include <cstddef>

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/shape.hpp"
#include "core/view.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// Options that make a call faster and take memory of their own. A plan tries them in this order.
enum class Form { split, by_rows, halves, residues };
inline constexpr Form kForms[] = {Form::split, Form::by_rows, Form::halves, Form::residues};

/// A call, as far as its plan depends on it, and the device that it is planned for.
struct Request {
  Device& device;
  char type;  ///< s, d, c or z: of A as the caller has it
  Shape shape;
  Upload upload = Upload::automatic;
  bool resident = false;  ///< the matrix lies in the device's memory

  bool is_single() const { return type == 's' || type == 'c'; }
  const Tuning& tuning() const { return device.tuning(); }
};

/// What plans, profiles and the benchmark ask of a family. There is one object for each family, and
/// one row for each routine in the table that leads to it (dispatch/routine.hpp).
class FamilyTraits {
 public:
  /// The one number that a call is judged by: from its break-even on the device is faster.
  virtual Index size(const Shape& shape) const = 0;
  /// The break-evens of a machine that nobody has tuned, by what is known of its GPU's generation.
  /// `solves`: of the routine with right-hand sides, in a family that has one without.
  virtual const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                              bool solves) const = 0;
  /// The break-even of a call of this type and shape, where the profile has `threshold`.
  virtual Index break_even(char type, const Shape& shape, Index threshold) const;
  /// Right-hand sides of a typical call of order n, by which the break-even is measured.
  virtual Index typical_right_hand_sides(Index n) const;
  /// LAPACK's operation count for real numbers. Complex numbers take four times as many.
  virtual double flops(const Shape& shape) const = 0;
  /// The same of a call that has returned a positive `info`: only what it has done counts.
  virtual double flops_until(const Shape& shape, Index info) const;
  /// The block size, if nobody asks for another one. `residues`: long sums are by residues.
  virtual Index block_size(const Request& request, bool residues) const = 0;
  /// A smaller block size, for which a call needs less memory; 0 if there is none.
  virtual Index narrower(const Request& request, Index nb) const;
  /// Whether the family has a form for such a call, which has the forms before it in kForms as
  /// `chosen` says.
  virtual bool offers(Form form, const Request& request, const Options& chosen) const;
  /// Options::leading for a call that is otherwise carried out as `chosen` says.
  virtual Index leading_order(const Request& request, const Options& chosen) const;
  /// Whether a solution in lower precision is refined, so that products may have
  /// Options::precision.
  virtual bool refines() const { return false; }
  /// Bytes of device memory that a call takes at most with these options: the sum of what the
  /// classes that carry it out say of themselves. What works within Options::memory has no more
  /// than the least that it can do with.
  virtual std::size_t memory(const Request& request, const Options& options) const = 0;
  /// How much of the matrix is on the device at a time if the call is carried out within
  /// Options::memory with Options::out_of_core: columns of the matrix, or right-hand sides of a
  /// solve. 0: the family cannot, or there is so little memory that it does not pay.
  virtual Index columns_out_of_core(const Request& request, const Options& options) const;
  /// Elements of the least part of that which grows with the shape alone. Who asks for memory()
  /// must know that it is not more than a device may have: a sum in bytes might overflow.
  virtual double least_elements(const Shape& shape) const;

 protected:
  ~FamilyTraits() = default;  // objects live as long as the process
};

/// The block size for a matrix of that order.
Index block_columns(const Tuning::Blocks& blocks, char type, Index order, bool residues);

/// Operations of solves with the factors of an n x n matrix.
double flops_of_solves(const Shape& shape);

}  // namespace overlapack::algorithms
