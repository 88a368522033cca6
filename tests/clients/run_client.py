"""Runs a client program with the library and compares.

    run_client.py --library LIB --device host|cuda|off --expect ROUTINES [--preload]
                  [--baseline PROGRAM] -- PROGRAM ARGUMENTS

The program prints lines "<name> <words and numbers>". It runs without the library (the baseline
program, or the same one without the preload) and with it; both outputs must agree word for word
and number for number, up to the rounding of the precision that the line's first letter names. The
call log must show that every routine of --expect reached the device.
"""

import argparse
import math

import harness

# Different summation orders and a few digits of conditioning.
TOLERANCE = {"s": 2e-4, "c": 2e-4, "d": 1e-10, "z": 1e-10}


def number(word):
    try:
        return float(word)
    except ValueError:
        return None


def result_lines(output):
    """The lines to compare: not the message that a LAPACK's own xerbla prints, whose wording and
    stream differ between LAPACKs."""
    return [line for line in output.splitlines() if "** On entry to" not in line]


def difference(expected, actual):
    """What differs between two lines, or None."""
    left, right = expected.split(), actual.split()
    if len(left) != len(right):
        return "different numbers of words"
    tolerance = TOLERANCE.get(expected[:1], 0)
    values = [abs(v) for v in map(number, left) if v is not None and math.isfinite(v)]
    scale = max(values, default=0)
    for a, b in zip(left, right):
        x, y = number(a), number(b)
        if a == b:
            continue
        # Numbers without a point are counts, pivots and infos: those must be equal.
        inexact = x is not None and y is not None and "." in a and "." in b
        if not inexact or not abs(x - y) <= tolerance * scale:
            return f"{a} became {b}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--device", required=True, choices=["host", "cuda", "off"])
    parser.add_argument("--expect", required=True)
    parser.add_argument("--preload", action="store_true")
    parser.add_argument("--baseline")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    if options.device == "cuda":
        reason = harness.gpu_missing(options.library)
        if reason:
            harness.skip(reason)

    baseline = [options.baseline] if options.baseline else options.program
    status, expected, errors = harness.run(baseline, harness.environment("off"))
    if status == harness.SKIPPED:
        harness.skip(expected.strip() or errors.strip())
    if status != 0:
        harness.fail(f"{baseline} ends with {status} without the library:\n{expected}{errors}")

    log = harness.temporary_log()
    env = harness.environment(options.device, log, options.library if options.preload else None)
    status, actual, errors = harness.run(options.program, env)
    if status != 0:
        harness.fail(f"the program ends with {status} under the library:\n{actual}{errors}")

    expected_lines, actual_lines = result_lines(expected), result_lines(actual)
    if len(expected_lines) != len(actual_lines) or not expected_lines:
        harness.fail(f"{len(expected_lines)} lines became {len(actual_lines)}:\n{actual}")
    for before, after in zip(expected_lines, actual_lines):
        what = difference(before, after)
        if what:
            harness.fail(f"{what}\nwithout: {before}\nwith:    {after}")

    calls = harness.read_log(log)
    where = "cpu" if options.device == "off" else options.device
    for routine in harness.expand(options.expect):
        if not any(call.routine == routine and call.on(where) for call in calls):
            harness.fail(f"no call of {routine} was served by {where}; the log has "
                         f"{harness.counts(calls)}")
    print(f"{len(expected_lines)} lines agree; calls by routine and place:")
    for (routine, place), count in sorted(harness.counts(calls).items()):
        print(f"  {routine} {place} {count}")


if __name__ == "__main__":
    main()
