"""Mixed-precision solvers by condition number: table and files. check_refine.py BENCH"""
import csv
import io
import itertools
import json
import sys

from outputs import Run, brief, tables

ROUTINES = ["dsgesv", "dsposv"]
SIZES = [40, 100]  # the library recognises matrices on the device from n = 64 (4096 elements) on
CONDITIONS = [10.0, 1e6, 1e12]
OURS = ["fp64", "fp32", "tf32", "fp16"]
FORMS = OURS + ["cuSOLVER " + form for form in OURS]
# With blocks of 8 columns, so that there are large products.
OPTIONS = ["--refine", "--nb", "8", "--reps", "1", "--sizes", ",".join(map(str, SIZES))]


def end_of(form, condition):
    """What must come of it."""
    if form == "fp64":
        return "solved"
    if condition == 1e12:
        return "fell back"
    return "converged" if condition == 10 or form == "fp32" else "switched to fp32"


def check_row(row):
    assert row["resident"] is False, row
    if row["form"] not in OURS:
        assert row["missing"] == "--no-peers" and row["ms"] is None, row
        return
    assert row["missing"] == "" and row["ms"] > 0 and row["runs"] == 1 and row["info"] == 0, row
    assert 0 < row["backward_error"] < 1e-15, row
    assert row["end"] == end_of(row["form"], row["condition"]), row
    if row["form"] == "fp64":
        assert row["iter"] is None and row["refine_ms"] is None, row
        return
    assert row["refine_ms"] > 0 and row["factor_ms"] >= 0, row
    assert abs(row["factor_ms"] + row["refine_ms"] - row["ms"]) < 1e-9 * row["ms"] + 1e-12, row
    assert (row["iter"] < 0) == (row["end"] == "fell back"), row


def check_steps(rows):
    """Operands of 11 bits make more steps necessary."""
    steps = {(row["routine"], row["n"], row["form"]): row["iter"] for row in rows
             if row["condition"] == 10}
    for routine, n in itertools.product(ROUTINES, SIZES):
        for form in ["tf32", "fp16"]:
            assert steps[routine, n, form] > steps[routine, n, "fp32"], steps


def check_table(output, rows):
    found = tables(output)
    assert len(found) == len(ROUTINES) * len(SIZES), output
    cells = [dict(zip(titles, line)) for titles, lines in found for line in lines]
    measured = [row for row in rows if row["ms"] is not None]
    assert len(cells) == len(measured), output
    for line, row in zip(cells, measured):
        assert line["routine, n"] == f"{row['routine']} {row['n']} (1 rhs)", line
        assert float(line["condition"]) == row["condition"] and line["form"] == row["form"], line
        assert line["ms"] == brief(row["ms"]) and line["end"] == row["end"], line
        assert line["iter"] == ("-" if row["iter"] is None else str(row["iter"])), line
        assert line["backward error"] == f"{row['backward_error']:.1e}", line


def main():
    run = Run(sys.argv[1], *OPTIONS, "--conditions", ",".join(map(str, CONDITIONS)), "--no-peers",
              "--csv", "r.csv", "--json", "r.json", "--markdown")
    rows = json.loads(run.text("r.json"))["rows"]
    found = [(row["routine"], row["n"], row["condition"], row["form"]) for row in rows]
    assert found == list(itertools.product(ROUTINES, SIZES, CONDITIONS, FORMS)), found
    for row in rows:
        check_row(row)
    check_steps(rows)
    check_table(run.output, rows)
    lines = list(csv.DictReader(io.StringIO(run.text("r.csv"))))
    assert [(line["routine"], int(line["n"]), float(line["condition"]), line["form"])
            for line in lines] == found

    run = Run(sys.argv[1], *OPTIONS, "--conditions", "1e3", "--routines", "zcposv", "--resident",
              "--uplo", "U", "--no-peers", "--json", "r.json", "--markdown")
    for row in json.loads(run.text("r.json"))["rows"]:
        assert row["resident"] is True, row
        if row["form"] in OURS and row["n"] < 64:
            assert "from 4096 elements on" in row["missing"] and row["ms"] is None, row
        elif row["form"] in OURS:
            assert row["missing"] == "" and row["backward_error"] < 1e-15, row
            assert row["end"] == ("solved" if row["form"] == "fp64" else "converged"), row


if __name__ == "__main__":
    main()
