// The benchmark: one binary for every routine of the table.
#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <sstream>
#include <vector>

#include "bench.hpp"
#include "tools/command_line.hpp"

namespace overlapack::bench {
namespace {

constexpr const char* kFooter = R"(
Columns: the median wall time of each contender with, beside it, the residual of its
result (in LAPACK's scale: a few units at most; 30 counts as wrong);
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

With --speed-of-light, instead:
  flops ms       the routine's operations at the rate of the device's matrix products,
                 the best of a few large shapes, measured at the start of the run
  link ms        every element of the operands (of a triangle for potrf and posv) once up
                 and once down, both at the same time, at the rate of page-locked copies
  bound ms       the longer of the two: perfect overlap, and nothing else to wait for
--trace and --svg run the first routine at its largest order once more and write what
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
each n says which form was fastest and how the library compares. --plot draws it.

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
elements i, i + 2^k), for n = 2048, 4096, 8192 and 16384:
  form           fp64: dgesv, dposv. fp32, tf32, fp16: by OVERLAPACK_REFINE. cuSOLVER's, where
                 there are any, with its copies (or, with --resident, without)
  ms             the median of whole calls; refine ms are those from the end of a
                 factorization to its last residual, in a run with marks, factor ms the rest
  iter, end      LAPACK's iter, and what came of it: converged; switched to the factors in
                 that precision; fell back to double precision; info
  backward error of the solution: ||b - A x|| / (||A|| ||x|| + ||b||)

With --reductions, instead: norms of matrices that lie on the device, in double and single
precision, beside CUB's DeviceReduce and Thrust's transform_reduce on the same data, for
n = 2048, 4096, 8192 and 16384:
  m x n, lda     square, without and with padding (--lda-pad, or 8), n^2 / 16 x 16 and its converse
  GB/s, %        bytes of the matrix per second, and that in percent of what a copy on the device
                 reads and writes; the best that memory allows is about 100
  error          in units of the last place
Without a GPU ours runs on the emulated device.

Examples:
  overlapack-bench --max-n 8192 --markdown
  overlapack-bench --routines dpotrf,zgetrf,dgesv --sizes 1000,3000 --csv times.csv
  overlapack-bench --routines dgesv,dsgesv,dposv,dsposv --sizes 8192,16384
  overlapack-bench --routines dgetrf --shapes 100000x256,256x100000,100000x32
  overlapack-bench --sizes 1024,4096,16384 --plot comparison.svg
  overlapack-bench --speed-of-light --routines dpotrf,spotrf,zpotrf
  overlapack-bench --speed-of-light --sizes 16384 --trace dpotrf.json --svg dpotrf.svg
  overlapack-bench --components --routines dpotrf,spotrf --max-n 8192
  overlapack-bench --transfer --sizes 512,4096,16384
  overlapack-bench --reductions --sizes 2048,16384
  overlapack-bench --update --plot update.svg --markdown
  overlapack-bench --variants --plot variants.svg --markdown
  overlapack-bench --refine --resident --sizes 8192 --conditions 10,1e3,1e6 --plot refine.svg
  overlapack-bench --variants --lu crout,right-looking --panels device --block-sizes 96,128
  overlapack run --log calls.log -- python3 fit.py; overlapack-bench --replay calls.log
  overlapack-bench --device host --max-n 512      no GPU: emulated, not a measurement

Exit status: 0; 1 if a result of ours was wrong or the work could not be done; 2 for a
usage error.
)";

/// m and n of "MxN", if they are positive.
std::optional<std::pair<Index, Index>> parse_shape(const std::string& text) {
  std::istringstream words(text);
  Index m = 0, n = 0;
  char x = 0;
  if (!(words >> m >> x >> n) || x != 'x' || m < 1 || n < 1 || words.peek() != EOF) return {};
  return std::pair(m, n);
}

int main(int argc, char** argv) {
  CLI::App app("Times overlapack against the CPU LAPACK and cuSOLVER.", "overlapack-bench");
  app.footer(kFooter);
  Options options;
  // Without a description the checks stay out of the help.
  const CLI::Validator positive = CLI::Validator(CLI::PositiveNumber).description("");
  const CLI::Validator not_negative = CLI::Validator(CLI::NonNegativeNumber).description("");
  const auto known = [](const std::string& name) {
    Call call;
    return tools::parse_name(name, call) ? std::string() : "no routine '" + name + "'";
  };
  const auto add_number = [&](const char* name, auto& value, const char* meaning) {
    return app.add_option(name, value, meaning)->check(positive)->type_name("N");
  };
  CLI::Option* const routines =
      app.add_option("--routines", options.routines, "Default: dpotrf,dgetrf")
          ->delimiter(',')
          ->check(known)
          ->type_name("NAME");
  CLI::Option* const smallest = add_number(
      "--from", options.min_size, "Smallest order (default 256, or --max-n), then doubled");
  CLI::Option* const largest =
      add_number("--max-n", options.max_size, "Largest order (default 16384)");
  add_number("--sizes", options.sizes, "These orders instead, e.g. 1000,3000")->delimiter(',');
  std::vector<std::string> shapes;
  CLI::Option* const rectangular =
      app.add_option("--shapes", shapes, "Or these shapes of getrf, e.g. 100000x256,256x100000")
          ->delimiter(',')
          ->check([](const std::string& text) {
            return parse_shape(text) ? std::string() : "'" + text + "' is no shape like 300x200";
          })
          ->type_name("MxN")
          ->excludes("--from")
          ->excludes("--max-n")
          ->excludes("--sizes");
  std::string uplo = "L", op = "N";
  app.add_option("--uplo", uplo, "Triangle of potrf, potrs and posv: L (default) or U")
      ->check(CLI::IsMember({"L", "U"}).description(""))
      ->type_name("L|U");
  app.add_option("--trans", op, "For getrs (default N)")
      ->check(CLI::IsMember({"N", "T", "C"}).description(""))
      ->type_name("N|T|C");
  add_number("--nrhs", options.nrhs, "Right-hand sides of a solve (default 1)");
  app.add_option("--lda-pad", options.lda_pad, "Leading dimension minus n (default 0)")
      ->check(not_negative)
      ->type_name("N");
  app.add_option("--device", options.device, "auto (default), cuda, cuda:INDEX, host or off")
      ->check(
          [](const std::string& name) { return tools::check_setting("OVERLAPACK_DEVICE", name); })
      ->type_name("NAME");
  app.add_option("--algorithm", options.algorithm, "auto (default), tiled or hybrid")
      ->check([](const std::string& name) {
        return tools::check_setting("OVERLAPACK_ALGORITHM", name);
      })
      ->type_name("NAME");
  add_number("--nb", options.nb, "Block size (default: chosen by size)");
  add_number("--threshold", options.min_n,
             "Smallest call sent to the device (default: all; in a replay the library's choice)");
  bool no_cpu = false, no_peers = false, markdown = false;
  app.add_flag("--no-cpu", no_cpu, "Leave the CPU LAPACK out");
  app.add_flag("--no-peers", no_peers, "Leave cuSOLVER (CUB, Thrust) out");
  add_number("--reps", options.runs, "Timed runs of a cell (default 5)");
  add_number("--seconds", options.seconds,
             "Time for one cell (default 20): fewer runs, or none, if it would take longer");
  app.add_option("--csv", options.csv, "Write a CSV file, one line per cell")->type_name("FILE");
  app.add_option("--json", options.json, "Write a JSON file")->type_name("FILE");
  app.add_flag("--markdown", markdown, "Print Markdown");
  app.add_option("--plot", options.plot,
                 "Draw the comparison, or that of --variants, --update or --refine (SVG)")
      ->type_name("FILE");
  CLI::Option* const components = app.add_flag(
      "--components", options.components,
      "Instead: time of a Cholesky factorization with and without transfer, and by component");
  CLI::Option* const light =
      app.add_flag("--speed-of-light", options.speed_of_light,
                   "Instead: times against what the device and its link allow")
          ->excludes(components);
  app.add_option("--trace", options.trace,
                 "Write the timeline of one call for ui.perfetto.dev (JSON)")
      ->type_name("FILE")
      ->needs(light);
  app.add_option("--svg", options.svg, "Draw the timeline of one call (SVG)")
      ->type_name("FILE")
      ->needs(light);
  app.add_option("--replay", options.replay, "Instead: run the calls of a log again")
      ->type_name("FILE")
      ->excludes(components)
      ->excludes(light);
  app.add_flag("--transfer", options.transfer,
               "Instead: GB/s of the transfer engine, up, down and both at once")
      ->excludes(components)
      ->excludes(light);
  // Each of these goes with none before it.
  std::vector<CLI::Option*> modes = {components, light, app.get_option("--replay"),
                                     app.get_option("--transfer")};
  const auto add_mode = [&](const char* name, bool& chosen, const char* meaning) {
    CLI::Option* const mode = app.add_flag(name, chosen, meaning);
    for (CLI::Option* const other : modes) mode->excludes(other);
    modes.push_back(mode);
    return mode;
  };
  CLI::Option* const variants =
      add_mode("--variants", options.variants,
               "Instead: the textbook forms of LU on the device, and their block sizes")
          ->excludes("--nb")
          ->excludes("--algorithm");
  CLI::Option* const update =
      add_mode("--update", options.update,
               "Instead: updates of a Cholesky factor against qrupdate and a new factorization");
  add_mode("--reductions", options.reductions,
           "Instead: norms on the device against its memory's speed, CUB and Thrust");
  add_number("--vectors", options.vectors, "How many at a time (default 16,1)")
      ->delimiter(',')
      ->needs(update);
  CLI::Option* const refine =
      add_mode("--refine", options.refine,
               "Instead: mixed-precision solvers in every precision, by condition number");
  app.add_option("--conditions", options.conditions, "Default: 10,1e3,1e5,1e7,1e10")
      ->delimiter(',')
      ->check(CLI::Range(1., 1e300).description(""))
      ->type_name("X")
      ->needs(refine);
  app.add_flag("--resident", options.resident, "Matrices lie on the device")->needs(refine);
  add_number("--block-sizes", options.block_sizes, "Panels' widths (default 64,128,256)")
      ->delimiter(',')
      ->needs(variants);
  const auto add_choice = [&](const char* name, std::vector<std::string>& chosen,
                              const char* meaning) {
    app.add_option(name, chosen, meaning)
        ->delimiter(',')
        ->check(CLI::IsMember(chosen).description(""))
        ->type_name("NAME")
        ->needs(variants);
  };
  for (CLI::Option* const mode : modes) mode->excludes(rectangular);
  app.get_option("--plot")->excludes(rectangular);  // by order
  add_choice("--lu", options.lu, "Of unblocked,left-looking,crout,right-looking (default all)");
  add_choice("--panels", options.panels, "Of device,hybrid (default both)");
  add_choice("--padding", options.padding, "Of padded,unpadded (default both)");
  try {
    app.parse(argc, argv);
    options.uplo = static_cast<Uplo>(uplo.front());
    options.op = static_cast<Op>(op.front());
    options.cpu = !no_cpu;
    options.peers = !no_peers;
    if (markdown) options.style = TableStyle::markdown;
    for (const std::string& text : shapes) options.shapes.push_back(*parse_shape(text));
    if (!shapes.empty() && routines->empty()) options.routines = {"dgetrf"};
    for (const std::string& name : options.routines) {
      if (shapes.empty() || name.substr(1) == "getrf") continue;
      throw CLI::ValidationError("--shapes", "only getrf has shapes, not " + name);
    }
    if (options.components && routines->empty()) options.routines = {"dpotrf", "spotrf"};
    if (options.variants && routines->empty()) options.routines = {"dgetrf"};
    if (options.variants && smallest->empty() && largest->empty() && options.sizes.empty()) {
      options.sizes = {1024, 2048, 4096, 8192};
    }
    if (options.refine && routines->empty()) options.routines = {"dsgesv", "dsposv"};
    if (options.refine && smallest->empty() && largest->empty() && options.sizes.empty()) {
      options.sizes = {2048, 4096, 8192, 16384};
    }
    if (options.update && smallest->empty() && largest->empty() && options.sizes.empty()) {
      options.sizes = {500, 1000, 2000, 5000, 10000};
    }
    if (options.reductions && smallest->empty()) options.min_size = 2048;
    if (options.variants) return show_variants(options);
    if (options.update) return show_updates(options);
    if (options.refine) return show_refinement(options);
    if (options.reductions) return show_reductions(options);
    if (options.components) return show_components(options);
    if (options.transfer) return show_transfers(options);
    if (options.speed_of_light) return show_speed_of_light(options);
    if (!options.replay.empty()) return replay(options);
    return compare(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::cerr << "overlapack-bench: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace
}  // namespace overlapack::bench

int main(int argc, char** argv) { return overlapack::bench::main(argc, argv); }
