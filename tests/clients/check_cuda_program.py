"""A program that uses CUDA itself, and misuses it, gets the right answers all the same, and not a
line on stderr.

    check_cuda_program.py LIB CLIENT self [--first WHERE] ARGUMENTS...
                        runs `cuda_client ARGUMENTS`; its first call must be served by WHERE
    check_cuda_program.py LIB CLIENT beside MB
                        solves while another process holds all memory of the GPU but so much
    check_cuda_program.py LIB CLIENT together
                        two processes solve at once, and the GPU serves both
"""

import argparse
import subprocess

import harness


def expect_right(who, status, output, errors):
    print(output + errors, end="")
    if status != 0:
        harness.fail(f"{who}: status {status}")
    if errors:
        harness.fail(f"{who} has printed on stderr")


def by_itself(options):
    log = harness.temporary_log()
    expect_right("the program",
                 *harness.run([options.client, *options.arguments], environment(log)))
    calls = harness.read_log(log)
    print("log:", harness.counts(calls))
    if not calls or options.first and not calls[0].on(options.first):
        harness.fail(f"the first call was not served by {options.first}")


def beside(options):
    holder = subprocess.Popen([options.client, "hold", options.arguments[0]],
                              env=environment(None), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True)
    try:
        said = holder.stdout.readline()
        if said != "held\n":
            harness.fail(f"the other process has not taken the memory: {said!r}")
        log = harness.temporary_log()
        for order in ("100", "1500", "3000"):
            expect_right("the program",
                         *harness.run([options.client, "solve", order, "2"], environment(log)))
        print("log:", harness.counts(harness.read_log(log)))
    finally:
        holder.stdin.close()
        holder.wait()


def together(options):
    logs = [harness.temporary_log() for _ in range(2)]
    programs = [subprocess.Popen([options.client, "solve", "1500", "20"], env=environment(log),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for log in logs]
    for program, log in zip(programs, logs):
        output, errors = program.communicate(timeout=300)
        expect_right("one of two", program.returncode, output, errors)
        calls = harness.read_log(log)
        print("log:", harness.counts(calls))
        if not all(call.on("cuda") for call in calls):
            harness.fail("the GPU has not served all calls")


def environment(log):
    return harness.environment("cuda", log)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("client")
    parser.add_argument("mode", choices=["self", "beside", "together"])
    parser.add_argument("--first")
    parser.add_argument("arguments", nargs="*")
    options = parser.parse_intermixed_args()
    reason = harness.gpu_missing(options.library)
    if reason:
        harness.skip(reason)
    {"self": by_itself, "beside": beside, "together": together}[options.mode](options)


if __name__ == "__main__":
    main()
