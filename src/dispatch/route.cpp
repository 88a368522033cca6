#include "dispatch/route.hpp"

#include <algorithm>
#include <cinttypes>
#include <iomanip>
#include <locale>
#include <sstream>

namespace overlapack::dispatch {
namespace {

/// Whether an operand of a call lies on the device: the CPU cannot serve it then.
bool is_resident(Context& context, const Call& call) {
  return std::any_of(call.operands.begin(), call.operands.end(), [&](const void* operand) {
    return operand != nullptr && device_of_call(context, call.shape.elements(),
                                                element_size(call.type), operand) != nullptr;
  });
}

/// Fills in `decision`. Where this throws bad_alloc, for one of the texts, the rest is right.
void fill_in(Context& context, const Settings& settings, const Call& call, bool large,
             Decision& decision) {
  auto& [resident, waits, device, plan, where] = decision;
  open_beside_cuda(context, call, large);
  resident = is_resident(context, call);
  if (!large && !resident && !settings.verbose) return;

  const char* const why_not_yet =
      large && !resident ? context.why_not_yet(call.routine, call.type, call.shape) : nullptr;
  waits = why_not_yet != nullptr;
  device = (large || resident) && !waits ? context.device() : nullptr;
  plan = dispatch::plan(call.routine, call.type, call.shape, settings, context.profile(), device,
                        resident);
  if (waits) {
    plan.why = why_not_yet;
  } else if (large && device == nullptr) {
    plan.why += ": " + context.device_status();
  }
  if (plan.on_device) {
    where = device->name();
  } else if (resident) {
    where = "none";
  }
}

/// Whether CUDA is in the process although no start of the device has begun.
bool cuda_in_process_before(const Context& context) {
  const auto begun = [&] { return context.opening() || context.opened(); };
  return !begun() && cuda_in_process() && !begun();
}

/// Whether an operand of a call lies on a GPU, as far as can be told without a device.
bool has_cuda_memory(const Call& call) {
  return std::any_of(call.operands.begin(), call.operands.end(), is_cuda_memory);
}

}  // namespace

bool is_large(const Context& context, const Settings& settings, const Call& call) {
  return wants_device(call.routine, call.type, call.shape, settings, context.profile());
}

bool is_small(const Context& context, const Settings& settings, const Call& call, bool large) {
  return !large && !settings.verbose && !context.has_nvtx() &&
         call.shape.elements() < (context.opened() ? kSmallestResident : kLargeMatrix);
}

void open_beside_cuda(Context& context, const Call& call, bool large) {
  if (context.opened() || context.forked()) return;
  // While the device is being started, CUDA is in the process by our own doing; and that may begin
  // at any time.
  const bool by_program = large && cuda_in_process_before(context);
  const bool may_be_there = large || call.shape.elements() >= kLargeMatrix;
  if (by_program || (may_be_there && has_cuda_memory(call))) context.device();
}

Decision decide(Context& context, const Settings& settings, const Call& call, bool large) {
  Decision decision;
  try {
    try {
      fill_in(context, settings, call, large, decision);
    } catch (const DeviceError& error) {  // the CPU cannot read the operands, either
      context.heed(error);
      decision.resident = true;
      decision.where = "none";
      decision.plan.why = error.what();
    }
  } catch (const std::bad_alloc&) {  // the CPU may do with less
    decision.plan.on_device = false;
    decision.resident = has_cuda_memory(call);
  }
  return decision;
}

Turns::Kind turn_of(const Call& call, const Decision& decision) {
  const Plan& plan = decision.plan;
  const Tuning& tuning = decision.device->tuning();
  const double elements = static_cast<double>(call.shape.m) * static_cast<double>(call.shape.n) +
                          static_cast<double>(std::max(call.shape.m, call.shape.n)) *
                              static_cast<double>(call.shape.nrhs);
  const double bytes = 2 * static_cast<double>(element_size(call.type)) * elements;  // up and down
  const bool small = bytes <= static_cast<double>(tuning.transfer.shared_up_to_bytes);
  const bool plain = !decision.resident && !plan.out_of_core && !plan.hybrid && !plan.textbook &&
                     !is_mixed(call.routine);
  return small && plain ? Turns::Kind::shared : Turns::Kind::alone;
}

algorithms::Options options_of(const Plan& plan, const Settings& settings, const Tuning& tuning) {
  algorithms::Options options = plan;
  options.threads = copy_threads(settings, available_cores());
  // For its halves a matrix is read twice. Fewer threads would not keep up with the link.
  const bool keeps_up = options.threads >= tuning.refine.halves_from_threads;
  options.halves &= keeps_up || settings.upload == Upload::halves;
  return options;
}

std::string line_of(const Call& call, const Decision& decision, Index info, double ms, double flops,
                    const Traffic& moved) {
  const Plan& plan = decision.plan;
  const char* const algorithm = !plan.on_device    ? "-"
                                : plan.textbook    ? "textbook"
                                : plan.out_of_core ? "out-of-core"
                                : plan.hybrid      ? "hybrid"
                                                   : "tiled";
  std::ostringstream out;
  out.exceptions(std::ios::badbit);   // half a line is none: a stream without memory throws
  out.imbue(std::locale::classic());  // a point, whatever the program's locale has
  out << std::fixed << std::setprecision(3);
  out << "overlapack " << call.prefix << call.type << call.name << " m=" << call.shape.m
      << " n=" << call.shape.n << " nrhs=" << call.shape.nrhs << " lda=" << call.lda
      << " ldb=" << call.ldb << " uplo=" << call.uplo << " trans=" << call.trans << " info=" << info
      << " where=" << decision.where << " algorithm=" << algorithm
      << " nb=" << (plan.on_device ? plan.nb : 0) << " ms=" << ms
      << " gflops=" << flops / (ms * 1e6) << " up=" << moved.up << " down=" << moved.down;
  if (call.iter != nullptr) out << " iter=" << *call.iter;
  if (Composed::is_any()) out << " within=" << Composed::name();
  if (plan.on_device && call.refinement != nullptr) {
    const algorithms::Refinement& refinement = *call.refinement;
    out << " precision=" << (refinement.fell_back ? "fp64" : name_of(refinement.precision));
  }
  out << " why=\"" << plan.why << '"';
  return out.str();
}

CallLog::CallLog(Context& context, const Settings& settings, const Call& call,
                 const Decision& decision)
    : context_(context), settings_(settings), call_(call), decision_(decision) {
  if (context.has_nvtx()) {
    range_.emplace("%c%s m=%" PRId64 " n=%" PRId64 " nrhs=%" PRId64 " where=%s", call.type,
                   call.name, call.shape.m, call.shape.n, call.shape.nrhs, decision.where.c_str());
  }
}

double CallLog::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void CallLog::write(Index info, double flops, const Traffic& moved) const {
  if (!settings_.verbose) return;
  try {
    context_.log(settings_, line_of(call_, decision_, info, seconds() * 1e3, flops, moved));
  } catch (const std::bad_alloc&) {  // the call has been done all the same
  }
}

}  // namespace overlapack::dispatch
