// One function per routine: decides where a call runs, runs it there, and has the CPU finish it if
// the device fails. Arguments are valid and not empty (the ABI has checked them).
#pragma once

#include "cpu/lapack.hpp"

namespace overlapack::dispatch {

// `family` tells how the caller spelt the name, which CPU LAPACK it thus gets. Results are LAPACK's
// info (>= 0); shapes and results are those of the LAPACK routine of the same name.

/// The CPU LAPACK for a family of names. The settings may name it, so they are read first.
template <class T>
const cpu::Lapack<T>& cpu_lapack(cpu::Family family);

template <class T>
Index potrf(cpu::Family family, Uplo uplo, HostView<T> a);
template <class T>
Index potrs(cpu::Family family, Uplo uplo, HostView<const T> a, HostView<T> b);
template <class T>
Index posv(cpu::Family family, Uplo uplo, HostView<T> a, HostView<T> b);
template <class T>
Index getrf(cpu::Family family, HostView<T> a, cpu::Pivots ipiv);
template <class T>
Index getrs(cpu::Family family, Op op, HostView<const T> a, cpu::Pivots ipiv, HostView<T> b);
template <class T>
Index gesv(cpu::Family family, HostView<T> a, cpu::Pivots ipiv, HostView<T> b);

}  // namespace overlapack::dispatch
