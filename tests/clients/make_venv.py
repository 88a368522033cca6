"""Makes a virtual environment with pip's NumPy and SciPy wheels, and with threadpoolctl:
make_venv.py FOLDER

Where that cannot be done (no venv module, no package index within reach), a python3 on the path
that already has the wheels takes its place. Otherwise it skips, and notes the reason in
FOLDER/unavailable for the tests that need it.
"""

import os
import shutil
import subprocess
import sys

import harness

WHEELS = ("import glob, os, numpy, scipy; "
          "folder = os.path.dirname(os.path.dirname(numpy.__file__)); "
          "assert glob.glob(folder + '/numpy.libs/*scipy_openblas*'); "
          "print('NumPy', numpy.__version__, 'SciPy', scipy.__version__)")


def python_with_wheels():
    """A python3 on the path whose NumPy and SciPy come from pip's wheels, and what it says."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        candidate = os.path.join(folder, "python3")
        if os.access(candidate, os.X_OK):
            done = subprocess.run([candidate, "-c", WHEELS], capture_output=True, text=True)
            if done.returncode == 0:
                return candidate, done.stdout.strip()
    return None, None


def main():
    folder = sys.argv[1]
    python = os.path.join(folder, "bin", "python")
    probe = [python, "-c", "import numpy, scipy, threadpoolctl; print('NumPy', numpy.__version__, "
                           "'SciPy', scipy.__version__)"]

    def attempt(what, command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=400,
                              env=dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1"))
        if done.returncode == 0:
            return done.stdout.strip()
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.join(folder, "bin"))
        other, versions = python_with_wheels()
        if other is not None:
            with open(python, "w") as file:
                file.write(f'#!/bin/sh\nexec "{other}" "$@"\n')
            os.chmod(python, 0o755)
            print(f"no package index; {other} has the wheels: {versions}")
            sys.exit(0)
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        reason = f"{what}: {' '.join(last)}"
        with open(os.path.join(folder, "unavailable"), "w") as file:
            file.write(reason)
        harness.skip(reason)

    if os.path.exists(python):
        done = subprocess.run(probe, capture_output=True, text=True)
        if done.returncode == 0:
            print("already there:", done.stdout.strip())
            return
    shutil.rmtree(folder, ignore_errors=True)
    attempt("no virtual environment", [sys.executable, "-m", "venv", folder])
    attempt("pip cannot install NumPy and SciPy wheels",
            [python, "-m", "pip", "install", "--quiet", "--only-binary=:all:", "--retries", "1",
             "--timeout", "20", "numpy", "scipy", "threadpoolctl"])
    print(attempt("the wheels do not load", probe))


if __name__ == "__main__":
    main()
