"""The comparison as files: check_compare.py BENCH"""
import csv
import io
import json
import re
import sys

from outputs import Run

ORDERS = [32, 64, 128]
ROUTINES = ["dpotrf", "zgetrf"]


def main():
    run = Run(sys.argv[1], "--routines", ",".join(ROUTINES), "--from", "32", "--max-n", "128",
              "--no-peers", "--csv", "c.csv", "--json", "c.json")
    rows = json.loads(run.text("c.json"))["rows"]
    assert [(r["routine"], r["n"]) for r in rows] == [(r, n) for r in ROUTINES for n in ORDERS]
    lines = list(csv.DictReader(io.StringIO(run.text("c.csv"))))
    assert len(lines) == 5 * len(rows), "a line for each contender"
    for row in rows:
        element = 8 if row["routine"] == "dpotrf" else 16
        # The whole matrix lies on the device.
        assert row["device_bytes"] >= element * row["n"] ** 2, row
        assert row["pinned_bytes"] > 0, row
        assert row["bytes_up"] >= element * row["n"] * (row["n"] + 1) / 2, row
        ours = [line for line in lines if line["contender"] == "ours" and
                (line["routine"], int(line["n"])) == (row["routine"], row["n"])]
        assert len(ours) == 1
        assert float(ours[0]["ms"]) == row["contenders"]["ours"]["ms"]
        assert float(ours[0]["device_bytes"]) == row["device_bytes"]
        peer = row["contenders"]["cuSOLVER"]
        assert peer == {"missing": "--no-peers"}, peer
        assert row["uplo"] == "L" and row["trans"] == ours[0]["trans"] == "N", row
    assert "pinned MB" in run.output and "Kept for later calls" in run.output, run.output

    # The triangle and op(A) where they are not the usual ones, of routines that have them.
    run = Run(sys.argv[1], "--routines", "dposv,sgetrs,dgetrf", "--sizes", "32", "--uplo", "U",
              "--trans", "C", "--reps", "1", "--no-cpu", "--no-peers", "--csv", "c.csv",
              "--json", "c.json")
    expected = [("dposv", "U", "N"), ("sgetrs", "L", "C"), ("dgetrf", "L", "N")]
    for found in (json.loads(run.text("c.json"))["rows"],
                  list(csv.DictReader(io.StringIO(run.text("c.csv"))))[::5]):
        assert [(row["routine"], row["uplo"], row["trans"]) for row in found] == expected, found
    lines = [re.split("  +", line) for line in run.output.splitlines()]
    for name, order in (("dposv U", "32 (1 rhs)"), ("sgetrs C", "32 (1 rhs)"), ("dgetrf", "32")):
        assert any(line[0] == f"{name} {order}" for line in lines), (name, run.output)
        assert f"{name} {order}; CPU: --no-cpu" in run.output, run.output

    # Eigenvalues alone, which the sum of them and that of their squares tell.
    run = Run(sys.argv[1], "--routines", "dsyevd,zhegvd,dsytrd", "--sizes", "32", "--values-only",
              "--reps", "1", "--no-peers", "--json", "v.json")
    rows = json.loads(run.text("v.json"))["rows"]
    assert [row["nrhs"] for row in rows] == [0, 0, 0], rows
    assert 0 < rows[0]["contenders"]["ours"]["residual"] < 30, rows[0]
    lines = [re.split("  +", line)[0] for line in run.output.splitlines()]
    assert {"dsyevd N 32", "zhegvd N 32", "dsytrd 32"} <= set(lines), run.output


if __name__ == "__main__":
    main()
