"""The recipes can be read, and are for this version: check_recipes.py PACKAGING_FOLDER VERSION

That is all that can be tried of them without Spack, conda and EasyBuild."""

import ast
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
import harness


def main():
    folder, version = sys.argv[1:]
    files = {kind: glob.glob(os.path.join(folder, kind, "*.*"))
             for kind in ("spack", "conda-forge", "easybuild")}
    for kind, paths in files.items():
        if len(paths) != 1:
            harness.fail(f"{kind} has the recipes {paths}")
        with open(paths[0]) as file:
            text = file.read()
        if kind != "conda-forge":
            ast.parse(text, paths[0])
        if version not in text:
            harness.fail(f"{paths[0]} is not for version {version}")


if __name__ == "__main__":
    main()
