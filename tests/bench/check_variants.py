"""The textbook forms of LU, as table and files: check_variants.py BENCH"""
import csv
import io
import itertools
import json
import re
import sys

from outputs import Run, brief

SIZES = [40, 72]  # the library recognises matrices on the device from n = 64 (4096 elements) on
BLOCKS = [16, 24]
VARIANTS = ["left-looking", "crout", "right-looking"]


def form(row):
    return row["variant"], row["panel"], row["columns"]


def table(text):
    """The lines of the table, as lists of cells under their titles."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("routine, n"))
    titles = re.split(r"  +", lines[start])
    rows = [re.split(r"  +", row) for row in itertools.takewhile(bool, lines[start + 1:])]
    assert all(len(row) == len(titles) for row in rows), lines
    return [dict(zip(titles, row)) for row in rows]


def check_rows(rows):
    expected = [("unblocked", "device", columns, 1) for columns in ("padded", "unpadded")]
    expected += itertools.product(VARIANTS, ("device", "hybrid"), ("padded", "unpadded"), BLOCKS)
    for n in SIZES:
        here = [row for row in rows if row["n"] == n]
        found = [(*form(row), row["nb"]) for row in here
                 if row["variant"] not in ("library", "cuSOLVER")]
        assert sorted(found) == sorted(expected), found
        for row in here:
            if row["variant"] == "cuSOLVER":
                assert row["missing"] == "--no-peers" and row["ms"] is None, row
                continue
            if row["variant"] == "library" and n < 64:
                assert "from 4096 elements on" in row["missing"] and row["ms"] is None, row
                continue
            assert row["missing"] == "" and row["ms"] > 0 and row["info"] == 0, row
            assert 0 <= row["residual"] < 30, row
            flops = row["gflops"] * row["ms"] * 1e6
            assert abs(flops / (2 * n**3 / 3) - 1) < 0.1, row
            if row["columns"] == "unpadded":
                assert row["lda"] == n, row
            else:
                assert row["lda"] > n and row["lda"] % 32 == 0, row


def check_table(output, rows):
    lines = table(output)
    assert len(lines) == 16 * len(SIZES), len(lines)  # 14 forms, the library, cuSOLVER
    for line in lines:
        here = [row for row in rows if f"dgetrf {row['n']}" == line["routine, n"] and
                form(row) == (line["variant"], line["panel"], line["columns"])]
        assert here and {str(row["lda"]) for row in here} == {line["lda"]}, line
        if here[0]["ms"] is None:
            assert line["best ms"] == line["nb"] == line["GF/s"] == line["resid."] == "-", line
            continue
        best = min(here, key=lambda row: row["ms"])
        assert line["best ms"] == brief(best["ms"]), (line, best)
        assert line["GF/s"] == brief(best["gflops"]) and line["nb"] == str(best["nb"]), line
        assert line["resid."] == brief(max(row["residual"] for row in here)), line
        for nb in BLOCKS:
            cell = [brief(row["ms"]) for row in here
                    if row["nb"] == nb and row["variant"] in VARIANTS]
            assert line[f"nb={nb} ms"] == (cell[0] if cell else "-"), line


def check_verdicts(output, rows):
    for n in SIZES:
        measured = [row for row in rows if row["n"] == n and row["ms"] is not None]
        library = [row for row in measured if row["variant"] == "library"]
        best = min((row for row in measured if row not in library), key=lambda row: row["ms"])
        line = next(line for line in output.splitlines() if line.startswith(f"dgetrf {n}: "))
        fastest = (f"fastest {best['variant']}, {best['panel']} panel, {best['columns']}, "
                   f"nb = {best['nb']}, {brief(best['ms'])} ms")
        assert line.startswith(f"dgetrf {n}: {fastest}"), line
        for name in {"crout", "right-looking", "hybrid", "unpadded"} - set(form(best)):
            other = min(row["ms"] for row in measured if name in form(row) and row not in library)
            assert f"{name} {brief(other / best['ms'])}" in line, (name, line)
        for row in library:
            assert line.endswith(f"nb = {row['nb']}) {brief(row['ms'])} ms, "
                                 f"{brief(best['ms'] / row['ms'])} times as fast"), line
        assert bool(library) == (n >= 64) == ("library's default" in line), line


def main():
    bench = sys.argv[1]
    run = Run(bench, "--variants", "--sizes", ",".join(map(str, SIZES)), "--block-sizes",
              ",".join(map(str, BLOCKS)), "--reps", "1", "--no-peers", "--csv", "v.csv",
              "--json", "v.json")
    rows = json.loads(run.text("v.json"))["rows"]
    check_rows(rows)
    check_table(run.output, rows)
    check_verdicts(run.output, rows)
    lines = list(csv.DictReader(io.StringIO(run.text("v.csv"))))
    assert [(*form(line), int(line["n"]), int(line["nb"])) for line in lines] == \
        [(*form(row), row["n"], row["nb"]) for row in rows]

    # A choice of forms, in every precision.
    run = Run(bench, "--variants", "--routines", "sgetrf,cgetrf,zgetrf", "--sizes", "33", "--lu",
              "left-looking,crout", "--panels", "hybrid", "--padding", "unpadded", "--block-sizes",
              "16", "--reps", "1", "--no-peers", "--json", "v.json")
    rows = json.loads(run.text("v.json"))["rows"]
    found = [(row["routine"], *form(row)) for row in rows if row["ms"] is not None]
    assert found == [(routine, variant, "hybrid", "unpadded")
                     for routine in ("sgetrf", "cgetrf", "zgetrf")
                     for variant in ("left-looking", "crout")], found
    assert all(0 <= row["residual"] < 30 for row in rows if row["ms"] is not None), rows


if __name__ == "__main__":
    main()
