"""What the drivers of the client tests share: running a program with the library, reading its call
log, finding a GPU, and CTest's word for "skipped"."""

import ctypes
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compat"))
from routines_table import Table

SKIPPED = 77  # the exit status that CTest counts as skipped (SKIP_RETURN_CODE)


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


def fail(message):
    print("FAILED:", message)
    sys.exit(1)


def plugin_of(library):
    """The CUDA plug-in that was built with the library, or None."""
    built = glob.glob(os.path.join(os.path.dirname(library), "liboverlapack_cuda[0-9]*.so"))
    return built[0] if built else None


def no_gpu():
    """Why this machine has no GPU that could be used, or None if it has one."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "this machine has no NVIDIA driver"
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return "the NVIDIA driver does not start"
    return None if count.value > 0 else "this machine has no NVIDIA GPU"


def gpu_missing(library):
    """Why the tests on a GPU cannot run, or None if they can."""
    return "the CUDA plug-in was not built" if plugin_of(library) is None else no_gpu()


def environment(device, log=None, preload=None, **settings):
    """A clean environment with the library's settings: every call goes to `device`."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("OVERLAPACK_")}
    env.pop("LD_PRELOAD", None)
    env.update(OPENBLAS_NUM_THREADS="1", OVERLAPACK_DEVICE=device, OVERLAPACK_MIN_N="1",
               OVERLAPACK_NB="32")
    if log:
        env["OVERLAPACK_VERBOSE"] = log
    if preload:
        env["LD_PRELOAD"] = " ".join(runtimes(preload) + [preload])
        env["ASAN_OPTIONS"] = "detect_leaks=0"  # the programs' own, such as Python's
    env.update({k: v for k, v in settings.items() if v is not None})
    return env


def runtimes(library):
    """The sanitizer runtimes that the library was linked with: they must be preloaded before it."""
    listing = subprocess.run(["ldd", library], capture_output=True, text=True).stdout
    return re.findall(r"=> (\S*/lib(?:asan|tsan|ubsan)\.so\S*)", listing)


def run(command, env, timeout=300, **options):
    """Runs a program to its end; returns (status, stdout, stderr). CLIENTS_CHECKER, if set, is a
    command that runs in front of every program that uses the GPU (scripts/gpu-check)."""
    if command[0].startswith("/usr/") and not os.path.exists(command[0]):
        skip(f"{command[0]} is not on this machine, as it was where the tests were configured")
    if env and env.get("OVERLAPACK_DEVICE") == "cuda" and "CLIENTS_CHECKER" in env:
        command = shlex.split(env["CLIENTS_CHECKER"]) + list(command)
        timeout *= 4
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout,
                          **options)
    return done.returncode, done.stdout, done.stderr


class Call:
    """One line of the call log."""

    def __init__(self, line):
        words = re.match(r"overlapack (\w+) (.*)$", line)
        if not words:
            fail("not a line of a call log: " + line)
        self.routine = words.group(1)
        self.fields = {key: quoted or plain for key, quoted, plain in
                       re.findall(r'(\w+)=(?:"([^"]*)"|(\S*))', words.group(2))}

    @property
    def where(self):
        return self.fields.get("where", "")

    def on(self, device):
        return self.where == device or self.where.startswith(device + ":")


def executable(folder, name, text):
    """A shell script."""
    path = os.path.join(folder, name)
    with open(path, "w") as script:
        script.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


def read_log(path):
    """The calls of a log file; none if nothing was ever written to it."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [Call(line.rstrip("\n")) for line in file if line.startswith("overlapack ")]


folders = []  # removed at exit


def temporary_log():
    folders.append(tempfile.TemporaryDirectory(prefix="overlapack-"))
    return os.path.join(folders[-1].name, "calls.log")


def expand(names):
    """"gesv,dpotrf" -> the routines meant: a name without a type letter stands for all four."""
    typed = Table().typed()
    result = []
    for name in names.split(","):
        result += [name] if name in typed else [letter + name for letter in "sdcz"]
    return result


def counts(calls):
    table = {}
    for call in calls:
        key = (call.routine, call.where)
        table[key] = table.get(key, 0) + 1
    return table
