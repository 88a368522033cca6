"""What the benchmark draws on a terminal, and what elsewhere: check_terminal.py BENCH"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from terminal import check_bar, run_on_terminal

SMALL = ["--device", "host", "--reps", "1", "--sizes", "40,70"]
COMPARISON = [*SMALL, "--no-peers", "--routines", "dpotrf,dgetrf"]
MODES = [COMPARISON,
         [*SMALL[:4], "--no-peers", "--shapes", "70x30,30x70"],
         [*SMALL, "--speed-of-light"],
         [*SMALL, "--components", "--routines", "dpotrf"],
         [*SMALL, "--transfer"],
         [*SMALL, "--variants", "--no-peers", "--lu", "crout", "--block-sizes", "32"],
         [*SMALL, "--update", "--no-peers", "--vectors", "3"],
         [*SMALL, "--refine", "--no-peers", "--conditions", "10"],
         [*SMALL, "--reductions", "--no-peers"],
         [*SMALL, "--routing", "--routines", "dgetrf"]]


def tables(text):
    """The lines that belong to tables: those with several cells far apart."""
    return [line for line in text.splitlines() if "  " in line.strip()]


def main():
    bench = sys.argv[1]
    for options in MODES:
        status, drawn = run_on_terminal([bench, *options], 70)
        assert status == 0, (options, drawn)
        check_bar(drawn, 70)

    # A table is as wide as the terminal; elsewhere 100 columns; in Markdown as wide as it is.
    for columns in (80, 300):
        status, text = run_on_terminal([bench, *COMPARISON], columns, ["stdout"])
        lines = tables(text)
        titles = [line for line in lines if line.startswith("routine, n ")]
        assert status == 0 and max(map(len, lines)) <= columns, text
        assert len(titles) == (2 if columns == 300 else 2 * 4), text
        assert sum("ours GF/s" in line for line in titles) == 2, text
    done = subprocess.run([bench, *COMPARISON], capture_output=True, text=True)
    assert 80 < max(map(len, tables(done.stdout))) <= 100, done.stdout
    assert "\x1b" not in done.stderr and "\r" not in done.stderr, done.stderr
    said = [line for line in done.stderr.splitlines() if " ms (1 run)" in line]
    assert said == done.stderr.splitlines() and len(said) == 2 * 2 * 3 - 2, done.stderr
    done = subprocess.run([bench, *COMPARISON, "--markdown"], capture_output=True, text=True)
    assert done.stdout.count("| routine, n ") == 2 and "| device MB |" in done.stdout, done.stdout


if __name__ == "__main__":
    main()
