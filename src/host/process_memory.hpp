// What is known of the process's memory, and by whom it is watched. For memory that the answers
// take, std::bad_alloc may be thrown.
#pragma once

#include <cstddef>
#include <cstdint>

namespace overlapack::algorithms {

/// Whether a tool may report, or be misled by, what is read or written beyond the operands of a
/// call: a sanitizer of addresses, uninitialised memory or threads, or valgrind.
bool is_watched();

/// Whether malloc(), as the library calls it in which that code lies, is the GNU C library's own.
/// Of a library that asks Python for memory: as Python calls it. If nobody has called it yet, that
/// is not known.
bool malloc_is_glibcs(const void* code);

/// How many bytes from that address on are whoever's who has got it from malloc(), if that is the
/// GNU C library's: malloc_usable_size(), of the same library. 0 if there is none.
std::size_t usable_size(std::uintptr_t begin);

}  // namespace overlapack::algorithms
