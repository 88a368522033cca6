// Finding routines in the libraries of the process.
#pragma once

#include "cpu/lapack.hpp"

namespace overlapack::cpu {

/// Looks for the routine `name` ("getrf") of precision `type`, in this order:
///  1. the library that the user configured;
///  2. what the dynamic linker finds after us (RTLD_NEXT): programs that link LAPACK;
///  3. every object the process has loaded, also locally: Python wheels bring an OpenBLAS that
///     RTLD_NEXT cannot see;
///  4. the OpenBLAS found when overlapack was built.
/// In each place the family's own spelling comes first, then the other spelling of the same integer
/// width, then the other width. The result's address is null if there is none.
Symbol find_symbol(Family family, char type, const char* name);

/// Opens the library that the user names. Returns an error text, empty if it could be opened.
std::string open_configured(const std::string& path);
void close_configured();
/// find_symbol() in that library alone.
Symbol find_configured(Family family, char type, const char* name);

/// The xerbla_ that a caller of this family has a right to: the application's own if it has one.
/// Null if none is visible.
void* find_xerbla(Family family);

}  // namespace overlapack::cpu
