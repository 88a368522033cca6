"""Runs LAPACK's own test program for linear equations with the library and without.

    run_xlintst.py --library LIB --folder FOLDER --type s|d|c|z|ds|zc --algorithm tiled|hybrid
                   --device host|cuda

FOLDER holds the programs xlintst* and their input files (Debian: liblapack-test); ds and zc stand
for the mixed-precision solvers. Both runs must report the same numbers of tests run and passed and
the same verdicts on error exits; the call log must show that every routine of that type reached the
device, and the factorizations in the form asked for. The input files are used as they are; the
library's block size of 8 divides their matrices, of up to 50 or 132 rows, into several blocks.

Mixed-precision solves of order 2 and less stay on the CPU. LAPACK's test holds a refined solution
to the very limit at which refinement stops, sqrt(n) units. For n = 2 the rounding of the residual
itself is as large as that, so a solver meets the limit for certain only if it computes the residual
by the same operations, in the same order, as the test does.
"""

import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
import harness  # noqa: E402

ROUTINES = ("potrf", "potrs", "posv", "getrf", "getrs", "gesv", "trtrs", "gecon", "pocon",
            "trcon", "trtri", "potri", "getri",  # LAPACK has no test of lauum by itself
            "geqrf", "orgqr", "ormqr", "gelqf", "orglq", "ormlq", "gels", "geqrt", "gemqrt")
MIXED = ("gesv", "posv")
VERDICT = re.compile(r"threshold|error exits|tests? run|\*\*\*|failed|detected", re.I)


def verdicts(output):
    """The lines that report results, with blanks squeezed."""
    return [" ".join(line.split()) for line in output.splitlines() if VERDICT.search(line)]


def run_tests(options, env):
    program = os.path.join(options.folder, "xlintst" + options.type)
    with open(os.path.join(options.folder, options.type + "test.in")) as file:
        status, output, errors = harness.run([program], env, timeout=900, stdin=file)
    if status != 0:
        harness.fail(f"{program} ended with {status}\n{output[-2000:]}{errors}")
    if "End of tests" not in output:
        harness.fail(f"{program} stopped early\n{output[-2000:]}{errors}")
    return verdicts(output)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--type", required=True, choices=["s", "d", "c", "z", "ds", "zc"])
    parser.add_argument("--algorithm", required=True, choices=["tiled", "hybrid"])
    parser.add_argument("--device", required=True, choices=["host", "cuda"])
    options = parser.parse_args()
    if options.device == "cuda":
        reason = harness.gpu_missing(options.library)
        if reason:
            harness.skip(reason)

    without = run_tests(options, harness.environment("off"))
    mixed = len(options.type) == 2
    log = harness.temporary_log()
    env = harness.environment(options.device, log, options.library,
                              OVERLAPACK_ALGORITHM=options.algorithm, OVERLAPACK_NB="8",
                              OVERLAPACK_MIN_N="3" if mixed else "1")
    under = run_tests(options, env)

    if without != under:
        gone = [line for line in without if line not in under]
        new = [line for line in under if line not in without]
        harness.fail("\n".join(["the verdicts differ; only without the library:"] + gone
                               + ["only with it:"] + new))
    tests = sum(int(n) for line in under for n in re.findall(r"\(\s*(\d+) tests run\)", line))
    exits = sum("passed the tests of the error exits" in line for line in under)
    if tests == 0 or exits == 0:
        harness.fail("no verdict was found in the output:\n" + "\n".join(under))
    print(f"{tests} tests and {exits} error-exit reports, the same with the library and without")

    calls = harness.read_log(log)
    for name in MIXED if mixed else ROUTINES:
        unitary = name.startswith("or") and options.type in "cz"  # ungqr and so on
        routine = options.type + ("un" + name[2:] if unitary else name)
        mine = [call for call in calls if call.routine == routine]
        there = [call for call in mine if call.on(options.device)]
        print(f"  {routine}: {len(mine)} calls, {len(there)} on {options.device}")
        if not there:
            harness.fail(f"no call of {routine} reached the device")
        other = [c for c in there if c.fields["algorithm"] != options.algorithm]
        if (mixed or name.endswith("trf")) and other:
            harness.fail(f"{len(other)} of them were not {options.algorithm}")
        if mixed:
            steps = [int(call.fields["iter"]) for call in there]
            refined = sum(iter >= 0 for iter in steps)
            print(f"    {refined} solved by refinement, in at most {max(steps)} steps")
            # All matrices of zcposv have imaginary parts on the diagonal that overflow.
            if not refined < len(steps) or (refined > 0) != (routine != "zcposv"):
                harness.fail("refinement should succeed for some matrices and fail for others")


if __name__ == "__main__":
    main()
