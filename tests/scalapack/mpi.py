"""What the drivers of the tests with several ranks share: starting a program under mpirun, with the
library for ScaLAPACK's names or without."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
import harness  # noqa: E402

# A test may run as root, and on a machine with fewer cores.
ENVIRONMENT = dict(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")


def add_arguments(parser):
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("--library", required=True, help="liboverlapack_scalapack.so")
    parser.add_argument("--engine", required=True, help="OVERLAPACK_SCALAPACK")
    parser.add_argument("--device", default="host", choices=["host", "cuda"])
    parser.add_argument("--ranks", type=int, default=4)


def skip_without_device(options):
    if options.device == "cuda" and harness.gpu_missing(options.library):
        harness.skip(harness.gpu_missing(options.library))


def settings(options, log, **others):
    """The variables under which all calls go to the engine."""
    values = dict(OVERLAPACK_SCALAPACK=options.engine, OVERLAPACK_SCALAPACK_MIN_N="1",
                  OVERLAPACK_DEVICE=options.device, OVERLAPACK_MIN_N="1", OVERLAPACK_NB="5",
                  OVERLAPACK_VERBOSE=log, OPENBLAS_NUM_THREADS="1",
                  LD_PRELOAD=" ".join(harness.runtimes(options.library) + [options.library]),
                  ASAN_OPTIONS="detect_leaks=0")
    values.update(others)
    return values


def run(options, command, variables, folder, timeout=60):
    """Runs a program on all ranks in a folder. `variables` are those of the ranks: of all, or a
    list with those of each. Fails if the program does; returns what it has written."""
    each = variables if isinstance(variables, list) else [variables] * options.ranks
    words = [options.mpirun]
    for rank, values in enumerate(each):
        words += ([":"] if rank > 0 else []) + ["-n", "1", "env"]
        words += [f"{name}={value}" for name, value in values.items()] + command
    env = {k: v for k, v in os.environ.items() if not k.startswith("OVERLAPACK_")}
    env.update(ENVIRONMENT)
    status, output, errors = harness.run(["timeout", str(timeout)] + words, env, timeout + 10,
                                         cwd=folder)
    if status != 0:
        harness.fail(f"{' '.join(command)} ended with {status}\n{output[-2000:]}{errors[-2000:]}")
    return output


def served(log):
    """The calls of ScaLAPACK's routines in a log: by an engine, by the program's ScaLAPACK."""
    calls = [call for call in harness.read_log(log) if call.routine.startswith("p")]
    by_engine = [call for call in calls if call.where != "cpu"]
    return by_engine, [call for call in calls if call.where == "cpu"]
