// The `overlapack` command.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "dispatch/plan.hpp"
#include "host/nearest.hpp"
#include "tools/command_line.hpp"
#include "tools/commands.hpp"
#include "tools/problem.hpp"
#include "tools/table.hpp"
#include "tools/version.hpp"

namespace overlapack::tools {
namespace {

constexpr const char* kMainFooter = R"(
Examples:
  overlapack run -- python3 regression.py     serve its LAPACK calls
  overlapack run --summary -- Rscript fit.R   ... and say which went where
  overlapack info                             what would be used here, and why
  overlapack info -- python3 fit.py           ... and which CPU LAPACK that program has
  overlapack tune                             measure from which size the GPU pays
  overlapack bench --max-n 8192               compare with cuSOLVER and the CPU

Environment: every setting has a variable OVERLAPACK_...; `overlapack info --settings`
lists them all with their values.

Files:
  $XDG_CACHE_HOME/overlapack/profile, ~/.cache/overlapack/profile
      the measured break-even sizes, written by `overlapack tune`, read by every
      program that uses the library; OVERLAPACK_PROFILE names another file

Exit status: 0 on success, 1 if the work could not be done, 2 for a usage error;
`overlapack run` exits as the program does.
)";

constexpr const char* kRunFooter = R"(
Everything after the options is the program and its arguments; -- ends the options.
Options set the environment variables named beside them for this program only.

Examples:
  overlapack run -- octave solve.m
  overlapack run --device cuda:1 --min-n 512 -- ./simulation input.dat
  overlapack run --log calls.log -- python3 fit.py
  overlapack bench --replay calls.log

Exit status: the program's own; if a signal ended it, the same signal ends this
command. 127 if there is no such program, 126 if it cannot be executed, 125 if
overlapack itself failed, 2 for a usage error.
)";

constexpr const char* kInfoFooter = R"(
What follows -- is a program and its arguments: which CPU LAPACK would it have? It is run to its
end under the library, which then looks which LAPACKs it has loaded. Libraries that a program loads
on demand are known once it has done so: give it something short to do.

Examples:
  overlapack info
  overlapack info --json | python3 -m json.tool
  overlapack info -- python3 -c 'import numpy, scipy.linalg'

Exit status: 0; 1 if the program could not be asked; 2 for a usage error.
)";

constexpr const char* kTuneFooter = R"(
For each routine and type, n is doubled from 32 and both sides are timed from and to
ordinary memory; the smallest size from which the device wins at this and every
larger measured size becomes its threshold, after bisection to within 10 % (25 % with
--quick). A result with a large residual counts as lost. Solves alone (...trs) are
measured with n right-hand sides, posv and gesv with one, cholupdate with 16 vectors. The
profile keeps what it says of all others or, if it is new, takes it from the profile in
use; what neither says is left out, and keeps its built-in value. Other work on the
machine spoils the measurement.

Examples:
  overlapack tune --quick
  overlapack tune --routines potrf,posv --types d --max-n 4096

Exit status: 0 if the profile was written; 1 if there is no device, if it is emulated
and no --output is given, or if no file could be written; 2 for a usage error.
)";

constexpr const char* kFile = "FILE";  // the type of options that name one

/// A relative path from here on, but a mere name, which is looked for elsewhere, as it is.
std::string absolute_file(const std::string& path) {
  const bool is_path = path.find('/') != std::string::npos || std::filesystem::exists(path);
  return is_path ? std::filesystem::absolute(path).string() : path;
}

/// Adds an option that sets an environment variable for the program.
void mirror(CLI::App& app, RunOptions& options, const std::string& flag, const char* variable,
            const std::string& meaning, const std::string& type) {
  app.add_option_function<std::string>(
         flag,
         [&options, variable, is_file = type == kFile](const std::string& value) {
           // Absolute, for programs that change their folder.
           const std::string there = is_file ? absolute_file(value) : value;
           options.environment.emplace_back(variable, there);
         },
         meaning + " (" + variable + ")")
      ->check(accepted_for(variable))
      ->type_name(type);
}

/// Starts the benchmark, which lies beside this command, in place of this process.
int bench(const std::vector<std::string>& arguments) {
  const std::string here = folder_of_command();
  if (here.empty()) {
    std::cerr << "overlapack bench: " << kFolderUnknown << "; start overlapack-bench itself\n";
    return 1;
  }
  std::string program = here + "/overlapack-bench";
  std::vector<char*> words = {program.data()};
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.data()));
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  const int reason = errno;
  std::cerr << "overlapack bench: cannot start '" << program << "': " << std::strerror(reason)
            << '\n';
  if (reason == ENOENT) {
    std::cerr << "The benchmark is not in the Python package. Debian has a package of its own for "
                 "it, overlapack-bench.\nElse build it from source.\n";
  }
  return 1;
}

CLI::App* add_run(CLI::App& app, RunOptions& options) {
  CLI::App* const run = app.add_subcommand("run", "Run a program under the library");
  run->prefix_command();  // the first word that is no option of ours starts the program
  run->footer(kRunFooter);
  mirror(*run, options, "--device", "OVERLAPACK_DEVICE",
         "auto, cuda, cuda:INDEX, host (emulated) or off", "NAME");
  mirror(*run, options, "--min-n", "OVERLAPACK_MIN_N",
         "Send every call of at least this size to the device", "N");
  mirror(*run, options, "--algorithm", "OVERLAPACK_ALGORITHM", "auto, tiled, hybrid or textbook",
         "NAME");
  mirror(*run, options, "--nb", "OVERLAPACK_NB", "Block size", "N");
  mirror(*run, options, "--threads", "OVERLAPACK_THREADS",
         "Copy threads; also those of updates on the CPU and of NumPy's copies", "N");
  mirror(*run, options, "--copies", "OVERLAPACK_COPIES",
         "auto, or strict: NumPy's copies read and write their operands alone", "NAME");
  mirror(*run, options, "--memory-limit", "OVERLAPACK_MEMORY_LIMIT",
         "Device memory that calls may take, e.g. 8G", "BYTES");
  mirror(*run, options, "--keep-memory", "OVERLAPACK_KEEP_MEMORY",
         "Seconds without a call to keep device memory, or forever", "SECONDS");
  mirror(*run, options, "--fp32", "OVERLAPACK_FP32",
         "auto, or strict: no large single-precision products on the tensor cores", "NAME");
  mirror(*run, options, "--fp64", "OVERLAPACK_FP64",
         "auto, or strict: no sums of double-precision Cholesky and LU by integers", "NAME");
  mirror(*run, options, "--upload", "OVERLAPACK_UPLOAD",
         "auto, columns, triangle or halves: what of a matrix goes up first", "NAME");
  mirror(*run, options, "--refine", "OVERLAPACK_REFINE",
         "auto, fp32, tf32 or fp16: large products of mixed-precision solvers", "NAME");
  mirror(*run, options, "--profile", "OVERLAPACK_PROFILE", "File with the break-even sizes", kFile);
  mirror(*run, options, "--cpu-lapack", "OVERLAPACK_CPU_LAPACK",
         "Shared library to use as CPU LAPACK", kFile);
  mirror(*run, options, "--nvtx", "OVERLAPACK_NVTX",
         "calls or blocks: the ranges of which profilers show (nsys, for instance)", "NAME");
  mirror(*run, options, "--scalapack", "OVERLAPACK_SCALAPACK",
         "auto or grid:RANKS: ScaLAPACK's names, too, for the ranks of a parallel program; or off",
         "NAME");
  mirror(*run, options, "--scalapack-min-n", "OVERLAPACK_SCALAPACK_MIN_N",
         "Send every call of ScaLAPACK's of at least this size to a GPU", "N");
  CLI::Option* const verbose = run->add_flag_callback(
      "-v,--verbose", [&options] { options.environment.emplace_back("OVERLAPACK_VERBOSE", "1"); },
      "One line on stderr for every call (OVERLAPACK_VERBOSE=1)");
  run->add_option("--log", options.log,
                  "Append one line for every call to a file (OVERLAPACK_VERBOSE=FILE), which is "
                  "opened for each: read a pipe by tail -f -n +1")
      ->check(not_empty)
      ->type_name("FILE")
      ->excludes(verbose);
  run->add_flag("-s,--summary", options.summary,
                "Afterwards print on stderr which calls went where (takes the place of "
                "OVERLAPACK_VERBOSE; --log FILE goes with it, otherwise the log is meanwhile in "
                "TMPDIR, /tmp or /dev/shm)")
      ->excludes(verbose);
  return run;
}

CLI::App* add_tune(CLI::App& app, TuneOptions& options) {
  constexpr std::size_t kNamesOfLine = 10;
  std::string names;
  for (std::size_t r = 0; r < dispatch::kRoutineCount; ++r) {
    if (!is_for_device(static_cast<Routine>(r))) continue;
    const bool full = options.routines.size() % kNamesOfLine == 0;
    options.routines.push_back(title_of(static_cast<Routine>(r)));
    names += (full ? "\n  " : " ") + options.routines.back();
  }
  CLI::App* const tune =
      app.add_subcommand("tune", "Measure from which size the device wins, and remember it");
  constexpr std::size_t kFooterWidth = 90;
  tune->footer('\n' + wrap("Routines:" + names, kFooterWidth) + '\n' + kTuneFooter);
  tune->add_flag("--quick", options.quick, "Coarser, and up to n = 2048 only");
  tune->add_option("--routines", options.routines, "Only these, e.g. potrf,getrf")
      ->delimiter(',')
      ->check([all = options.routines](const std::string& name) {
        const auto has = [&](const std::string& routine) {
          return std::find(all.begin(), all.end(), routine) != all.end();
        };
        if (has(name)) return std::string();
        const std::string refusal = "no routine '" + name + "'";
        const bool typed = !name.empty() && has(name.substr(1));
        return typed
                   ? refusal + ": give " + name.substr(1) + ", without the type letter; see --types"
                   : refusal + ": --help lists them" + did_you_mean(name, all);
      })
      ->type_name("NAME");
  tune->add_option("--types", options.types, "Only these of s, d, c and z, e.g. sd")
      ->type_name("LETTERS")
      ->check([](const std::string& letters) {
        return letters.empty() || letters.find_first_not_of("sdcz") != std::string::npos
                   ? "types are letters of sdcz"
                   : std::string();
      });
  tune->add_option("--max-n", options.max_n, "Largest order measured (default 8192)")
      ->check(whole_number(1))
      ->type_name("N");
  tune->add_option("--device", options.device,
                   "auto, cuda, cuda:INDEX, or host (emulated: for tests only); default: what "
                   "OVERLAPACK_DEVICE says, or auto")
      ->check(accepted_for("OVERLAPACK_DEVICE"))
      ->type_name("NAME");
  tune->add_option("--output", options.output,
                   "Profile to write (default: where the library looks for it); folders are made")
      ->check(not_empty)
      ->type_name("FILE");
  return tune;
}

CLI::App* add_info(CLI::App& app, InfoOptions& options) {
  CLI::App* const info =
      app.add_subcommand("info", "Show devices, CPU LAPACK, versions and settings");
  info->footer(kInfoFooter);
  const std::vector<CLI::Option*> parts = {
      info->add_flag("--settings", options.settings,
                     "Instead show all settings, what they mean, and their values here"),
      info->add_flag("--names", options.names,
                     "Instead show the names served, and which CPU LAPACK has them"),
      info->add_flag("--sizes", options.sizes,
                     "Instead show from which sizes calls go to the device"),
      info->add_flag("--tuning", options.tuning,
                     "Instead show what was measured of the device's generation: rates, block "
                     "sizes, thresholds"),
      info->add_flag("--json", options.json, "Everything but the table of tuning, as JSON")};
  for (CLI::Option* const part : parts) {
    for (CLI::Option* const other : parts) {
      if (part != other) part->excludes(other);
    }
  }
  return info;
}

/// Of what is no subcommand: says which there are, and which may be meant.
[[noreturn]] void refuse_subcommand(const CLI::App& app, const std::string& typed) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands({}))
    names.push_back(command->get_name());
  std::string all;
  for (const std::string& name : names) {
    all += (all.empty() ? "" : name == names.back() ? " or " : ", ") + name;
  }
  throw CLI::ParseError("no subcommand '" + typed + "': " + all + did_you_mean(typed, names),
                        CLI::ExitCodes::ExtrasError);
}

/// "help", and "help run", as the options that they stand for.
std::vector<char*> without_help_command(int argc, char** argv) {
  static char option[] = "--help";
  std::vector<char*> words(argv, argv + argc);
  if (argc > 1 && std::strcmp(argv[1], "help") == 0) {
    words.erase(words.begin() + 1);
    words.push_back(option);
  }
  return words;
}

int main(int argc, char** given) {
  std::vector<char*> words = without_help_command(argc, given);
  char** const argv = words.data();
  argc = static_cast<int>(words.size());
  // The benchmark reads its own options, --help among them.
  if (argc > 1 && std::strcmp(argv[1], "bench") == 0) return bench({argv + 2, argv + argc});

  CLI::App app(
      "A LAPACK that sends large calls to an NVIDIA GPU and small ones to the CPU, for\n"
      "programs that nobody needs to recompile.\n",
      "overlapack");
  set_style(app);
  app.set_version_flag("-V,--version", version_text("overlapack"));
  app.require_subcommand(1);
  RunOptions run_options;
  CLI::App* const run_app = add_run(app, run_options);
  InfoOptions info_options;
  CLI::App* const info_app = add_info(app, info_options);
  TuneOptions tune_options;
  CLI::App* const tune_app = add_tune(app, tune_options);
  app.add_subcommand("bench", "Compare with the CPU and cuSOLVER: see `overlapack bench --help`");
  app.add_subcommand("help", "Show this help, or that of a subcommand");
  app.footer(kMainFooter);  // sub-commands made after it would have it, too

  // What follows -- is none of our business; if the program's name stands before it, -- is one of
  // its arguments.
  char** const end = argv + argc;
  char** const dashes = std::find_if(argv, end, [](char* s) { return std::strcmp(s, "--") == 0; });
  return run_program(app, [&] {
    const auto named = [&](const CLI::App* command) { return command->check_name(argv[1]); };
    const bool option = argc > 1 && argv[1][0] == '-';
    if (option && argv + 1 != dashes && app.get_option_no_throw(argv[1]) == nullptr) {
      throw CLI::ExtrasError({argv[1]});  // rather than say that a subcommand is required
    }
    if (argc > 1 && !option && app.get_subcommands(named).empty()) refuse_subcommand(app, argv[1]);
    app.parse(static_cast<int>(dashes - argv), argv);
    if (run_app->parsed()) {
      std::vector<std::string>& program = run_options.program;
      program = run_app->remaining();
      const bool started = !program.empty();
      if (dashes != end) program.insert(program.end(), started ? dashes : dashes + 1, end);
      if (program.empty()) throw CLI::RequiredError("PROGRAM");
      if (started && program[0][0] == '-') throw CLI::ExtrasError({program[0]});
      return run(run_options);
    }
    if (info_app->parsed()) {
      if (dashes != end) info_options.program.assign(dashes + 1, end);
      return info(info_options);
    }
    if (tune_options.quick && tune_app->count("--max-n") == 0) tune_options.max_n = 2048;
    return tune(tune_options);
  });
}

}  // namespace
}  // namespace overlapack::tools

int main(int argc, char** argv) { return overlapack::tools::main(argc, argv); }
