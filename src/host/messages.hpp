// What the library writes: on standard error, and at the end of a file.
#pragma once

#include <string>

namespace overlapack {

/// Remembers which file standard error is. It is called as the library is loaded, before the
/// program can have opened a file of its own; tests call it when they have put another one there.
void find_standard_error();
/// Writes to standard error, if descriptor 2 still is the file that it was when the library was
/// loaded. Another one may be the program's data, in which a line of ours must not stand.
void write_to_standard_error(const std::string& text);

/// Whether append() makes a file that is not there. One that it does not make it does not look for
/// behind a symbolic link, either.
enum class IfAbsent { make, leave };
/// Writes at the end of a file. Returns errno, or 0. It never waits for whoever reads a pipe.
int append(const std::string& path, const std::string& text, IfAbsent if_absent);

}  // namespace overlapack
