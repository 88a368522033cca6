"""Tests of the LU text program: the documented examples to the letter, a random matrix, bad input.

    check_lu_text.py PROGRAM [--library LIB --device host|cuda]

With a library the program is linked with it, and the log must show that dgetrf ran on the device.
"""

import argparse
import os
import random
import subprocess
import tempfile

import harness

EXAMPLES = [
    ("2\n1 2\n3 4\n",
     "3.0000000000e+00 4.0000000000e+00\n"
     "3.3333333333e-01 6.6666666667e-01\n"
     "1 1\n"),
    ("3\n1 2 3\n4 5 6\n7 8 7\n",
     "7.0000000000e+00 8.0000000000e+00 7.0000000000e+00\n"
     "1.4285714286e-01 8.5714285714e-01 2.0000000000e+00\n"
     "5.7142857143e-01 5.0000000000e-01 1.0000000000e+00\n"
     "2 2 2\n"),
    ("1\n\n -0.5 \n", "-5.0000000000e-01\n0\n"),
    ("2\n0 0\n0 0\n", "0.0000000000e+00 0.0000000000e+00\n" * 2 + "0 1\n"),  # singular
]
# Input and the words that the message must contain, the line number first of all.
MALFORMED = [
    ("", "line 1", "empty"),
    ("\n\n", "line 3", "empty"),
    ("x\n", "line 1", "\"x\" is not a number"),
    ("0\n", "line 1", "from 1 to 8000"),
    ("-3\n", "line 1", "from 1 to 8000"),
    ("8001\n", "line 1", "from 1 to 8000"),
    ("99999999999999999999\n", "line 1", "from 1 to 8000"),
    ("2.5\n", "line 1", "from 1 to 8000"),
    ("2 2\n", "line 1", "alone on its line"),
    ("2\n1 2\n", "line 3", "ends after 1 of 2 rows"),
    ("2\n1 2\n3\n", "line 3", "row 2 has 1 of 2 values"),
    ("2\n1 2 3\n4 5\n", "line 2", "row 1 has more than 2 values"),
    ("2\n1 2\n3 4,5\n", "line 3", "\"4,5\" is not a number"),
    ("1\nnan\n", "line 2", "not a finite number"),
    ("1\n1e999\n", "line 2", "not a finite number"),
    ("1\n1\n\n2\n", "line 4", "unexpected text"),
]


def check_factors(program, env):
    """P A = L U for a random matrix read from a file, in plain Python arithmetic."""
    n = 90
    source = random.Random(3)
    a = [[source.uniform(-1, 1) for _ in range(n)] for _ in range(n)]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(f"{n}\n" + "".join(" ".join(map(repr, row)) + "\n" for row in a))
        file.flush()
        status, output, errors = harness.run([program, file.name], env)
    lines = output.splitlines()
    if status != 0 or len(lines) != n + 1:
        harness.fail(f"status {status}, {len(lines)} lines: {errors}")
    lu = [list(map(float, line.split())) for line in lines[:n]]
    for i, p in enumerate(map(int, lines[n].split())):
        a[i], a[p] = a[p], a[i]
    error = max(abs(a[i][j] - sum((lu[i][k] if k < i else 1) * lu[k][j]
                                  for k in range(min(i, j) + 1)))
                for i in range(n) for j in range(n))
    growth = max(abs(v) for i in range(n) for v in lu[i][:i])
    print(f"random matrix of order {n}: |PA - LU| <= {error:.1e}, |L| <= {growth}")
    if error > 1e-8 or growth > 1:  # values are printed with 11 digits
        harness.fail("the factors are wrong")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--library")
    parser.add_argument("--device", default="off")
    options = parser.parse_args()
    if options.device == "cuda":
        reason = harness.gpu_missing(options.library)
        if reason:
            harness.skip(reason)
    log = harness.temporary_log()
    env = harness.environment(options.device, log)

    for text, expected in EXAMPLES:
        done = subprocess.run([options.program], input=text, env=env, capture_output=True,
                              text=True)
        if done.returncode != 0 or done.stdout != expected:
            harness.fail(f"input {text!r}: status {done.returncode}, got\n{done.stdout}"
                         f"{done.stderr}expected\n{expected}")
    for text, *words in MALFORMED:
        done = subprocess.run([options.program], input=text, env=env, capture_output=True,
                              text=True)
        if done.returncode == 0 or done.stdout or not all(w in done.stderr for w in words):
            harness.fail(f"input {text!r}: status {done.returncode}, message {done.stderr!r}, "
                         f"output {done.stdout!r}")
    status, _, errors = harness.run([options.program, os.devnull + "/missing"], env)
    if status == 0 or "missing" not in errors:
        harness.fail(f"a missing file: status {status}, message {errors!r}")
    print(f"{len(EXAMPLES)} examples and {len(MALFORMED)} malformed inputs are as they should be")
    check_factors(options.program, env)

    if options.library:
        calls = harness.read_log(log)
        if not any(c.routine == "dgetrf" and c.on(options.device) for c in calls):
            harness.fail(f"no dgetrf on {options.device}: {harness.counts(calls)}")
        print("log:", harness.counts(calls))


if __name__ == "__main__":
    main()
