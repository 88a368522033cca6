"""Runs a program with the virtual environment of make_venv.py: in_venv.py FOLDER PROGRAM"""

import os
import sys

import harness

folder, program = sys.argv[1:]
reason = os.path.join(folder, "unavailable")
if os.path.exists(reason):
    with open(reason) as file:
        harness.skip(file.read())
python = os.path.join(folder, "bin", "python")
os.execv(python, [python, program])
