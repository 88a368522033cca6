"""Where calls go, as table and file: check_routing.py BENCH"""
import csv
import io
import re
import sys

from outputs import Run

SIZES = ["40", "80"]
ROUTINES = ["dpotrf", "zgesv", "dsgesv"]


def check(*options):
    run = Run(sys.argv[1], "--routing", "--routines", ",".join(ROUTINES), "--sizes",
              ",".join(SIZES), "--reps", "3", "--csv", "r.csv", *options)
    lines = list(csv.DictReader(io.StringIO(run.text("r.csv"))))
    assert [(line["routine"], line["n"]) for line in lines] == \
        [(routine, n) for routine in ROUTINES for n in SIZES], lines
    for line in lines:
        assert all(float(line[who]) > 0 for who in ("cpu_ms", "device_ms", "chosen_ms")), line
        assert line["chosen"] == "cpu" and float(line["residual"]) < 30, line
    verdicts = re.findall(r"^The device wins from n = (?:\d+|never) on\. Chosen / best: at most "
                          r"[\d.]+, on average [\d.]+\.$", run.output, re.M)
    assert len(verdicts) == len(ROUTINES), run.output
    assert "EMULATED" in run.output, run.output


if __name__ == "__main__":
    check()
    check("--after-cpu-work")
