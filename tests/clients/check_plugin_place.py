"""A plug-in is opened wherever it may lie, and whatever version of CUDA its name has:

    check_plugin_place.py LIB PROGRAM PLUGIN DRIVER

PLUGIN opens the emulated device in place of a GPU, and DRIVER is a folder with a libcuda.so.1.
PROGRAM makes one call.
"""

import os
import shutil
import sys
import tempfile

import harness

NEWER, OLDER = "liboverlapack_cuda13.so", "liboverlapack_cuda12.so"


def served_by(library, program, driver):
    log = harness.temporary_log()
    env = harness.environment("cuda", log, preload=library)
    env["LD_LIBRARY_PATH"] = driver + ":" + env.get("LD_LIBRARY_PATH", "")
    status, output, errors = harness.run([program], env)
    if status != 0 or errors:
        harness.fail(f"status {status}: {output}{errors}")
    calls = harness.read_log(log)
    if len(calls) != 1:
        harness.fail(f"the calls are {harness.counts(calls)}")
    return calls[0]


def main():
    library, program, plugin, driver = sys.argv[1:]
    for name in NEWER, OLDER, "liboverlapack_cuda.so":
        for place in "overlapack", ".":
            with tempfile.TemporaryDirectory(prefix="overlapack-") as folder:
                copy = shutil.copy(library, folder)
                os.makedirs(os.path.join(folder, place), exist_ok=True)
                shutil.copy(plugin, os.path.join(folder, place, name))
                call = served_by(copy, program, driver)
                print(f"{place}/{name}: {call.where}; {call.fields['why']}")
                known = name in (NEWER, OLDER)
                if not call.on("host" if known else "cpu"):
                    harness.fail(f"the call was served by {call.where}")
                if not known and NEWER not in call.fields["why"]:
                    harness.fail("the log does not name the plug-in that is missing")
                if name != OLDER:
                    continue
                newer = os.path.join(folder, NEWER)
                with open(newer, "w") as file:
                    file.write("This is no library.\n" * 1000)
                if not served_by(copy, program, driver).on("host"):
                    harness.fail(f"{OLDER} is not used where {NEWER} is useless")
                os.remove(os.path.join(folder, place, OLDER))
                call = served_by(copy, program, driver)
                if not call.on("cpu") or newer not in call.fields["why"]:
                    harness.fail(f"the log does not say what is wrong: {call.fields}")


if __name__ == "__main__":
    main()
