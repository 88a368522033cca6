"""Runs grid_client with the library for ScaLAPACK's names and without, and compares its lines.

    check_client.py --mpirun MPIRUN --library LIB --client GRID_CLIENT --engine ENGINE WHAT

WHAT is what the client is to try: calls, wrong, loops, faults. With `settings` it tries loops, and
ranks whose settings differ: those of the first one hold, and all ranks must do the same.
"""

import argparse
import os
import re
import shutil
import tempfile

import mpi
from mpi import harness


def lines(path):
    """Sorted: grids have different first ranks, which write at any time."""
    with open(path) as file:
        return sorted(file)


def compare(options, what, folder, variables, log):
    """Returns the calls that an engine has served, and the others."""
    without, under = (os.path.join(folder, name) for name in ("without", "under"))
    for path in (without, under, log):
        if os.path.exists(path):
            os.remove(path)
    mpi.run(options, [options.client, what, without], dict(OPENBLAS_NUM_THREADS="1"), folder)
    mpi.run(options, [options.client, what, under], variables, folder)
    expected, found = lines(without), lines(under)
    if expected != found:
        harness.fail("without the library:\n" + "".join(x for x in expected if x not in found) +
                     "with it:\n" + "".join(x for x in found if x not in expected))
    if not expected or any("WRONG" in line for line in expected):
        harness.fail("".join(expected))
    by_engine, by_cpu = mpi.served(log)
    print(f"{what}: {len(expected)} lines, the same with the library and without; "
          f"{len(by_engine)} calls on an engine, {len(by_cpu)} on the CPU")
    return by_engine, by_cpu


def check_needs_no_mpi(library):
    """One file is to serve all of MPI: it looks BLACS and ScaLAPACK up as it runs."""
    listing = harness.run(["nm", "--dynamic", "--undefined-only", library], None)[1]
    found = re.findall(r"\b(?:MPI_|P?MPI|mpi_|C?blacs|p[sdcz])\w+", listing)
    if found or "malloc" not in listing:
        harness.fail(f"{library} needs {found}: {listing[:1000]}")


def check_settings(options, folder, log):
    """Ranks of one machine that disagree. In the client's grids 0 or 3 is the first rank."""
    def ranks(firsts, others):
        return [mpi.settings(options, log, **values) for values in (firsts, others, others, firsts)]

    def expect(name, variables, where):
        print(name, end=": ")
        by_engine, by_cpu = compare(options, "loops", folder, variables, log)
        other = [call for call in by_engine + by_cpu if call.where != where]
        if other:
            harness.fail(f"where={other[0].where}, not {where}: {other[0].fields['why']}")

    high = dict(OVERLAPACK_SCALAPACK_MIN_N="1000")
    expect("the first rank wants large calls only", ranks(high, {}), "cpu")
    expect("the others do", ranks({}, high), "rank:0")
    no_device = dict(OVERLAPACK_DEVICE="off")
    expect("the first rank has no device", ranks(no_device, {}), "rank:1")
    expect("only the first rank has one", ranks({}, no_device), "rank:0")
    expect("no rank has one", ranks(no_device, no_device), "cpu")
    off = dict(OVERLAPACK_SCALAPACK="off")
    expect("the others want ScaLAPACK", ranks({}, off), "rank:0")


def main():
    parser = argparse.ArgumentParser()
    mpi.add_arguments(parser)
    parser.add_argument("--client", required=True)
    parser.add_argument("what", choices=["calls", "wrong", "loops", "faults", "settings"])
    options = parser.parse_args()
    mpi.skip_without_device(options)
    check_needs_no_mpi(options.library)

    folder = tempfile.mkdtemp()
    log = os.path.join(folder, "log")
    try:
        if options.what == "settings":
            check_settings(options, folder, log)
        else:
            variables = mpi.settings(options, log)
            by_engine, by_cpu = compare(options, options.what, folder, variables, log)
            if not by_engine:
                harness.fail("no call was served by the engine")
            if options.what in ("calls", "loops") and by_cpu:
                harness.fail("a call was the CPU's: " + by_cpu[0].fields["why"])
            if options.what == "faults":
                failed = sum("failed" in call.fields["why"] for call in by_cpu)
                print(f"{failed} calls failed on a rank")
                if failed < options.ranks * 3:
                    harness.fail("too few faults have happened")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
