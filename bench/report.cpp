#include "report.hpp"

#include <cerrno>
#include <cmath>
#include <iostream>

#include "dispatch/context.hpp"
#include "tools/hardware.hpp"
#include "tools/output.hpp"

namespace overlapack::bench {
namespace {

constexpr struct {
  const char* name;
  Cell Row::*cell;
} kContenders[] = {{"ours", &Row::ours},
                   {"on device", &Row::on_device},
                   {"CPU", &Row::cpu},
                   {"copy+cuSOLVER", &Row::round_trip},
                   {"cuSOLVER", &Row::resident}};

double gflops(const Row& row) {
  return dispatch::flops_of(row.call.routine, row.call.type, row.call.shape) / row.ours.timing.ms /
         1e6;
}

std::string ratio(const Cell& other, const Cell& ours) {
  return tools::brief(other.timing.ms / ours.timing.ms);  // NaN where a cell is missing
}

std::string order_of(const Call& call) {
  std::string text = std::to_string(call.shape.n);
  if (call.shape.m != call.shape.n) text = std::to_string(call.shape.m) + " x " + text;
  if (call.shape.nrhs > 0) text += " (" + std::to_string(call.shape.nrhs) + " rhs)";
  return text;
}

std::ofstream open_for_writing(const std::string& path) {
  std::ofstream out(path);
  if (!out) tools::fail_to_write(path, errno);
  return out;
}

/// Closes a file. What was written before is known to be there only then.
void finish(std::ofstream& out, const std::string& path) {
  out.close();
  if (!out) tools::fail_to_write(path, errno);
}

std::string csv_field(const nlohmann::json& value) {
  if (value.is_null() || (value.is_number_float() && std::isnan(value.get<double>()))) return "";
  if (!value.is_string()) return value.dump();
  const auto text = value.get<std::string>();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::vector<std::pair<std::string, std::string>> machine(const Device* device) {
  const std::string driver = tools::driver_version();
  return {{"date", tools::today()},
          {"device", device == nullptr ? "none" : device->model() + " (" + device->name() + ")"},
          {"driver", driver.empty() ? "none" : driver},
          {"CPU", tools::cpu_model() + ", " + std::to_string(available_cores()) + " cores used"},
          {"CPU LAPACK", tools::cpu_lapack_description()}};
}

void print_heading(const Options& options, const Device* device) {
  for (const auto& [name, value] : machine(device)) {
    std::cout << (options.style == TableStyle::markdown ? "- " : "") << name << ": " << value
              << '\n';
  }
  if (device != nullptr && device->emulated()) {
    std::cout << "\nThe device is EMULATED on the CPU: its times are no performance figures.\n";
  }
  std::cout << '\n' << std::flush;
}

bool is_right(const Call& call, const Timing& timing) {
  return timing.runs == 0 || (timing.residual < tools::residual_limit(call) && timing.info == 0);
}

int exit_status(bool right, const std::string& wrong) {
  if (!right) std::cerr << "overlapack-bench: " << wrong << '\n';
  return right ? 0 : 1;
}

void Notes::print(TableStyle style) const {
  if (!places_.empty()) std::cout << '\n';
  for (const auto& [what, places] : places_) {
    std::cout << (style == TableStyle::markdown ? "- " : "  ") << places << "; " << what << '\n';
  }
}

std::string name_and_case(const Call& call) {
  std::string text = name_of(call);
  if (call.uplo != Uplo::lower) text += std::string(" ") + static_cast<char>(call.uplo);
  if (call.op != Op::none) text += std::string(" ") + static_cast<char>(call.op);
  if (tools::has_eigenvectors(call.routine) && call.shape.nrhs == 0) text += " N";
  return text;
}

std::string row_title(const Call& call) { return name_and_case(call) + " " + order_of(call); }

void print_rows(const std::vector<Row>& rows, TableStyle style) {
  std::vector<std::vector<std::string>> cells;
  Notes notes;
  for (const Row& row : rows) {
    const auto note = [&](const std::string& text) {
      notes.add(text, order_of(row.call), name_and_case(row.call) + " ");
    };
    std::vector<std::string> line = {row_title(row.call)};
    for (const auto& [name, member] : kContenders) {
      const Cell& cell = row.*member;
      line.push_back(tools::brief(cell.timing.ms));
      line.push_back(tools::brief(cell.timing.residual));
      if (!cell.missing.empty()) note(std::string(name) + ": " + cell.missing);
      if (cell.timing.info != 0) {
        note(std::string(name) + ": info = " + std::to_string(cell.timing.info));
      }
      if (dispatch::is_mixed(row.call.routine) && cell.missing.empty()) {
        note(std::string(name) + ": iter = " + std::to_string(cell.timing.iter));
      }
    }
    if (!row.served) note(std::string("ours: ") + kNotServed);
    line.push_back(tools::brief(gflops(row)));
    line.push_back(ratio(row.round_trip, row.ours));
    line.push_back(ratio(row.cpu, row.ours));
    line.push_back(ratio(row.resident, row.ours));
    line.push_back(ratio(row.resident, row.on_device));
    const bool moved = row.ours.missing.empty();
    line.push_back(moved ? tools::brief(row.bytes_up / 1e6) : "-");
    line.push_back(moved ? tools::brief(row.bytes_down / 1e6) : "-");
    line.push_back(moved ? tools::brief(row.pinned / 1e6) : "-");
    line.push_back(moved ? tools::brief(row.device / 1e6) : "-");
    cells.push_back(line);
  }
  tools::print_table(std::cout, {"routine, n",  "ours ms",     "resid.",    "on device ms",
                                 "resid.",      "CPU ms",      "resid.",    "copy+cuSOLVER ms",
                                 "resid.",      "cuSOLVER ms", "resid.",    "ours GF/s",
                                 "x copy+cuS.", "x CPU",       "x cuS.",    "on device x cuS.",
                                 "MB up",       "MB down",     "pinned MB", "device MB"},
                     cells, 1, style);
  notes.print(style);
  std::cout << '\n' << std::flush;
}

void write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  std::ofstream out = open_for_writing(path);
  out << text;
  finish(out, path);
}

ResultFiles::ResultFiles(const Options& options, const Device* device,
                         std::vector<std::string> columns)
    : columns_(std::move(columns)), csv_path_(options.csv), json_path_(options.json) {
  if (!csv_path_.empty()) {
    csv_ = open_for_writing(csv_path_);
    for (std::size_t c = 0; c < columns_.size(); ++c) csv_ << (c > 0 ? "," : "") << columns_[c];
    csv_ << '\n';
  }
  for (const auto& [name, value] : machine(device)) json_["machine"][name] = value;
  json_["machine"]["emulated"] = device != nullptr && device->emulated();
  json_["options"] = {{"algorithm", options.algorithm}, {"nb", options.nb}, {"runs", options.runs}};
  json_["rows"] = nlohmann::json::array();
}

void ResultFiles::add_line(const nlohmann::json& fields) {
  if (!csv_.is_open()) return;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    csv_ << (c > 0 ? "," : "") << csv_field(fields.at(columns_[c]));
  }
  csv_ << '\n' << std::flush;
}

void ResultFiles::finish() {
  if (!json_path_.empty()) write_file(json_path_, json_.dump(2) + '\n');
  if (csv_.is_open()) bench::finish(csv_, csv_path_);
}

std::vector<std::string> row_columns() {
  return {"routine", "m",         "n",        "nrhs",       "uplo",         "trans",
          "lda",     "contender", "ms",       "runs",       "gflops",       "residual",
          "info",    "iter",      "bytes_up", "bytes_down", "pinned_bytes", "device_bytes",
          "missing"};
}

void add(const Row& row, ResultFiles& files) {
  const Call& call = row.call;
  const double flops = dispatch::flops_of(call.routine, call.type, call.shape);
  const nlohmann::json identity = {{"routine", name_of(call)},
                                   {"m", call.shape.m},
                                   {"n", call.shape.n},
                                   {"nrhs", call.shape.nrhs},
                                   {"uplo", std::string(1, static_cast<char>(call.uplo))},
                                   {"trans", std::string(1, static_cast<char>(call.op))},
                                   {"lda", call.lda}};
  const nlohmann::json traffic = {{"bytes_up", row.bytes_up},
                                  {"bytes_down", row.bytes_down},
                                  {"pinned_bytes", row.pinned},
                                  {"device_bytes", row.device}};
  nlohmann::json entry = identity;
  entry.update(traffic);
  entry["served_by_device"] = row.served;
  for (const auto& [name, member] : kContenders) {
    const Cell& cell = row.*member;
    nlohmann::json& contender = entry["contenders"][name];
    nlohmann::json line = identity;
    line["contender"] = name;
    for (const auto& [key, bytes] : traffic.items()) {
      line[key] = member == &Row::ours ? bytes : nlohmann::json(0);
    }
    if (cell.missing.empty()) {
      contender = {{"ms", cell.timing.ms},
                   {"runs", cell.timing.runs},
                   {"gflops", flops / cell.timing.ms / 1e6},
                   {"residual", cell.timing.residual},
                   {"info", cell.timing.info},
                   {"iter", cell.timing.iter}};
      line.update(contender);
    } else {
      contender = {{"missing", cell.missing}};
      for (const char* key : {"ms", "runs", "gflops", "residual", "info", "iter"})
        line[key] = nullptr;
    }
    line["missing"] = cell.missing;
    files.add_line(line);
  }
  files.add_row(entry);
}

}  // namespace overlapack::bench
