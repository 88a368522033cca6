"""Norms on the device and on the host, as tables and files: check_reductions.py BENCH"""
import csv
import io
import itertools
import json
import re
import sys

from outputs import Run

SIZES = [48, 64]
NORMS = ["max", "one", "infinity", "Frobenius"]
ON_DEVICE, ON_HOST = ["ours", "CUB", "Thrust"], ["host", "CPU LAPACK"]


def shapes(n, padding):
    """With whether the shape is measured on the host, too: its data are new."""
    return [((n, n, n), True), ((n, n, n + padding), False),
            ((n * n // 16, 16, n * n // 16), True), ((16, n * n // 16, 16), True)]


def expected_rows(padding, who):
    """Of one place, in their order: on the device a shape at a time, then on the host."""
    for kind in "ds":
        for n in SIZES:
            for shape, is_new in shapes(n, padding):
                for place in [ON_DEVICE, ON_HOST] if is_new else [ON_DEVICE]:
                    for norm, one in itertools.product(NORMS, place):
                        if one in who:
                            yield kind, *shape, norm, one


def check_rows(rows, padding, peers_missing, who=(*ON_DEVICE, *ON_HOST)):
    found = [(row["type"], row["m"], row["n"], row["lda"], row["norm"], row["who"]) for row in rows]
    expected = list(expected_rows(padding, who))
    assert found == expected, found
    for row in rows:
        if row["who"] in ("CUB", "Thrust"):
            assert row["missing"] == peers_missing and row["ms"] is None, row
            continue
        assert row["missing"] == "" and row["ms"] > 0, row
        size = row["m"] * row["n"] * (8 if row["type"] == "d" else 4)
        assert abs(row["gbs"] * row["ms"] * 1e6 / size - 1) < 1e-6, row
        assert 0 <= row["error"] < row["m"] + row["n"], row
        assert row["percent"] is None if row["who"] in ON_HOST else row["percent"] > 0, row
        if row["norm"] == "max":
            assert row["error"] == 0, row


def cells_below(lines, title):
    starts = [i for i, line in enumerate(lines) if re.match(title, line)]
    assert len(starts) == 2, lines
    return [re.split(r"  +", line) for start in starts
            for line in itertools.takewhile(bool, lines[start + 1:])]


def check_tables(output, rows):
    lines = output.splitlines()
    cells = cells_below(lines, r"norm +m x n +lda")
    ours = [row for row in rows if row["who"] == "ours"]
    assert [cell[:3] for cell in cells] == [
        [f"{row['type']} {row['norm']}", f"{row['m']} x {row['n']}", str(row["lda"])]
        for row in ours], cells
    assert all(cell[6:] == ["-"] * 6 for cell in cells), cells
    cells = cells_below(lines, r"norm on the host +m x n +ours ms")
    assert [cell[:2] for cell in cells] == [
        [f"{row['type']} {row['norm']}", f"{row['m']} x {row['n']}"]
        for row in rows if row["who"] == "host"], cells
    for cell in cells:
        ms, _, _, lapack_ms, _, _, times, difference = map(float, cell[2:])
        assert abs(times * ms / lapack_ms - 1) < 0.1 and difference < 1e4, cell
    assert "EMULATED" in output and "a copy on the device" in output, output


def main():
    sizes = ",".join(map(str, SIZES))
    run = Run(sys.argv[1], "--reductions", "--sizes", sizes, "--reps", "2", "--csv", "r.csv",
              "--json", "r.json")
    rows = json.loads(run.text("r.json"))["rows"]
    check_rows(rows, 8, "no GPU")
    check_tables(run.output, rows)
    lines = list(csv.DictReader(io.StringIO(run.text("r.csv"))))
    assert [(line["who"], int(line["lda"])) for line in lines] == \
        [(row["who"], row["lda"]) for row in rows]

    run = Run(sys.argv[1], "--reductions", "--sizes", sizes, "--lda-pad", "3", "--reps", "1",
              "--no-peers", "--json", "r.json")
    check_rows(json.loads(run.text("r.json"))["rows"], 3, "--no-peers")

    run = Run(sys.argv[1], "--reductions", "--sizes", sizes, "--reps", "1", "--json", "r.json",
              device="off")
    check_rows(json.loads(run.text("r.json"))["rows"], 8, "", ON_HOST)


if __name__ == "__main__":
    main()
