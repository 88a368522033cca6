// What a comparison found, as table, CSV and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "bench.hpp"

namespace overlapack::bench {

/// One line of a comparison: a call and what each contender made of it.
struct Row {
  Call call;
  Cell ours, cpu, round_trip, resident;
  bool served = true;                   ///< by the device, not by the CPU after a fault
  double bytes_up = 0, bytes_down = 0;  ///< of one call of ours
};

/// Date, hardware and versions, for headings: name and value.
std::vector<std::pair<std::string, std::string>> machine(const Device* device);
/// Prints machine(), as lines or as a Markdown list; labels an emulated device as no measurement.
void print_heading(const Options& options, const Device* device);

/// The table of a group of rows, and below it why cells are missing.
void print_rows(const std::vector<Row>& rows, TableStyle style);

/// Writes each row as it comes (CSV) and all of them at the end (JSON), where asked for.
class RowFiles {
 public:
  RowFiles(const Options& options, const Device* device);
  void add(const Row& row);
  void finish();

 private:
  std::ofstream csv_;
  std::string json_path_;
  nlohmann::json json_;
};

}  // namespace overlapack::bench
