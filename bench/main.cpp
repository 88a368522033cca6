// The benchmark's command line: its modes, and which options each of them heeds.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include "bench.hpp"
#include "host/nearest.hpp"
#include "tools/command_line.hpp"
#include "tools/output.hpp"
#include "tools/version.hpp"

namespace overlapack::bench {
namespace {

constexpr const char* kFooter = R"(
Columns: the median wall time of each contender with, beside it, the residual of its
result (in LAPACK's scale: a few units at most; 30 counts as wrong, for gesv of an order n
above 1000 0.03 n, since that scale leaves the order out);
  ours           from and to ordinary (pageable) memory, through dpotrf_ and its sisters
  on device      ours on a matrix that lies in the memory of the device
  CPU            the CPU LAPACK that the library falls back on
  copy+cuSOLVER  cudaMemcpy, cuSOLVER, cudaMemcpy; device memory allocated beforehand
  cuSOLVER       on data that lie on the device already: no transfer
GF/s counts LAPACK's operations; "x ..." says how many times faster ours is; MB are the
bytes of one call of ours that crossed the link; pinned MB and device MB what it takes
at most of page-locked host memory and of device memory (cuBLAS's workspaces come on top).
Every run gets fresh random data; the first one warms up. A missing cell is explained
below the table, as are the iterations of mixed-precision solvers (dsgesv and its sisters).
U, T or C behind a name: with --uplo U, --trans T or --trans C. N: with --values-only.

With --speed-of-light, instead:
  flops ms       the routine's operations at the rate of the device's matrix products,
                 the best of a few large shapes, measured at the start of the run
  link ms        every element of the operands (of a triangle for potrf and posv) once up
                 and once down, both at the same time, at the rate of page-locked copies
  bound ms       the longer of the two: perfect overlap, and nothing else to wait for
--trace runs the first routine at its largest order once more and writes what
each queue of the device and each copy thread did when: upload, update, panel and download
of every block. The numbers are blocks; in LU, updates bear the number of their step.

With --variants, instead: LU with partial pivoting (dgetrf or its sisters) on data that lie on
the device, as textbooks order its operations, for n = 1024, 2048, 4096 and 8192:
  variant        unblocked: column by column. In panels of nb columns: left-looking (what is
                 done is applied to the next panel alone), crout (to the next panel and the
                 next rows of U), right-looking (each panel to everything at once)
  panel          device: factored there. hybrid: sent to the CPU LAPACK and back
  columns        padded to the library's leading dimension, or unpadded, lda = n
  best ms        the time with the best of the block sizes, which stand beside it
and, for comparison, the library's own dgetrf and cuSOLVER on the same data. A last line for
each n says which form was fastest and how the library compares.

With --update, instead: a Cholesky factor R of A = B^T B + I, B uniform in [0, 1], updated and
downdated by k vectors, for n = 500, 1000, 2000, 5000 and 10000:
  by device, on device   ovl_dcholupdate, from and to ordinary memory, and on data on the device
  CPU                    the library's own form for the CPU
  qrupdate, LINPACK      dch1up and dch1dn of the installed libqrupdate, and the loops of dchud
                         and dchdd: one vector after the other
  dpotrf                 A +- V V^T from an A that was kept, and our dpotrf
Beside each time stands its largest error. "copies" compares the time on the device with that of
one copy of the triangle, "ours" says which form the library takes by its break-evens, or those of
the profile. From which order on the device is faster is said below the table.

With --refine, instead: dsgesv and dsposv on systems A = P D Q, or P D P^T, of given condition
numbers (singular values in geometric progression; P and Q are random rotations of all pairs of
elements i, i + 2^k), for n = 2048 to 32768:
  form           fp64: dgesv, dposv. fp32, tf32, fp16: by OVERLAPACK_REFINE. cuSOLVER's, where
                 there are any, with its copies (or, with --resident, without)
  ms             the median of whole calls; refine ms are those from the end of a
                 factorization to its last residual, in a run with marks, factor ms the rest
  iter, end      LAPACK's iter, and what came of it: converged; switched to the factors in
                 that precision; fell back to double precision; info
  backward error of the solution: ||b - A x|| / (||A|| ||x|| + ||b||)

With --reductions, instead: norms of matrices in double and single precision, of those on the
device beside CUB's DeviceReduce and Thrust's transform_reduce on the same data, and of those on
the host beside the CPU LAPACK, for n = 2048, 4096, 8192 and 16384:
  m x n, lda     square, without and with padding (--lda-pad, or 8), n^2 / 16 x 16 and its converse
  GB/s, %        bytes of the matrix per second, and that in percent of what a copy on the device
                 reads and writes; the best that memory allows is about 100
  error          in units of the last place, as the difference between ours and the CPU LAPACK's
Without a GPU ours runs on the emulated device; --device off leaves that out.

With --routing, instead: from and to ordinary memory, n = 32 to 4096 in steps of 1.5,
  CPU, device    the CPU LAPACK, and ours with every call sent to the device
  chosen         ours where the library's break-evens send it; / best is that time in units
                 of the better one of the other two

With --callers, instead: threads that call at once, each with a matrix of its own,
  ours /s        calls a second of all together, from and to ordinary memory, all on the device
  x first        that in units of the first number of threads
  CPU /s         the CPU LAPACK's. Give it one thread for each caller: OPENBLAS_NUM_THREADS=1

Examples:
  overlapack-bench --max-n 8192 --markdown
  overlapack-bench --routines dpotrf,zgetrf,dgesv --sizes 1000,3000 --csv times.csv
  overlapack-bench --routines dgesv,dsgesv,dposv,dsposv --sizes 8192,16384
  overlapack-bench --routines dsyevd,zheevd --values-only --max-n 8192
  overlapack-bench --routines dgetrf --shapes 100000x256,256x100000,100000x32
  overlapack-bench --routines dgeqrf,dgels --shapes 1000000x100
  overlapack-bench --sizes 1024,4096,16384 --json comparison.json
  overlapack-bench --speed-of-light --routines dpotrf,spotrf,zpotrf
  overlapack-bench --speed-of-light --sizes 16384 --trace dpotrf.json
  overlapack-bench --components --routines dpotrf,spotrf --max-n 8192
  overlapack-bench --transfer --sizes 512,4096,16384
  overlapack-bench --reductions --sizes 2048,16384
  overlapack-bench --routing --routines dgetrf,dgesv --after-cpu-work
  OPENBLAS_NUM_THREADS=1 overlapack-bench --callers --threads 1,16 --sizes 512
  overlapack-bench --update --json update.json --markdown
  overlapack-bench --variants --json variants.json --markdown
  overlapack-bench --refine --resident --sizes 8192 --conditions 10,1e3,1e6
  overlapack-bench --variants --lu crout,right-looking --panels device --block-sizes 96,128
  overlapack run --log calls.log -- python3 fit.py; overlapack-bench --replay calls.log
  overlapack-bench --device host --max-n 512      no GPU: emulated, not a measurement

Exit status: 0; 1 if a result of ours was wrong, or if ours could not be measured because there
is no device (unless that is what --device off asks for), or if the work could not be done
otherwise; 2 for a usage error.
)";

/// m and n of "MxN", if they are positive.
std::optional<std::pair<Index, Index>> parse_shape(const std::string& text) {
  std::istringstream words(text);
  Index m = 0, n = 0;
  char x = 0;
  if (!(words >> m >> x >> n) || x != 'x' || words.peek() != EOF) return {};
  if (std::min(m, n) < 1 || std::max(m, n) > tools::kMaxWholeNumber) return {};
  return std::pair(m, n);
}

bool is_potrf(Routine routine) { return routine == Routine::potrf; }
bool is_getrf(Routine routine) { return routine == Routine::getrf; }
bool factors(Routine routine) {
  return dispatch::traits_of(routine).given == dispatch::Given::matrix;
}

/// What the benchmark can do, and which options it heeds then.
struct Mode {
  std::string option;  ///< that asks for it; none for the comparison
  std::string meaning;
  int (*run)(const Options&);
  std::string heeds;                       ///< options beside those of all modes
  std::vector<std::string> routines = {};  ///< where nobody names any
  std::vector<Index> sizes = {};           ///< likewise; none: from --from doubled to --max-n
  bool (*covers)(Routine) = nullptr;       ///< which routines it is about, if not all,
  std::string about = "";                  ///< in words
  Index from = 256;

  bool is_comparison() const { return option.empty(); }
  std::string name() const { return is_comparison() ? "the comparison" : option; }
  bool accepts(const std::string& name) const {
    const std::string always = " --help --version --device --markdown --reps ";
    return name == option || (always + heeds + ' ').find(' ' + name + ' ') != std::string::npos;
  }
};

const std::vector<Mode>& modes() {
  static const std::vector<Mode> all = {
      {"",
       "",
       compare,
       "--routines --from --max-n --sizes --uplo --trans --nrhs --values-only --lda-pad "
       "--algorithm --nb --threshold --no-cpu --no-peers --seconds --csv --json",
       {"dpotrf", "dgetrf"}},
      {"--shapes",
       "The comparison for these shapes of getrf, geqrf, gelqf and gels, e.g. "
       "100000x256,256x100000",
       compare,
       "--routines --nrhs --lda-pad --algorithm --nb --threshold --no-cpu --no-peers --seconds "
       "--csv --json",
       {"dgetrf"},
       {},
       tools::is_rectangular,
       "getrf, geqrf, gelqf and gels"},
      {"--replay", "Run the calls of a log again", replay,
       "--algorithm --nb --threshold --no-cpu --seconds"},
      {"--speed-of-light",
       "Times against what the device and its link allow",
       show_speed_of_light,
       "--routines --from --max-n --sizes --uplo --nrhs --lda-pad --algorithm --nb --seconds --csv "
       "--json --trace",
       {"dpotrf", "dgetrf"},
       {},
       factors,
       "factorizations and solves that factor"},
      {"--components",
       "Time of a Cholesky factorization with and without transfer, and by component",
       show_components,
       "--routines --from --max-n --sizes --lda-pad --algorithm --nb --no-cpu --seconds",
       {"dpotrf", "spotrf"},
       {},
       is_potrf,
       "potrf"},
      {"--transfer", "GB/s of the transfer engine, up, down and both at once", show_transfers,
       "--from --max-n --sizes --nb"},
      {"--variants",
       "The textbook forms of LU on the device, and their block sizes",
       show_variants,
       "--routines --from --max-n --sizes --no-peers --seconds --csv --json --lu "
       "--panels --padding --block-sizes",
       {"dgetrf"},
       {1024, 2048, 4096, 8192},
       is_getrf,
       "getrf"},
      {"--update",
       "Updates of a Cholesky factor against qrupdate and a new factorization",
       show_updates,
       "--from --max-n --sizes --algorithm --nb --no-cpu --no-peers --seconds --csv --json "
       "--vectors",
       {},
       {500, 1000, 2000, 5000, 10000}},
      {"--refine",
       "Mixed-precision solvers in every precision, by condition number",
       show_refinement,
       "--routines --from --max-n --sizes --uplo --nrhs --lda-pad --algorithm --nb --no-peers "
       "--seconds --csv --json --conditions --resident",
       {"dsgesv", "dsposv"},
       {2048, 4096, 8192, 16384, 32768},
       dispatch::is_mixed,
       "dsgesv, dsposv, zcgesv and zcposv"},
      {"--routing",
       "Whether calls go where they take less time",
       show_routing,
       "--routines --from --max-n --sizes --uplo --nrhs --values-only --algorithm --seconds --csv "
       "--after-cpu-work",
       {"dpotrf", "dposv", "dgetrf", "dgesv", "dpotrs", "dgetrs", "dsgesv", "zpotrf", "zposv",
        "zgetrf", "zgesv", "zpotrs", "zgetrs", "zcgesv"},
       {32, 48, 72, 108, 162, 243, 365, 548, 822, 1233, 1850, 2775, 4096}},
      {"--callers",
       "Calls a second of threads that call at once",
       show_callers,
       "--routines --from --max-n --sizes --uplo --nrhs --algorithm --no-cpu --csv --threads",
       {"dpotrf", "dgetrf"},
       {256, 512, 1024}},
      {"--reductions",
       "Norms against the memory's speed, CUB, Thrust and the CPU LAPACK",
       show_reductions,
       "--from --max-n --sizes --lda-pad --no-peers --csv --json",
       {},
       {},
       nullptr,
       "",
       2048}};
  return all;
}

/// The modes that heed an option.
std::vector<const Mode*> modes_with(const std::string& option) {
  std::vector<const Mode*> found;
  for (const Mode& mode : modes()) {
    if (mode.accepts(option)) found.push_back(&mode);
  }
  return found;
}

/// The one mode that the options ask for. Throws if there are several, or if it does not heed one
/// of the others.
const Mode& chosen_mode(const CLI::App& app) {
  const Mode* chosen = &modes().front();
  for (const Mode& mode : modes()) {
    if (mode.is_comparison() || app.count(mode.option) == 0) continue;
    if (!chosen->is_comparison()) {
      throw CLI::ValidationError(mode.option, "not together with " + chosen->option);
    }
    chosen = &mode;
  }
  for (const CLI::Option* const option : app.get_options()) {
    if (option->count() == 0 || chosen->accepts(option->get_name())) continue;
    std::string others;
    for (const Mode* const mode : modes_with(option->get_name())) {
      others += (others.empty() ? "" : ", ") + mode->name();
    }
    throw CLI::ValidationError(option->get_name(),
                               "not an option of " + chosen->name() + ", but of " + others);
  }
  return *chosen;
}

/// Puts in what the mode has where the options say nothing.
void set_defaults(const Mode& mode, const CLI::App& app, Options& options) {
  if (app.count("--routines") == 0) options.routines = mode.routines;
  for (const std::string& name : options.routines) {
    Call call;
    tools::parse_name(name, call);
    if (mode.covers == nullptr || mode.covers(call.routine)) continue;
    throw CLI::ValidationError("--routines",
                               mode.name() + " is about " + mode.about + ", not " + name);
  }
  const bool sized = app.count("--from") + app.count("--max-n") + app.count("--sizes") > 0;
  if (!sized) options.sizes = mode.sizes;
  if (app.count("--from") == 0) options.min_size = mode.from;
  if (app.count("--from") > 0 && options.min_size > options.max_size) {
    throw CLI::ValidationError("--from", "is more than --max-n");
  }
}

/// What the command line says.
struct Arguments {
  /// In the form that the modes take.
  Options parsed() const {
    Options result = options;
    result.uplo = static_cast<Uplo>(uplo.front());
    result.op = static_cast<Op>(op.front());
    result.cpu = !no_cpu;
    result.peers = !no_peers;
    if (markdown) result.style = TableStyle::markdown;
    for (const std::string& text : shapes) result.shapes.push_back(*parse_shape(text));
    return result;
  }

  Options options;  // but for what is below
  std::string uplo = "L", op = "N";
  bool no_cpu = false, no_peers = false, markdown = false;
  std::vector<std::string> shapes;
};

template <class T>
CLI::Option* add_number(CLI::App& app, const char* name, T& value, const char* meaning) {
  return app.add_option(name, value, meaning)->check(tools::whole_number(1))->type_name("N");
}

CLI::Option* add_file(CLI::App& app, const std::string& name, std::string& value,
                      const std::string& meaning) {
  return app.add_option(name, value, meaning)->check(tools::not_empty)->type_name("FILE");
}

/// Which calls are measured.
void add_calls(CLI::App& app, Arguments& given) {
  Options& options = given.options;
  std::vector<std::string> all;
  for (std::size_t r = 0; r < dispatch::kRoutineCount; ++r) {
    for (const char type : dispatch::kTypeLetters) {
      const auto routine = static_cast<Routine>(r);
      if (dispatch::exists(routine, type)) all.push_back(type + std::string(name_of(routine)));
    }
  }
  const auto known = [all](const std::string& name) {
    Call call;
    if (tools::parse_name(name, call)) return std::string();
    return "no routine '" + name + "': --help lists them" + did_you_mean(name, all);
  };
  app.add_option(
         "--routines", options.routines,
         "potrf, potrs, posv, getrf, getrs, gesv, trtrs, gecon, pocon, trcon, trtri, lauum, "
         "potri, getri, geqrf, gelqf, orgqr, orglq, ormqr, ormlq (or ungqr and so on), gels, "
         "sytrd (hetrd), syevd and other drivers (heevd), sygvd (hegvd) with their type letters, "
         "e.g. dpotrf; dsgesv, zcgesv, dsposv and zcposv (default dpotrf,dgetrf)")
      ->delimiter(',')
      ->check(known)
      ->type_name("NAME");
  add_number(app, "--from", options.min_size,
             "Smallest order (default 256, or --max-n), then doubled");
  add_number(app, "--max-n", options.max_size, "Largest order (default 16384)");
  add_number(app, "--sizes", options.sizes, "These orders instead, e.g. 1000,3000")
      ->delimiter(',')
      ->excludes("--from")
      ->excludes("--max-n");
  app.add_option("--uplo", given.uplo, "Triangle of potrf, potrs and posv: L (default) or U")
      ->check(tools::one_of({"L", "U"}))
      ->type_name("L|U");
  app.add_option("--trans", given.op, "For getrs (default N)")
      ->check(tools::one_of({"N", "T", "C"}))
      ->type_name("N|T|C");
  add_number(app, "--nrhs", options.nrhs, "Right-hand sides of a solve (default 1)");
  app.add_flag("--values-only", options.values_only,
               "Of eigenproblems, no eigenvectors: jobz = 'N'");
  app.add_option("--lda-pad", options.lda_pad, "Leading dimension minus n (default 0)")
      ->check(tools::whole_number(0))
      ->type_name("N");
}

/// Who computes them, and for how long.
void add_contenders(CLI::App& app, Arguments& given) {
  Options& options = given.options;
  options.device = tools::default_device();
  app.add_option("--device", options.device,
                 "auto, cuda, cuda:INDEX, host or off (default: what OVERLAPACK_DEVICE says, or "
                 "auto)")
      ->check(tools::accepted_for("OVERLAPACK_DEVICE"))
      ->type_name("NAME");
  app.add_option("--algorithm", options.algorithm, "auto (default), tiled or hybrid")
      ->check(tools::accepted_for("OVERLAPACK_ALGORITHM"))
      ->type_name("NAME");
  add_number(app, "--nb", options.nb, "Block size (default: chosen by size)");
  add_number(app, "--threshold", options.min_n,
             "Smallest call sent to the device (default: all; in a replay the library's choice)");
  app.add_flag("--no-cpu", given.no_cpu, "Leave the CPU LAPACK out");
  app.add_flag("--no-peers", given.no_peers,
               "Leave cuSOLVER out; with --update qrupdate, LINPACK and a new factorization; with "
               "--reductions CUB and Thrust");
  add_number(app, "--reps", options.runs, "Timed runs of a cell (default 5)");
  app.add_option("--seconds", options.seconds,
                 "Time for one cell (default 20): fewer runs, or none, if it would take longer")
      ->check(tools::number(0.001))
      ->type_name("X");
}

/// Where the results go.
void add_outputs(CLI::App& app, Arguments& given) {
  Options& options = given.options;
  add_file(app, "--csv", options.csv, "Write a CSV file, one line per cell");
  add_file(app, "--json", options.json, "Write a JSON file");
  app.add_flag("--markdown", given.markdown, "Print Markdown");
  add_file(app, "--trace", options.trace,
           "Write the timeline of one call for ui.perfetto.dev (JSON)");
}

/// What only one mode heeds.
void add_options_of_modes(CLI::App& app, Options& options) {
  add_number(app, "--vectors", options.vectors, "How many at a time (default 16,1)")
      ->delimiter(',');
  app.add_option("--conditions", options.conditions, "Default: 10,1e3,1e5,1e7,1e10,1e14")
      ->delimiter(',')
      ->check(tools::number(1))
      ->type_name("X");
  app.add_flag("--resident", options.resident, "Matrices lie on the device");
  app.add_flag("--after-cpu-work", options.after_cpu_work,
               "Before each call the CPU LAPACK factors a matrix of order 600");
  add_number(app, "--threads", options.threads, "How many call at once (default 1,4,16)")
      ->delimiter(',');
  add_number(app, "--block-sizes", options.block_sizes, "Panels' widths (default 64,128,256)")
      ->delimiter(',');
  const auto add_choice = [&](const char* name, std::vector<std::string>& chosen,
                              const char* meaning) {
    app.add_option(name, chosen, meaning)
        ->delimiter(',')
        ->check(tools::one_of(chosen))
        ->type_name("NAME");
  };
  add_choice("--lu", options.lu, "Of unblocked,left-looking,crout,right-looking (default all)");
  add_choice("--panels", options.panels, "Of device,hybrid (default both)");
  add_choice("--padding", options.padding, "Of padded,unpadded (default both)");
}

CLI::Option* add_mode(CLI::App& app, const Mode& mode, Arguments& given) {
  if (mode.option == "--replay") {
    return add_file(app, mode.option, given.options.replay, mode.meaning);
  }
  if (mode.option != "--shapes") return app.add_flag(mode.option, mode.meaning);
  return app.add_option(mode.option, given.shapes, mode.meaning)
      ->delimiter(',')
      ->check([](const std::string& text) {
        return parse_shape(text) ? std::string()
                                 : "'" + text + "' is no shape like 300x200, of at most " +
                                       std::to_string(tools::kMaxWholeNumber);
      })
      ->type_name("MxN");
}

/// The modes, and in the help their own options below each.
void add_modes(CLI::App& app, Arguments& given) {
  for (const Mode& mode : modes()) {
    if (mode.is_comparison()) continue;
    add_mode(app, mode, given)->group("Modes (one at a time, instead of the comparison)");
  }
  for (CLI::Option* const option : app.get_options()) {
    const std::vector<const Mode*> at = modes_with(option->get_name());
    const bool own = at.size() == 1 && at[0]->option != option->get_name();
    if (own && !at[0]->is_comparison()) option->group("With " + at[0]->option);
  }
}

/// Refuses outputs that cannot be written, or that would overwrite each other, before anything is
/// measured.
void check_outputs(const Options& options) {
  tools::check_standard_output();
  const std::pair<const char*, const std::string&> files[] = {
      {"--csv", options.csv}, {"--json", options.json}, {"--trace", options.trace}};
  std::map<std::filesystem::path, std::string> options_of;
  for (const auto& [option, path] : files) {
    if (path.empty()) continue;
    tools::check_writable(path);
    if (!std::filesystem::is_regular_file(path)) continue;
    const auto [other, is_new] = options_of.emplace(std::filesystem::canonical(path), option);
    if (!is_new) throw CLI::ValidationError(option, "the same file as that of " + other->second);
  }
}

int main(int argc, char** argv) {
  CLI::App app(
      "Times overlapack against the CPU LAPACK and cuSOLVER. `overlapack bench` is this program.",
      "overlapack-bench");
  tools::set_style(app);
  app.set_version_flag("-V,--version", tools::version_text("overlapack-bench"));
  app.footer(kFooter);
  Arguments given;
  add_calls(app, given);
  add_contenders(app, given);
  add_outputs(app, given);
  add_options_of_modes(app, given.options);
  add_modes(app, given);
  return tools::run_program(app, [&] {
    app.parse(argc, argv);
    Options options = given.parsed();
    const Mode& mode = chosen_mode(app);
    set_defaults(mode, app, options);
    check_outputs(options);
    tools::report_unknown_settings("overlapack-bench");
    return mode.run(options);
  });
}

}  // namespace
}  // namespace overlapack::bench

int main(int argc, char** argv) { return overlapack::bench::main(argc, argv); }
