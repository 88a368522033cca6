// `overlapack info`: what the library would do here, and why.
#include <dlfcn.h>
#include <sys/wait.h>

#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "dispatch/context.hpp"
#include "tools/call_log.hpp"
#include "tools/commands.hpp"
#include "tools/facts.hpp"
#include "tools/launch.hpp"
#include "tools/program.hpp"
#include "tools/table.hpp"
#include "tools/version.hpp"

namespace overlapack::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kColumns = 100;

std::string gib(const Json& bytes) { return brief(bytes.get<double>() / (1 << 30)) + " GiB"; }
std::string text(const Json& value) { return value.get<std::string>(); }

/// A text behind a title, which is as wide as all titles.
void print_item(const std::string& title, const std::string& value) {
  constexpr std::size_t kTitle = 18;
  const std::string indentation(kTitle, ' ');
  std::string lines = wrap(value, kColumns - kTitle, indentation);
  std::cout << lines.replace(0, title.size(), title) << '\n';
}

void print_devices() {
  const Json facts = device_facts();
  const bool none = facts["in_use"].is_null();
  std::string device = (none ? "none: " : "") + text(facts["status"]);
  if (!none) device += ", " + gib(facts["in_use"]["memory"]);
  print_item("device", device);
  if (facts["gpus"].empty() && facts["no_gpu"] != facts["status"]) {
    print_item("GPUs", "none: " + text(facts["no_gpu"]));
  }
  std::string gpus;
  for (const Json& gpu : facts["gpus"]) gpus += (gpus.empty() ? "" : ", ") + text(gpu["name"]);
  if (!gpus.empty()) print_item("GPUs", gpus);
  print_item("driver", facts["driver"].is_null() ? "none" : text(facts["driver"]));
  const Json& plugin = facts["plugin"];
  print_item("plug-in", plugin.is_null() ? "not installed"
                                         : text(plugin["file"]) +
                                               (plugin["loaded"] ? "" : ", installed, not loaded"));
}

void print_set() {
  const Json facts = setting_facts();  // items() does not keep it
  std::string set;
  for (const auto& [name, setting] : facts.items()) {
    if (setting["value"].is_null()) continue;
    set += (set.empty() ? "" : " ") + name + '=' + text(setting["value"]) +
           (setting["ignored"] ? " (ignored)" : "");
  }
  print_item("settings", set.empty() ? "all as by default" : set);
}

void print_short() {
  const Version& v = version();
  print_item("overlapack", v.number + ", commit " + (v.commit.empty() ? "unknown" : v.commit) +
                               (v.cuda.empty() ? ", without CUDA" : ", CUDA " + v.cuda));
  print_devices();
  const Json cpu = cpu_facts();
  print_item("CPU", text(cpu["model"]) + ", " + std::to_string(cpu["cores"].get<Index>()) +
                        " cores for this process");
  print_item("CPU LAPACK", text(cpu["lapack"]) + "; a program may bring its own: -- PROGRAM");
  print_item("sizes", text(size_facts()["source"]));
  print_set();
  print_item("more", "overlapack info --settings, --sizes, --names, --tuning, --json");
}

void print_sizes() {
  const Json facts = size_facts();
  std::cout << "Break-even sizes (" << text(facts["source"]) << ")\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [routine, sizes] : facts["sizes"].items()) {
    std::vector<std::string> row = {"  " + routine};
    for (const char type : dispatch::kTypeLetters) {
      const auto size = sizes.find(std::string(1, type));
      row.push_back(size == sizes.end() ? "-" : size->is_null() ? "never" : size->dump());
    }
    rows.push_back(row);
  }
  print_table(std::cout, {"  routine", "s", "d", "c", "z"}, rows);
  std::cout
      << "  Cholesky: n; LU: cube root of m n min(m, n); solves alone (...trs): min(n, nrhs);\n"
         "  cholupdate: n, for 16 vectors or more; for k, from (16 / k)^2 times as much\n";
  if (!facts["built_in_origin"].is_null()) {
    std::cout << "  Built-in sizes are " << text(facts["built_in_origin"])
              << "; `overlapack tune` finds this machine's.\n";
  }
  if (const auto min_n = dispatch::Context::instance().settings().min_n) {
    std::cout << "  OVERLAPACK_MIN_N=" << *min_n << " overrides all of these\n";
  }
}

void print_settings() {
  const Json facts = setting_facts();
  for (const auto& [name, setting] : facts.items()) {
    const std::string value = setting["value"].is_null() ? "not set" : text(setting["value"]);
    std::cout << wrap(name + '=' + text(setting["accepted"]), kColumns) << '\n'
              << wrap(text(setting["meaning"]), kColumns - 4, "    ") << '\n'
              << "    now: " << value << (setting["ignored"] ? " (ignored)" : "") << '\n';
  }
}

std::string joined(const Json& names) {
  std::string all;
  for (const Json& name : names) all += (all.empty() ? "" : " ") + text(name);
  return all;
}

void print_served_by(const Json& cpu) {
  for (const Json& family : cpu["families"]) {
    print_item(text(family["dpotrf"]), text(family["served_by"]));
    for (const auto& [source, names] : family["but"].items()) {
      print_item("", "but " + joined(names) + " by " + source);
    }
  }
}

void print_names() {
  const Json cpu = cpu_facts();
  std::cout << "Who serves them on the CPU, as far as this machine goes\n";
  print_served_by(cpu);
  const auto print = [](const std::string& title, const Json& names) {
    std::cout << '\n' << title << '\n' << wrap(joined(names), kColumns - 2, "  ") << '\n';
  };
  for (const Json& family : cpu["families"]) print(text(family["clients"]), family["names"]);
  const Json others = other_names();
  print("updates of a Cholesky factor", others["updates"]);
  print("copies of BLAS, as NumPy calls them", others["copies"]);
}

/// Runs a program under the library, and opens in this process what LAPACKs it had at its end, in
/// the same order: the search for a CPU LAPACK then finds here what it would find there.
void load_lapacks_of(const std::vector<std::string>& program) {
  const auto fail = [&](const std::string& why) { throw std::runtime_error(program[0] + why); };
  preload_library();
  const TemporaryFile answer;
  setenv("OVERLAPACK_VERBOSE", (std::string(dispatch::kQuestion) + answer.path()).c_str(), 1);
  const Outcome outcome = run_to_its_end(program);
  unsetenv("OVERLAPACK_VERBOSE");
  if (outcome.error != 0) fail(std::string(": cannot start it: ") + std::strerror(outcome.error));
  const auto told = [&](const std::string& what) {
    std::ifstream in(answer.path());
    return read_told(in, what);
  };
  if (told("loaded by").empty()) {
    const std::string reason = why_not_preloaded(find_program(program[0]));
    fail(reason.empty() ? " did not load the library" : ' ' + reason);
  }
  if (told("asked").empty()) fail(" ended by a signal, or by _exit(), so it could not be asked");
  if (!WIFEXITED(outcome.status) || WEXITSTATUS(outcome.status) != 0) {
    std::cerr << "overlapack info: " << program[0] << " did not end well\n";
  }
  for (const std::string& file : told("lapack is")) {
    if (file.empty() || dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr) continue;
    const char* const reason = dlerror();
    fail(" has loaded a LAPACK that cannot be opened elsewhere: " +
         (reason != nullptr ? std::string(reason) : file));
  }
}

void print_json(const Json& program) {
  const Json facts = {{"version", version_facts()},   {"device", device_facts()},
                      {"program", program},           {"cpu", cpu_facts()},
                      {"other_names", other_names()}, {"break_even", size_facts()},
                      {"settings", setting_facts()}};
  std::cout << facts.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace

int info(const InfoOptions& options) {
  report_unknown_settings("overlapack info");
  const std::vector<std::string>& program = options.program;
  if (!program.empty()) load_lapacks_of(program);
  if (options.tuning) return print_tuning();
  if (options.json) {
    print_json(program.empty() ? Json() : Json(program));
  } else if (options.settings) {
    print_settings();
  } else if (options.names) {
    print_names();
  } else if (options.sizes) {
    print_sizes();
  } else if (program.empty()) {
    print_short();
  } else {
    std::cout << "CPU LAPACK of " << program[0] << '\n';
    print_served_by(cpu_facts());
  }
  return 0;
}

}  // namespace overlapack::tools
