"""Reads the table of routines (compat/routines.def, compat/spellings.def) without a compiler.

What the library should export is worked out here a second time, so that a mistake in the macros
that expand the table shows.
"""

import dataclasses
import os
import re

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "compat")


@dataclasses.dataclass
class Kind:
    names: list  # spellings, such as "lp64"
    result: str  # "void" or "Real<T>"


@dataclasses.dataclass
class Row:
    kind: str
    types: str
    name: str
    parameters: list  # (type, name); the name of a hidden length is ""
    arguments: list   # names


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def parameter(text):
    """("const I*", "lda") of "const I* lda"."""
    declared, name = re.fullmatch(r"(.*?[\w>*])(?:\s+(\w+))?", text).groups()
    if declared == "const":  # a type without a name
        declared, name = f"const {name}", None
    return declared, name or ""


class Table:
    def __init__(self, folder=FOLDER):
        with open(os.path.join(folder, "routines.def")) as file:
            text = without_comments(file.read())
        with open(os.path.join(folder, "spellings.def")) as file:
            spellings = without_comments(file.read()).replace("\\\n", " ")
        # "scipy_@_" from "scipy_##type##name##_": @ stands for the letter and the name.
        self.patterns = {
            spelling: symbol.replace("type##name", "@").replace("#", "") for spelling, symbol in
            re.findall(r"OVERLAPACK_SPELL_(\w+)\(type, name, \.\.\.\)\s+OVERLAPACK_NAME\((.*?),",
                       spellings)}
        self.kinds = {
            kind: Kind(self.spellings_of(names, spellings), result) for kind, names, result in
            re.findall(r"#define OVERLAPACK_KIND_(\w+)\s+(\w+),\s*([\w<>]+),", text)}
        lists = r",\s*\((.*?)\),\s*\((.*?)\)"
        rows = re.findall(rf"^OVERLAPACK_ROUTINE\((\w+), (\w+), (\w+){lists}\)", text,
                          re.MULTILINE | re.DOTALL)
        # One row for the real types, and one for the complex ones.
        by_type = re.findall(rf"^OVERLAPACK_ROUTINE_BY_TYPE\((\w+), (\w+){lists}{lists}\)", text,
                             re.MULTILINE | re.DOTALL)
        count = len(re.findall(r"^OVERLAPACK_ROUTINE\w*\(", text, re.MULTILINE))
        if not rows or len(rows) + len(by_type) != count:
            raise ValueError(f"{len(rows) + len(by_type)} rows were understood, of {count}")
        rows += [(kind, types, name, *both) for kind, name, *four in by_type
                 for types, both in (("sd", four[:2]), ("cz", four[2:]))]
        self.rows = [Row(kind, types, name, [parameter(p) for p in split(parameters)],
                         split(arguments)) for kind, types, name, parameters, arguments in rows]

    @staticmethod
    def spellings_of(names, text):
        """The spellings in a set of them, which may have other sets in it."""
        members = re.search(rf"#define OVERLAPACK_NAMES_{names}\(\.\.\.\)([^\n]*)", text).group(1)
        found = []
        for what, name in re.findall(r"OVERLAPACK_(NAMES|SPELL)_(\w+)\(", members):
            found += Table.spellings_of(name, text) if what == "NAMES" else [name]
        return found

    def names(self):
        """All that is exported, as (row, letter of the type, spelling, name)."""
        return [(row, letter, spelling, self.patterns[spelling].replace("@", letter + row.name))
                for row in self.rows for letter in row.types
                for spelling in self.kinds[row.kind].names]

    def exported(self):
        return {name for _, _, _, name in self.names()}

    def typed(self):
        """The names as LAPACK's documents and the call log have them: "dpotrf", "zcgesv"."""
        return {letter + row.name for row in self.rows for letter in row.types}


def split(text):
    return [" ".join(part.split()) for part in text.split(",")]
