"""`overlapack run` starts a program under the library and ends as it does; the benchmark, if there
is one, runs the calls of its log again: check_run.py OVERLAPACK [OVERLAPACK_BENCH]"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile


# A program that factors a matrix, updates the factor, solves with nothing on the right, and takes a
# norm on the CPU, which is not logged.
PROGRAM = """
import ctypes
N = 80
library = ctypes.CDLL(None)
n, none, info = ctypes.c_int32(N), ctypes.c_int32(0), ctypes.c_int32(-1)
wide = ctypes.c_int64(-1)
a = (ctypes.c_double * (N * N))(*[4.0 if i % (N + 1) == 0 else 0.01 for i in range(N * N)])
v = (ctypes.c_double * N)(*[1.0] * N)
pivots = (ctypes.c_int32 * N)()
by, job = ctypes.byref, ctypes.c_char(b"L")
library.dpotrf_(by(job), by(n), a, by(n), by(info), 1)
assert info.value == 0
library.ovl_dcholupdate.argtypes = [ctypes.c_char, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p,
                                    ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int,
                                    ctypes.c_void_p]
library.ovl_dcholupdate(b"L", N, 1, a, N, v, N, 1, by(wide))
assert wide.value == 0
library.dgesv_(by(n), by(none), a, by(n), pivots, v, by(n), by(info))
assert info.value == 0
"""


# Three LU factorizations, one of a matrix of zeros, and one by Cholesky.
FAILING = """
import ctypes
library = ctypes.CDLL(None)
by, info = ctypes.byref, ctypes.c_int32(-1)
pivots = (ctypes.c_int32 * 90)()
for m, n, first in ((20, 30, 1.0), (90, 70, 1.0), (10, 10, 0.0)):
    a = (ctypes.c_double * (m * n))(*[first * (1 + i * i % 101) for i in range(m * n)])
    rows, cols = ctypes.c_int32(m), ctypes.c_int32(n)
    library.dgetrf_(by(rows), by(cols), a, by(rows), pivots, by(info))
    assert (info.value == 0) == (first != 0), info.value
one, job = ctypes.c_int32(1), ctypes.c_char(b"L")
library.dpotrf_(by(job), by(one), (ctypes.c_double * 1)(4.0), by(one), by(info), 1)
assert info.value == 0
"""


def run(*arguments, **options):
    return subprocess.run([sys.argv[1], "run", *arguments], capture_output=True, text=True,
                          **options)


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

    # What is preloaded already stays so, behind the library.
    more = run("--", "sh", "-c", 'echo "$LD_PRELOAD"',
               env=dict(os.environ, LD_PRELOAD="libm.so.6")).stdout.strip()
    assert more.endswith(":libm.so.6") and "liboverlapack.so" in more, more

    # With a summary, too, the program's end is that of the command, and signals reach the program.
    killed = run("--summary", "--", "sh", "-c", "kill -TERM $$")
    assert killed.returncode == -signal.SIGTERM, killed
    with subprocess.Popen([sys.argv[1], "run", "--summary", "--", "sh", "-c",
                           "trap 'exit 9' USR1; echo; for i in $(seq 500); do sleep 0.01; done"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as waiting:
        waiting.stdout.readline()
        waiting.send_signal(signal.SIGUSR1)
        assert waiting.wait() == 9, waiting.returncode

    # The library's own settings reach the program; files by their absolute paths.
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "mine").write_text("dpotrf 100\n")
        seen = run("--threads", "3", "--memory-limit", "1G", "--profile", "mine", "--", "sh", "-c",
                   'echo "$OVERLAPACK_THREADS $OVERLAPACK_MEMORY_LIMIT $OVERLAPACK_PROFILE"',
                   cwd=folder)
        assert seen.stdout.split() == ["3", "1G", os.path.join(folder, "mine")], seen

    # The largest call is the one with most operations; every info but 0 counts.
    line = ("overlapack {} m=9 n=9 nrhs={} lda=9 ldb=9 uplo=- trans=- info={} where=cpu "
            "algorithm=tiled nb=1 ms=1.000 gflops=0.000 up=0 down=0 why=x")
    calls = [("dgesv", 600, 0), ("dgesv", 1, 3), ("dgesv", 1, -1010), ("dpotrf", 0, 0)]
    summary = run("--summary", "--", "sh", "-c", 'echo "$0" >>"$OVERLAPACK_VERBOSE"',
                  "\n".join(line.format(*call) for call in calls))
    assert "info != 0" in summary.stderr, summary
    for name, count, failed in (("dgesv", 3, 2), ("all", 4, 2)):
        row = re.search(rf"{name} +(?:cpu +)?{count} +{failed} +9 x 9, 600 rhs", summary.stderr)
        assert row, summary.stderr

    # A program without LAPACK: nothing to report, and the log is empty.
    summary = run("--summary", "--", "true")
    assert summary.returncode == 0 and "no call" in summary.stderr.lower(), summary
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "calls.log")
        assert run("--log", str(log), "--", "true").returncode == 0
        assert log.read_text() == "", log.read_text()

        on_device = ["--device", "host", "--min-n", "1", "--log", str(log)]
        summary = run(*on_device, "--summary", "--", sys.executable, "-c", PROGRAM)
        assert summary.returncode == 0, summary
        rows = {line.split()[0]: line.split()[1:] for line in summary.stderr.splitlines()
                if len(line.split()) > 8}
        for name in ("dpotrf", "dcholupdate", "dgesv"):
            assert rows[name][:3] == ["host", "1", "0"], summary.stderr
        assert "1 vec" in " ".join(rows["dcholupdate"]), summary.stderr
        assert len(log.read_text().splitlines()) == 3, log.read_text()
        if len(sys.argv) > 2:  # the benchmark runs the calls again
            replay = subprocess.run([sys.argv[2], "--replay", str(log), "--device", "host",
                                     "--reps", "1"], capture_output=True, text=True)
            assert replay.returncode == 0, replay
            assert "1 of 3 calls are left out" in replay.stderr, replay.stderr
            assert "dpotrf 80 x 80" in replay.stdout, replay.stdout
            assert "dgesv 80 x 80" in replay.stdout, replay.stdout

        # The summary of a log that goes on is of this run alone. It shows the largest call of each
        # kind, how many have failed, and all of them together.
        again = run(*on_device, "--summary", "--", sys.executable, "-c", FAILING)
        rows = {line.split()[0]: line.split()[1:] for line in again.stderr.splitlines()
                if len(line.split()) > 8}
        assert rows["dgetrf"][:6] == ["host", "3", "1", "90", "x", "70"], again.stderr
        assert rows["dpotrf"][:3] == ["host", "1", "0"], again.stderr
        assert rows["all"][:2] == ["4", "1"], again.stderr
        assert len(log.read_text().splitlines()) == 7, log.read_text()

        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        unreadable = run("--summary", "--log", pipe, "--", "true")
        assert unreadable.returncode == 125 and "no regular file" in unreadable.stderr, unreadable

        # The first to open a pipe is the program: its reader goes when it ends.
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
            done = run("--log", pipe, "--", "sh", "-c", 'echo a line >"$OVERLAPACK_VERBOSE"',
                       timeout=60)
            assert done.returncode == 0 and reader.stdout.read() == "a line\n", done

        # What cannot be logged is said before the program runs.
        unwritable = run("--log", os.path.join(folder, "no", "such", "folder"), "--", "true")
        assert unwritable.returncode == 125 and "cannot write" in unwritable.stderr, unwritable

        # Nothing is left of a summary, even if there is nobody to read it; the status is the
        # program's, even if nobody wants to know of children.
        scratch = pathlib.Path(folder, "scratch")
        scratch.mkdir()
        settings = dict(os.environ, TMPDIR=str(scratch))
        command = [sys.argv[1], "run", "--summary", "--", "sh", "-c", "exit 7"]
        reader, writer = os.pipe()
        os.close(reader)
        deaf = subprocess.run(command, stderr=writer, env=settings)
        os.close(writer)
        assert deaf.returncode == 7, deaf
        ignoring = subprocess.run(command, env=settings, capture_output=True,
                                  preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        assert ignoring.returncode == 7, ignoring
        assert not list(scratch.iterdir()), list(scratch.iterdir())
        nowhere = run("--summary", "--", "true", env=dict(os.environ, TMPDIR="/nonexistent"))
        assert nowhere.returncode == 125 and "/nonexistent" in nowhere.stderr, nowhere
        assert "set TMPDIR or use --log FILE" in nowhere.stderr, nowhere


main()
