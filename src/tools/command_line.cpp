#include "tools/command_line.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <utility>

#include "dispatch/plan.hpp"
#include "host/nearest.hpp"
#include "tools/measure.hpp"
#include "tools/output.hpp"
#include "tools/table.hpp"

namespace overlapack::tools {
namespace {

class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, name);
    if (!app->get_prefix_command()) return usage;
    return usage.insert(usage.find_last_not_of('\n') + 1, " [--] PROGRAM [ARGUMENTS]");
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return {};  // a flag
    const bool several = option->get_expected_max() == CLI::detail::expected_max_vector_size;
    return " " + option->get_type_name() + (several ? " ..." : "");
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrap(option->get_description(), 100 - get_column_width());
  }
};

/// The sub-command that has been asked for, or the program.
const CLI::App& spoken_to(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : *parsed.front();
}

/// What lines on standard error begin with: "overlapack run".
std::string speaker(const CLI::App& app) {
  const CLI::App& who = spoken_to(app);
  return &who == &app ? app.get_name() : app.get_name() + ' ' + who.get_name();
}

std::string failure_message(const CLI::App* app, const CLI::Error& error) {
  std::string text = error.what();
  const std::size_t count = text.find(": At Most 1 required");  // of values, says CLI11
  if (count != std::string::npos) text = text.substr(0, count) + ": given more than once";
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::size_t first = text.find('-'), end = text.find_first_of(" =", first);
    if (first != std::string::npos) {
      std::vector<std::string> names;
      for (const CLI::Option* option : spoken_to(*app).get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      }
      text += did_you_mean(text.substr(first, end - first), names);
    }
  }
  const std::string who = speaker(*app);
  return who + ": " + text + "\n`" + who + " --help` says more.\n";
}

std::string refusal(const std::string& value, const std::string& wanted,
                    const std::vector<std::string>& accepted = {}) {
  return "'" + value + "' is not accepted: give " + wanted + did_you_mean(value, accepted);
}

/// The words among what a setting accepts: "auto", "cuda" and so on of "auto|cuda[:i]|host|off".
std::vector<std::string> words_of(const std::string& values) {
  std::vector<std::string> words;
  std::istringstream in(values);
  for (std::string word; std::getline(in, word, '|');) {
    word = word.substr(0, word.find('['));
    if (word.find(' ') == std::string::npos) words.push_back(word);
  }
  return words;
}

/// Whether what standard output led to is a pipe that nobody reads any more.
bool nobody_reads() {
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace

void set_style(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.failure_message(failure_message);
}

int run_program(const CLI::App& app, const std::function<int()>& work) {
  occupy_standard_files();
  int status = 1;
  try {
    status = work();
  } catch (const CLI::ParseError& error) {
    status = app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::cerr << speaker(app) << ": " << text_of(error) << '\n';
  }
  if (std::cout.flush()) return status;
  if (nobody_reads()) return 128 + SIGPIPE;
  std::cerr << speaker(app) << ": cannot write to standard output\n";
  return 1;
}

void report_unknown_settings(const std::string& speaker) {
  const char* const verbose = std::getenv("OVERLAPACK_VERBOSE");
  if (verbose != nullptr && std::string(verbose) == "1") return;  // the log begins with it
  for (const std::string& message : dispatch::unknown_settings(environ)) {
    std::cerr << speaker << ": " << message << '\n';
  }
}

std::string check_setting(const std::string& variable, const std::string& value) {
  for (const dispatch::Setting& setting : dispatch::kSettings) {
    if (variable != setting.name || value.empty()) continue;
    dispatch::Settings settings;
    if (!setting.accept(settings, value)) {
      return refusal(value, setting.values, words_of(setting.values));
    }
  }
  return {};
}

std::string not_empty(const std::string& value) {
  return value.empty() ? "the value is empty" : std::string();
}

Check accepted_for(const std::string& variable) {
  return [variable](const std::string& value) {
    return value.empty() ? not_empty(value) : check_setting(variable, value);
  };
}

Check whole_number(Index least) {
  return [least](const std::string& text) {
    Index value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const bool valid =
        error == std::errc() && stop == end && value >= least && value <= kMaxWholeNumber;
    return valid ? ""
                 : refusal(text, "a whole number from " + std::to_string(least) + " to " +
                                     std::to_string(kMaxWholeNumber));
  };
}

Check number(double least) {
  return [least](const std::string& text) {
    constexpr double kMaxReal = 1e300;  // neither infinity nor NaN
    char* stop = nullptr;
    const double value = std::strtod(text.c_str(), &stop);
    const bool valid = !text.empty() && *stop == '\0' && value >= least && value <= kMaxReal;
    std::ostringstream wanted;
    wanted << "a number >= " << least;
    return valid ? "" : refusal(text, wanted.str());
  };
}

Check one_of(std::vector<std::string> accepted) {
  return [accepted = std::move(accepted)](const std::string& text) {
    if (std::find(accepted.begin(), accepted.end(), text) != accepted.end()) return std::string();
    std::string wanted = accepted.front();
    for (std::size_t i = 1; i < accepted.size(); ++i) {
      wanted += (i + 1 < accepted.size() ? ", " : " or ") + accepted[i];
    }
    return refusal(text, wanted, accepted);
  };
}

std::string default_device() {
  const char* const variable = "OVERLAPACK_DEVICE";
  const char* const value = std::getenv(variable);
  const bool given = value != nullptr && *value != '\0' && check_setting(variable, value).empty();
  return given ? value : "auto";
}

}  // namespace overlapack::tools
