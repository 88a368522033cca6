"""Calls a second of several threads, as table and file: check_callers.py BENCH"""
import csv
import io
import sys

from outputs import Run

SIZES = ["40", "80"]
THREADS = ["1", "3"]
ROUTINES = ["dpotrf", "zgesv"]


def check():
    run = Run(sys.argv[1], "--callers", "--routines", ",".join(ROUTINES), "--sizes",
              ",".join(SIZES), "--threads", ",".join(THREADS), "--csv", "c.csv")
    lines = list(csv.DictReader(io.StringIO(run.text("c.csv"))))
    assert [(line["routine"], line["n"], line["threads"]) for line in lines] == \
        [(routine, n, threads) for routine in ROUTINES for n in SIZES for threads in THREADS], lines
    for line in lines:
        assert float(line["ours_per_s"]) > 0 and float(line["cpu_per_s"]) > 0, line
        assert 0 < float(line["residual"]) < 30, line
    assert "x first" in run.output and "EMULATED" in run.output, run.output


if __name__ == "__main__":
    check()
