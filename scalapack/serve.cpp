#include "serve.hpp"

#include <new>

#include "agree.hpp"
#include "dispatch/plan.hpp"
#include "dispatch/route.hpp"
#include "fault.hpp"
#include "host/messages.hpp"

namespace overlapack::scalapack {

namespace {

void write(const dispatch::Settings& settings, const std::string& line) {
  if (settings.log.empty()) return write_to_standard_error(line);
  append(settings.log, line, settings.log_of_summary ? IfAbsent::leave : IfAbsent::make);
}

}  // namespace

Engine* Service::find_engine() {
  ranks_ = Ranks::of(call_.a.layout.context);
  if (ranks_ == nullptr) {
    why_ = "no BLACS, or a rank outside the grid";
    return nullptr;
  }
  // Without an engine this is all that a call pays.
  const Terms& terms = ranks_->terms();
  why_ = terms.why;
  if (!why_.empty()) return nullptr;

  const Grid& grid = ranks_->grid();
  if (!all_agree(ranks_->context(), is_valid(call_, grid), fingerprint(call_))) {
    why_ = "nothing to do, or arguments that ScaLAPACK refuses";
    return nullptr;
  }
  const Index size = dispatch::size_of(call_.routine, call_.shape());
  const bool large = size >= terms.min_n;
  why_ = "size " + std::to_string(size) + (large ? " >= " : " < ") + std::to_string(terms.min_n);
  if (!large) return nullptr;
  begin_faults(grid.rank());
  Engine* const engine = ranks_->engine();
  if (engine == nullptr) why_ = terms.why;
  return engine;
}

template <class Step>
bool Service::succeeds(const char* name, Step step) {
  std::string reason;
  bool well = true;
  try {
    step();
  } catch (const std::exception& error) {
    reason = error.what();
    well = false;
  }
  const int rank = ranks_->grid().rank();
  const int failed = first_that_failed(ranks_->context(), rank, well);
  note(name);
  if (failed == kNone) return true;
  why_ = "rank " + std::to_string(failed) + " failed" + (failed == rank ? ": " + reason : "") +
         "; " + why_;
  return false;
}

void Service::note(const char* name) {
  const Clock::time_point now = Clock::now();
  using std::chrono::microseconds;
  const auto taken = std::chrono::duration_cast<microseconds>(now - step_begin_).count();
  why_ += std::string("; ") + name + " " + std::to_string(taken) + " us";
  step_begin_ = now;
}

bool Service::by_engine() {
  Engine* const engine = find_engine();
  if (engine == nullptr) return false;
  note("agree");
  const bool done = succeeds("reserve", [&] { engine->reserve(call_); }) &&
                    succeeds("fetch", [&] { engine->fetch(call_); }) &&
                    succeeds("compute", [&] { engine->compute(call_); });
  if (!done) return false;
  engine->store(call_);
  note("store");
  where_ = engine->where();
  return true;
}

void Service::log(int info) const {
  const dispatch::Settings& settings = scalapack::settings();
  if (!settings.verbose || ranks_ == nullptr || ranks_->grid().rank() != 0) return;
  try {
    write(settings, line(info));
  } catch (const std::bad_alloc&) {  // the call has been done all the same
  }
}

std::string Service::line(int info) const {
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  dispatch::Call call{call_.routine,      call_.type,
                      call_.shape(),      dispatch::name_of(call_.routine),
                      call_.a.layout.lld, call_.has_b() ? call_.b.layout.lld : 1};
  call.prefix = "p";
  call.uplo = call_.uplo;
  call.trans = call_.trans;
  dispatch::Decision decision;
  decision.where = where_;
  decision.plan.why = why_;
  const double flops = dispatch::flops_done(call.routine, call.type, call.shape, info);
  return dispatch::line_of(call, decision, info, seconds * 1e3, flops) + '\n';
}

}  // namespace overlapack::scalapack
