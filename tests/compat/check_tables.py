"""Compares the table of routines with whatever repeats it by hand, or is made from it.

    check_tables.py --cc CC --headers FOLDER --module FILE [--library LIB] [--info COMMAND]

These must have all that the table has, and nothing else: the C headers, as the compiler CC reads
them, the Fortran module, the names that the shared library exports, and the list that `overlapack
info` prints. Only settings.h is a header, and a part of the library, that the table knows not of.
"""

import argparse
import json
import re
import subprocess
import sys

from routines_table import Table

REAL = {"s": "float", "d": "double", "c": "float", "z": "double"}
SCALAR = dict(REAL, c="overlapack_complex_float", z="overlapack_complex_double")
SINGLE = {"d": "float", "z": "overlapack_complex_float"}
WIDTH = {"lp64": 32, "ilp64": 64, "scipy_lp64": 32, "scipy_ilp64": 64, "native": 64}
HIDDEN = "size_t"  # the type of a hidden length


def differences(what, wanted, found):
    """One text for each difference between two dictionaries."""
    texts = [f"{what}: {name} is missing" for name in sorted(wanted.keys() - found.keys())]
    texts += [f"{what}: {name} is in no row of the table" for name in
              sorted(found.keys() - wanted.keys())]
    texts += [f"{what}: {name} is {found[name]}, but {wanted[name]} in the table" for name in
              sorted(wanted.keys() & found.keys()) if found[name] != wanted[name]]
    return texts


# ---- C ------------------------------------------------------------------------------------------


def in_c(declared, letter, spelling):
    """A type of the table as the headers write it."""
    integer = f"int{WIDTH[spelling]}_t"
    words = {"T": SCALAR[letter], "I": integer, "std::size_t": HIDDEN, "Real<T>": REAL[letter],
             "Single<T>": SINGLE.get(letter), "W": REAL[letter] if letter in "cz" else integer}
    return re.sub(r"std::size_t|Real<T>|Single<T>|\bT\b|\bI\b|\bW\b",
                  lambda m: words[m.group()], declared)


def wanted_prototypes(table):
    """"void (const char*, ...)" by name. Wheels' names are not for C programs to call."""
    return {name: f"{in_c(table.kinds[row.kind].result, letter, spelling)} ("
                  + ", ".join(in_c(t, letter, spelling) for t, _ in row.parameters) + ")"
            for row, letter, spelling, name in table.names()
            if row.kind != "blas" and not spelling.startswith("scipy")}


def preprocess(compiler, folder, source, *options):
    return subprocess.run([compiler, "-E", "-P", *options, "-I", folder, "-x", "c", "-"],
                          input=source, capture_output=True, text=True)


def prototypes(compiler, folder):
    """The same of the headers. Their complex types keep the names that the headers give them."""
    source = ("#define lapack_complex_float overlapack_complex_float\n"
              "#define lapack_complex_double overlapack_complex_double\n"
              '#include "overlapack/overlapack.h"\n')
    done = preprocess(compiler, folder, source)
    if done.returncode != 0:
        return {}, [f"C headers: {done.stderr}"]
    found, problems = {}, []
    text = " ".join(done.stdout.split())
    for result, name, parameters in re.findall(r"(\w+) (\w+)\(([^()]*)\);", text):
        if re.fullmatch(r"ovl_\w+|\w+_", name):
            types = [re.fullmatch(r"(.*?[\w*]) ?\b\w+", p.strip()).group(1)
                     for p in parameters.split(",")]
            if name in found:
                problems.append(f"C headers: {name} is there twice")
            found[name] = f"{result} (" + ", ".join(types) + ")"
    return found, problems


def functions_at_run_time(compiler, folder):
    """The names that settings.h declares. They are in no row of the table."""
    text = preprocess(compiler, folder, '#include "overlapack/settings.h"\n').stdout
    return set(re.findall(r"\b(ovl_\w+)\(", text))


def wanted_macros(table):
    """What LAPACKE's names with an argument stand for: "dpotrf_(a,1)", with a 1 for each length."""
    return {"LAPACK_" + name.rstrip("_"):
            f"{name}(a{',1' * [t for t, _ in row.parameters].count('std::size_t')})"
            for row, letter, spelling, name in table.names()
            if row.kind in ("lapack", "eigen", "mixed", "norm") and spelling == "lp64"}


def macros(compiler, folder):
    include = '#include "overlapack/lapack.h"\n'
    names = re.findall(r"#define (LAPACK_\w+)",
                       preprocess(compiler, folder, include, "-dM").stdout)
    calls = "".join(f"\"{name}\" {name}(a)\n" for name in names)
    text = preprocess(compiler, folder, include + calls).stdout
    return {name: "".join(call.split())
            for name, call in re.findall(r'"(LAPACK_\w+)" (.*)$', text, re.MULTILINE)}


# ---- Fortran ------------------------------------------------------------------------------------

PRECISION = {"float": "real32", "double": "real64"}
C_KIND = {"s": "c_float", "d": "c_double", "c": "c_float_complex", "z": "c_double_complex"}


def in_fortran(declared, letter, native):
    """The declaration of an argument: its type, and whether it is an input or passed by value."""
    base = declared.replace("const ", "").rstrip("*")
    if base == "W":  # of a second workspace
        base = "Real<T>" if letter in "cz" else "I"
    if native:
        word = {"char": "character(c_char)", "int": "integer(c_int)", "I": "integer(c_int64_t)",
                "T": f"{'complex' if letter in 'cz' else 'real'}({C_KIND[letter]})"}[base]
    else:
        kind = PRECISION["float" if base == "Single<T>" else REAL[letter]]
        number = "complex" if letter in "cz" and base != "Real<T>" else "real"
        word = {"char": "character", "I": "integer(int32)"}.get(base, f"{number}({kind})")
    if "*" not in declared:
        return f"{word} by value"
    return f"{word} in" if declared.startswith("const") else f"{word} out"


def wanted_procedures(table):
    """By name: the arguments, and the result of a function. Of the names in lower case."""
    wanted = {}
    for row, letter, spelling, name in table.names():
        if row.kind in ("update", "blas") or spelling not in ("lp64", "native"):
            continue
        native = row.kind == "native"
        arguments = [f"{argument}: {in_fortran(declared, letter, native)}"
                     for declared, argument in row.parameters if argument]
        if table.kinds[row.kind].result != "void":
            arguments.append(f"result: real({PRECISION[REAL[letter]]})")
        wanted[name.rstrip("_")] = ", ".join(arguments)
    return wanted


def declarations(body):
    """"integer(int32) in" by name, from the lines of a procedure."""
    found = {}
    for word, attributes, names in re.findall(r"^ *([\w()]+)((?:, *[^:]*)?) *:: *(.*)$", body,
                                              re.MULTILINE):
        if word == "import":
            continue
        way = ("by value" if "value" in attributes else
               "in" if re.search(r"intent\(in\)", attributes) else
               "out" if re.search(r"intent\((in)?out\)", attributes) else "")
        for name in re.findall(r"(\w+)(?:\([^()]*\))?", names):
            found[name] = f"{word} {way}".strip()
    return found


def procedures(path):
    with open(path) as file:
        text = re.sub(r"!.*", "", file.read())
    found, problems, generic = {}, [], set()
    for interface, inside in re.findall(r"^  interface (\w+)\n(.*?)^  end interface \1$", text,
                                        re.MULTILINE | re.DOTALL):
        generic.add(interface)
        for what, name, arguments, rest, body in re.findall(
                r"^    (subroutine|function) (\w+)\(([^()]*)\)([^\n]*)\n(.*?)^    end \1 \2$",
                inside, re.MULTILINE | re.DOTALL):
            declared = declarations(body)
            words = [f"{a}: {declared.pop(a, 'not declared')}" for a in
                     re.findall(r"\w+", arguments)]
            if what == "function":
                value = re.search(r"result\((\w+)\)", rest)
                words.append(f"result: {declared.pop(value.group(1) if value else name, None)}")
            if declared:
                problems.append(f"Fortran module: {name} declares {', '.join(declared)}, which is "
                                "no argument")
            found[name] = ", ".join(words)
    public = set(re.findall(r"\w+", " ".join(re.findall(r"public :: (.*)", text))))
    if public != generic:
        problems.append(f"Fortran module: public or interface only: {sorted(public ^ generic)}")
    return found, problems


# ---- what is made from the table ----------------------------------------------------------------


def names_only(names):
    return dict.fromkeys(names, "there")


def exported(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True,
                             text=True, check=True).stdout
    rows = [line.split()[-2:] for line in listing.splitlines()]
    return {name.split("@")[0] for kind, name in rows if kind != "A"}


def named_by_info(command):
    text = subprocess.run([command, "info", "--json"], capture_output=True, text=True,
                          check=True).stdout
    facts = json.loads(text)
    groups = [family["names"] for family in facts["cpu"]["families"]]
    return {name for group in [*groups, *facts["other_names"].values()] for name in group}


def check_headers(compiler, folder, table):
    found, problems = prototypes(compiler, folder)
    return (problems + differences("C headers", wanted_prototypes(table), found) +
            differences("C headers", wanted_macros(table), macros(compiler, folder)))


def check_module(path, table):
    found, problems = procedures(path)
    return problems + differences("Fortran module", wanted_procedures(table), found)


def check_names(options, table):
    problems = []
    routines = table.exported()
    others = functions_at_run_time(options.cc, options.headers)
    for what, source, read, wanted in (("library", options.library, exported, routines | others),
                                       ("overlapack info", options.info, named_by_info, routines)):
        if source:
            problems += differences(what, names_only(wanted), names_only(read(source)))
    return problems


def check(options, table):
    return (check_headers(options.cc, options.headers, table) +
            check_module(options.module, table) + check_names(options, table))


def parse(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", required=True)
    parser.add_argument("--headers", required=True)
    parser.add_argument("--module", required=True)
    parser.add_argument("--library")
    parser.add_argument("--info")
    return parser.parse_args(arguments)


def main():
    table = Table()
    problems = check(parse(sys.argv[1:]), table)
    for problem in problems:
        print(problem)
    print(f"{len(table.rows)} rows, {len(table.exported())} names, {len(problems)} differences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
