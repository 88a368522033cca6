#include "tools/call_log.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace overlapack::tools {
namespace {

/// Splits "key=value key="a value" ..." from `at` on.
std::map<std::string, std::string> key_values(const std::string& line, std::size_t at) {
  std::map<std::string, std::string> values;
  while ((at = line.find_first_not_of(' ', at)) != std::string::npos) {
    const std::size_t equals = line.find('=', at);
    if (equals == std::string::npos) break;
    const bool quoted = equals + 1 < line.size() && line[equals + 1] == '"';
    const std::size_t begin = equals + (quoted ? 2 : 1);
    std::size_t end = line.find(quoted ? '"' : ' ', begin);
    if (end == std::string::npos) end = line.size();
    values[line.substr(at, equals - at)] = line.substr(begin, end - begin);
    at = end + (quoted ? 1 : 0);
  }
  return values;
}

/// A number of a line with its key.
struct Number {
  const char* key;
  Index value;
  std::string text() const { return key + ("=" + std::to_string(value)); }
};

std::string fault_of(const Call& call) {
  const Number m = {"m", call.shape.m}, n = {"n", call.shape.n}, nrhs = {"nrhs", call.shape.nrhs},
               lda = {"lda", call.lda}, ldb = {"ldb", call.ldb};
  const bool solve = has_right_hand_sides(call.routine);
  for (const Number& number : {m, n, nrhs, lda, ldb}) {
    const bool may_be_zero = number.key == nrhs.key || (number.key == ldb.key && !solve);
    if (number.value < (may_be_zero ? 0 : 1) || number.value > kMaxWholeNumber) {
      return number.text() + " is out of range";
    }
  }
  if (!has_problem(call)) return {};  // it is not repeated
  if (!is_rectangular(call.routine) && m.value != n.value) {
    return m.text() + " is not " + n.text();
  }
  if (lda.value < m.value) return lda.text() + " is less than " + m.text();
  if (solve && ldb.value < n.value) return ldb.text() + " is less than " + n.text();
  if (call.routine == Routine::gels && ldb.value < m.value) {
    return ldb.text() + " is less than " + m.text();
  }
  return {};
}

Index to_index(const std::string& text) { return std::stoll(text); }

}  // namespace

std::optional<LoggedCall> parse_call(const std::string& line) {
  static const std::string kPrefix = "overlapack ";
  if (line.compare(0, kPrefix.size(), kPrefix) != 0) return {};
  const std::size_t name_end = line.find(' ', kPrefix.size());
  if (name_end == std::string::npos) return {};
  LoggedCall logged;
  logged.name = line.substr(kPrefix.size(), name_end - kPrefix.size());
  auto values = key_values(line, name_end);
  try {
    Call call;
    call.shape = {to_index(values.at("m")), to_index(values.at("n")), to_index(values.at("nrhs"))};
    call.lda = to_index(values.at("lda"));
    call.ldb = to_index(values.at("ldb"));
    if (values["uplo"] == "U") call.uplo = Uplo::upper;
    if (values["trans"] == "T") call.op = Op::trans;
    if (values["trans"] == "C") call.op = Op::conj_trans;
    logged.info = to_index(values.at("info"));
    logged.where = values.at("where");
    logged.why = values["why"];
    logged.is_part = values.count("within") > 0;
    logged.ms = std::stod(values.at("ms"));
    logged.flops = std::stod(values.at("gflops")) * logged.ms * 1e6;
    logged.bytes_up = std::stod(values.at("up"));
    logged.bytes_down = std::stod(values.at("down"));
    logged.shape = call.shape;
    if (parse_name(logged.name, call)) {
      logged.call = call;
      logged.fault = fault_of(call);
      logged.flops =  // not rounded
          dispatch::flops_done(call.routine, call.type, call.shape, logged.info);
    }
  } catch (const std::logic_error&) {  // a key is missing, or a number is none
    return {};
  }
  return logged;
}

std::vector<LoggedCall> read_call_log(std::istream& in) {
  std::vector<LoggedCall> calls;
  Index number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    auto call = parse_call(line);
    if (!call) continue;
    call->line = number;
    calls.push_back(std::move(*call));
  }
  return calls;
}

std::vector<std::string> read_told(std::istream& in, const std::string& what) {
  const std::string prefix = "overlapack " + what + ' ';
  std::vector<std::string> texts;
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string text = line.substr(prefix.size());
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  return texts;
}

}  // namespace overlapack::tools
