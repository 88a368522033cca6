// Which build this is.
#pragma once

#include <string>
#include <vector>

namespace overlapack::tools {

struct Version {
  std::string number;                      ///< "0.1.0"
  std::string commit;                      ///< "d86cba1f2a3b", with "-dirty" if changed; or empty
  std::string cuda;                        ///< that the plug-in was built with, or empty
  std::vector<std::string> architectures;  ///< likewise: "80-real", "90a-real"
};
const Version& version();

/// For --version, without a newline at the end.
std::string version_text(const std::string& program);

}  // namespace overlapack::tools
