"""What `overlapack info` says of this machine, and the command's help:

    check_info.py OVERLAPACK [LAPACK]

LAPACK is a library that has dgesv_ only."""
import glob
import json
import os
import pathlib
import re
import shutil
import signal
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


def info(*options, **settings):
    done = run(sys.argv[1], "info", *options, **settings)
    assert done.returncode == 0, done
    assert max(map(len, done.stdout.splitlines())) <= 100, done.stdout
    return done.stdout


def facts(**settings):
    """What --json prints, without anything on standard error."""
    done = run(sys.argv[1], "info", "--json", **settings)
    assert done.returncode == 0 and done.stderr == "", done
    return json.loads(done.stdout)


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


def check_short():
    """At most 20 lines: device or why there is none, CPU LAPACK, version, what is set."""
    text = info(OVERLAPACK_DEVICE="off", OVERLAPACK_PROFILE="/nowhere", OVERLAPACK_NB="0")
    assert text.count("\n") <= 20, text
    assert re.search(r"^overlapack +\d+\.\d+\.\d+, commit ", text), text
    assert re.search("^device +none: OVERLAPACK_DEVICE=off$", text, re.M), text
    assert re.search("^CPU LAPACK +/", text, re.M), text
    assert re.search("^settings +OVERLAPACK_DEVICE=off OVERLAPACK_NB=0 .ignored. "
                     "OVERLAPACK_PROFILE=/nowhere\\s+.ignored.$", text, re.M), text
    assert re.search("^settings +all as by default$", info(), re.M), info()
    assert re.search(r"^device +host \(emulated.*GiB$", info(OVERLAPACK_DEVICE="host"), re.M)


def check_json():
    found = facts(OVERLAPACK_DEVICE="host", OVERLAPACK_MIN_N="7")
    assert found["device"]["in_use"]["name"] == "host" and found["device"]["in_use"]["emulated"]
    assert found["settings"]["OVERLAPACK_MIN_N"]["value"] == "7", found["settings"]
    assert found["settings"]["OVERLAPACK_NB"]["value"] is None, found["settings"]
    sizes = found["break_even"]["sizes"]
    assert set(sizes["dsgesv"]) == {"d"} and set(sizes["potrf"]) == set("sdcz"), sizes
    assert {"dsgesv", "zcposv", "gesv"} <= set(sizes), sizes
    families = found["cpu"]["families"]
    assert [family["dpotrf"] for family in families] == \
        ["dpotrf_", "dpotrf_64_", "scipy_dpotrf_", "scipy_dpotrf_64_"], families
    # The library that info itself has opened for one kind of program is no news for the others.
    assert len({family["served_by"] for family in families}) == 1, families
    assert not any(family["but"] for family in families), families
    names = " ".join(info("--names").split())
    for family in families:
        assert f" {' '.join(family['names'])} " in names, family
    assert "ovl_dcholupdate" in names and "scipy_zcopy_64_" in names, names


def check_program(part):
    """Which CPU LAPACK a program has that opens one, and why a program cannot be asked."""
    library = "import ctypes; ctypes.CDLL({!r}, {})"
    lines = info("--", sys.executable, "-c", library.format(part, "ctypes.RTLD_LOCAL"))
    assert lines.startswith(f"CPU LAPACK of {sys.executable}\n"), lines
    for name in ("dpotrf_", "dpotrf_64_", "scipy_dpotrf_", "scipy_dpotrf_64_"):
        line = rf"^{name} +{re.escape(part)}\s+\(already loaded\)$"
        assert re.search(line, lines, re.M), lines
    assert part not in info("--", sys.executable, "-c", "pass")
    done = run(sys.argv[1], "info", "--json", "--", sys.executable, "-c", "print('{}')")
    assert json.loads(done.stdout.split("\n", 1)[1])["program"][0] == sys.executable, done.stdout
    for program, why in ((["sh", "-c", "kill -9 $$"], "ended by a signal"),
                         (["/nonexistent"], "cannot start it: No such file")):
        done = run(sys.argv[1], "info", "--", *program)
        assert done.returncode == 1 and done.stdout == "", done
        assert done.stderr.startswith(f"overlapack info: {program[0]}"), done
        assert why in done.stderr, done


def check_mistakes():
    """Who mistypes is told what is nearest, by a line that begins with the command."""
    for words, said in (
            (["foo"], "overlapack: no subcommand 'foo': run, info, tune, bench or help\n"),
            (["rnu"], "overlapack: no subcommand 'rnu': run, info, tune, bench or help; did you "
                      "mean run?\n"),
            (["--foo", "info"], "overlapack: The following argument was not expected: --foo\n"),
            (["run", "--sumary", "--", "true"], "overlapack run: The following argument was not "
                                                "expected: --sumary; did you mean --summary?\n"),
            (["tune", "--max_n=5"], "did you mean --max-n?\n"),
            (["tune", "--routines", "potr"], "; did you mean potrf?\n"),
            (["run", "--device", "hots", "--", "true"],
             "overlapack run: --device: 'hots' is not accepted: give auto|cuda[:i]|host|off; did "
             "you mean host?\n"),
            (["info", "--settings", "--json"], "overlapack info: --settings excludes --json\n")):
        done = run(sys.argv[1], *words)
        assert done.returncode == 2 and said in done.stderr and done.stdout == "", done

    # What is called like a setting and is none is said once, wherever the command is asked.
    said = "no setting is called 'OVERLAPACK_MINN'; did you mean OVERLAPACK_MIN_N?\n"
    typed = {"OVERLAPACK_MINN": "5", "OVERLAPACK_EMPTY": "", "OVERLAPACK_ROOT": "/opt/overlapack"}
    for words in (["info"], ["run", "--", "true"], ["run", "--log", "/dev/null", "--", "true"]):
        done = run(sys.argv[1], *words, **typed)
        assert done.returncode == 0 and done.stderr == f"overlapack {words[0]}: {said}", done
    done = run(sys.argv[1], "run", "--summary", "--", "true", **typed, OVERLAPACK_VERBOSE="1")
    assert done.returncode == 0 and done.stderr.count(said) == 1, done
    done = run(sys.argv[1], "tune", **typed, OVERLAPACK_DEVICE="off")
    assert done.stderr.startswith(f"overlapack tune: {said}overlapack tune: nothing to"), done
    # By the library only in its log, where the command leaves it to that.
    call = [sys.executable, "-c", ONE_CALL]
    log = run(sys.argv[1], "run", "-v", "--", *call, **typed).stderr.splitlines()
    assert len(log) == 2 and log[0] + "\n" == f"overlapack: {said}", log
    library = run(sys.argv[1], "run", "--", "sh", "-c", 'printf %s "$LD_PRELOAD"').stdout
    silent = run(*call, **typed, LD_PRELOAD=library)
    assert silent.returncode == 0 and silent.stderr == "", silent


def check_help_and_version():
    for name in [[], ["run"], ["info"], ["tune"]]:
        done = run(sys.argv[1], *name, "--help")
        assert max(map(len, done.stdout.splitlines())) <= 100, done.stdout
        assert "Excludes" not in done.stdout, done.stdout
        assert run(sys.argv[1], "help", *name).stdout == done.stdout, name
    assert "overlapack run [OPTIONS] [--] PROGRAM" in run(sys.argv[1], "run", "--help").stdout
    version = run(sys.argv[1], "--version").stdout
    assert re.fullmatch(r"overlapack \d+\.\d+\.\d+\ncommit ([0-9a-f]{12,40}(-dirty)?|unknown)\n"
                        r"(built without the CUDA plug-in|CUDA [\d.]+, architectures( \S+)+)\n",
                        version), version
    assert run(sys.argv[1], "-V").stdout == version


def check_who_does_not_read():
    """Who stops reading is told nothing; a full disk is."""
    for preexec in (lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN),
                    lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL)):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([sys.argv[1], "info", "--settings"], stdout=writer,
                              stderr=subprocess.PIPE, preexec_fn=preexec, restore_signals=False)
        os.close(writer)
        assert done.stderr == b"", done
        assert done.returncode in (128 + signal.SIGPIPE, -signal.SIGPIPE), done
    with open("/dev/full", "w") as full:
        for name in (["--help"], ["info"]):
            done = subprocess.run([sys.argv[1], *name], stdout=full, stderr=subprocess.PIPE,
                                  text=True)
            assert done.returncode == 1 and "cannot write to standard output" in done.stderr, done


def main():
    check_tuning()
    check_short()
    check_json()
    check_mistakes()
    check_help_and_version()
    check_who_does_not_read()

    text = info("--settings", OVERLAPACK_MIN_N="7", OVERLAPACK_DEVICE="q", OVERLAPACK_NB="0")
    assert "now: 7\n" in text and "now: q (ignored)\n" in text, text
    assert "now: 0 (ignored)\n" in text and text.count("now: not set\n") == 15, text
    assert "OVERLAPACK_MIN_N=7 overrides" in info("--sizes", OVERLAPACK_MIN_N="7")

    # No profile, by the usual name for nothing.
    done = run(sys.argv[1], "info", OVERLAPACK_DEVICE="off", OVERLAPACK_PROFILE="/dev/null")
    assert done.stderr == "" and "OVERLAPACK_PROFILE=/dev/null\n" in done.stdout, done
    done = run(sys.argv[1], "run", "-v", "--", sys.executable, "-c", ONE_CALL,
               OVERLAPACK_PROFILE="/dev/null")
    assert done.stderr.count("\n") == 1 and "(built-in)" in done.stderr, done

    # A device that is named but not there is said, and is not in use.
    done = run(sys.argv[1], "info", OVERLAPACK_DEVICE="cuda:1000")
    assert done.stderr.startswith("overlapack: OVERLAPACK_DEVICE='cuda:1000': "), done
    assert done.stderr.count("\n") == 1 and "\ndevice            none: " in done.stdout, done
    assert "OVERLAPACK_DEVICE=cuda:1000 (ignored)\n" in done.stdout, done

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
            assert f"sizes             built-in{reason}\n" in done.stdout, done.stdout
            assert done.stderr == "", done
        done = run(sys.argv[1], "run", "-v", "--", sys.executable, "-c", ONE_CALL,
                   XDG_CACHE_HOME=cache)
        assert f"built-in; {profile}: Is a directory" in done.stderr, done
        profile.rmdir()
        profile.write_text("no profile")
        assert f"the profile {profile} is ignored" in run(sys.argv[1], "info", **where).stderr

    # A LAPACK that uses OpenBLAS's BLAS is not OpenBLAS.
    for other in glob.glob("/usr/lib/*/lapack/liblapack.so.3"):
        found = facts(OVERLAPACK_CPU_LAPACK=other)
        assert found["cpu"]["lapack"] == f"{other} (OVERLAPACK_CPU_LAPACK)", found["cpu"]
        assert not found["settings"]["OVERLAPACK_CPU_LAPACK"]["ignored"], found["settings"]
        check_program(other)
    done = run(sys.argv[1], "info", OVERLAPACK_CPU_LAPACK="/nowhere")
    assert "OVERLAPACK_CPU_LAPACK=/nowhere (ignored)\n" in done.stdout, done
    for part in sys.argv[2:]:
        found = facts(OVERLAPACK_CPU_LAPACK=part)
        assert not found["settings"]["OVERLAPACK_CPU_LAPACK"]["ignored"], found["settings"]
        for family in found["cpu"]["families"]:
            assert part not in family["served_by"], family
            name = family["dpotrf"].replace("potrf", "gesv")
            assert family["but"] == {f"{part} (OVERLAPACK_CPU_LAPACK)": [name]}, family
        text = " ".join(run(sys.argv[1], "info", "--names",
                            OVERLAPACK_CPU_LAPACK=part).stdout.split())
        assert f" but dgesv_ by {part} (OVERLAPACK_CPU_LAPACK) " in text, text

    with tempfile.TemporaryDirectory() as folder:
        command = shutil.copy(sys.argv[1], folder)
        plugin = pathlib.Path(folder).resolve() / "liboverlapack_cuda13.so"
        if "no NVIDIA driver is installed" in info():
            assert "plug-in           not installed\n" in run(command, "info").stdout
            plugin.touch()
            text = " ".join(run(command, "info").stdout.split())
            assert f"plug-in {plugin}, installed, not loaded" in text, text


main()
