"""Runs LAPACK's own test program for symmetric eigenproblems with the library and without.

    run_xeigtst.py --library LIB --folder FOLDER --type s|d|c|z --device host|cuda [--order N]

FOLDER holds the programs xeigtst* and their input files (Debian: liblapack-test). Both runs must
report the same numbers of tests run and passed and the same verdicts on error exits; the call log
must show that every routine of that type has been reached, and that the device has done the parts
of them that it has an algorithm for.

With --order the input files are altered, which have orders up to 20: then one matrix of that order
is in several blocks, and is divided and conquered. From 66 on some tests fail with LAPACK itself.
"""

import argparse
import os
import re
import sys
import tempfile

from run_xlintst import verdicts

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
import harness  # noqa: E402

# LAPACK tests ormtr by its error exits, and within the drivers. Those have one line each. Of an
# upper triangle orgtr is for the CPU, and so is stedc without eigenvectors.
ON_CPU = ("orgtr", "stedc")
ON_DEVICE = ("syev", "syevd", "syevr", "syevx", "sygv", "sygvd", "sygvx", "sytrd", "orgtr", "stedc")
OF_COMPLEX = {"sy": "he", "or": "un"}
# What stands in front of these words is replaced, where there is to be one matrix.
ALTERED = {"Number of values of N ": "1", "Values of N ": "{order}", "Number of values of NB": "1",
           "Values of NB ": "10", "Values of NBMIN ": "2", "Values of NX ": "1"}


def name_of(routine, letter):
    if letter in "cz":
        routine = OF_COMPLEX.get(routine[:2], routine[:2]) + routine[2:]
    return letter + routine


def altered(text, order):
    lines = text.splitlines()
    for words, value in ALTERED.items():
        found = [k for k, line in enumerate(lines) if words in line + " "]
        if len(found) != 1:
            harness.fail(f"{len(found)} lines of the input have '{words}'")
        lines[found[0]] = value.format(order=order) + " " + words
    return "\n".join(lines) + "\n"


def run_tests(options, which, env):
    """The verdicts of a run with the input file `which`."""
    program = os.path.join(options.folder, "xeigtst" + options.type)
    with open(os.path.join(options.folder, which + ".in")) as file:
        text = file.read()
    with tempfile.TemporaryFile("w+") as file:
        file.write(altered(text, options.order) if options.order else text)
        file.seek(0)
        status, output, errors = harness.run([program], env, timeout=900, stdin=file)
    if status != 0 or "End of tests" not in output:
        harness.fail(f"{program} of {which}.in ended with {status}\n{output[-2000:]}{errors}")
    return verdicts(output)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--type", required=True, choices=["s", "d", "c", "z"])
    parser.add_argument("--device", required=True, choices=["host", "cuda"])
    parser.add_argument("--order", type=int)
    options = parser.parse_args()
    if options.device == "cuda":
        reason = harness.gpu_missing(options.library)
        if reason:
            harness.skip(reason)

    log = harness.temporary_log()
    plain = harness.environment("off")
    env = harness.environment(options.device, log, options.library, OVERLAPACK_NB="8",
                              OVERLAPACK_MIN_N="1")
    tests = exits = 0
    # Of two-stage reductions and of those of band matrices there are no names of ours.
    of_others = [] if options.order else ["se2", options.type + "sb"]
    for which in ["sep", options.type + "sg"] + of_others:
        without, under = (run_tests(options, which, e) for e in (plain, env))
        if without != under:
            harness.fail("\n".join([f"the verdicts of {which}.in differ; without the library:"]
                                   + without + ["with it:"] + under))
        tests += sum(int(n) for line in under for n in re.findall(r"\(\s*(\d+) tests run\)", line))
        exits += sum("passed the tests of the error exits" in line for line in under)
    if tests == 0 or exits == 0:
        harness.fail("no verdict was found in the output")
    print(f"{tests} tests and {exits} error-exit reports, the same with the library and without")

    calls = harness.read_log(log)
    for routine, where in ([(r, "cpu") for r in ON_CPU] +
                           [(r, options.device) for r in ON_DEVICE]):
        name = name_of(routine, options.type)
        reached = sum(call.routine == name and (call.fields["where"] == "cpu") == (where == "cpu")
                      for call in calls)
        print(f"  {name}: {reached} calls on {where}")
        if reached == 0:
            harness.fail(f"no call of {name} was one of ours")


if __name__ == "__main__":
    main()
