// What a comparison found, as table, CSV and JSON.
#pragma once

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench.hpp"

namespace overlapack::bench {

/// One line of a comparison: a call and what each contender made of it.
struct Row {
  Call call;
  Cell ours, on_device, cpu, round_trip, resident;
  bool served = true;                   ///< by the device, not by the CPU after a fault
  double bytes_up = 0, bytes_down = 0;  ///< of one call of ours
  double pinned = 0, device = 0;        ///< bytes of host and device memory that it leases at most
};

/// Date, hardware and versions, for headings: name and value.
std::vector<std::pair<std::string, std::string>> machine(const Device* device);
/// Prints machine(), as lines or as a Markdown list; labels an emulated device as no measurement.
void print_heading(const Options& options, const Device* device);

/// Of what has been measured; true if nothing has.
bool is_right(const Call& call, const Timing& timing);
/// That of the benchmark. Says what is wrong if not all is right.
int exit_status(bool right, const std::string& wrong = "a result of ours is WRONG (residual)");

/// Of a call of ours that was to go to the device.
inline constexpr const char* kNotServed =
    "not served by the device (OVERLAPACK_VERBOSE=1 says why)";

/// What there is to say below a table: a line for each thing, with all the places it is true of.
class Notes {
 public:
  /// In a line the `group` stands once, before its places.
  void add(const std::string& what, const std::string& place, const std::string& group = "") {
    std::string& places = places_[what];
    places += places.empty() ? group : ", ";
    places += place;
  }
  void print(TableStyle style) const;

 private:
  std::map<std::string, std::string> places_;  // by what is said of them
};

/// "dgesv", or where --uplo or --trans ask for that "dposv U", "dgetrs C".
std::string name_and_case(const Call& call);
/// "dgesv 4096 (1 rhs)", likewise.
std::string row_title(const Call& call);
/// The table of a group of rows, and below it why cells are missing.
void print_rows(const std::vector<Row>& rows, TableStyle style);

/// Writes a file that is asked for by its name, or nothing if the name is empty. Throws
/// std::system_error if it cannot be written.
void write_file(const std::string& path, const std::string& text);

/// A CSV file, written line by line, and a JSON file, written at the end, where asked for.
class ResultFiles {
 public:
  ResultFiles(const Options& options, const Device* device, std::vector<std::string> columns);
  /// A line of the CSV file: the fields that the columns name. Null and NaN leave them empty.
  void add_line(const nlohmann::json& fields);
  /// An element of "rows" in the JSON file.
  void add_row(const nlohmann::json& row) { json_["rows"].push_back(row); }
  /// Throws std::runtime_error if a file is not complete.
  void finish();

 private:
  std::vector<std::string> columns_;
  std::string csv_path_, json_path_;
  std::ofstream csv_;
  nlohmann::json json_;
};

/// What the files of a comparison hold of a row.
std::vector<std::string> row_columns();
void add(const Row& row, ResultFiles& files);

}  // namespace overlapack::bench
