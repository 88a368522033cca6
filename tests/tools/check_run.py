"""`overlapack run` starts a program under the library and ends as it does: check_run.py OVERLAPACK"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile


def run(*arguments):
    return subprocess.run([sys.argv[1], "run", *arguments], capture_output=True, text=True)


def main():
    preloaded = run("--min-n", "7", "--device", "off", "--refine", "tf32", "--", "sh", "-c",
                    'echo "$LD_PRELOAD $OVERLAPACK_MIN_N $OVERLAPACK_DEVICE $OVERLAPACK_REFINE $1"',
                    "sh", "-- x")
    assert preloaded.returncode == 0 and preloaded.stderr == "", preloaded
    library, *words = preloaded.stdout.split()
    assert os.path.basename(library).startswith("liboverlapack.so"), library
    assert os.path.exists(library), library
    assert words == ["7", "off", "tf32", "--", "x"], words

    assert run("--", "sh", "-c", "exit 3").returncode == 3
    assert run("--", "sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM
    for arguments, status in [(("--", "/nonexistent"), 127), (("--", "/"), 126),
                              (("--device", "gpu", "--", "true"), 2), ((), 2),
                              (("--refine", "fp8", "--", "true"), 2)]:
        done = run(*arguments)
        assert done.returncode == status, (arguments, done)
        assert done.stderr, arguments

    # A program without LAPACK: nothing to report, and the log is not even made.
    summary = run("--summary", "--", "true")
    assert summary.returncode == 0 and "no call" in summary.stderr.lower(), summary
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "calls.log")
        assert run("--log", str(log), "--", "true").returncode == 0
        assert not log.exists() or log.read_text() == "", log.read_text()


main()
