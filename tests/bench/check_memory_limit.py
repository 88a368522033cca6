"""What the library refuses, or leaves to the CPU, for want of device memory:
check_memory_limit.py BENCH"""
import json
import sys

from outputs import Run

REFUSED = "refused with info = -1010 (OVERLAPACK_VERBOSE=1 says why)"
NOT_SERVED = "not served by the device (OVERLAPACK_VERBOSE=1 says why)"


def run(*options):
    return Run(sys.argv[1], *options, "--sizes", "80", "--reps", "1", OVERLAPACK_MEMORY_LIMIT="1K")


def rows(*options):
    done = run(*options, "--no-peers", "--json", "r.json")
    return done.output, json.loads(done.text("r.json"))["rows"]


def main():
    output, [row] = rows("--routines", "dpotrf", "--no-cpu")
    assert row["contenders"]["on device"] == {"missing": REFUSED}, row
    assert not row["served_by_device"] and row["contenders"]["ours"]["residual"] < 30, row
    assert f"dpotrf 80; on device: {REFUSED}" in output and "info = -1010\n" not in output, output
    assert f"dpotrf 80; ours: {NOT_SERVED}" in output, output

    output, found = rows("--variants", "--lu", "crout", "--block-sizes", "16")
    for row in found:
        expected = {"library": REFUSED, "cuSOLVER": "--no-peers"}.get(row["variant"], "")
        assert row["missing"] == expected and (row["ms"] is None) == bool(expected), row
    assert "times as fast" not in output, output

    _, found = rows("--refine", "--resident", "--conditions", "10", "--routines", "dsposv")
    for row in found:
        expected = "--no-peers" if row["form"].startswith("cuSOLVER") else REFUSED
        assert row["missing"] == expected and row["ms"] is None, row

    _, found = rows("--update", "--vectors", "5", "--no-cpu")
    for row in found:
        expected = {"by device": NOT_SERVED, "on device": REFUSED, "CPU": "--no-cpu"}
        assert row["missing"] == expected.get(row["who"], "--no-peers") and row["ms"] is None, row

    output = run("--components", "--routines", "dpotrf").output
    assert f"dpotrf 80; with transfer: {NOT_SERVED}" in output, output
    output = run("--speed-of-light", "--routines", "dpotrf").output
    assert f"dpotrf 80; {NOT_SERVED}" in output, output


if __name__ == "__main__":
    main()
