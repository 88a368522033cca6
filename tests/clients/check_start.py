"""Programs whose device is being started by a thread of the library while they go on.

    check_start.py LIB PLUGIN DRIVER LAPACK WAY START [--seconds S] [--where WHERE] PROGRAM

PLUGIN stands for the CUDA plug-in and DRIVER is a folder with a libcuda.so.1: no GPU is needed.
LAPACK is the CPU's. OpenBLAS would not do: its destructor may crash a process that ends while a
thread is in it, whether overlapack is there or not.
START says how the plug-in starts the device: tests/support/slow_plugin.cpp. PROGRAM is
exit_client, which leaves as WAY says: at different times, each with its status, without a word and
within S seconds. Together its calls were served by WHERE, names with a comma between them.
"""

import argparse
import os
import tempfile
import time

import harness

STATUS = 3
ORDER = 250  # of which the CPU soon has had enough
SMALLEST = 200


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("plugin")
    parser.add_argument("driver")
    parser.add_argument("cpu_lapack")
    parser.add_argument("way")
    parser.add_argument("start")
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=8)  # on a busy machine
    parser.add_argument("--where")
    parser.add_argument("--delays", default="50,150,250,350,450")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="overlapack-") as folder:
        beside = os.path.join(folder, "liboverlapack.so")
        os.symlink(options.library, beside)
        os.symlink(options.plugin, os.path.join(folder, os.path.basename(options.plugin)))
        profile = os.path.join(folder, "profile")
        with open(profile, "w") as file:
            file.write(f"dgesv {SMALLEST}\n")
        log = os.path.join(folder, "calls.log")
        env = harness.environment("auto", log, preload=beside, OVERLAPACK_PROFILE=profile,
                                  FAKE_START=options.start,
                                  OVERLAPACK_CPU_LAPACK=options.cpu_lapack)
        del env["OVERLAPACK_MIN_N"]
        env["LD_LIBRARY_PATH"] = options.driver + ":" + env.get("LD_LIBRARY_PATH", "")
        for delay in options.delays.split(","):
            begin = time.monotonic()
            status, output, errors = harness.run(
                [options.program, options.way, str(ORDER), delay], env)
            seconds = time.monotonic() - begin
            print(f"after {delay} ms: status {status}, {seconds:.2f} s")
            if status != STATUS or output or errors:
                harness.fail(f"{STATUS} was expected; it printed\n{output + errors}")
            if seconds > options.seconds:
                harness.fail(f"it took longer than {options.seconds} s")
        calls = harness.read_log(log)
    print("log:", harness.counts(calls))
    served = {call.where for call in calls}
    if options.where and served != set(options.where.split(",")):
        harness.fail(f"calls were served by {sorted(served)}")
    if not any("the device is being started" in call.fields["why"] for call in calls):
        harness.fail("no call was made during the start")


main()
