#include "dispatch/routine.hpp"

#include "algorithms/cholesky/traits.hpp"
#include "algorithms/condition/condition.hpp"
#include "algorithms/eigen/traits.hpp"
#include "algorithms/inverse/traits.hpp"
#include "algorithms/lu/traits.hpp"
#include "algorithms/qr/traits.hpp"
#include "algorithms/refine/traits.hpp"
#include "algorithms/solve/traits.hpp"
#include "algorithms/solve/trtrs.hpp"
#include "algorithms/update/traits.hpp"

namespace overlapack::dispatch {
namespace {

/// One row for each routine, under its name: a routine without one does not compile.
namespace rows {

constexpr auto kMatrix = Given::matrix;
constexpr auto kFactors = Given::factors;
constexpr auto kNone = RightHandSides::none;
constexpr auto kSome = RightHandSides::some;
constexpr auto kVectors = RightHandSides::eigenvectors;

using namespace algorithms;
constexpr RoutineTraits potrf = {cholesky_traits, Factors::cholesky, kMatrix, kNone};
constexpr RoutineTraits posv = {cholesky_traits, Factors::cholesky, kMatrix, kSome};
constexpr RoutineTraits potrs = {potrs_traits, Factors::cholesky, kFactors, kSome};
constexpr RoutineTraits getrf = {lu_traits, Factors::lu, kMatrix, kNone};
constexpr RoutineTraits gesv = {lu_traits, Factors::lu, kMatrix, kSome};
constexpr RoutineTraits getrs = {getrs_traits, Factors::lu, kFactors, kSome};
constexpr RoutineTraits trtrs = {trtrs_traits, Factors::none, kFactors, kSome};
constexpr RoutineTraits gecon = {gecon_traits, Factors::lu, kFactors, kNone};
constexpr RoutineTraits pocon = {pocon_traits, Factors::cholesky, kFactors, kNone};
constexpr RoutineTraits trcon = {trcon_traits, Factors::none, kFactors, kNone};
constexpr RoutineTraits trtri = {trtri_traits, Factors::none, kFactors, kNone};
constexpr RoutineTraits lauum = {lauum_traits, Factors::none, kFactors, kNone};
constexpr RoutineTraits potri = {potri_traits, Factors::cholesky, kFactors, kNone};
constexpr RoutineTraits getri = {getri_traits, Factors::lu, kFactors, kNone};
constexpr RoutineTraits geqrf = {geqrf_traits, Factors::none, kMatrix, kNone};
constexpr RoutineTraits orgqr = {orgqr_traits, Factors::none, kFactors, kNone};
constexpr RoutineTraits ungqr = {orgqr_traits, Factors::none, kFactors, kNone};
constexpr RoutineTraits ormqr = {ormqr_traits, Factors::none, kFactors, kSome};
constexpr RoutineTraits unmqr = {ormqr_traits, Factors::none, kFactors, kSome};
constexpr RoutineTraits gelqf = {gelqf_traits, Factors::none, kMatrix, kNone};
constexpr RoutineTraits orglq = {orglq_traits, Factors::none, kFactors, kNone};
constexpr RoutineTraits unglq = {orglq_traits, Factors::none, kFactors, kNone};
constexpr RoutineTraits ormlq = {ormlq_traits, Factors::none, kFactors, kSome};
constexpr RoutineTraits unmlq = {ormlq_traits, Factors::none, kFactors, kSome};
constexpr RoutineTraits geqrt = {geqrt_traits, Factors::none, kMatrix, kNone};
constexpr RoutineTraits gemqrt = {ormqr_traits, Factors::none, kFactors, kSome};
constexpr RoutineTraits gels = {gels_traits, Factors::none, kMatrix, kSome};
constexpr RoutineTraits syev = {eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits heev = {eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits syevd = {eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits heevd = {eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits syevr = {eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits heevr = {eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits syevx = {eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits heevx = {eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits sygv = {generalized_eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits hegv = {generalized_eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits sygvd = {generalized_eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits hegvd = {generalized_eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits sygvx = {generalized_eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits hegvx = {generalized_eigen_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits sytrd = {sytrd_traits, Factors::none, kMatrix, kNone};
constexpr RoutineTraits hetrd = {sytrd_traits, Factors::none, kMatrix, kNone};
constexpr RoutineTraits orgtr = {orgtr_traits, Factors::none, kFactors, kNone};
constexpr RoutineTraits ungtr = {orgtr_traits, Factors::none, kFactors, kNone};
constexpr RoutineTraits ormtr = {ormtr_traits, Factors::none, kFactors, kSome};
constexpr RoutineTraits unmtr = {ormtr_traits, Factors::none, kFactors, kSome};
constexpr RoutineTraits stedc = {stedc_traits, Factors::none, kMatrix, kVectors};
constexpr RoutineTraits sgesv = {mixed_gesv_traits, Factors::lu, kMatrix, kSome};
constexpr RoutineTraits cgesv = {mixed_gesv_traits, Factors::lu, kMatrix, kSome};
constexpr RoutineTraits sposv = {mixed_posv_traits, Factors::cholesky, kMatrix, kSome};
constexpr RoutineTraits cposv = {mixed_posv_traits, Factors::cholesky, kMatrix, kSome};
constexpr RoutineTraits cholupdate = {update_traits, Factors::cholesky, kFactors, kSome};

}  // namespace rows

constexpr RoutineTraits kTable[] = {
#define OVERLAPACK_ROUTED(kind, types, name) rows::name,
#include "dispatch/routed.def"
    rows::cholupdate,
};
static_assert(std::size(kTable) == kRoutineCount);

bool factors_by(Factors factors, Routine routine) {
  const RoutineTraits& traits = traits_of(routine);
  return traits.given == Given::matrix && traits.factors == factors;
}

}  // namespace

const RoutineTraits& traits_of(Routine routine) {
  return kTable[static_cast<std::size_t>(routine)];
}

bool is_lu(Routine routine) { return factors_by(Factors::lu, routine); }

bool is_cholesky(Routine routine) { return factors_by(Factors::cholesky, routine); }

std::size_t element_size(char type) {
  return with_type(type, [](auto one) { return sizeof one; });
}

}  // namespace overlapack::dispatch
