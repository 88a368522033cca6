"""Checks of whole processes that run with the library.

    check_process.py idle LIB         a program that calls nothing costs (almost) nothing
    check_process.py links LIB        the library needs no CUDA library, and has no search path of
                                      its own
    check_process.py self LIB DEVICE [--preload [--copy]] [--before PATH] [--cpu-lapack PATH]
                  [--print WORDS] [--say WORDS] [--silent] [--log ROUTINE [--only]]
                  -- PROGRAM ARGS
                                      a program that judges its answers itself: must end with 0,
                                      print WORDS, say WORDS once on standard error (or nothing,
                                      with --silent), and have a call of ROUTINE (and of no other,
                                      with --only) served by DEVICE;
                                      "hidden" stands for a GPU that the driver does not show or
                                      that is not there, so that the CPU serves the calls. With
                                      --copy a copy of LIB is preloaded as well, with --before
                                      the library PATH, before anything else
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import time

import harness

CUDA_LIBRARIES = re.compile(r"lib(cuda|cudart|cublas|cublasLt|cusolver|nvrtc)\b")


def idle(options):
    if harness.runtimes(options.library):
        harness.skip("the library is built with a sanitizer, whose own start is slow")
    env = harness.environment("auto", preload=options.library)
    plain = harness.environment("auto")

    done = subprocess.run(["/bin/true"], env=env, capture_output=True)
    if done.returncode != 0 or done.stdout or done.stderr:
        harness.fail(f"/bin/true printed {done.stdout + done.stderr!r}, status {done.returncode}")
    _, maps, _ = harness.run(["/bin/cat", "/proc/self/maps", "/proc/self/status"], env)
    if os.path.basename(options.library) not in maps:
        harness.fail("the library was not preloaded")
    if CUDA_LIBRARIES.search(maps) or "liboverlapack_cuda" in maps:
        harness.fail("a CUDA library was opened:\n" + maps)
    if re.search(r"lib(openblas|lapack|blas)\b", maps):
        harness.fail("a CPU LAPACK was opened at load time:\n" + maps)
    threads = re.search(r"^Threads:\s*(\d+)", maps, re.M).group(1)
    if threads != "1":
        harness.fail(f"{threads} threads run")

    # The time. Other work on the machine only ever adds to it, so the best of several rounds
    # counts.
    def milliseconds(environment):
        start = time.perf_counter()
        subprocess.run(["/bin/true"], env=environment)
        return 1e3 * (time.perf_counter() - start)

    differences = []
    for _ in range(8):
        pairs = [(milliseconds(plain), milliseconds(env)) for _ in range(40)]
        differences.append(statistics.median(b for _, b in pairs)
                           - statistics.median(a for a, _ in pairs))
        if differences[-1] < 1:
            break
    print("one thread, no CUDA library, no CPU LAPACK, no output; preloading costs",
          f"{min(differences):.2f} ms (median of 40 runs of /bin/true, best of",
          f"{len(differences)} rounds)")
    if min(differences) >= 1:
        harness.fail("preloading must cost less than 1 ms")


def links(options):
    _, dynamic, _ = harness.run(["readelf", "-d", options.library], None)
    if re.search(r"RPATH|RUNPATH", dynamic):
        harness.fail("the library has a search path of its own:\n" + dynamic)
    _, needed, _ = harness.run(["ldd", options.library], None)
    if CUDA_LIBRARIES.search(needed):
        harness.fail("the library needs CUDA:\n" + needed)
    print("no CUDA library is needed, and there is no search path")


def judged_by_itself(options):
    if options.device == "cuda":
        reason = harness.gpu_missing(options.library)
        if reason:
            harness.skip(reason)
    log = harness.temporary_log()
    hidden = options.device == "hidden"
    if hidden and harness.plugin_of(options.library) is None:
        harness.skip("the CUDA plug-in was not built")
    env = harness.environment("cuda" if hidden else options.device, log,
                              options.library if options.preload else None,
                              OVERLAPACK_CPU_LAPACK=options.cpu_lapack,
                              CUDA_VISIBLE_DEVICES="" if hidden else None)
    if options.copy:
        copy = os.path.join(os.path.dirname(log), "liboverlapack_copy.so")
        shutil.copy(options.library, copy)
        env["LD_PRELOAD"] += " " + copy
    if options.before:
        env["LD_PRELOAD"] = " ".join(harness.runtimes(options.library) +
                                     [options.before, env.get("LD_PRELOAD", "")])
    status, output, errors = harness.run(options.program, env)
    print(output + errors, end="")
    if status == harness.SKIPPED:
        harness.skip(output.strip())
    if status != 0:
        harness.fail(f"status {status}")
    if options.print and options.print not in output:
        harness.fail(f"\"{options.print}\" was not printed")
    if options.say and errors.count(options.say) != 1:
        harness.fail(f"\"{options.say}\" was not said, or more than once")
    if options.silent and errors:
        harness.fail("something was said on standard error")
    if options.log:
        where = "cpu" if options.device in ("off", "hidden") else options.device
        calls = harness.read_log(log)
        if not any(c.routine == options.log and c.on(where) for c in calls):
            harness.fail(f"no call of {options.log} was served by {where}; the log has "
                         f"{harness.counts(calls)}")
        if options.only and any(c.routine != options.log for c in calls):
            harness.fail(f"there are other calls than {options.log}: {harness.counts(calls)}")
        print("log:", harness.counts(calls))


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("idle")
    command.set_defaults(run=idle)
    command.add_argument("library")
    command = commands.add_parser("links")
    command.set_defaults(run=links)
    command.add_argument("library")
    command = commands.add_parser("self")
    command.set_defaults(run=judged_by_itself)
    command.add_argument("library")
    command.add_argument("device", choices=["host", "cuda", "off", "hidden"])
    command.add_argument("--preload", action="store_true")
    command.add_argument("--copy", action="store_true")
    command.add_argument("--before")
    command.add_argument("--cpu-lapack")
    command.add_argument("--print")
    command.add_argument("--say")
    command.add_argument("--silent", action="store_true")
    command.add_argument("--log")
    command.add_argument("--only", action="store_true")
    command.add_argument("program", nargs="+")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
