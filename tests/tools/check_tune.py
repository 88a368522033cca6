"""Break-even sizes are measured, written, and read back: check_tune.py OVERLAPACK"""
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

ROUTINES = ["posv", "getrs", "cholupdate", "dsgesv"]
MEASURED = ["dposv", "dgetrs", "dcholupdate", "dsgesv", "cposv", "cgetrs", "ccholupdate"]


def run(*command, env=None, folder=None, status=0):
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder)
    assert done.returncode == status, f"{command} ended with {done.returncode}:\n{done.stderr}"
    return done.stdout


def main():
    overlapack = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
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
        written = dict(line.split() for line in profile.read_text().splitlines()
                       if line and not line.startswith("#"))
        for name, words in rows.items():
            assert written[name] == words[1], (name, written[name], words)

        info = run(overlapack, "info", env={"OVERLAPACK_PROFILE": str(profile)})
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
        assert "dgetrf" in run(*one, "--output", "/dev/stdout")  # measured was potrf alone
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
            assert done.stderr.startswith(f"overlapack: cannot write {unwritable}: "), done
        assert sorted(os.listdir(profile.parent)) == ["profile"], os.listdir(profile.parent)

        # What the CPU has served says nothing of the device.
        small = dict(os.environ, OVERLAPACK_MEMORY_LIMIT="1")
        never = pathlib.Path(folder, "never")
        assert "not served" in run(*one, "--output", str(never), env=small, status=1)
        assert not never.exists()

        # What cannot be measured is said at once.
        before = profile.read_text()
        for options in (["--routines", "potrf,nonsense"], ["--routines", "sgesv"],
                        ["--routines", "dsgesv", "--types", "sc"], ["--max-n", "0"]):
            run(overlapack, "tune", "--device", "host", *options, "--output", str(profile), status=2)
        for empty in (["tune", "--device", ""], ["tune", "--device", "host", "--output", ""],
                      ["run", "--log", "", "--", "true"], ["run", "--device", "", "--", "true"]):
            run(overlapack, *empty, status=2)
        done = subprocess.run([overlapack, "tune", "--routines", "dcholupdate"], capture_output=True,
                              text=True)
        assert done.returncode == 2 and "give cholupdate, without the type letter" in done.stderr, done
        off = dict(os.environ, OVERLAPACK_DEVICE="off")
        run(overlapack, "tune", "--output", str(profile), env=off, status=1)
        run(overlapack, "tune", "--device", "off", "--output", str(profile), status=1)
        assert profile.read_text() == before
        text = run(overlapack, "tune", "--help")
        assert "zcposv" in text and "OVERLAPACK_DEVICE" in text, text


main()
