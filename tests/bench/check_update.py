"""Updates of a Cholesky factor, as table and files: check_update.py BENCH"""
import csv
import io
import itertools
import json
import sys

from outputs import Run, brief, tables

SIZES = [40, 100]  # the library recognises matrices on the device from n = 64 (4096 elements) on
VECTORS = [5, 1]
WAYS = ["by device", "on device", "CPU", "qrupdate", "LINPACK", "dpotrf"]


def check_rows(rows):
    found = [(row["n"], row["k"], row["direction"], row["who"]) for row in rows]
    assert found == list(itertools.product(SIZES, VECTORS, ["up", "down"], WAYS)), found
    for row in rows:
        if row["who"] == "on device" and row["n"] < 64:
            assert "from 4096 elements on" in row["missing"] and row["ms"] is None, row
        elif row["who"] == "qrupdate" and row["missing"]:
            assert "not installed" in row["missing"], row
        else:
            assert row["missing"] == "" and row["ms"] > 0 and row["runs"] > 0, row
            assert 0 <= row["error"] < 1e-11, row
            assert (row["copies"] is None) == (row["who"] != "on device"), row


def check_table(output, rows):
    [(titles, cells)] = tables(output)
    groups = [rows[i:i + len(WAYS)] for i in range(0, len(rows), len(WAYS))]
    assert titles[:3] == ["n", "k", "direction"] and len(cells) == len(groups), output
    for line, group in zip(cells, groups):
        assert line[:3] == [str(group[0]["n"]), str(group[0]["k"]), group[0]["direction"]], line
        times = [cell for cell, title in zip(line, titles) if title.endswith(" ms")]
        assert times == [brief(row["ms"]) if row["ms"] else "-" for row in group], line
        # Orders as small as these stay on the CPU, whatever its cores.
        assert line[titles.index("ours")] == "CPU", line
        ours, potrf = group[WAYS.index("CPU")]["ms"], group[-1]["ms"]
        assert line[titles.index("x dpotrf")] == brief(potrf / ours), line


def check_break_evens(output, rows):
    for k, direction in itertools.product(VECTORS, ["up", "down"]):
        line = next(line for line in output.splitlines()
                    if line.startswith(f"k = {k}, {direction}: "))
        for who in ["CPU", "LINPACK", "dpotrf"]:
            start = None
            for n in SIZES:
                ms = {row["who"]: row["ms"] for row in rows
                      if (row["n"], row["k"], row["direction"]) == (n, k, direction)}
                wins = ms["by device"] < ms[who]
                start = (start or n) if wins else None
            assert f"{who} " + (f"from n = {start}" if start else "nowhere") in line, (who, line)


def main():
    run = Run(sys.argv[1], "--update", "--sizes", ",".join(map(str, SIZES)), "--vectors",
              ",".join(map(str, VECTORS)), "--reps", "1", "--csv", "u.csv", "--json",
              "u.json", "--markdown")
    rows = json.loads(run.text("u.json"))["rows"]
    check_rows(rows)
    check_table(run.output, rows)
    check_break_evens(run.output, rows)
    lines = list(csv.DictReader(io.StringIO(run.text("u.csv"))))
    assert [(int(line["n"]), int(line["k"]), line["who"]) for line in lines] == \
        [(row["n"], row["k"], row["who"]) for row in rows]

    run = Run(sys.argv[1], "--update", "--sizes", "70", "--vectors", "3", "--reps", "1", "--no-cpu",
              "--no-peers", "--json", "u.json")
    for row in json.loads(run.text("u.json"))["rows"]:
        left_out = {"CPU": "--no-cpu"}.get(row["who"], "--no-peers")
        assert row["missing"] == ("" if row["who"] in ("by device", "on device") else left_out), row
    assert "the device is faster" not in run.output, "than nobody"


if __name__ == "__main__":
    main()
