// Environments as tests make them up.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "dispatch/settings.hpp"

namespace overlapack::dispatch {

using Environment = std::map<std::string, std::string>;

inline Settings parse(const Environment& environment, std::vector<std::string>& complaints) {
  return parse_settings(
      [&](const char* name) -> const char* {
        const auto it = environment.find(name);
        return it == environment.end() ? nullptr : it->second.c_str();
      },
      complaints);
}

inline Settings parse(const Environment& environment) {
  std::vector<std::string> complaints;
  const Settings settings = parse(environment, complaints);
  EXPECT_TRUE(complaints.empty()) << complaints.front();
  return settings;
}

}  // namespace overlapack::dispatch
