#include "tools/version.hpp"

#include <sstream>

#include "commit.hpp"  // made at each build

namespace overlapack::tools {

const Version& version() {
  static const Version version = [] {
    Version made{OVERLAPACK_VERSION, OVERLAPACK_COMMIT, OVERLAPACK_CUDA_VERSION, {}};
    std::istringstream words(OVERLAPACK_CUDA_ARCHITECTURES);
    for (std::string word; words >> word;) made.architectures.push_back(word);
    return made;
  }();
  return version;
}

std::string version_text(const std::string& program) {
  const Version& v = version();
  std::string text = program + ' ' + v.number;
  text += "\ncommit " + (v.commit.empty() ? "unknown" : v.commit);
  if (v.cuda.empty()) return text + "\nbuilt without the CUDA plug-in";
  text += "\nCUDA " + v.cuda + ", architectures";
  for (const std::string& name : v.architectures) text += ' ' + name;
  return text;
}

}  // namespace overlapack::tools
