"""A drop-in LAPACK for machines with an NVIDIA GPU, in this process:

    import overlapack
    overlapack.enable()  # before NumPy is imported; in IPython: %load_ext overlapack
    import numpy

For a program that is not to be changed: python -m overlapack script.py
"""

import contextlib
import ctypes
import glob
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

__version__ = importlib.metadata.version("overlapack")

_folder = os.path.dirname(os.path.abspath(__file__))
_library = os.path.join(_folder, "lib", "liboverlapack.so.0")
command = os.path.join(_folder, "bin", "overlapack")  # the program


def _loaded():
    """The file of the library, if this process has it."""
    with open("/proc/self/maps") as maps:
        files = (line[line.find("/"):].rstrip("\n") for line in maps)
        return next((file for file in files if "/liboverlapack.so" in file), None)


def enable():
    """Loads the library, so that what is imported from now on calls it."""
    if _loaded():
        return
    if "numpy" in sys.modules:
        raise RuntimeError("overlapack.enable() comes too late: NumPy is imported already, and "
                           "keeps the LAPACK that it has. Enable overlapack first, or start the "
                           "program by `python -m overlapack`")
    ctypes.CDLL(_library, mode=ctypes.RTLD_GLOBAL)


def load_ipython_extension(ipython):
    """For %load_ext overlapack."""
    enable()


def cpu_lapack():
    """The file of OpenBLAS in NumPy's or SciPy's wheel, or None."""
    for package in "numpy", "scipy":
        spec = importlib.util.find_spec(package)
        if spec and spec.origin:
            folder = os.path.dirname(spec.origin) + ".libs"
            for file in glob.glob(os.path.join(glob.escape(folder), "libscipy_openblas*.so")):
                return file
    return None


def environment_of_command():
    """The command is no Python program, but is to show and measure what those have."""
    file = cpu_lapack()
    return {**({"OVERLAPACK_CPU_LAPACK": file} if file else {}), **os.environ}


def status():
    """What this process has. Where its `library` is None, overlapack is not in it."""
    info = json.loads(subprocess.run([command, "info", "--json"], env=environment_of_command(),
                                     capture_output=True, text=True, check=True).stdout)
    return {"version": __version__,
            "library": _loaded(),
            "device": info["device"]["status"],
            "cpu_lapack": environment_of_command().get("OVERLAPACK_CPU_LAPACK"),
            "settings": {name: value for name, value in sorted(os.environ.items())
                         if name.startswith("OVERLAPACK_")}}


_scratch = None  # the folder of the log, if it is profile() that asked for one


def _log():
    """The file to which this process logs its calls."""
    global _scratch
    if os.environ.get("OVERLAPACK_VERBOSE", "0") in ("", "0"):
        _scratch = tempfile.TemporaryDirectory(prefix="overlapack-")
        # A log that is written while its file is there, as for `overlapack run --summary`.
        os.environ["OVERLAPACK_VERBOSE"] = f"summary:{_scratch.name}/calls.log"
    file = os.environ["OVERLAPACK_VERBOSE"].removeprefix("summary:")
    if "/" not in file:
        raise RuntimeError("OVERLAPACK_VERBOSE=1 has the calls logged on standard error, where "
                           "overlapack.profile() cannot read them")
    return file


@contextlib.contextmanager
def profile():
    """Says on standard error, afterwards, which calls of the block went where.

    The library reads at its first call where it shall log. So this is for blocks that come before
    any call of the process, or for processes with a log: `python -m overlapack --log FILE`.
    """
    if not _loaded():
        raise RuntimeError("overlapack is not in this process: see overlapack.enable()")
    log = _log()
    with open(log, "ab") as file:
        begin = file.tell()
    try:
        yield
    finally:
        with open(log, "rb") as file:
            file.seek(begin)
            calls = file.read()
        if _scratch and begin == 0:
            os.remove(log)
        _print_summary(calls)
        if _scratch and not calls:
            print("overlapack.profile() sees nothing if the process made calls before it: start "
                  "Python by\n`python -m overlapack --log FILE` then", file=sys.stderr)


def _print_summary(calls):
    """What the command says of a program that logs these calls."""
    with tempfile.NamedTemporaryFile(prefix="overlapack-") as log:
        done = subprocess.run([command, "run", "--summary", "--log", log.name, "--",
                               "tee", "-a", log.name], input=calls, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
    sys.stderr.write(done.stderr.decode())  # which a notebook shows
