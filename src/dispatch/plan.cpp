#include "dispatch/plan.hpp"

#include <algorithm>

namespace overlapack::dispatch {
namespace {

using algorithms::FamilyTraits;
using algorithms::Form;
using algorithms::Options;
using algorithms::Request;

double operations_per_number(char type) { return type == 'c' || type == 'z' ? 4 : 1; }

/// The plan of a call that does not go to the device yet.
Plan nothing_planned() {
  Plan plan;
  plan.split = plan.residues = plan.by_rows = false;  // until it is known that there is memory
  return plan;
}

std::string why_so_large(Routine routine, char type, const Shape& shape, const Settings& settings,
                         const Profile& profile, const Device* device, bool large) {
  return "size " + std::to_string(size_of(routine, shape)) + (large ? " >= " : " < ") +
         threshold_text(break_even(routine, type, shape, settings, profile, device)) + " (" +
         (settings.min_n ? "OVERLAPACK_MIN_N" : profile.source_of(routine, type)) + ")";
}

bool& option_of(Form form, Options& options) {
  switch (form) {
    case Form::split:
      return options.split;
    case Form::by_rows:
      return options.by_rows;
    case Form::halves:
      return options.halves;
    default:
      return options.residues;
  }
}

constexpr double kUsableShareOfMemory = 0.9;  // of the device's memory, and of what is free

/// Plans for one call within the memory that it may take.
class Planner {
 public:
  Planner(const FamilyTraits& family, const Request& request, const Settings& settings)
      : family_(family), request_(request), settings_(settings) {
    const double usable = kUsableShareOfMemory * static_cast<double>(request.device.memory());
    const auto limit = static_cast<double>(settings.memory_limit);
    limited_ = limit > 0 && limit < usable;
    memory_ = static_cast<std::size_t>(limited_ ? limit : usable);
  }

  /// The block size, and the memory that there is. False if there is not enough.
  bool find_block_size(Options& options) const {
    options.nb = block_size();
    options.memory = memory_;
    while (!fits(options)) {
      const Index narrower = settings_.nb > 0 ? 0 : family_.narrower(request_, options.nb);
      if (narrower == 0) return false;
      options.nb = narrower;
    }
    return true;
  }
  /// Plans that the matrix stays with the caller. Returns how many of its columns are on the device
  /// at a time, or 0 if that does not pay, or is not to be.
  Index leave_at_home(Options& options) const {
    if (request_.resident || options.textbook) return 0;
    Options with = options;
    with.nb = block_size();
    with.out_of_core = true;
    with.split = family_.offers(Form::split, request_, with) && !forbidden(Form::split);
    try {  // others may have most of the memory
      with.memory = std::min(
          memory_,
          static_cast<std::size_t>(kUsableShareOfMemory *
                                   static_cast<double>(request_.device.obtainable_memory())));
    } catch (const DeviceError&) {
      return 0;
    }
    Index columns = family_.columns_out_of_core(request_, with);
    if (columns == 0 && with.split) {
      with.split = false;
      columns = family_.columns_out_of_core(request_, with);
    }
    if (columns > 0) options = with;
    return columns;
  }
  const char* why_not() const {
    return limited_ ? "needs more device memory than OVERLAPACK_MEMORY_LIMIT allows"
                    : "larger than the device's memory";
  }

  /// What makes a call faster takes memory of its own, as far as there is some.
  void choose_forms(Options& options) const {
    for (const Form form : algorithms::kForms) {
      if (forbidden(form) || !family_.offers(form, request_, options)) continue;
      Options with = options;
      option_of(form, with) = true;
      if (form == Form::residues && settings_.nb == 0) {
        with.nb = family_.block_size(request_, true);
      }
      if (form == Form::split && family_.refines()) with.precision = settings_.refine;
      if (fits(with)) options = with;
    }
    Options with = options;
    with.leading = family_.leading_order(request_, options);
    if (with.leading > 0 && fits(with)) options = with;
  }

 private:
  Index block_size() const {
    const Shape& shape = request_.shape;
    return settings_.nb > 0 ? std::min(settings_.nb, std::max({shape.m, shape.n, Index{1}}))
                            : family_.block_size(request_, false);
  }
  bool fits(const Options& options) const {
    const double least =
        static_cast<double>(element_size(request_.type)) * family_.least_elements(request_.shape);
    return least <= static_cast<double>(memory_) && family_.memory(request_, options) <= memory_;
  }
  bool forbidden(Form form) const {
    return (form == Form::split && settings_.strict_fp32) ||
           (form == Form::residues && settings_.strict_fp64);
  }

  const FamilyTraits& family_;
  const Request& request_;
  const Settings& settings_;
  bool limited_;
  std::size_t memory_;
};

/// Plans that a call is carried out out of core, if that can be, and says why.
void plan_out_of_core(const Planner& planner, const std::string& reason, Plan& plan) {
  plan.why = reason;
  const Index columns = planner.leave_at_home(plan);
  if (columns == 0) return;
  plan.on_device = true;
  plan.why = "out of core, " + std::to_string(columns) + " columns at a time: " + reason;
}

}  // namespace

Index size_of(Routine routine, const Shape& shape) { return family_of(routine).size(shape); }

Index break_even(Routine routine, char type, const Shape& shape, const Settings& settings,
                 const Profile& profile, const Device* device) {
  if (settings.min_n) return *settings.min_n;
  const Index threshold = profile.at(routine, type, device);
  return threshold >= kNever ? threshold : family_of(routine).break_even(type, shape, threshold);
}

double flops_of(Routine routine, char type, const Shape& shape) {
  return operations_per_number(type) * family_of(routine).flops(shape);
}

double flops_done(Routine routine, char type, const Shape& shape, Index info) {
  if (info <= 0) return flops_of(routine, type, shape);
  return operations_per_number(type) * family_of(routine).flops_until(shape, info);
}

bool wants_device(Routine routine, char type, const Shape& shape, const Settings& settings,
                  const Profile& profile, const Device* device) {
  return settings.device != DeviceChoice::off &&
         size_of(routine, shape) >= break_even(routine, type, shape, settings, profile, device);
}

Plan plan(Routine routine, char type, const Shape& shape, const Settings& settings,
          const Profile& profile, Device* device, bool resident) {
  Plan plan = nothing_planned();
  if (settings.device == DeviceChoice::off) {
    plan.why = "OVERLAPACK_DEVICE=off";
    return plan;
  }
  const bool large = resident || wants_device(routine, type, shape, settings, profile, device);
  plan.why = resident ? "an operand lies on the device"
                      : why_so_large(routine, type, shape, settings, profile, device, large);
  if (!large) return plan;
  if (device == nullptr) {
    plan.why = "no device";
    return plan;
  }
  const FamilyTraits& family = family_of(routine);
  const Request request{*device, type, shape, settings.upload, resident};
  const Planner planner(family, request, settings);
  const bool has_forms = is_lu(routine) || is_cholesky(routine);
  // The device's own panel kernels beat a round trip through the CPU on every GPU measured.
  plan.hybrid = settings.algorithm == Algorithm::hybrid && has_forms;
  plan.textbook = settings.algorithm == Algorithm::textbook && has_forms && !is_mixed(routine);
  if (!planner.find_block_size(plan)) {
    plan_out_of_core(planner, planner.why_not(), plan);
    return plan;
  }
  plan.on_device = true;
  planner.choose_forms(plan);
  if (plan.precision != Precision::fp32) {
    plan.why += std::string("; products in ") + name_of(plan.precision) + " (OVERLAPACK_REFINE)";
  }
  if (!device->shortcoming().empty()) plan.why += "; " + device->shortcoming();
  return plan;
}

bool retry_out_of_core(Routine routine, char type, const Shape& shape, const Settings& settings,
                       Device& device, const std::string& reason, Plan& plan) {
  if (plan.out_of_core) return false;
  const FamilyTraits& family = family_of(routine);
  const Request request{device, type, shape, settings.upload, false};
  Plan retry = nothing_planned();
  retry.hybrid = plan.hybrid;
  retry.textbook = plan.textbook;
  plan_out_of_core(Planner(family, request, settings), reason, retry);
  if (retry.on_device) plan = retry;
  return retry.on_device;
}

}  // namespace overlapack::dispatch
