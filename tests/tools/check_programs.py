"""scripts/programs on small matrices and the emulated device: check_programs.py SCRIPT BUILD"""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPT, BUILD = sys.argv[1:]
THREE = "numpy solve,numpy det,numpy cholesky"
FOUR = THREE + ",numpy qr"  # whose routines overlapack has not got

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


def main():
    python = python_with_numpy()
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "table.csv")
        done = run(python, folder, "--operations", FOUR, "--csv", table)
        said = done.stdout.replace("\n", " ")
        assert "large calls are served by host. There is no GPU" in said, done
        assert "Wrong" not in done.stdout and "Geometric means" in done.stdout, done
        assert max(map(len, done.stdout.splitlines())) <= 100, done
        for name in THREE.split(","):
            (line,) = [line.split() for line in done.stdout.splitlines() if line.startswith(name)]
            assert len(line) == 11 and line[3] == "40", line
        slower = "Slower than 0.95: " in done.stdout
        assert done.returncode == slower, done
        assert slower != ("No row is slower" in done.stdout), done
        with open(table) as file:
            rows = list(csv.DictReader(file))
        assert [row["operation"] for row in rows] == FOUR.split(","), rows
        for row in rows:
            assert row["wrong"] == "" and 0 <= float(row["error"]) < 1e-11, row
            assert all(float(row[way + " ms"]) > 0 for way in ("without", "untuned", "tuned")), row
            share = float(row["LAPACK share"])
            assert 0 < share < 1 if row["operation"] in THREE.split(",") else share == 0, row

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

        done = run(python, folder, "--operations", "numpy inv", "--seconds", "0.01")
        assert done.returncode == 1, done
        assert "Not measured for want of time: numpy inv n=40." in done.stdout, done


main()
