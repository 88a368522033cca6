"""Shows that check_tables.py finds what it is there to find: in altered copies of the headers, of the
Fortran module and of the table every difference must be named, and in the originals none.

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
    assert text.count(old) == 1, f"'{old}' is {text.count(old)} times in {path}"
    with open(path, "w") as file:
        file.write(text.replace(old, new))


# A row says what is altered: a file, its text before and after, and the words that must be in each of
# the problems that are found.
LAPACK_H = "overlapack/lapack.h"
OVERLAPACK_H = "overlapack/overlapack.h"
HEADERS = [
    ("a routine is missing", LAPACK_H,
     "  void x##getrf##U(const I* m, const I* n, T* a, const I* lda, I* ipiv, I* info);"
     "                  \\\n", "", ["getrf", "is missing"]),
    ("a type is missing", LAPACK_H,
     "OVERLAPACK_DECLARE(c, _64_, overlapack_complex_float, float, int64_t)\n"
     "OVERLAPACK_DECLARE(z, _64_, overlapack_complex_double, double, int64_t)\n\n"
     "#undef OVERLAPACK_DECLARE\n\n/* Solves",
     "OVERLAPACK_DECLARE(c, _64_, overlapack_complex_float, float, int64_t)\n\n"
     "#undef OVERLAPACK_DECLARE\n\n/* Solves", ["zlanhe_64_", "is missing"]),
    ("an argument too many", LAPACK_H,
     "x##potrf##U(const char* uplo, const I* n,", "x##potrf##U(const char* uplo, const I* n, const I* m,",
     ["potrf", "in the table"]),
    ("an argument of another type", LAPACK_H,
     "double* rwork, I* iter, I* info);", "float* rwork, I* iter, I* info);",
     ["zcgesv", "in the table"]),
    ("a routine too many", OVERLAPACK_H,
     "  void x##ch1up_(", "  void x##ch2up_(const int32_t* n);\\\n  void x##ch1up_(",
     ["ch2up_", "in no row"]),
    ("a vector that is not const", OVERLAPACK_H,
     "int64_t k, T* a, int64_t lda, const T* v,       \\", "int64_t k, T* a, int64_t lda, T* v,  \\",
     ["cholupdate", "in the table"]),
    ("another result", LAPACK_H,
     "  R x##lange##U(", "  T x##lange##U(", ["lange", "in the table"]),
]
ZGESV = "subroutine zgesv(n, nrhs, a, lda, ipiv, b, ldb, info)"
MODULE = [
    ("a routine is missing", ["zpotrs"],
     "subroutine zpotrs(uplo, n, nrhs, a, lda, b, ldb, info)",
     "subroutine zpotrx(uplo, n, nrhs, a, lda, b, ldb, info)"),
    ("an argument too many", ["zgesv"],
     ZGESV, "subroutine zgesv(n, nrhs, a, lda, ipiv, b, ldb, info, more)"),
    ("arguments in another order", ["zgesv"],
     ZGESV, "subroutine zgesv(nrhs, n, a, lda, ipiv, b, ldb, info)"),
    ("a routine that nobody can use", ["lanhe"],
     "lange, lansy, lanhe\n", "lange, lansy\n"),
    ("another type", ["sgetrf"],
     "      integer(int32), intent(in) :: m, n, lda\n      real(real32), intent(inout) :: a(lda, *)",
     "      integer(int32), intent(in) :: m, n, lda\n      real(real64), intent(inout) :: a(lda, *)"),
    ("an input that is written", ["dgetrs"],
     "      real(real64), intent(in) :: a(lda, *)\n      integer(int32), intent(in) :: ipiv(*)",
     "      real(real64), intent(inout) :: a(lda, *)\n      integer(int32), intent(in) :: ipiv(*)"),
]
# What the table has that the library does not have, and the other way round.
GETRF = "OVERLAPACK_ROUTINE(lapack, sdcz, getrf,"
TABLE = [
    ("a row of another name", GETRF, "OVERLAPACK_ROUTINE(lapack, sdcz, getrx,",
     {"scipy_zgetrf_64_ is in no row", "scipy_zgetrx_64_ is missing", "dgetrx_ is missing"}),
    ("a row with fewer types", "OVERLAPACK_ROUTINE(norm, sdcz, lansy,",
     "OVERLAPACK_ROUTINE(norm, sdc, lansy,", {"zlansy_ is in no row"}),
    ("a kind with more names", "OVERLAPACK_KIND_update  plain,", "OVERLAPACK_KIND_update  all,",
     {"scipy_dch1up_ is missing"}),
]


def main():
    options = check_tables.parse(sys.argv[1:])
    table = routines_table.Table()
    assert check_tables.check(options, table) == []
    tried = 0

    for what, path, old, new, words in HEADERS:
        with tempfile.TemporaryDirectory() as folder:
            headers = copy_of(options.headers, folder)
            alter(os.path.join(headers, path), old, new)
            found, problems = check_tables.prototypes(options.cc, headers)
            problems += check_tables.differences("", check_tables.wanted_prototypes(table), found)
        assert problems, f"C headers, {what}: nothing was found"
        assert all(word in problem for problem in problems for word in words), (what, problems)
        tried += 1

    for what, words, old, new in MODULE:
        with tempfile.TemporaryDirectory() as folder:
            module = copy_of(options.module, folder)
            with open(module) as file:
                text = file.read()
            position = text.index(old)
            text = text[:position] + new + text[position + len(old):]
            if "zpotrx" in new:
                text = text.replace("end subroutine zpotrs", "end subroutine zpotrx")
            with open(module, "w") as file:
                file.write(text)
            found, problems = check_tables.procedures(module)
            problems += check_tables.differences("", check_tables.wanted_procedures(table), found)
        assert problems, f"Fortran module, {what}: nothing was found"
        assert all(any(word in problem for problem in problems) for word in words), (what, problems)
        tried += 1

    for what, old, new, wanted in TABLE:
        with tempfile.TemporaryDirectory() as folder:
            compat = copy_of(routines_table.FOLDER, folder)
            alter(os.path.join(compat, "routines.def"), old, new)
            altered = check_tables.names_only(routines_table.Table(compat).exported())
        for source, read in ((options.library, check_tables.exported),
                             (options.info, check_tables.named_by_info)):
            if source:
                problems = check_tables.differences("", altered,
                                                    check_tables.names_only(read(source)))
                assert all(any(text in problem for problem in problems) for text in wanted), (
                    what, problems)
        tried += 1

    print(f"{tried} altered copies, and each difference was found")


if __name__ == "__main__":
    main()
