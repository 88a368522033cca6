"""scripts/programs on small matrices and the emulated device: check_programs.py SCRIPT BUILD WHAT

WHAT is python or others (R and Octave).
"""
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SCRIPT, BUILD, WHAT = sys.argv[1:]
THREE = "numpy solve,numpy det,numpy cholesky"
AND_EIG = "numpy solve,numpy cholesky,numpy eigvals"  # overlapack has no routine of the last one

# Python reads this at its start. So the process `untuned` has a NumPy that is wrong.
SITECUSTOMIZE = """
import os
if os.environ.get("OVERLAPACK_PROFILE") == "/dev/null":
    import numpy.linalg
    solve, det, right = numpy.linalg.solve, numpy.linalg.det, numpy.linalg.cholesky
    numpy.linalg.solve = lambda a, b: solve(a, b) * (1 + 1e-8)
    numpy.linalg.det = lambda a: det(a) * (1 + 1e-5)
    numpy.linalg.slogdet = lambda a: (1.0, numpy.nan)
    numpy.linalg.cholesky = lambda a: right(a) if len(a) > 100 else os._exit(3)
"""

# Stands for Rscript and octave-cli: what the process `untuned` computes is wrong there, too.
WRAPPER = """#!/bin/sh
if [ "$OVERLAPACK_PROFILE$OVERLAPACK_VERBOSE" = /dev/null ]; then
  sed 's/ solve(a, b)/ 1.00001 * solve(a, b)/; s/ inv (a)/ 1.00001 * inv (a)/' "$2" > {0}.wrong
  exec {1} "$1" {0}.wrong "$3"
fi
exec {1} "$@"
"""


def python_with_numpy():
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
                return python
        except OSError:
            pass
    print("skipped: no NumPy")
    sys.exit(77)


def run(python, folder, *options, **env):
    profile = pathlib.Path(folder, "profile")
    profile.write_text("dpotrf 16\ndgetrf 16\ndgesv 16\n")
    return subprocess.run(
        [python, SCRIPT, "--sizes", "40", "--reps", "1", "--profile", str(profile), "--warm-up",
         "0", *options, BUILD], capture_output=True, text=True, timeout=60,
        env={**os.environ, "OVERLAPACK_DEVICE": "host", **env})


def check_python(python, folder):
    table = os.path.join(folder, "table.csv")
    done = run(python, folder, "--operations", AND_EIG, "--csv", table)
    said = done.stdout.replace("\n", " ")
    assert "large calls are served by host. There is no GPU" in said, done
    assert "Wrong" not in done.stdout and "Geometric means" in done.stdout, done
    assert max(map(len, done.stdout.splitlines())) <= 100, done
    for name in AND_EIG.split(","):
        (line,) = [line.split() for line in done.stdout.splitlines() if line.startswith(name)]
        assert line[-8] == "40" and (line[-2] == "-" or name != "numpy eigvals"), line
    slower = "Slower than 0.95: " in done.stdout
    assert done.returncode == slower, done
    assert slower != ("No row is slower" in done.stdout), done
    with open(table) as file:
        rows = list(csv.DictReader(file))
    assert [row["operation"] for row in rows] == AND_EIG.split(","), rows
    for row in rows:
        assert row["wrong"] == "" and 0 <= float(row["error"]) < 1e-11, row
        assert all(float(row[way + " ms"]) > 0 for way in ("without", "untuned", "tuned")), row
        share = float(row["LAPACK share"])
        assert share == 0 if row["operation"] == "numpy eigvals" else 0 < share < 1, row

    pathlib.Path(folder, "sitecustomize.py").write_text(SITECUSTOMIZE)
    done = run(python, folder, "--operations", THREE + ",slogdet", "--no-tuned", "--markdown",
               PYTHONPATH=folder)
    assert done.returncode == 1 and "Geometric" not in done.stdout, done
    assert done.stdout.count("| WRONG |") == 4, done
    said = done.stdout.replace("\n", " ")
    for wrong in ("numpy solve n=40 (untuned, error ", "numpy det n=40 (untuned, error 1e-05)",
                  "numpy slogdet n=40 (untuned, error nan)",
                  "numpy cholesky n=40 (the process untuned has ended or hung)"):
        assert wrong in said, done

    done = run(python, folder, "--operations", "numpy inv,R solve", "--seconds", "0.01",
               PATH=folder)
    assert done.returncode == 1, done
    assert "Left out, as package or program is missing: R solve." in done.stdout, done
    assert "Not measured for want of time: numpy inv n=40." in done.stdout, done


def check_others(python, folder):
    """R and Octave, right and wrong results of both."""
    for name in ("Rscript", "octave-cli"):
        path = shutil.which(name)
        if path is None:
            print(f"skipped: no {name}")
            sys.exit(77)
        program = pathlib.Path(folder, name)
        program.write_text(WRAPPER.format(program, path))
        program.chmod(0o755)
    table = os.path.join(folder, "table.csv")
    done = run(python, folder, "--operations", "R ,octave", "--csv", table, "--no-tuned",
               PATH=f"{folder}:{os.environ['PATH']}")
    assert done.returncode == 1, done
    assert re.search(r", R \d\S+ with \S+/lib\S+,\soctave\s\d", done.stdout), done
    with open(table) as file:
        rows = {row["operation"]: row for row in csv.DictReader(file)}
    wrong = {name for name, row in rows.items() if row["wrong"].startswith("untuned, error ")}
    assert wrong == {"R solve", "octave inv(A)"}, rows
    assert rows.keys() - wrong == {"R solve(A)", "R chol2inv(chol(A))", "octave A\\b"}, rows
    for name in rows.keys() - wrong:
        row = rows[name]
        assert row["wrong"] == "" and 0 < float(row["error"]) < 1e-12, row
        assert 0 < float(row["LAPACK share"]) < 1, row
        assert float(row["without ms"]) > 0 and float(row["untuned ms"]) > 0, row


def main():
    python = python_with_numpy()
    with tempfile.TemporaryDirectory() as folder:
        {"python": check_python, "others": check_others}[WHAT](python, folder)


main()
