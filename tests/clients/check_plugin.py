"""What becomes of a program beside whose library the CUDA plug-in is not as it should be: it gets
the right answers, and not a line on stderr.

    check_plugin.py LIB PROGRAM STATE [--driver FOLDER]

STATE says what is done to a copy of the plug-in: whole, deleted, text (another file of its name) or
truncated (to many lengths). --driver is the folder of a libcuda.so.1 that has next to no functions;
without it there must be a GPU. Where no plug-in was built, the library itself is what is
truncated: whether a file ends too early does not depend on what is in it.
"""

import argparse
import os
import shutil
import tempfile

import harness


def lengths_of(path):
    size = os.path.getsize(path)
    return [0, 1, 63, 64, 100, 1000, 4096] + [size * tenths // 10 for tenths in range(1, 10)]


def check(options, copy, what):
    log = harness.temporary_log()
    env = harness.environment("cuda", log, preload=copy)
    if options.driver:
        env["LD_LIBRARY_PATH"] = options.driver + ":" + env.get("LD_LIBRARY_PATH", "")
    status, output, errors = harness.run([options.program], env)
    calls = harness.read_log(log)
    print(f"{what}: {output.strip()}; {calls[0].fields.get('why', '') if calls else 'no log'}")
    if status != 0 or errors:
        harness.fail(f"status {status}: {errors}")
    if len(calls) != 1 or options.driver and not calls[0].on("cpu"):
        harness.fail(f"the calls are {harness.counts(calls)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("program")
    parser.add_argument("state", choices=["whole", "deleted", "text", "truncated"])
    parser.add_argument("--driver")
    options = parser.parse_args()
    reason = None if options.driver else harness.gpu_missing(options.library)
    if reason:
        harness.skip(reason)
    original = harness.plugin_of(options.library)
    if original is None:
        if options.state == "whole":
            harness.skip("the CUDA plug-in was not built")
        original = options.library
    with tempfile.TemporaryDirectory(prefix="overlapack-") as folder:
        copy = shutil.copy(options.library, os.path.join(folder, "liboverlapack.so"))
        plugin = os.path.join(folder, "liboverlapack_cuda13.so")
        if options.state == "whole":
            shutil.copy(original, plugin)
        elif options.state == "text":
            with open(plugin, "w") as file:
                file.write("This is no library.\n" * 1000)
        if options.state != "truncated":
            check(options, copy, options.state)
            return
        shutil.copy(original, plugin)
        for length in reversed(lengths_of(original)):
            os.truncate(plugin, length)
            check(options, copy, f"{length} bytes of {os.path.getsize(original)}")


if __name__ == "__main__":
    main()
