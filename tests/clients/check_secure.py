"""A program with raised privileges, to whose environment nobody may listen: a copy that belongs to
root and has the setuid bit, started by another user. The library must ignore its settings there
and write no file. The same copy without the bit shows that it heeds them elsewhere.

    check_secure.py LIB PROGRAM COUNTING_LAPACK [TOOL]

TOOL is nvtx_tool.c's library, which stands for a profiler.
"""

import os
import shutil
import sys
import tempfile

import harness

NOBODY = 65534


def why_not(folder):
    """Why this cannot be tried here, or None."""
    if os.geteuid() != 0:
        return "only root can make a setuid program of root's"
    if os.statvfs(folder).f_flag & os.ST_NOSUID:
        return f"setuid has no effect in {folder}"
    with open("/proc/self/status") as status:
        if "NoNewPrivs:\t1" in status.read():
            return "processes here cannot gain privileges"
    return None


def main():
    library, program, counting, *tools = sys.argv[1:]
    if harness.runtimes(library):
        harness.skip("the library is built with a sanitizer, which listens to the environment")
    with tempfile.TemporaryDirectory(prefix="overlapack-") as folder:
        reason = why_not(folder)
        if reason:
            harness.skip(reason)
        os.chmod(folder, 0o777)
        copy = shutil.copy(program, folder)
        shutil.copy(library, os.path.join(folder, "liboverlapack.so.0"))
        counting = shutil.copy(counting, folder)
        os.mkdir(os.path.join(folder, "overlapack"))
        for profile in ("profile", "overlapack/profile"):
            with open(os.path.join(folder, profile), "w") as file:
                file.write("this is no profile\n")
        log = os.path.join(folder, "log")
        env = harness.environment("off", log, OVERLAPACK_CPU_LAPACK=counting,
                                  OVERLAPACK_PROFILE=os.path.join(folder, "profile"),
                                  XDG_CACHE_HOME=folder, HOME=folder, LD_LIBRARY_PATH=folder)
        told = os.path.join(folder, "told")
        for tool in tools:
            env.update(NVTX_INJECTION64_PATH=shutil.copy(tool, folder), NVTX_TOOL_LOG=told)
        before = sorted(os.listdir(folder))
        for mode in (0o4755, 0o755):
            os.chmod(copy, mode)
            status, output, errors = harness.run([copy, counting], env, cwd=folder, user=NOBODY,
                                                 group=NOBODY, extra_groups=[])
            print(output + errors, end="")
            secure = mode == 0o4755
            if status != 0 or f"AT_SECURE {int(secure)}\n" not in output:
                harness.fail(f"status {status}, mode {mode:o}")
            served = f"counting_lapack served {int(not secure)} call(s)"
            if served not in output:
                harness.fail(f"mode {mode:o}: not \"{served}\"")
            if secure and (errors or sorted(os.listdir(folder)) != before):
                harness.fail(f"printed {errors!r}, files {os.listdir(folder)}")
        if not errors.startswith("overlapack: ") or not harness.read_log(log):
            harness.fail("without privileges the settings had no effect")
        if tools and not os.path.exists(told):
            harness.fail("without privileges the profiler was not let in")


if __name__ == "__main__":
    main()
