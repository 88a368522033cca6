"""Which options go together, what is said of those that do not, and the help:
check_options.py BENCH"""
import os
import subprocess
import sys
import tempfile

REFUSED = [
    (["--update", "--variants"], "not together with"),
    (["--replay", "calls.log", "--transfer"], "not together with --replay"),
    (["--transfer", "--json", "x"], "--json: not an option of --transfer"),
    (["--components", "--csv", "x"], "--csv: not an option of --components"),
    (["--speed-of-light", "--conditions", "9"], "but of --refine"),
    (["--callers", "--json", "x"],
     "but of the comparison, --shapes, --speed-of-light, --variants, --update, --refine, "),
    (["--reductions", "--routines", "dpotrf"], "--routines: not an option of --reductions"),
    (["--replay", "calls.log", "--nrhs", "2"], "--nrhs: not an option of --replay"),
    (["--variants", "--nb", "8"], "--nb: not an option of --variants"),
    (["--routines", "dpotfr"], "no routine 'dpotfr': --help lists them; did you mean dpotrf?"),
    (["--sizse", "3"], "--sizse; did you mean --sizes?"),
    (["--variants", "--lda-pad", "1"], "--lda-pad: not an option of --variants"),
    (["--vectors", "2"], "--vectors: not an option of the comparison, but of --update"),
    (["--shapes", "9x9", "--refine"], "not together with"),
    (["--components", "--routines", "dgetrf"], "--components is about potrf, not dgetrf"),
    (["--variants", "--routines", "dpotrf"], "--variants is about getrf, not dpotrf"),
    (["--refine", "--routines", "dgesv"], "not dgesv"),
    (["--speed-of-light", "--routines", "dgetrs"], "not dgetrs"),
    (["--sizes", "9", "--max-n", "9"], "--sizes"),
    (["--sizes", "8,0"], "--sizes: '0' is not accepted: give a whole number from 1 to 2147483647"),
    (["--reps", "1.5"], "--reps: '1.5' is not accepted: give a whole number from 1 to 2147483647"),
    (["--lda-pad", "-1"],
     "--lda-pad: '-1' is not accepted: give a whole number from 0 to 2147483647"),
    (["--sizes", "3037000500"], "--sizes: '3037000500' is not accepted"),
    (["--nrhs", "9223372036854775807"], "'9223372036854775807' is not accepted"),
    (["--update", "--vectors", "9223372036854775807"], "is not accepted"),
    (["--shapes", "4294967296x4294967296"], "no shape like 300x200"),
    (["--refine", "--conditions", "0.5"], "'0.5' is not accepted: give a number >= 1"),
    (["--refine", "--conditions", "nan"], "'nan' is not accepted: give a number >= 1"),
    (["--seconds", "2s"], "'2s' is not accepted: give a number >= 0.001"),
    (["--device", ""], "--device: the value is empty"),
    (["--algorithm", ""], "--algorithm: the value is empty"),
    (["--csv", ""], "--csv: the value is empty"),
    (["--replay", ""], "--replay: the value is empty"),
    (["--device", "off", "--device", "host"], "--device: given more than once"),
]


def run(*options, **settings):
    return subprocess.run([sys.argv[1], *options], capture_output=True, text=True,
                          env=dict(os.environ, **settings))


def main():
    for options, text in REFUSED:
        done = run(*options)
        assert done.returncode == 2 and text in done.stderr, (options, done)

    # Ours has to be measured, unless nobody wants it to be.
    small = ["--sizes", "9", "--reps", "1", "--routines", "dpotrf", "--no-peers"]
    for options, settings, status in [(["--device", "cuda:1000"], {}, 1),
                                      (["--device", "off"], {}, 0),
                                      ([], {"OVERLAPACK_DEVICE": "cuda:1000"}, 1),
                                      ([], {"OVERLAPACK_DEVICE": "off"}, 0),
                                      ([], {"OVERLAPACK_DEVICE": "host"}, 0),
                                      (["--device", "off"], {"OVERLAPACK_DEVICE": "cuda:1000"}, 0)]:
        done = run(*small, *options, **settings)
        assert done.returncode == status, (options, settings, done)
        assert ("ours was not measured" in done.stderr) == (status == 1), done.stderr
        assert ("EMULATED" in done.stdout) == (settings.get("OVERLAPACK_DEVICE") == "host"), done

    # What cannot be written is said, and nothing is lost in silence.
    small = small[:-1] + ["--device", "host"]
    for options in (["--csv"], ["--json"], ["--speed-of-light", "--trace"]):
        done = run(*small, *options, "/dev/full")
        assert done.returncode == 1, (options, done)
        assert "cannot write /dev/full: No space" in done.stderr, (options, done)
    with open("/dev/full", "w") as full:
        for options in (small, ["--help"]):
            done = subprocess.run([sys.argv[1], *options], stdout=full, stderr=subprocess.PIPE,
                                  text=True)
            assert done.returncode == 1 and "cannot write to standard output" in done.stderr, done

    # ... before anything is measured, if that can be known.
    with tempfile.TemporaryDirectory() as folder:
        for options in (["--csv"], ["--json"], ["--speed-of-light", "--trace"]):
            for output in ("none/x", "none/", "."):
                path = os.path.join(folder, output)
                done = run(*small, *options, path)
                assert done.returncode == 1 and done.stdout == "", (options, done)
                assert f"overlapack-bench: cannot write {path}: " in done.stderr, (options, done)
        file = os.path.join(folder, "one")
        for other in (file, os.path.join(folder, ".", "one")):
            done = run(*small, "--csv", file, "--json", other)
            assert done.returncode == 2 and done.stdout == "", done
            assert "--json: the same file as that of --csv" in done.stderr, done
        with open(file, "w") as old:
            old.write("old")
        done = run(*small, "--json", file, "--csv", os.path.join(folder, "none", "x"))
        assert done.returncode == 1, done
        with open(file) as old:
            assert old.read() == "old"
        # A pipe has one writer, whose end is the end.
        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
            done = run(*small, "--json", pipe)
            assert done.returncode == 0 and '"rows"' in reader.stdout.read(), done
        # Without standard output or error nothing else is printed into.
        done = subprocess.run([sys.argv[1], *small, "--csv", file], stderr=subprocess.PIPE,
                              text=True, preexec_fn=lambda: os.close(1))
        assert done.returncode == 1 and "standard output: it is closed" in done.stderr, done
        with open(file) as old:
            assert old.read() == "old"
        done = subprocess.run([sys.argv[1], *small, "--device", "off", "--device", "cuda:1000"],
                              stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2))
        assert done.returncode == 2, done
        unmeasured = [*small[:-2], "--no-cpu", "--device", "cuda:1000", "--csv", file]
        done = subprocess.run([sys.argv[1], *unmeasured], stdout=subprocess.PIPE,
                              preexec_fn=lambda: os.close(2))
        with open(file) as table:
            assert done.returncode == 1 and "no device:" not in table.read(), done

    # What is too large is said, too.
    for options, text in ((["--sizes", "2000000000"], "not enough memory for dpotrf m=2000000000"),
                          (["--sizes", "2147483647"], "not enough memory for dpotrf"),
                          (["--sizes", "9", "--lda-pad", "2147483647"], "too large for 32-bit"),
                          (["--sizes", "1518500250", "--update"], "not enough memory")):
        done = run(*options, "--device", "host", "--no-peers")
        assert done.returncode == 1 and text in done.stderr, (options, done)

    text = run("--help").stdout
    assert max(map(len, text.splitlines())) <= 100, text
    assert "Excludes" not in text and "Needs" not in text and "`overlapack bench`" in text, text
    modes = text[text.index("\nModes (one at a time"):text.index("\nColumns:")]
    for mode in ["--shapes", "--replay", "--speed-of-light", "--components", "--transfer",
                 "--variants", "--update", "--refine", "--reductions"]:
        assert f"\n  {mode} " in modes, modes
    assert run("-V").stdout.startswith("overlapack-bench ") and run("-V") != run("--help")


if __name__ == "__main__":
    main()
