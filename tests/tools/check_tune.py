"""Break-even sizes are measured, written, and read back: check_tune.py OVERLAPACK"""
import os
import pathlib
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from terminal import check_bar, run_on_terminal

ROUTINES = ["posv", "getrs", "cholupdate", "dsgesv"]
MEASURED = ["dposv", "dgetrs", "dcholupdate", "dsgesv", "cposv", "cgetrs", "ccholupdate"]


def run(*command, env=None, folder=None, status=0):
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder)
    assert done.returncode == status, f"{command} ended with {done.returncode}:\n{done.stderr}"
    return done.stdout


def entries(text):
    """The lines of a profile, and the comment above each."""
    found, comment = {}, ""
    for line in text.splitlines():
        if line.startswith("#"):
            comment = line
        elif line:
            name, size = line.split()
            assert name not in found, text
            found[name] = size, comment
    return found


def check_what_is_kept(one, folder):
    """Only what has been measured or read is written; of what is left out the profile that there
    is, or else the one in use, stays."""
    profile, other = pathlib.Path(folder, "kept", "profile"), pathlib.Path(folder, "other")
    assert one[-2:] == ["--routines", "potrf"], one
    tune = [*one[:-2], "--output", str(profile), "--routines"]
    run(*tune, "potrf")
    assert list(entries(profile.read_text())) == ["dpotrf"], profile.read_text()
    profile.write_text("# by hand\ndpotrf 77\nzgesv never\n")
    run(*tune, "getrf")
    found = entries(profile.read_text())
    assert sorted(found) == ["dgetrf", "dpotrf", "zgesv"], found
    assert found["dpotrf"] == ("77", f"# as read from {profile.resolve()}"), found
    assert found["zgesv"][0] == "never" and found["dgetrf"][1].startswith("# measured "), found

    other.write_text("dgesv 55\ndpotrf 66\n")
    in_use = dict(os.environ, OVERLAPACK_PROFILE=str(other))
    run(*tune, "potrf", env=in_use)  # what there is comes before what is in use
    found = entries(profile.read_text())
    assert sorted(found) == ["dgetrf", "dpotrf", "zgesv"], found
    assert "measured" in found["dpotrf"][1], found
    profile.unlink()
    run(*tune, "potrf", env=in_use)
    found = entries(profile.read_text())
    assert found["dgesv"] == ("55", f"# as read from {other}") and len(found) == 2, found
    profile.write_text("no profile")
    run(*tune, "potrf")
    assert list(entries(profile.read_text())) == ["dpotrf"], profile.read_text()


def check_what_is_said(one, folder):
    """A profile that is about to be written may be absent, another one may not; and a folder in
    which nobody may look is reported like one in which nobody may write."""
    new, other = pathlib.Path(folder, "new.prof"), pathlib.Path(folder, "absent.prof")
    for named, output, complaint in ((new, ["--output", "new.prof"], False), (new, [], False),
                                     (other, ["--output", "new.prof"], True)):
        done = subprocess.run([*one, *output], capture_output=True, text=True, cwd=folder,
                              env=dict(os.environ, OVERLAPACK_PROFILE=str(named)))
        # Without --output an emulated device's profile is not written.
        assert (done.returncode == 0) == bool(output), done
        assert ("is ignored" in done.stderr) == complaint, done
        assert new.exists() == bool(output), done
        new.unlink(missing_ok=True)

    closed = pathlib.Path(folder, "closed")
    closed.mkdir(mode=0)
    nobody = []
    if os.geteuid() == 0:  # who may look everywhere
        nobody = ["setpriv", "--reuid", "65534", "--clear-groups"]
        os.chmod(folder, 0o755)
        if shutil.which("setpriv") is None or subprocess.run([*nobody, one[0], "--version"],
                                                             capture_output=True).returncode != 0:
            return
    done = subprocess.run([*nobody, *one, "--output", str(closed / "x" / "y")],
                          capture_output=True, text=True)
    assert done.returncode == 1, done
    assert done.stderr == f"overlapack tune: cannot write {closed}/x/y: Permission denied\n", done

    if nobody:  # a file that may be written, but not replaced
        sticky = pathlib.Path(folder, "sticky")
        sticky.mkdir()
        os.chmod(sticky, 0o1777)
        theirs = sticky / "theirs"
        theirs.write_text("# theirs, and longer than what comes\n" * 100)
        os.chmod(theirs, 0o666)
        run(*nobody, *one, "--output", str(theirs))
        assert list(entries(theirs.read_text())) == ["dpotrf"], theirs.read_text()
        assert os.listdir(sticky) == ["theirs"] and theirs.stat().st_uid == 0, os.listdir(sticky)


def check_what_is_refused(one, folder):
    """What cannot be written is said before anything is measured, which would leave a line."""
    def refused(*options, text, **settings):
        done = subprocess.run([*one, *options], text=True, stderr=subprocess.PIPE, **settings)
        assert done.returncode == 1 and done.stderr == f"overlapack tune: {text}\n", done

    for output in ("none/", "none/.", "none/deeper/.."):
        path = os.path.join(folder, output)
        refused("--output", path, text=f"cannot write {path}: Is a directory")
    assert not os.path.exists(os.path.join(folder, "none"))

    def full():  # as on a full disk, but that this is another error
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    path = os.path.join(folder, "large")
    refused("--output", path, text=f"cannot write {path}: File too large", preexec_fn=full)
    with socket.socket(socket.AF_UNIX) as listening:
        path = os.path.join(folder, "socket")
        listening.bind(path)
        refused("--output", path, text=f"cannot write {path}: No such device or address")
    null = pathlib.Path(folder, "null")
    null.symlink_to("/dev/null")
    for named in ("/dev/null", str(null)):
        refused(text=f"the profile {named} is /dev/null, which keeps nothing; name a file with "
                     "--output", env=dict(os.environ, OVERLAPACK_PROFILE=named))
    refused("--output", os.path.join(folder, "unwritten"), preexec_fn=lambda: os.close(1),
            text="cannot write to standard output: it is closed")
    assert not os.path.exists(os.path.join(folder, "unwritten"))

    # Without standard error there are no messages, in no other file either.
    output = pathlib.Path(folder, "silent")
    done = subprocess.run([*one, "--output", str(output)], preexec_fn=lambda: os.close(2))
    assert done.returncode == 0 and list(entries(output.read_text())) == ["dpotrf"], output


def main():
    overlapack = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")  # no profile is in use
        os.environ.pop("OVERLAPACK_PROFILE", None)
        profile = pathlib.Path(folder, "new", "profile")
        tune = [overlapack, "tune", "--device", "host", "--quick", "--max-n", "64", "--types", "dc",
                "--output", str(profile)]
        table = run(*tune, "--routines", ",".join(ROUTINES))
        rows = {}
        for line in table.splitlines():
            words = line.split()
            if words and words[0] in MEASURED:
                rows[words[0]] = words
        assert sorted(rows) == sorted(MEASURED), table
        for words in rows.values():
            assert int(words[2]) == 64, words
            assert "not served" not in " ".join(words), words
            assert 0 < float(words[-1]) < 30, ("the residual", words)

        mask = os.umask(0)
        os.umask(mask)
        assert stat.S_IMODE(profile.stat().st_mode) == 0o666 & ~mask, oct(profile.stat().st_mode)
        written = entries(profile.read_text())
        assert sorted(written) == sorted(rows), written
        for name, words in rows.items():
            assert written[name][0] == words[1], (name, written[name], words)

        info = run(overlapack, "info", "--sizes", env={"OVERLAPACK_PROFILE": str(profile)})
        assert str(profile) in info, info
        shown = {line.split()[0]: line.split()[1:] for line in info.splitlines()
                 if line.split()[:1] and len(line.split()) == 5}
        assert shown["cholupdate"][1] == rows["dcholupdate"][1], shown["cholupdate"]

        # A link stays one, and a pipe is written into. Programs do not get to see what an emulated
        # device did.
        link = pathlib.Path(folder, "link")
        link.symlink_to(profile)
        one = [overlapack, "tune", "--device", "host", "--quick", "--max-n", "32", "--types", "d",
               "--routines", "potrf"]
        run(*one, "--output", str(link))
        assert link.is_symlink() and "dpotrf" in profile.read_text(), link
        assert "dpotrf" in run(*one, "--output", "/dev/stdout")
        check_what_is_kept(one, folder)
        check_what_is_said(one, folder)
        check_what_is_refused(one, folder)
        assert run(*["ss" if word == "d" else word for word in one], "--output",
                   str(link)).count("spotrf") == 1
        run(*one, "--output", "mere_name", folder=folder)
        assert "dpotrf" in pathlib.Path(folder, "mere_name").read_text()
        home = dict(os.environ, HOME=folder, XDG_CACHE_HOME=folder)
        run(*one, env=home, status=1)
        assert not pathlib.Path(folder, "overlapack", "profile").exists()
        run(*one, "--output", folder, status=1)
        for unwritable in ("/proc/foo", str(profile / "below")):  # said before measuring
            done = subprocess.run([*one, "--output", unwritable], capture_output=True, text=True)
            assert done.returncode == 1, done
            assert done.stderr.startswith(f"overlapack tune: cannot write {unwritable}: "), done
        assert sorted(os.listdir(profile.parent)) == ["profile"], os.listdir(profile.parent)

        # On a terminal there is a bar, and what is written elsewhere is not.
        for columns in (50, 90):
            status, drawn = run_on_terminal([*one, "--output", str(link)], columns)
            assert status == 0 and "emulated" in check_bar(drawn, columns), drawn

        # What the CPU has served says nothing of the device.
        small = dict(os.environ, OVERLAPACK_MEMORY_LIMIT="1")
        never = pathlib.Path(folder, "never")
        assert "not served" in run(*one, "--output", str(never), env=small, status=1)
        assert not never.exists()

        # What cannot be measured is said at once.
        before = profile.read_text()
        for options in (["--routines", "potrf,nonsense"], ["--routines", "sgesv"],
                        ["--routines", "dsgesv", "--types", "sc"], ["--max-n", "0"]):
            run(overlapack, "tune", "--device", "host", *options, "--output", str(profile),
                status=2)
        for empty in (["tune", "--device", ""], ["tune", "--device", "host", "--output", ""],
                      ["run", "--log", "", "--", "true"], ["run", "--device", "", "--", "true"]):
            run(overlapack, *empty, status=2)
        done = subprocess.run([overlapack, "tune", "--routines", "dcholupdate"],
                              capture_output=True, text=True)
        assert done.returncode == 2, done
        assert "give cholupdate, without the type letter" in done.stderr, done
        off = dict(os.environ, OVERLAPACK_DEVICE="off")
        run(overlapack, "tune", "--output", str(profile), env=off, status=1)
        run(overlapack, "tune", "--device", "off", "--output", str(profile), status=1)
        assert profile.read_text() == before
        text = run(overlapack, "tune", "--help")
        assert "zcposv" in text and "OVERLAPACK_DEVICE" in text, text


main()
