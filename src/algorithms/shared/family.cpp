#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

Index FamilyTraits::break_even(char, const Shape&, Index threshold) const { return threshold; }

/// One right-hand side is what most programs solve for.
Index FamilyTraits::typical_right_hand_sides(Index) const { return 1; }

double FamilyTraits::flops_until(const Shape& shape, Index) const { return flops(shape); }

Index FamilyTraits::narrower(const Request&, Index) const { return 0; }

bool FamilyTraits::offers(Form, const Request&, const Options&) const { return false; }

Index FamilyTraits::leading_order(const Request&, const Options&) const { return 0; }

Index FamilyTraits::columns_out_of_core(const Request&, const Options&) const { return 0; }

double FamilyTraits::least_elements(const Shape& shape) const {
  return static_cast<double>(shape.m) *
         (static_cast<double>(shape.n) + static_cast<double>(shape.nrhs));
}

Index block_columns(const Tuning::Blocks& blocks, char type, Index order, bool residues) {
  if (order <= blocks.narrow_up_to_order) return blocks.narrow_columns;
  const Index wide_from =
      residues ? blocks.wide_from_order_with_residues.of(type) : blocks.wide_from_order;
  return order < wide_from ? blocks.medium_columns : blocks.wide_columns;
}

double flops_of_solves(const Shape& shape) {
  const auto n = static_cast<double>(shape.n);
  return 2 * n * n * static_cast<double>(shape.nrhs);
}

}  // namespace overlapack::algorithms
