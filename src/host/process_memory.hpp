// What is known of the process's memory, and by whom it is watched. For memory that the answers
// take, std::bad_alloc may be thrown.
#pragma once

namespace overlapack::algorithms {

/// Whether a tool may report, or be misled by, what is read or written beyond the operands of a
/// call: a sanitizer of addresses, uninitialised memory or threads, or valgrind.
bool is_watched();

/// Whether malloc(), as the library calls it in which that code lies, is the GNU C library's own,
/// and allocation_at() understands what that writes in front of large memory: a trial has shown it.
/// No page of such memory is there before somebody writes to it.
bool malloc_is_known(const void* code);

}  // namespace overlapack::algorithms
