// `overlapack info --tuning`: what was measured of the device, or would be of one.
#include "device/tuning.hpp"

#include <algorithm>
#include <iostream>

#include "dispatch/context.hpp"
#include "tools/commands.hpp"
#include "tools/table.hpp"

namespace overlapack::tools {
namespace {

constexpr std::size_t kColumns = 100;

/// Fields of one part of the table, each with its meaning below it.
void print_part(const std::string& part, const std::vector<TuningField>& fields) {
  std::vector<TuningField> own;
  for (const TuningField& field : fields) {
    if (field.name.rfind(part + ".", 0) == 0) own.push_back(field);
  }
  const auto fill = [](std::string text, std::size_t width) {
    text.resize(std::max(width, text.size()), ' ');
    return text + "  ";
  };
  std::size_t names = 0, values = 0;
  for (const TuningField& field : own) {
    names = std::max(names, field.name.size());
    values = std::max(values, field.value.size());
  }
  std::cout << '\n' << fill("field", names) << fill("value", values) << "unit\n";
  const std::string indentation = "    ";
  for (const TuningField& field : own) {
    std::cout << fill(field.name, names) << fill(field.value, values) << field.unit << '\n'
              << wrap(field.meaning, kColumns - indentation.size(), indentation) << '\n';
  }
}

}  // namespace

int print_tuning() {
  auto& context = dispatch::Context::instance();
  const Device* const device = context.device();
  const Tuning& tuning = device != nullptr ? device->tuning() : hopper_tuning();
  std::cout << "Tuning for " << tuning.generation << '\n';
  if (device == nullptr) {
    std::cout << wrap("no device is in use (" + context.device_status() +
                          "): this is what one of that generation would have",
                      kColumns)
              << '\n';
  }
  const std::vector<TuningField> fields = fields_of(tuning);
  std::string part;
  for (const TuningField& field : fields) {
    const std::string next = field.name.substr(0, field.name.find('.'));
    if (next != part) print_part(next, fields);
    part = next;
  }
  return 0;
}

}  // namespace overlapack::tools
