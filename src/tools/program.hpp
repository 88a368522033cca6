// Programs, as files: what starting one executes, and whether it can be preloaded into.
#pragma once

#include <string>

namespace overlapack::tools {

/// The file that starting `program` executes, as execvp() finds it; empty if there is none.
std::string find_program(const std::string& program);

/// Why the dynamic linker preloads nothing into a program, in words that go on from its name: "is
/// statically linked". Of a script, that is about its interpreter. Empty if nothing in the file
/// says so.
std::string why_not_preloaded(const std::string& file);

}  // namespace overlapack::tools
