"""The timeline of a call: check_timeline.py BENCH ROUTINE --kinds K,K"""
import argparse
import csv
import io
import json

from outputs import Run

N, NB = 128, 32
BLOCKS = set(range(N // NB))


def check_rows(run, routine):
    rows = json.loads(run.text("rows.json"))["rows"]
    lines = list(csv.DictReader(io.StringIO(run.text("rows.csv"))))
    assert len(rows) == len(lines) == 1, (rows, lines)
    row = rows[0]
    assert row["routine"] == lines[0]["routine"] == routine
    assert row["n"] == int(lines[0]["n"]) == N
    size = 8 * (N * (N + 1) // 2 if routine.endswith("potrf") else N * N)
    flops = N**3 / 3 if routine.endswith("potrf") else 2 * N**3 / 3

    def near(a, b):
        return abs(a - b) <= 1e-2 * abs(b)

    assert near(row["flops_ms"], flops / row["gemm_gflops"] / 1e6), row
    assert near(row["link_ms"], size / row["link_gbs"] / 1e6), row
    assert row["bound_ms"] == max(row["flops_ms"], row["link_ms"]), row
    assert near(row["ratio"], row["ms"] / row["bound_ms"]) and row["ms"] > 0, row
    assert 0 <= row["residual"] < 30, row
    assert row["missing"] == "" and f"{routine} {N}" in run.output, run.output


def check_trace(trace, routine, kinds):
    assert trace["otherData"]["routine"] == routine and trace["otherData"]["n"] == N
    events = trace["traceEvents"]
    lanes = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    spans = [e for e in events if e["ph"] == "X"]
    total = 1e3 * trace["otherData"]["ms"]
    for span in spans:
        assert span["ts"] >= 0 and span["dur"] >= 0, span
        assert span["ts"] + span["dur"] <= total + 100, (span, total)
        assert span["name"] == f"{span['cat']} {span['args']['block']}", span
        assert span["args"]["block"] in BLOCKS, span
    # Lanes of the transfers have their names; those that compute hold no transfer.
    for name in ("upload", "download 0", "download 1"):
        lane = [t for t, other in lanes.items() if other == name]
        assert len(lane) == 1, lanes
        assert {s["cat"] for s in spans if s["tid"] == lane[0]} == {name.split()[0]}
    for tid, lane in lanes.items():
        here = sorted((s for s in spans if s["tid"] == tid), key=lambda s: (s["ts"], s["dur"]))
        assert here, f"lane {lane} is empty"
        for one, two in zip(here, here[1:]):
            assert one["ts"] + one["dur"] <= two["ts"] + 1e-3, (lane, one, two)
    # The first block of a left-looking factorization is updated by nothing. Each block of LU
    # updates something: the last one itself, step by step.
    idle = {"dpotrf": {0}, "dgetrf": set()}[routine]
    for kind in [*kinds, "pack", "unpack"]:
        found = {s["args"]["block"] for s in spans if s["cat"] == kind}
        expected = BLOCKS - idle if kind == "update" else BLOCKS
        assert found == expected, (kind, found)

    # No block comes home before it has gone up, nor before its panel is done.
    def first(kind, block):
        return min(s["ts"] for s in spans if (s["cat"], s["args"]["block"]) == (kind, block))

    def last(kind, block):
        return max(s["ts"] + s["dur"] for s in spans
                   if (s["cat"], s["args"]["block"]) == (kind, block))

    way = [kind for kind in ("pack", "upload", "panel", "download", "unpack")
           if kind in kinds or kind in ("pack", "unpack")]
    for block in BLOCKS:
        for one, two in zip(way, way[1:]):
            # Chunks overlap: the first of the next kind follows the first of this one. The host's
            # clock and the device's agree to within microseconds.
            slack = 20 if {one, two} & {"pack", "unpack"} else 0
            assert first(one, block) <= first(two, block) + slack, (block, one, two)
        assert last("upload", block) <= first("download", block), block
    # Arrows join the spans of a block.
    for block in BLOCKS:
        arrow = [e["ph"] for e in events if e.get("id") == block]
        assert arrow[0] == "s" and arrow[-1] == "f" and set(arrow[1:-1]) <= {"t"}, arrow


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench")
    parser.add_argument("routine")
    parser.add_argument("--kinds", required=True)
    arguments = parser.parse_args()
    run = Run(arguments.bench, "--speed-of-light", "--routines", arguments.routine, "--max-n",
              str(N), "--nb", str(NB), "--trace", "t.json", "--csv", "rows.csv", "--json",
              "rows.json")
    check_rows(run, arguments.routine)
    check_trace(json.loads(run.text("t.json")), arguments.routine, arguments.kinds.split(","))


if __name__ == "__main__":
    main()
