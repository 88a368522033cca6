// Files of shared libraries, before they are opened.
#pragma once

#include <string>

namespace overlapack {

/// Whether a file is a shared library that ends too early: a copy that was broken off. The dynamic
/// linker would map it all the same, and the process would end by a signal.
bool is_cut_off(const std::string& path);

}  // namespace overlapack
