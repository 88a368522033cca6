"""Matrices that are not square: check_shapes.py BENCH"""
import json
import subprocess
import sys

from outputs import Run

SHAPES = [(300, 70), (70, 300), (90, 90), (1000, 32)]
TINY = (8, 64)  # fewer than the 4096 elements from which on the library asks where a matrix lies


def refused(bench, *options):
    done = subprocess.run([bench, "--device", "host", *options], capture_output=True, text=True)
    assert done.returncode == 2, (options, done.returncode)
    return done.stderr


def main():
    bench = sys.argv[1]
    run = Run(bench, "--shapes", ",".join(f"{m}x{n}" for m, n in [*SHAPES, TINY]), "--lda-pad", "3",
              "--reps", "1", "--no-peers", "--json", "s.json")
    *rows, tiny = json.loads(run.text("s.json"))["rows"]
    assert [(r["routine"], r["m"], r["n"]) for r in rows] == [("dgetrf", *s) for s in SHAPES]
    assert "from 4096 elements on" in tiny["contenders"]["on device"]["missing"], tiny
    for row in rows:
        for who in ["ours", "on device", "CPU"]:
            assert 0 < row["contenders"][who]["residual"] < 30, (who, row)
        assert row["bytes_up"] >= 8 * row["m"] * row["n"], row
    assert "300 x 70" in run.output, run.output

    # QR of such matrices, and least squares. Those of wide ones are the CPU's.
    run = Run(bench, "--routines", "dgeqrf,zgels", "--shapes", "300x70,70x300", "--nrhs", "3",
              "--lda-pad", "3", "--reps", "1", "--no-peers", "--json", "s.json")
    *of_qr, tall, wide = json.loads(run.text("s.json"))["rows"]
    for row in [*of_qr, tall]:
        for who in ["ours", "on device", "CPU"]:
            assert 0 < row["contenders"][who]["residual"] < 30, (who, row)
    assert tall["bytes_up"] == 16 * 300 * (70 + 3), tall
    for who in ["ours", "CPU"]:
        assert 0 < wide["contenders"][who]["residual"] < 30, (who, wide)
    assert "residual" not in wide["contenders"]["on device"], wide
    assert wide["bytes_up"] == 0, wide

    # Many right-hand sides make a small matrix a large call.
    run = Run(bench, "--routines", "dgetrs", "--sizes", "32", "--nrhs", "1000", "--reps", "1",
              "--no-cpu", "--no-peers", "--json", "s.json")
    [row] = json.loads(run.text("s.json"))["rows"]
    assert 0 < row["contenders"]["on device"]["residual"] < 30, row

    assert "dpotrf" in refused(bench, "--shapes", "300x70", "--routines", "dgetrf,dpotrf")
    for text in ["300", "300x", "x70", "0x70", "300x70x2", "300xy"]:
        assert f"'{text}'" in refused(bench, "--shapes", text), text
    refused(bench, "--shapes", "300x70", "--sizes", "100")
    refused(bench, "--shapes", "300x70", "--variants")


if __name__ == "__main__":
    main()
