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

__all__ = ["enable", "get", "profile", "set", "status"]
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


def _call(function, *arguments):
    """What a function of overlapack/settings.h returns, if it is no error."""
    file = _loaded()
    if not file:
        raise RuntimeError("overlapack is not in this process: see overlapack.enable()")
    library = ctypes.CDLL(file)
    done = getattr(library, function)(*arguments)
    if done < 0:
        library.ovl_error.restype = ctypes.c_char_p
        raise ValueError(library.ovl_error(done).decode())
    return done


def _text_of(function, *arguments):
    size = 1 << 12
    while True:
        text = ctypes.create_string_buffer(size)
        length = _call(function, *arguments, text, ctypes.c_size_t(size))
        if length < size:
            return os.fsdecode(text.value)
        size = length + 1


def set(name, value):
    """Changes a setting for the calls that begin from now on. An empty value is the default."""
    try:
        _call("ovl_set", name.encode(), os.fsencode(str(value)))
    except ValueError as error:
        raise ValueError(f"{name}={str(value)!r}: {error} (`overlapack info --settings` says what "
                         "each setting accepts)") from None


def get(name):
    """The value of a setting; empty if it is the default."""
    try:
        return _text_of("ovl_get", name.encode())
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def status():
    """What this process has. Where its `library` is None, overlapack is not in it, and the rest is
    what the command says."""
    if not _loaded():
        environment = environment_of_command()
        info = json.loads(subprocess.run([command, "info", "--json"], env=environment, check=True,
                                         capture_output=True, text=True).stdout)
        return {"version": __version__,
                "library": None,
                "device": info["device"]["status"],
                "lapacks": [file for file in [environment.get("OVERLAPACK_CPU_LAPACK")] if file],
                "settings": {name: os.environ[name] for name in info["settings"]
                             if os.environ.get(name)}}
    facts = [line.split(": ", 1) for line in _text_of("ovl_info").splitlines()]
    return {**{name: value for name, value in facts if name.islower() and name != "lapack"},
            "lapacks": [os.path.normpath(value) for name, value in facts if name == "lapack"],
            "settings": {name: value for name, value in facts if name.isupper()}}


@contextlib.contextmanager
def profile():
    """Says on standard error, afterwards, which calls of the block went where.

    All calls of the process that begin and end meanwhile count, in whichever thread. A log that
    there is gets their lines when the block ends. In a process only one block may be open at a
    time, or several that lie one within the other.
    """
    name = "OVERLAPACK_VERBOSE"
    before = get(name)
    with tempfile.NamedTemporaryFile(prefix="overlapack-", suffix=".log") as log:
        # A log that is written only while its file is there, as for `overlapack run --summary`.
        set(name, f"summary:{log.name}")
        try:
            yield
        finally:
            set(name, before)
            calls = log.read()
    _hand_on(calls, before)
    _print_summary(calls)


def _hand_on(calls, verbose):
    """To where that value of OVERLAPACK_VERBOSE has them go."""
    if verbose == "1":
        sys.stderr.write(calls.decode())
    elif verbose not in ("", "0") and not verbose.startswith("question:"):
        with open(verbose.removeprefix("summary:"), "ab") as log:
            log.write(calls)


def _print_summary(calls):
    """What the command says of a program that logs these calls."""
    with tempfile.NamedTemporaryFile(prefix="overlapack-") as log:
        done = subprocess.run([command, "run", "--summary", "--log", log.name, "--",
                               "tee", "-a", log.name], input=calls, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
    sys.stderr.write(done.stderr.decode())  # which a notebook shows


if "threadpoolctl" in sys.modules:
    from . import threadpools  # noqa: F401
