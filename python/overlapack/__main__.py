"""Starts Python again with the library preloaded:

    python -m overlapack [OPTIONS] [SCRIPT | -c CODE | -m MODULE] [ARGUMENTS]

The options are those of `overlapack run`.
"""

import os
import subprocess
import sys

import overlapack

# What `overlapack run` takes no value for.
FLAGS = {"-h", "--help", "-v", "--verbose", "-s", "--summary"}


def split(words):
    """The options, and what is Python's."""
    n = 0
    while n < len(words) and words[n].startswith("-") and words[n] not in ("-", "-c", "-m", "--"):
        n += 1 if words[n] in FLAGS or "=" in words[n] else 2
    return words[:n], words[n + (words[n:n + 1] == ["--"]):]


def main():
    if sys.argv[1:] == ["--version"]:
        os.execv(overlapack.command, ["overlapack", "--version"])
    options, program = split(sys.argv[1:])
    # As multiprocessing starts Python again.
    python = [sys.executable, *subprocess._args_from_interpreter_flags()]
    os.execv(overlapack.command, ["overlapack", "run", *options, "--", *python, *program])


def run_command():
    """The console command `overlapack`."""
    words = sys.argv[1:]
    of_program = words[:1] == ["run"] or "--" in words  # which has a CPU LAPACK of its own
    os.execve(overlapack.command, ["overlapack", *words],
              os.environ if of_program else overlapack.environment_of_command())


if __name__ == "__main__":
    main()
