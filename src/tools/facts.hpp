// What `overlapack info` knows, as JSON: `--json` prints it, the other forms say it in words.
#pragma once

#include <nlohmann/json.hpp>

namespace overlapack::tools {

/// "number", "commit", "cuda" and "architectures" of this build.
nlohmann::ordered_json version_facts();
/// "in_use" (null, or "name", "model", "memory" and "emulated"), its "status" or why there is none,
/// the "gpus", the "driver" and the "plugin".
nlohmann::ordered_json device_facts();
/// The "model" and "cores" of the CPU, and its LAPACK: "lapack" in words, and for each family of
/// names in "families" how dpotrf is spelt, by whom it is called ("clients"), who serves it, the
/// names that others serve ("but"), and all "names".
nlohmann::ordered_json cpu_facts();
/// All exported names that belong to no family: "updates" and "copies".
nlohmann::ordered_json other_names();
/// From which "sizes" calls go to the device, by routine and type (null: never), and the "source".
nlohmann::ordered_json size_facts();
/// For each setting its "value" (null: not set), whether that is "ignored", what is "accepted", and
/// the "meaning".
nlohmann::ordered_json setting_facts();

}  // namespace overlapack::tools
