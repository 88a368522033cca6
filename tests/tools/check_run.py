"""`overlapack run` starts a program under the library and ends as it does; the benchmark, if there
is one, runs the calls of its log again: check_run.py OVERLAPACK [OVERLAPACK_BENCH]"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time


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


# A process that outlives its program, and calls LAPACK when the file TOLD is there.
OUTLIVING = """
import ctypes, os, sys, time
def factor():
    n, info, by = ctypes.c_int32(1), ctypes.c_int32(-1), ctypes.byref
    ctypes.CDLL(None).dpotrf_(b"L", by(n), by(ctypes.c_double(4)), by(n), by(info), 1)
    assert info.value == 0
os.chdir("/")
factor()
if os.fork() == 0:
    while not os.path.exists(os.environ["TOLD"]):
        time.sleep(0.01)
    factor()
    os.rename(os.environ["TOLD"], os.environ["TOLD"] + ".done")
"""


# A file of the program gets the number 2, and the library has something to say.
DATA_AT_TWO = """
import ctypes, os, sys
path, how = sys.argv[1:3]
library = None
if how == "closed":  # and the library is opened later
    assert os.open(path, os.O_WRONLY | os.O_CREAT) == 2
    library = ctypes.CDLL(sys.argv[3])
elif how == "preloaded":
    assert os.open(path, os.O_WRONLY | os.O_CREAT) == 2
    os.set_inheritable(2, True)
else:
    os.close(2)
    os.set_inheritable(os.open(path, os.O_WRONLY | os.O_CREAT), True)
library = library or ctypes.CDLL(None)
n, info, by = ctypes.c_int32(1), ctypes.c_int32(-1), ctypes.byref
library.dpotrf_(b"L", by(n), by(ctypes.c_double(4)), by(n), by(info), 1)
assert info.value == 0
"""


def run(*arguments, **options):
    return subprocess.run([sys.argv[1], "run", *arguments], capture_output=True, text=True,
                          **options)


def check_who_outlives(folder):
    """A process that goes on after the summary has nowhere to log to, and says nothing."""
    scratch, told = pathlib.Path(folder, "tmp"), os.path.join(folder, "told")
    scratch.mkdir()
    said = pathlib.Path(folder, "said")
    with said.open("w") as errors:
        done = subprocess.run([sys.argv[1], "run", "--summary", "--", sys.executable, "-c",
                               OUTLIVING], stderr=errors, cwd=folder,
                              env=dict(os.environ, TMPDIR="tmp", TOLD=told))
    assert done.returncode == 0, (done, said.read_text())
    summary = said.read_text()
    assert re.search("dpotrf +cpu +1 +0 ", summary), summary
    assert not list(scratch.iterdir()), list(scratch.iterdir())
    pathlib.Path(told).touch()
    for _ in range(2000):
        if os.path.exists(told + ".done"):
            break
        time.sleep(0.01)
    assert os.path.exists(told + ".done")
    assert said.read_text() == summary, said.read_text()
    assert not list(scratch.iterdir()), list(scratch.iterdir())


def check_standard_error(folder):
    """No line of the library goes into a file of the program that has got the number 2, neither a
    complaint nor one of the log."""
    library = run("--", "sh", "-c", 'echo "$LD_PRELOAD"').stdout.strip()
    data = os.path.join(folder, "data")
    settings = dict(os.environ, OVERLAPACK_VERBOSE="1", OVERLAPACK_NB="x")
    program = [sys.executable, "-c", DATA_AT_TWO, data]
    for how in ("closed", "preloaded", "closed later"):
        started = [sys.argv[1], "run", "--"] if how != "closed" else []
        late = {"stderr": subprocess.DEVNULL} if how == "closed later" else \
               {"preexec_fn": lambda: os.close(2)}
        done = subprocess.run([*started, *program, how, library], env=settings, **late)
        assert done.returncode == 0, (how, done)
        with open(data) as written:
            assert written.read() == "", how
        os.remove(data)
    # What is printed by a program without standard error is not lost elsewhere, either.
    log = os.path.join(folder, "silent.log")
    done = subprocess.run([sys.argv[1], "run", "--summary", "--log", log, "--", "sh", "-c",
                           ": >&2 || exit 3"], preexec_fn=lambda: os.close(2))
    with open(log) as written:
        assert done.returncode != 0 and written.read() == "", done


def check_without_proc(folder):
    """Where /proc is not mounted the command finds the library all the same, or says why not."""
    root = pathlib.Path(folder, "root")
    library = run("--", "sh", "-c", 'echo "$LD_PRELOAD"').stdout.strip()
    programs = {"/bin/sh": os.path.realpath("/bin/sh"), "/bin/overlapack": sys.argv[1],
                "/bin/" + os.path.basename(library): library}
    os.makedirs(root / "bin")
    (root / "bin" / "liboverlapack.so.0").symlink_to(os.path.basename(library))
    for place, file in programs.items():
        shutil.copy(file, str(root) + place)
        needs = subprocess.run(["ldd", file], capture_output=True, text=True).stdout
        for needed in re.findall(r"(/\S+) \(0x", needs):
            copy = pathlib.Path(str(root) + needed)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(needed, copy)
    change = ["chroot"] if os.geteuid() == 0 else ["unshare", "-r", "-R"]
    change[0] = shutil.which(change[0], path=os.environ["PATH"] + ":/usr/sbin") or "/bin/false"

    def inside(*command, **options):
        return subprocess.run([*change, str(root), *command], capture_output=True, text=True,
                              env={"PATH": "/bin"}, **options)

    if inside("overlapack", "--version").returncode != 0:  # a sanitizer needs /proc itself
        print("no program can be started without /proc here: left out")
        return
    for command in ("overlapack", "/bin/overlapack", "./bin/overlapack"):
        done = inside(command, "run", "--", "sh", "-c", 'echo "$LD_PRELOAD"')
        assert done.returncode == 0 and done.stderr == "", done
        assert done.stdout == f"/bin/{os.path.basename(library)}\n", done
    done = inside("overlapack", "info")
    assert done.returncode == 0 and done.stderr == "" and "\nCPU LAPACK " in done.stdout, done
    if os.geteuid() != 0:
        return

    # Started by a descriptor, a program has no name that leads anywhere.
    command = os.open(sys.argv[1], os.O_RDONLY)
    for words in (["run", "--", "sh"], ["bench"]):
        def start():
            os.chroot(root)
            os.execve(command, ["overlapack", *words], {"PATH": "/bin"})
        done = subprocess.run(["true"], preexec_fn=start, pass_fds=[command], capture_output=True,
                              text=True)
        assert done.returncode == (125 if words[0] == "run" else 1), done
        assert done.stderr.startswith(f"overlapack {words[0]}: cannot tell in which folder this "
                                      "command lies: /proc is not mounted; "), done
    os.close(command)


def check_missing_device():
    """A device that is named but not there is said once; who names none is not told."""
    done = run("--device", "cuda:1000", "--min-n", "1", "--", sys.executable, "-c", FAILING)
    assert done.returncode == 0, done
    assert done.stderr.startswith("overlapack: OVERLAPACK_DEVICE='cuda:1000': "), done
    assert done.stderr.endswith("; the CPU serves all calls\n"), done
    assert done.stderr.count("\n") == 1, done
    for device in ("auto", "cuda", "off"):
        done = run("--device", device, "--min-n", "1", "--", sys.executable, "-c", FAILING)
        assert done.returncode == 0 and done.stderr == "", done


def check_why_nothing_went_there(folder):
    """The last lines of a summary say why nothing went to the GPU."""
    def said(*words, **settings):
        done = run("--summary", *words, env=dict(os.environ, **settings))
        assert max(map(len, done.stderr.splitlines())) <= 100, done.stderr
        return done.returncode, " ".join(done.stderr.split())

    call = ["--", sys.executable, "-c", PROGRAM]
    status, text = said("--device", "off", *call)
    assert status == 0, text
    assert text.endswith("Nothing went to the GPU: 3 calls: OVERLAPACK_DEVICE=off"), text
    status, text = said("--device", "host", "--min-n", "90", *call)
    assert status == 0 and " Nothing went to the GPU: 3 calls: too small, at most d" in text, text
    assert text.endswith(" of size 80 < 90 (OVERLAPACK_MIN_N)"), text
    # Some went there, and others did not.
    status, text = said("--device", "host", "--min-n", "40", "--", sys.executable, "-c", FAILING)
    assert status == 0 and " Why calls went to the CPU: 3 calls: too small, at most d" in text, text
    assert "Why" not in said("--device", "host", "--min-n", "1", *call)[1]
    # Too small a call does not look for a driver, and a large one says that there is none.
    for options, expected in ((["--min-n", "1"], "calls: no device: no NVIDIA driver is installed"),
                              (["--min-n", "90"], "This machine has no NVIDIA driver.")):
        if "no NVIDIA driver" in subprocess.run([sys.argv[1], "info", "--json"], text=True,
                                                capture_output=True).stdout:
            assert expected in said("--device", "cuda", *options, *call)[1], expected

    # The library was loaded, but not called.
    program = os.path.join(folder, "program")
    status, text = said("--", "sh", "-c", "exit 3")
    assert status == 3 and text.endswith("The library was loaded by sh"), text
    # It was not loaded: the program is linked statically, or drops LD_PRELOAD, or is setuid.
    status, text = said("--", "env", "-i", "/bin/sh", "-c", "exit 4")
    assert status == 4 and text.endswith("The library was loaded by env"), text
    compiler = shutil.which("cc")
    if compiler is None:
        print("no C compiler: no static program is tried")
    else:
        for options in (["-static"], ["-static-pie"]):
            subprocess.run([compiler, *options, "-x", "c", "-", "-o", program], text=True,
                           check=True, input="int main(void) { return 5; }")
            status, text = said("--", "./program", PATH=os.environ["PATH"])
            assert status == 127, text  # not in this folder
            status, text = said("--", program)
            assert status == 5 and text.endswith(f"since {program} is statically linked"), text
            # Where the log is the user's, nobody tells of having loaded the library.
            status, text = said("--log", os.path.join(folder, "own.log"), "--", program)
            assert status == 5 and text.endswith(f"since {program} is statically linked"), text
        script = pathlib.Path(folder, "script")
        script.write_text(f"#!{program}\n")
        script.chmod(0o755)
        text = said("--", str(script))[1]
        assert text.endswith(f"{script} is run by {program}, which is statically linked"), text
    check_setuid(folder)

    # Without a folder for temporary files there are others.
    status, text = said(*call, TMPDIR="/nonexistent")
    assert status == 0 and "overlapack: calls of this run" in text, text


def check_setuid(folder):
    """Root can make a setuid program of root's, which another user starts."""
    if os.geteuid() != 0:
        print("not root: no setuid program is tried")
        return
    with open("/proc/self/status") as status:
        if os.statvfs(folder).f_flag & os.ST_NOSUID or "NoNewPrivs:\t1" in status.read():
            print("setuid has no effect here: no such program is tried")
            return
    program = shutil.copy(os.path.realpath("/bin/true"), os.path.join(folder, "raised"))
    os.chmod(program, 0o4755)
    os.chmod(folder, 0o755)
    # A copy of the command in a folder where others may look.
    command = shutil.copy(sys.argv[1], folder)
    library = run("--", "sh", "-c", 'printf %s "$LD_PRELOAD"').stdout
    shutil.copy(library, os.path.join(folder, "liboverlapack.so.0"))
    done = subprocess.run([command, "run", "--summary", "--", program], capture_output=True,
                          text=True, user=65534, group=65534, extra_groups=[])
    text = " ".join(done.stderr.split())
    assert done.returncode == 0 and "the library was not loaded, since" in text, done
    assert "runs with raised privileges" in text, done


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

    check_missing_device()

    # No memory is refused with the reason, and with what to do instead.
    done = run("--memory-limit", "0", "--", "true")
    assert done.returncode == 2 and "give a number of bytes >= 1" in done.stderr, done
    assert "no device: OVERLAPACK_DEVICE=off" in done.stderr, done

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
    summary = run("--summary", "--", "sh", "-c",
                  'echo "$0" >>"${OVERLAPACK_VERBOSE#summary:}"',
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
        write_only = pathlib.Path(folder, "write_only")
        write_only.touch(mode=0o200)
        if not os.access(write_only, os.R_OK):
            unreadable = run("--summary", "--log", str(write_only), "--", "true")
            assert unreadable.returncode == 125 and "cannot read" in unreadable.stderr, unreadable
        check_who_outlives(folder)
        check_standard_error(folder)
        check_without_proc(folder)
        check_why_nothing_went_there(folder)


main()
