"""What `overlapack info` says of this machine, and the command's help:

    check_info.py OVERLAPACK [LAPACK]

LAPACK is a library that has dgesv_ only."""
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


ONE_CALL = """
import ctypes
n, info = ctypes.c_int32(1), ctypes.c_int32(-1)
by = ctypes.byref
ctypes.CDLL(None).dpotrf_(b"L", by(n), by(ctypes.c_double(4)), by(n), by(info), 1)
"""


def run(*command, **settings):
    env = {name: value for name, value in os.environ.items() if not name.startswith("OVERLAPACK_")}
    return subprocess.run(command, capture_output=True, text=True, env=dict(env, **settings))


def info(**settings):
    done = run(sys.argv[1], "info", **settings)
    assert done.returncode == 0, done
    return done.stdout


def check_tuning():
    """The table of the device in use, or of Hopper if there is none."""
    none = run(sys.argv[1], "info", "--tuning", OVERLAPACK_DEVICE="off").stdout
    assert none.startswith("Tuning for Hopper (compute capability 9.0)\n"), none
    assert "no device is in use (OVERLAPACK_DEVICE=off)" in none, none
    emulated = run(sys.argv[1], "info", "--tuning", OVERLAPACK_DEVICE="host").stdout
    assert emulated.startswith("Tuning for emulated device\n\n"), emulated
    for text, order in ((none, "2048"), (emulated, "64")):
        assert max(map(len, text.splitlines())) <= 100, text
        found = re.search(r"^cholesky.one_queue_up_to_order +(\d+) +order$", text, re.MULTILINE)
        assert found and found.group(1) == order, text


def main():
    check_tuning()
    text = info(OVERLAPACK_DEVICE="off", OVERLAPACK_PROFILE="/nowhere")
    assert "in use  none: OVERLAPACK_DEVICE=off\n" in text, text
    assert "overrides" not in text and text.count("(ignored)") == 1, text
    assert "now: /nowhere (ignored)" in text, text
    table = [line.split() for line in text.splitlines() if len(line.split()) == 5]
    assert {"dsgesv", "zcposv", "gesv"} <= {words[0] for words in table}, table
    assert not {"sgesv", "sposv", "cgesv", "cposv"} & {words[0] for words in table}, table
    # The library that info itself has opened for one kind of program is no news for the others.
    served = re.findall(r"^  \S*potrf_\S* .*  (\S.*)$", text, re.MULTILINE)
    assert len(served) == 4 and len(set(served)) == 1, served
    assert "    but " not in text, text  # ... or all routines would not have the same one

    assert "OVERLAPACK_THREAD is no setting" not in text, text

    text = info(OVERLAPACK_MIN_N="7", OVERLAPACK_DEVICE="q", OVERLAPACK_NB="0",
                OVERLAPACK_THREAD="2")
    assert "OVERLAPACK_THREAD is no setting" in text, text
    assert "OVERLAPACK_MIN_N=7 overrides" in text, text
    assert "now: 7\n" in text and "now: q (ignored)\n" in text, text
    assert "now: 0 (ignored)\n" in text, text
    assert max(map(len, text[text.index("Settings"):text.index("Names served")].splitlines())) <= \
        100, text

    # No profile, by the usual name for nothing.
    done = run(sys.argv[1], "info", OVERLAPACK_DEVICE="off", OVERLAPACK_PROFILE="/dev/null")
    assert done.stderr == "" and "now: /dev/null\n" in done.stdout, done
    done = run(sys.argv[1], "run", "-v", "--", sys.executable, "-c", ONE_CALL,
               OVERLAPACK_PROFILE="/dev/null")
    assert done.stderr.count("\n") == 1 and "(built-in)" in done.stderr, done

    # A device that is named but not there is said, and is not in use.
    done = run(sys.argv[1], "info", OVERLAPACK_DEVICE="cuda:1000")
    assert done.stderr.startswith("overlapack: OVERLAPACK_DEVICE='cuda:1000': "), done
    assert done.stderr.count("\n") == 1 and "in use  none: " in done.stdout, done
    assert "now: cuda:1000 (ignored)\n" in done.stdout, done

    # Neither a device nor a folder is a profile; to read the one would take for ever.
    for other in ("/dev/zero", "/"):
        done = run(sys.argv[1], "info", OVERLAPACK_DEVICE="off", OVERLAPACK_PROFILE=other)
        assert f"OVERLAPACK_PROFILE='{other}' is ignored" in done.stderr, done

    # A profile that nobody has named is not complained of, but it is said why it is not used. What
    # is not there needs no word.
    with tempfile.TemporaryDirectory() as cache:
        profile = pathlib.Path(cache, "overlapack", "profile")
        where = {"OVERLAPACK_DEVICE": "off", "XDG_CACHE_HOME": cache}
        for make, reason in (((lambda: None), ""), (profile.parent.touch, ""),
                             ((lambda: (profile.parent.unlink(), profile.mkdir(parents=True))),
                              f"; {profile}: Is a directory")):
            make()
            done = run(sys.argv[1], "info", **where)
            assert f"Break-even sizes (built-in{reason})" in done.stdout, done.stdout
            assert done.stderr == "", done
        done = run(sys.argv[1], "run", "-v", "--", sys.executable, "-c", ONE_CALL,
                   XDG_CACHE_HOME=cache)
        assert f"built-in; {profile}: Is a directory" in done.stderr, done
        profile.rmdir()
        profile.write_text("no profile")
        assert f"the profile {profile} is ignored" in run(sys.argv[1], "info", **where).stderr

    # A LAPACK that uses OpenBLAS's BLAS is not OpenBLAS.
    for other in glob.glob("/usr/lib/*/lapack/liblapack.so.3"):
        line = re.search("  LAPACK  (.*)", info(OVERLAPACK_CPU_LAPACK=other)).group(1)
        assert line == f"{other} (OVERLAPACK_CPU_LAPACK)", line
        assert f"now: {other}\n" in info(OVERLAPACK_CPU_LAPACK=other)
    assert "now: /nowhere (ignored)" in info(OVERLAPACK_CPU_LAPACK="/nowhere")
    for part in sys.argv[2:]:
        text = info(OVERLAPACK_CPU_LAPACK=part)
        assert f"now: {part}\n" in text, text
        for name in ("dgesv_", "dgesv_64_", "scipy_dgesv_", "scipy_dgesv_64_"):
            words = f" but {name} by {part} (OVERLAPACK_CPU_LAPACK) "
            assert words in " ".join(text.split()), text
        for line in re.findall("^  (.*potrf_.*)$", text, re.MULTILINE):
            assert part not in line, line

    with tempfile.TemporaryDirectory() as folder:
        command = shutil.copy(sys.argv[1], folder)
        plugin = pathlib.Path(folder).resolve() / "liboverlapack_cuda13.so"
        if "no NVIDIA driver is installed" in text:
            assert "plug-in not installed" in run(command, "info").stdout
            plugin.touch()
            assert f"plug-in {plugin}, installed, not loaded" in run(command, "info").stdout

    for name in [[], ["run"], ["info"], ["tune"]]:
        done = run(sys.argv[1], *name, "--help")
        assert max(map(len, done.stdout.splitlines())) <= 100, done.stdout
        assert "Excludes" not in done.stdout, done.stdout
    assert "overlapack run [OPTIONS] [--] PROGRAM" in run(sys.argv[1], "run", "--help").stdout
    with open("/dev/full", "w") as full:
        for name in (["--help"], ["info"]):
            done = subprocess.run([sys.argv[1], *name], stdout=full, stderr=subprocess.PIPE,
                                  text=True)
            assert done.returncode == 1 and "cannot write to standard output" in done.stderr, done
    done = run(sys.argv[1], "foo")
    assert done.returncode == 2, done
    assert "no subcommand 'foo': run, info, tune or bench" in done.stderr, done
    done = run(sys.argv[1], "--foo", "info")
    assert done.returncode == 2 and "not expected: --foo" in done.stderr, done


main()
