"""Programs that leave while calls are on the device: with their own status and without a word.

    check_exit.py LIB DEVICE WAY [--preload] -- PROGRAM ARGS

After ARGS the program gets the order of its systems, and for how many milliseconds it goes on.
"""

import argparse
import os
import signal

import harness

STATUS = 3
MAX_SECONDS = 60  # that a program may take on a busy machine


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("device", choices=["host", "cuda"])
    parser.add_argument("way")
    parser.add_argument("--preload", action="store_true")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    on_gpu = options.device == "cuda"
    if on_gpu:
        reason = harness.gpu_missing(options.library)
        if reason:
            harness.skip(reason)
        if "CLIENTS_CHECKER" in os.environ:
            harness.skip("what checks the program has a part in how it ends")
    log = harness.temporary_log()
    env = harness.environment(options.device, log, options.library if options.preload else None)
    in_python = options.way == "python"
    # So that calls outlast the end of Python, or are under way when libraries are destroyed.
    order = 800 if in_python else 600 if "slow" in options.way else 100
    if on_gpu:
        order = 3000
        del env["OVERLAPACK_NB"]
    delays = (0,) if in_python else (0, 3)
    if on_gpu:  # which takes up to a second to start
        delays = range(0, 1000, 100) if "early" in options.way else range(0, 50, 10)
    expected = -signal.SIGTERM if options.way == "signal" else STATUS
    for number, delay in enumerate(delays):
        # In every second run each call gives the device's memory back.
        env["OVERLAPACK_KEEP_MEMORY"] = "0" if number % 2 else "5"
        status, output, errors = harness.run(options.program + [str(order), str(delay)], env,
                                             timeout=MAX_SECONDS)
        if status == harness.SKIPPED:
            harness.skip(output.strip())
        if status != expected:
            harness.fail(f"after {delay} ms: status {status}, {expected} was expected; it printed\n"
                         f"{output + errors}")
        if output or errors:
            harness.fail(f"after {delay} ms it printed\n{output + errors}")
    calls = harness.read_log(log)
    if "early" not in options.way and not any(call.on(options.device) for call in calls):
        harness.fail(f"no call was served by {options.device}: {harness.counts(calls)}")
    print("log:", harness.counts(calls))


main()
