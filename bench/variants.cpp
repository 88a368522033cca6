// LU with partial pivoting in the forms that textbooks know, on data that lie on the device: which
// order of the operations, whose panel, which block size, which leading dimension.
#include <algorithm>
#include <iostream>
#include <optional>

#include "algorithms/shared/blocks.hpp"
#include "cells.hpp"
#include "cusolver.hpp"
#include "dispatch/context.hpp"
#include "lu_variants.hpp"
#include "ours_on_device.hpp"
#include "report.hpp"

namespace overlapack::bench {
namespace {

constexpr const char* kPanelNames[] = {"device", "hybrid"};
constexpr const char* kPaddingNames[] = {"unpadded", "padded"};

/// What is compared, but for the block size.
struct Form {
  LuVariant variant;
  bool hybrid;
  bool padded;

  const char* panel() const { return kPanelNames[hybrid ? 1 : 0]; }
  const char* padding() const { return kPaddingNames[padded ? 1 : 0]; }
  bool is(const std::string& name) const {
    return name == name_of(variant) || name == panel() || name == padding();
  }
  /// The library's own rule, or none.
  Index leading_dimension(Index rows) const {
    return padded ? algorithms::DeviceMatrix<double>::leading_dimension(rows) : rows;
  }
};

bool wanted(const std::vector<std::string>& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Those that the options name. The unblocked form has no panel for the CPU.
std::vector<Form> forms(const Options& options) {
  std::vector<Form> all;
  for (const LuVariant variant : {LuVariant::unblocked, LuVariant::left_looking, LuVariant::crout,
                                  LuVariant::right_looking}) {
    for (const bool hybrid : {false, true}) {
      for (const bool padded : {true, false}) {
        const Form form{variant, hybrid, padded};
        if (wanted(options.lu, name_of(variant)) && wanted(options.panels, form.panel()) &&
            wanted(options.padding, form.padding()) &&
            !(variant == LuVariant::unblocked && hybrid)) {
          all.push_back(form);
        }
      }
    }
  }
  return all;
}

/// One form with one block size.
template <class T>
class VariantOnDevice final : public Contender<T> {
 public:
  VariantOnDevice(Device& device, const Call& call, const Form& form, Index nb, bool split)
      : device_(device),
        variant_(form.variant),
        matrix_(device, call.shape.m, call.shape.n, form.leading_dimension(call.shape.m)) {
    options_.nb = nb;
    options_.hybrid = form.hybrid;
    options_.split = split;
  }

  void prepare(Problem<T>& problem) override { matrix_.upload(problem.a()); }
  void run(Problem<T>& problem) override {
    problem.info = factor_lu<T>(variant_, device_, cpu::lapack<T>(cpu::Family::lp64), options_,
                                matrix_.view(), pivots_);
  }
  void finish(Problem<T>& problem) override {
    matrix_.download(problem.a());
    std::transform(pivots_.begin(), pivots_.end(), problem.pivots(),
                   [](Index pivot) { return static_cast<std::int32_t>(pivot); });
  }

 private:
  Device& device_;
  LuVariant variant_;
  algorithms::Options options_;
  ResidentMatrix<T> matrix_;
  std::vector<Index> pivots_;
};

struct Measured {
  Index nb;  ///< 0 if nobody knows
  Cell cell;
};

/// One line of the table: a form, or somebody to compare with, with every block size it has.
struct Line {
  std::string who;
  std::optional<Form> form;
  std::string panel, padding;
  Index lda;
  std::vector<Measured> by_nb;

  /// The fastest; null if nothing was measured.
  const Measured* best() const {
    const Measured* found = nullptr;
    for (const Measured& one : by_nb) {
      const bool has_time = one.cell.timing.runs > 0;
      if (has_time && (found == nullptr || one.cell.timing.ms < found->cell.timing.ms)) {
        found = &one;
      }
    }
    return found;
  }
  const Measured* with(Index nb) const {
    const auto it = std::find_if(by_nb.begin(), by_nb.end(),
                                 [nb](const Measured& one) { return one.nb == nb; });
    return it == by_nb.end() ? nullptr : &*it;
  }
  std::string name() const {
    return who + (form ? std::string(", ") + panel + " panel, " + padding : "");
  }
};

/// All lines of one order.
struct Group {
  Call call;
  std::vector<Line> lines;

  double gflops(const Measured& one) const {
    return dispatch::flops_of(call.routine, call.type, call.shape) / one.cell.timing.ms / 1e6;
  }
  const Line* named(const char* who) const {
    const auto it = std::find_if(lines.begin(), lines.end(),
                                 [who](const Line& line) { return line.who == who; });
    return it == lines.end() ? nullptr : &*it;
  }
  /// The fastest of the forms, or of those that are `name`; null if none was measured.
  const Line* fastest(const std::string& name = "") const {
    const Line* found = nullptr;
    for (const Line& line : lines) {
      if (!line.form || line.best() == nullptr || !(name.empty() || line.form->is(name))) continue;
      if (found == nullptr || line.best()->cell.timing.ms < found->best()->cell.timing.ms) {
        found = &line;
      }
    }
    return found;
  }
};

constexpr const char* kLibrary = "library";
constexpr const char* kCusolver = "cuSOLVER";

template <class T>
Group measure_group(const Options& options, Device& device, const Call& call, Cells& cells) {
  const dispatch::Context& context = dispatch::Context::instance();
  const dispatch::Plan plan = dispatch::plan(call.routine, call.type, call.shape,
                                             context.settings(), context.profile(), &device, true);
  Group group{call, {}};
  Problem<T> problem(call);
  for (const Form& form : forms(options)) {
    Line line{name_of(form.variant),
              form,
              form.panel(),
              form.padding(),
              form.leading_dimension(call.shape.m),
              {}};
    const bool blocked = form.variant != LuVariant::unblocked;
    for (const Index nb : blocked ? options.block_sizes : std::vector<Index>{1}) {
      line.by_nb.push_back(
          {nb, cells.measure<T>(problem, line.name() + ", nb = " + std::to_string(nb), [&] {
             return std::make_unique<VariantOnDevice<T>>(device, call, form, nb, plan.split);
           })});
    }
    group.lines.push_back(line);
  }
  Line library{kLibrary,
               {},
               kPanelNames[plan.hybrid ? 1 : 0],
               kPaddingNames[1],
               algorithms::DeviceMatrix<T>::leading_dimension(call.shape.m),
               {{plan.nb, {}}}};
  Line cusolver{kCusolver, {}, "-", "-", call.shape.m, {{0, {}}}};
  library.by_nb[0].cell.missing = not_recognised(call.shape);
  if (library.by_nb[0].cell.missing.empty()) {
    library.by_nb[0].cell = cells.measure<T>(
        problem, kLibrary, [&] { return std::make_unique<OursOnDevice<T>>(device, call); });
  }
  if (options.peers) {
    cusolver.by_nb[0].cell = cells.measure<T>(
        problem, kCusolver, [&] { return make_cusolver<T>(call, false, tools::gpu_in_use()); });
  } else {
    cusolver.by_nb[0].cell.missing = "--no-peers";
  }
  group.lines.push_back(library);
  group.lines.push_back(cusolver);
  return group;
}

/// Whether all results of ours are.
bool right(const Group& group) {
  for (const Line& line : group.lines) {
    if (line.who == kCusolver) continue;
    for (const auto& [nb, cell] : line.by_nb) {
      if (!is_right(group.call, cell.timing)) return false;
    }
  }
  return true;
}

/// How many times longer a takes than b.
std::string ratio(const Measured& a, const Measured& b) {
  return tools::brief(a.cell.timing.ms / b.cell.timing.ms);
}

/// Which form won, what the other choices cost, and how what the library does by itself compares.
std::string verdict(const Group& group) {
  const std::string title = row_title(group.call) + ": ";
  const Line* const winner = group.fastest();
  if (winner == nullptr) return title + "no form was measured";
  const Measured& best = *winner->best();
  std::string text = title + "fastest " + winner->name() + ", nb = " + std::to_string(best.nb) +
                     ", " + tools::brief(best.cell.timing.ms) + " ms";
  std::string others;
  for (const char* const name : {"unblocked", "left-looking", "crout", "right-looking", "device",
                                 "hybrid", "padded", "unpadded"}) {
    const Line* const other = group.fastest(name);
    if (other == nullptr || winner->form->is(name)) continue;
    others += (others.empty() ? "" : ", ") + std::string(name) + " " + ratio(*other->best(), best);
  }
  if (!others.empty()) text += " (times as long at best: " + others + ")";
  const Measured* const library = group.named(kLibrary)->best();
  if (library == nullptr) return text;
  text +=
      "; the library's default (right-looking with lookahead, nb = " + std::to_string(library->nb) +
      ") " + tools::brief(library->cell.timing.ms) + " ms, " + ratio(best, *library) +
      " times as fast";
  const Measured* const cusolver = group.named(kCusolver)->best();
  if (cusolver == nullptr) return text;
  return text + ", and " + ratio(*cusolver, *library) + " times as fast as cuSOLVER";
}

void print(const std::vector<Group>& groups, const Options& options) {
  std::vector<std::string> titles = {"routine, n", "variant", "panel", "columns", "lda",
                                     "best ms",    "nb",      "GF/s",  "resid."};
  for (const Index nb : options.block_sizes) {
    titles.push_back("nb=" + std::to_string(nb) + " ms");
  }
  std::vector<std::vector<std::string>> rows;
  Notes notes;
  std::string verdicts;
  for (const Group& group : groups) {
    for (const Line& line : group.lines) {
      const Measured* const best = line.best();
      double worst = -1;
      for (const auto& [nb, cell] : line.by_nb) {
        if (!cell.missing.empty()) {
          const std::string form = line.name() + (nb > 0 ? ", nb = " + std::to_string(nb) : "");
          notes.add(form + ": " + cell.missing, row_title(group.call));
        } else if (!(cell.timing.residual <= worst)) {
          worst = cell.timing.residual;  // a NaN stays
        }
      }
      std::vector<std::string> row = {row_title(group.call), line.who, line.panel, line.padding,
                                      std::to_string(line.lda)};
      row.push_back(best ? tools::brief(best->cell.timing.ms) : "-");
      row.push_back(best && best->nb > 0 ? std::to_string(best->nb) : "-");
      row.push_back(best ? tools::brief(group.gflops(*best)) : "-");
      row.push_back(best ? tools::brief(worst) : "-");
      for (const Index nb : options.block_sizes) {
        const Measured* const one = line.form ? line.with(nb) : nullptr;
        row.push_back(one ? tools::brief(one->cell.timing.ms) : "-");
      }
      rows.push_back(row);
    }
    verdicts += verdict(group) + "\n";
  }
  tools::print_table(std::cout, titles, rows, 4, options.style);
  notes.print(options.style);
  std::cout << '\n' << verdicts << '\n' << std::flush;
}

void add(const Group& group, ResultFiles& files) {
  for (const Line& line : group.lines) {
    for (const Measured& one : line.by_nb) {
      const Timing& timing = one.cell.timing;
      nlohmann::json fields = {{"routine", name_of(group.call)},
                               {"m", group.call.shape.m},
                               {"n", group.call.shape.n},
                               {"variant", line.who},
                               {"panel", line.panel},
                               {"columns", line.padding},
                               {"lda", line.lda},
                               {"nb", one.nb},
                               {"missing", one.cell.missing}};
      for (const char* key : {"ms", "runs", "gflops", "residual", "info"}) fields[key] = nullptr;
      if (one.cell.missing.empty()) {
        fields.update({{"ms", timing.ms},
                       {"runs", timing.runs},
                       {"gflops", group.gflops(one)},
                       {"residual", timing.residual},
                       {"info", timing.info}});
      }
      files.add_line(fields);
      files.add_row(fields);
    }
  }
}

}  // namespace

int show_variants(const Options& options) {
  Device* const device = tools::force_device(options.device, 1, options.algorithm, options.nb);
  if (device == nullptr) throw std::runtime_error("--variants needs a device");
  print_heading(options, device);
  ResultFiles files(options, device,
                    {"routine", "m", "n", "variant", "panel", "columns", "lda", "nb", "ms", "runs",
                     "gflops", "residual", "info", "missing"});
  tools::Progress progress(options.calls());
  Cells cells(options, progress);
  bool all_right = true;
  for (const std::string& name : options.routines) {
    std::vector<Group> groups;
    for (const Index n : options.orders()) {
      const Call call = options.call(name, n);
      progress.show(row_title(call));
      groups.push_back(tools::with_type(call.type, [&](auto one) {
        return measure_group<decltype(one)>(options, *device, call, cells);
      }));
      progress.advance();
      add(groups.back(), files);
      all_right &= right(groups.back());
    }
    progress.clear();
    print(groups, options);
  }
  files.finish();
  std::cout << "resid.: the largest of all block sizes. columns: padded to the library's leading "
               "dimension, or\nunpadded, lda = n. library: its own call on data that lie on the "
               "device.\n";
  return exit_status(all_right);
}

}  // namespace overlapack::bench
