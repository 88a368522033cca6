"""The scripts explain themselves, and say what is missing before they begin:
check_scripts.py FOLDER"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def run(script, *arguments, **options):
    return subprocess.run([os.path.join(sys.argv[1], script), *arguments], capture_output=True,
                          text=True, timeout=30, **options)


def check_compare_times(folder):
    """On two programs that claim to have measured: the second one is slower in one row."""
    for build, ms in (("before", 10), ("after", 11)):
        pathlib.Path(folder, build).mkdir()
        bench = pathlib.Path(folder, build, "overlapack-bench")
        bench.write_text(f"""#!/bin/sh
while [ "$1" != --csv ]; do shift; done
echo routine,n,nrhs,contender,ms,missing > "$2"
echo dpotrf,4096,0,ours,{ms}, >> "$2"
echo dpotrf,4096,0,on device,5, >> "$2"
echo dpotrf,4096,0,CPU,,--no-cpu >> "$2"
""")
        bench.chmod(0o755)
    small = dict(os.environ, MAX_N="4096")
    done = run("compare-times", "--stages", "solves", "before", "after", cwd=folder, env=small)
    assert done.returncode == 1, done
    assert "largest ratio 1.100 (dpotrf n=4096 host)" in done.stdout.splitlines()[-1], done
    assert done.stdout.count("SLOWER") == 1 and "CPU" not in done.stdout, done
    for limit, builds in (("1.02", ("after", "before")), ("1.2", ("before", "after"))):
        done = run("compare-times", "--limit", limit, "--stages", "solves", *builds, cwd=folder,
                   env=small)
        assert done.returncode == 0, done
    done = run("compare-times", "before", "after", cwd=folder, env=dict(os.environ, MAX_N="x"))
    assert done.returncode == 2 and "is no order" in done.stderr, done


def check_count_promises(folder):
    """On a repository of two files, whose tests have injected 7 faults and made 9 calls."""
    root = pathlib.Path(folder, "promises")
    for part in ("scripts", "tests", "build/tests/counted/lazy"):
        root.joinpath(part).mkdir(parents=True)
    shutil.copy(os.path.join(sys.argv[1], "count-promises"), root / "scripts")
    root.joinpath("tests/soak.csv").write_text("date,commit,device,minutes,calls\n"
                                               "2026-11-29,0,lazy,60,1000\n")
    case = ('<testcase name="{0}"><properties><property name="{1}" value="{2}"/></properties>{3}'
            "</testcase>")
    cases = [("A", "faults", 3, ""), ("B", "faults", 4, ""), ("C", "calls", 9, ""),
             ("D", "calls", 5, "<failure/>"), ("E", "calls", 5, "<skipped/>")]
    for name, *rest in cases:
        report = root / "build/tests/counted/lazy" / f"{name}.xml"
        report.write_text(f"<testsuites><testsuite>{case.format(name, *rest)}</testsuite>"
                          "</testsuites>")
    script = str(root / "scripts/count-promises")
    done = run(script, cwd=root)
    assert done.returncode == 0 and "   7 faults injected\n" in done.stdout, done
    assert "   2 kinds of calls with faults\n" in done.stdout, done
    assert "   9 random calls compared\n" in done.stdout, done
    assert "   60 minutes of soak\n" in done.stdout, done
    root.joinpath("tests/README.md").write_text("7 faults injected, 10 random calls compared")
    done = run(script, "--check", cwd=root)
    assert done.returncode == 1 and "7 faults" not in done.stdout, done
    assert "says 10 random calls compared, but there are 9\n" in done.stdout, done
    assert "nothing to count: texts read\n" in done.stdout, done
    assert "has 0 figures of: minutes of soak\n" in done.stdout, done
    shutil.rmtree(root)


def check_demo(folder):
    """Where no GPU is, it builds no plug-in, and nothing that it does not run. All that it would
    start to install and to build is replaced by programs that do nothing."""
    sys.path.insert(0, os.path.join(sys.argv[1], "..", "tests", "clients"))
    import harness
    programs = pathlib.Path(folder, "programs")
    programs.mkdir()
    for name, text in (("cmake", 'echo "$@" >> "$LOG"; [ "$1" != --build ]'), ("c++", "exit 0"),
                       ("apt-get", "exit 1"), ("sudo", "exit 1")):
        harness.executable(programs, name, text + "\n")
    log = programs / "log"
    done = run("demo", cwd=folder, env=dict(os.environ, LOG=str(log),
                                            PATH=f"{programs}:{os.environ['PATH']}"))
    configure, build = log.read_text().splitlines()
    missing = harness.no_gpu()
    assert f"-DOVERLAPACK_CUDA={'OFF' if missing else 'ON'}" in configure.split(), configure
    assert "-DOVERLAPACK_TESTS=OFF" in configure.split(), configure
    assert build.endswith(" --target overlapack_runtime"), build
    said = f"-- The CUDA plug-in is not built: {missing}\n" if missing else "not built"
    assert (said in done.stdout) == bool(missing) and done.returncode == 1, done
    shutil.rmtree(programs)


def check_outputs(folder):
    """What cannot be written is said before anything is measured."""
    for stage, name in (("large", "large.md"), ("factorizations", "factorizations.json"),
                        ("light", "zpotrf.json")):
        pathlib.Path(folder, "taken", name).mkdir(parents=True)
        done = run("benchmark", "built", "taken", "layouts", stage, cwd=folder)
        assert done.returncode == 1 and done.stdout == "", done
        path = os.path.join(folder, "taken", name)
        assert done.stderr == f"benchmark: cannot write the file '{path}'\n", done
        pathlib.Path(path).rmdir()
    assert not os.listdir(os.path.join(folder, "taken"))

    # A PyTorch that finds a GPU, and can do nothing else.
    pathlib.Path(folder, "torch.py").write_text("class cuda:\n"
                                                "    is_available = staticmethod(lambda: True)\n")
    profile = [sys.executable, os.path.join(sys.argv[1], "profile_calls.py"), "libc.so.6"]
    pathlib.Path(folder, "taken", "dgetrf_9_host.tsv").mkdir()
    for out, wrong in (("taken", "taken/dgetrf_9_host.tsv: Is a directory"),
                       ("taken.py", "taken.py: File exists")):
        pathlib.Path(folder, "taken.py").touch()
        done = subprocess.run([*profile, out, "dpotrf:9:host", "dgetrf:9:host"], cwd=folder,
                              env=dict(os.environ, PYTHONPATH=folder), capture_output=True,
                              text=True)
        assert done.returncode == 1 and done.stdout == "", done
        assert done.stderr == f"profile_calls: cannot write {wrong}\n", done


def main():
    with tempfile.TemporaryDirectory() as folder:
        for script in ("demo", "test", "gpu-check", "benchmark", "compare-launches",
                       "compare-results", "compare-times", "cold-start", "count-promises",
                       "fuzz", "plot", "programs", "soak", "suites"):
            done = run(script, "--help", cwd=folder)
            assert done.returncode == 0 and done.stderr == "", done
            assert "scripts/" + script in done.stdout and "set -" not in done.stdout, done.stdout
            assert "-- Missing" not in done.stdout, done.stdout

        for argument in ("--unknown", "x", ""):
            done = run("demo", argument, cwd=folder)
            assert done.returncode == 2 and "no argument " + argument in done.stderr, done

        if shutil.which("ctest"):
            for option in ("--unknown", "-R", "-%"):
                done = run("test", option, "--unknown", cwd=folder)
                wrong = "--unknown" if option == "-R" else option
                assert done.returncode == 2 and f"no option {wrong}" in done.stderr, done

        check_count_promises(folder)
        check_demo(folder)
        for script in ("cold-start", "count-promises", "fuzz", "programs", "soak", "suites"):
            done = run(script, cwd=folder)
            assert done.returncode == 1 and "there is no finished build" in done.stderr, done
            assert run(script, "--unknown", cwd=folder).returncode == 2
        for script, option in (("fuzz", "--seconds"), ("soak", "--minutes")):
            for number in ("0", "x", "-1"):
                assert run(script, option, number, cwd=folder).returncode == 2
        assert run("fuzz", "build", "typo", cwd=folder).returncode == 2
        done = run("suites", "--only", "octave,typo", cwd=folder)
        assert done.returncode == 2 and "no suite 'typo'" in done.stderr, done
        for option, wrong in (("--sizes", "15"), ("--sizes", "100,"), ("--operations", "typo"),
                              ("--operations", "svd,"), ("--reps", "0"), ("--seconds", "x"),
                              ("--csv", "/proc/x/y"), ("--profile", "/proc/x/y")):
            done = run("programs", option, wrong, cwd=folder)
            assert done.returncode == 2 and f"argument {option}: " in done.stderr, done

        # A Python without packages.
        time_linalg = [sys.executable, "-I", "-S", os.path.join(sys.argv[1], "time_linalg.py")]
        done = subprocess.run([*time_linalg, "numpy", "10"], capture_output=True, text=True)
        assert done.returncode == 1 and done.stderr == "time_linalg: there is no NumPy\n", done
        done = subprocess.run([*time_linalg, "numpy", "10", "a", "b"], capture_output=True,
                              text=True)
        assert done.returncode == 1 and done.stderr.startswith("Usage: "), done

        done = run("gpu-check", cwd=folder)
        assert done.returncode == 1 and "no finished build" in done.stderr, done
        done = run("benchmark", cwd=folder)
        assert done.returncode == 1 and "no finished build" in done.stderr, done
        assert not os.listdir(folder), os.listdir(folder)

        tests = pathlib.Path(folder, "build", "tests")
        tests.mkdir(parents=True)
        tests.joinpath("test_potrf").symlink_to("/bin/true")
        tools = pathlib.Path(folder, "bin")
        tools.mkdir()
        tools.joinpath("nvidia-smi").symlink_to("/bin/false")
        with_tools = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}")
        done = run("gpu-check", cwd=folder, env=with_tools)
        assert done.returncode == 1, done
        assert done.stderr.startswith("gpu-check: nvidia-smi finds no"), done
        for stages in (["typo"], ["tests", "typo"], [""], ["tests memcheck"]):
            done = run("gpu-check", "build", "logs", *stages, cwd=folder)
            assert done.returncode == 2 and f"no stage '{stages[-1]}'" in done.stderr, done
        for script in ("gpu-check", "benchmark", "compare-results", "compare-times"):
            assert run(script, "--unknown", cwd=folder).returncode == 2
        for script in ("compare-results", "compare-times"):
            assert run(script, "build", cwd=folder).returncode == 2
        done = run("compare-results", "--forms", "typo", "build", "build", cwd=folder)
        assert done.returncode == 2 and "no form 'typo'" in done.stderr, done
        done = run("compare-results", "build", "build", cwd=folder)
        assert done.returncode == 1 and "no liboverlapack.so in" in done.stderr, done
        done = run("compare-times", "--stages", "typo", "build", "build", cwd=folder)
        assert done.returncode == 2 and "no stage 'typo'" in done.stderr, done
        done = run("compare-times", "build", "build", cwd=folder)
        assert done.returncode == 1 and "no finished build" in done.stderr, done
        assert sorted(os.listdir(tests.parent)) == ["tests"], os.listdir(tests.parent)
        # Nobody can make a folder there.
        tools.joinpath("nvidia-smi").unlink()
        tools.joinpath("nvidia-smi").symlink_to("/bin/true")
        done = run("gpu-check", "build", "/proc/x/y", cwd=folder, env=with_tools)
        assert done.returncode == 1 and "gpu-check: cannot write into the folder '/proc/x/y'" in \
            done.stderr and done.stdout == "", done

        # Stages by their names; OUT_DIR holds what each of them printed.
        pathlib.Path(folder, "built").mkdir()
        bench = pathlib.Path(folder, "built", "overlapack-bench")
        bench.write_text('#!/bin/sh\necho "$@"\ncase $* in *8192*) exit 1; esac\n')
        bench.chmod(0o755)
        for stage in ("nothing", "has_header", "bench", "exit"):
            done = run("benchmark", "built", "out", stage, cwd=folder)
            assert done.returncode == 2 and f"no stage '{stage}'" in done.stderr, done
        for order in ("abc", "0", "-5", "1 2"):
            done = run("benchmark", "built", "out", "large", cwd=folder,
                       env=dict(os.environ, MAX_N=order))
            assert done.returncode == 2 and "is no order" in done.stderr, done
        done = run("benchmark", "built", "/proc/x/y", cwd=folder)
        assert done.returncode == 1 and "benchmark: cannot write into the folder '/proc/x/y'" in \
            done.stderr and done.stdout == "", done
        small = dict(os.environ, MAX_N="4096")
        done = run("benchmark", "built", "out", "large", "layouts", cwd=folder, env=small)
        assert done.returncode == 0, done
        written = pathlib.Path(folder, "out", "layouts.md").read_text()
        assert "--sizes 1024,4096 --routines dpotrf,dposv --uplo U" in written, written
        assert written in done.stdout, done.stdout
        done = run("benchmark", "built", "out", "large", cwd=folder, env=small)
        assert done.returncode == 1 and "nothing was measured" in done.stderr, done
        assert run("benchmark", "built", "out", "types", cwd=folder).returncode == 1
        check_compare_times(folder)
        check_outputs(folder)
        # Where every Python lacks NumPy.
        pathlib.Path(folder, "numpy.py").write_text("raise ImportError\n")
        without = dict(small, PYTHONPATH=folder)
        done = run("benchmark", "built", "out", "layouts", "programs", cwd=folder, env=without)
        assert done.returncode == 0 and "no NumPy: left out" in done.stdout, done
        done = run("benchmark", "built", "out", "programs", cwd=folder, env=without)
        assert done.returncode == 1 and "or NumPy is missing" in done.stderr, done


main()
