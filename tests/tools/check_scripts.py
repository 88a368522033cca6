"""The scripts explain themselves, and say what is missing before they begin: check_scripts.py FOLDER"""
import os
import pathlib
import subprocess
import sys
import tempfile


def run(script, *arguments, **options):
    return subprocess.run([os.path.join(sys.argv[1], script), *arguments], capture_output=True,
                          text=True, timeout=30, **options)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for script in ("demo", "test", "gpu-check"):
            done = run(script, "--help", cwd=folder)
            assert done.returncode == 0 and done.stderr == "", done
            assert "scripts/" + script in done.stdout and "set -" not in done.stdout, done.stdout
            assert "-- Missing" not in done.stdout, done.stdout

        done = run("gpu-check", cwd=folder)
        assert done.returncode == 1 and "no finished build" in done.stderr, done
        assert not os.listdir(folder), os.listdir(folder)

        tests = pathlib.Path(folder, "build", "tests")
        tests.mkdir(parents=True)
        tests.joinpath("test_potrf").symlink_to("/bin/true")
        tools = pathlib.Path(folder, "bin")
        tools.mkdir()
        tools.joinpath("nvidia-smi").symlink_to("/bin/false")
        done = run("gpu-check", cwd=folder, env=dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}"))
        assert done.returncode == 1 and done.stderr.startswith("gpu-check: nvidia-smi finds no"), done
        assert run("gpu-check", "--unknown", cwd=folder).returncode == 2
        assert sorted(os.listdir(tests.parent)) == ["tests"], os.listdir(tests.parent)


main()
