"""Shows that check_tables.py finds what it is there to find: in altered copies of the headers, of
the Fortran module and of the table every difference must be named, and in the originals none.

    test_check_tables.py --cc CC --headers FOLDER --module FILE [--library LIB] [--info COMMAND]
"""

import os
import shutil
import sys
import tempfile

import check_tables
import routines_table


def copy_of(source, folder):
    target = os.path.join(folder, os.path.basename(source))
    (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, target)
    return target


def alter(path, old, new):
    with open(path) as file:
        text = file.read()
    assert old in text, f"'{old}' is not in {path}"
    with open(path, "w") as file:
        file.write(text.replace(old, new))


# What is altered: a file, its text before and after; and words that must be in each of the problems
# that are found.
LAPACK_H = "overlapack/lapack.h"
OVERLAPACK_H = "overlapack/overlapack.h"
MACROS_H = "overlapack/lapack_macros.h"
HEADERS = [
    ("a routine is missing", LAPACK_H,
     "  void x##getrf##U(const I* m, const I* n, T* a, const I* lda, I* ipiv, I* info);", "",
     ["getrf", "is missing"]),
    ("a type is missing", LAPACK_H,
     "OVERLAPACK_DECLARE(z, _64_, overlapack_complex_double, double, int64_t)", "",
     ["_64_", "is missing"]),
    ("an argument too many", LAPACK_H,
     "x##potrf##U(const char* uplo,", "x##potrf##U(const char* uplo, const I* m,",
     ["potrf", "in the table"]),
    ("an argument of another type", LAPACK_H,
     "double* rwork, I* iter, I* info);", "float* rwork, I* iter, I* info);",
     ["zcgesv", "in the table"]),
    ("another result", LAPACK_H, "  R x##lange##U(", "  T x##lange##U(", ["lange", "in the table"]),
    ("a routine too many", OVERLAPACK_H,
     "  void x##ch1up_(", "  void x##ch2up_(T* r); void x##ch1up_(", ["ch2up_", "in no row"]),
    ("a macro is missing", MACROS_H, "#define LAPACK_zposv", "#define LAPACKE_zposv",
     ["LAPACK_zposv", "is missing"]),
    ("a length is missing", MACROS_H, "strtrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))",
     "strtrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))", ["LAPACK_strtrs", "in the table"]),
    ("a macro for another routine", MACROS_H, "LAPACK_dgetrf dgetrf_", "LAPACK_dgetrf sgetrf_",
     ["LAPACK_dgetrf", "in the table"]),
    ("an input that is written", OVERLAPACK_H,
     "T* a, int64_t lda, const T* v,", "T* a, int64_t lda, T* v,", ["cholupdate", "in the table"]),
]
POTRS, GETRF, GESV = ("subroutine zpotrs", "m, n, lda\n      real(real32), intent(inout) :: a",
                      "zgesv(n, nrhs, a, lda, ipiv, b, ldb, info)")
IPIV = ":: a(lda, *)\n      integer(int32), intent(in) :: ipiv(*)"
MODULE = [
    ("a routine is missing", POTRS, POTRS.replace("zp", "xp"), ["potrs", " "]),
    ("an argument too many", GESV, GESV.replace("info", "info, more"), ["zgesv"]),
    ("arguments in another order", GESV, GESV.replace("n, nrhs", "nrhs, n"), ["zgesv"]),
    ("a declaration of nothing", GESV, GESV.replace(", info", ""), ["zgesv"]),
    ("a routine that nobody can use", ", lantr\n", "\n", ["lantr"]),
    ("an argument of another type", GETRF, GETRF.replace("32", "64"), ["sgetrf", "in the table"]),
    ("an input that is written", "real(real64), intent(in) " + IPIV,
     "real(real64), intent(inout) " + IPIV, ["dgetrs", "in the table"]),
]
# What the table has that the library does not have, and the other way round.
TABLE = [
    ("a row of another name", "sdcz, getrf,", "sdcz, getrx,",
     {"scipy_zgetrf_64_ is in no row", "scipy_zgetrx_64_ is missing", "dgetrx_ is missing"}),
    ("a row with fewer types", "norm, sdcz, lansy,", "norm, sdc, lansy,", {"zlansy_ is in no row"}),
    ("a kind with more names", "OVERLAPACK_KIND_update  plain,", "OVERLAPACK_KIND_update  all,",
     {"scipy_dch1up_ is missing"}),
]


def try_headers(options, table):
    for what, path, old, new, words in HEADERS:
        with tempfile.TemporaryDirectory() as folder:
            headers = copy_of(options.headers, folder)
            alter(os.path.join(headers, path), old, new)
            problems = check_tables.check_headers(options.cc, headers, table)
        assert problems, f"C headers, {what}: nothing was found"
        assert all(word in problem for problem in problems for word in words), (what, problems)


def try_module(options, table):
    for what, old, new, words in MODULE:
        with tempfile.TemporaryDirectory() as folder:
            module = copy_of(options.module, folder)
            alter(module, old, new)
            problems = check_tables.check_module(module, table)
        assert problems, f"Fortran module, {what}: nothing was found"
        assert all(word in problem for problem in problems for word in words), (what, problems)


def try_table(options):
    for what, old, new, wanted in TABLE:
        with tempfile.TemporaryDirectory() as folder:
            compat = copy_of(routines_table.FOLDER, folder)
            alter(os.path.join(compat, "routines.def"), old, new)
            problems = check_tables.check_names(options, routines_table.Table(compat))
        assert len(problems) >= len(wanted), f"table, {what}: {problems}"
        for text in wanted:
            assert any(text in problem for problem in problems), (what, text, problems)


def main():
    options = check_tables.parse(sys.argv[1:])
    table = routines_table.Table()
    assert check_tables.check(options, table) == []
    try_headers(options, table)
    try_module(options, table)
    try_table(options)
    print(f"{len(HEADERS) + len(MODULE) + len(TABLE)} altered copies: each difference was found")


if __name__ == "__main__":
    main()
