"""Julia's way to LAPACK, without Julia: check_julia.py LIB OPENBLAS CLIENT

CLIENT (julia_client.c) is linked with what stands for libblastrampoline (trampoline.c).
"""

import re
import subprocess
import sys

import harness


def main():
    library, openblas, client = sys.argv[1:]
    if harness.runtimes(library):
        harness.skip("sanitizers do not go with RTLD_DEEPBIND, by which libblastrampoline opens "
                     "libraries")
    log = harness.temporary_log()
    # libblastrampoline knows the names that OpenBLAS has.
    listing = subprocess.run(["nm", "-D", "--defined-only", openblas], capture_output=True,
                             text=True, check=True).stdout
    names = log + ".names"
    with open(names, "w") as file:
        file.write("\n".join(re.findall(r" [TW] (\w+_)$", listing, re.MULTILINE)))

    env = harness.environment("host", log, OVERLAPACK_MIN_N="10")
    status, output, errors = harness.run([client, names, openblas, library], env)
    print(output + errors, end="")
    if status != 0 or errors:
        harness.fail(f"status {status}, and on standard error: {errors!r}")
    forwarded = int(re.search(r"forwarded: (\d+)", output).group(1))
    if forwarded <= 40:
        harness.fail(f"only {forwarded} names are forwarded")
    wanted = {(routine, where): 1 for routine in ("dgesv", "dpotrf") for where in ("cpu", "host")}
    found = harness.counts(harness.read_log(log))
    if found != wanted:
        harness.fail(f"the log has {found}")

    # Why it takes the settings.
    status, output, errors = harness.run([client, names, openblas, library, "bare"], env)
    if "forwarded: 0" not in output or "complex return style" not in errors:
        harness.fail(f"without settings: {output}{errors}")


if __name__ == "__main__":
    main()
