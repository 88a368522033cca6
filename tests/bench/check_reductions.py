"""Norms on the device, as table and files: check_reductions.py BENCH"""
import csv
import io
import itertools
import json
import re
import sys

from outputs import Run

SIZES = [48, 64]
NORMS = ["max", "one", "infinity", "Frobenius"]
WHO = ["ours", "CUB", "Thrust"]


def shapes(n, padding):
    return [(n, n, n), (n, n, n + padding), (n * n // 16, 16, n * n // 16), (16, n * n // 16, 16)]


def check_rows(rows, padding, peers_missing):
    found = [(row["type"], row["m"], row["n"], row["lda"], row["norm"], row["who"]) for row in rows]
    expected = [(kind, *shape, norm, who) for kind in "ds" for n in SIZES
                for shape in shapes(n, padding) for norm in NORMS for who in WHO]
    assert found == expected, found
    for row in rows:
        if row["who"] != "ours":
            assert row["missing"] == peers_missing and row["ms"] is None, row
            continue
        assert row["missing"] == "" and row["ms"] > 0, row
        size = row["m"] * row["n"] * (8 if row["type"] == "d" else 4)
        assert abs(row["gbs"] * row["ms"] * 1e6 / size - 1) < 1e-6, row
        assert 0 < row["percent"] and 0 <= row["error"] < row["m"] + row["n"], row
        if row["norm"] == "max":
            assert row["error"] == 0, row


def check_table(output, rows):
    lines = output.splitlines()
    starts = [i for i, line in enumerate(lines) if re.match(r"norm +m x n +lda", line)]
    assert len(starts) == 2, lines
    cells = [re.split(r"  +", line) for start in starts
             for line in itertools.takewhile(bool, lines[start + 1:])]
    ours = [row for row in rows if row["who"] == "ours"]
    assert [cell[:3] for cell in cells] == [
        [f"{row['type']} {row['norm']}", f"{row['m']} x {row['n']}", str(row["lda"])]
        for row in ours], cells
    assert all(cell[6:] == ["-"] * 6 for cell in cells), cells
    assert "EMULATED" in output and "a copy on the device" in output, output


def main():
    sizes = ",".join(map(str, SIZES))
    run = Run(sys.argv[1], "--reductions", "--sizes", sizes, "--reps", "2", "--csv", "r.csv",
              "--json", "r.json")
    rows = json.loads(run.text("r.json"))["rows"]
    check_rows(rows, 8, "no GPU")
    check_table(run.output, rows)
    lines = list(csv.DictReader(io.StringIO(run.text("r.csv"))))
    assert [(line["who"], int(line["lda"])) for line in lines] == \
        [(row["who"], row["lda"]) for row in rows]

    run = Run(sys.argv[1], "--reductions", "--sizes", sizes, "--lda-pad", "3", "--reps", "1",
              "--no-peers", "--json", "r.json")
    check_rows(json.loads(run.text("r.json"))["rows"], 3, "--no-peers")


if __name__ == "__main__":
    main()
