"""Packs the Python package from a build, installs it, and uses it as people do:

    check_wheel.py VENV SOURCE BUILD FOLDER

VENV is the virtual environment of make_venv.py, which has NumPy and SciPy from pip's wheels. The
wheel is made in FOLDER, by `pip wheel` with the project's pyproject.toml. Only the compiling is
left out: tests/clients/wheel installs from BUILD.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import harness

# Four calls, and a check of each.
CALLS = """
import numpy as np, scipy.linalg
a = np.random.default_rng(1).standard_normal((150, 150)) + 20 * np.eye(150)
spd = a @ a.T
assert np.allclose(a @ np.linalg.solve(a, a[0]), a[0])
l = np.linalg.cholesky(spd)
assert np.allclose(l @ l.T, spd)
assert np.allclose(np.tril(scipy.linalg.cho_factor(spd, lower=True)[0]), l)
lu, pivots = scipy.linalg.lu_factor(a)
rows = np.arange(150)
for i, j in enumerate(pivots):
    rows[[i, j]] = rows[[j, i]]
assert np.allclose(a[rows], (np.tril(lu, -1) + np.eye(150)) @ np.triu(lu))
"""
COUNTS = {("dgesv", "host"): 1, ("dpotrf", "host"): 2, ("dgetrf", "host"): 1}

# Each block is seen by itself, and nothing outside; calls before it, and blocks in blocks.
BLOCKS = """
import overlapack, sys
overlapack.enable()
import numpy as np
a = 20 * np.eye(150) + 1
np.linalg.solve(a, a)
for function in np.linalg.inv, np.linalg.cholesky:
    with overlapack.profile():
        function(a)
    print("----", file=sys.stderr)
    function(a)
with overlapack.profile():
    np.linalg.inv(a)
    with overlapack.profile():
        np.linalg.cholesky(a)
    print("----", file=sys.stderr)
print("----", file=sys.stderr)
"""
BLOCK_COUNTS = [{("dgesv", "host"): 1}, {("dpotrf", "host"): 1}, {("dpotrf", "host"): 1},
                {("dgesv", "host"): 1, ("dpotrf", "host"): 1}]

# Settings and status of a process.
STATE = """
import overlapack
before = overlapack.status()
assert before["library"] is None and before["device"].startswith("host ("), before
try:
    overlapack.get("OVERLAPACK_MIN_N")
    raise SystemExit("no error without the library")
except RuntimeError as error:
    assert "overlapack.enable()" in str(error)
overlapack.enable()
assert overlapack.status()["device"] == "not started", overlapack.status()
import numpy as np, scipy.linalg
np.linalg.solve(np.eye(150), np.eye(150))
now = overlapack.status()
assert now["library"].endswith("/overlapack/lib/liboverlapack.so.0"), now
assert now["device"].startswith("host ("), now
assert now["version"] == before["version"] == overlapack.__version__
for package in "numpy", "scipy":
    assert any(f"/{package}.libs/libscipy_openblas" in file for file in now["lapacks"]), now
assert before["lapacks"][0] in now["lapacks"], (before, now)
assert now["settings"] == {"OVERLAPACK_DEVICE": "host", "OVERLAPACK_MIN_N": "100",
                           "OVERLAPACK_NB": "32"} == before["settings"], now
overlapack.set("OVERLAPACK_MIN_N", 1000)
assert overlapack.get("OVERLAPACK_MIN_N") == "1000" and not overlapack.get("OVERLAPACK_VERBOSE")
for name, value in ("OVERLAPACK_DEVICE", "off"), ("OVERLAPACK_NB", "x"), ("OVERLAPACK_X", ""):
    try:
        overlapack.set(name, value)
        raise SystemExit(f"{name}={value} was accepted")
    except ValueError as error:
        assert name in str(error), error
"""

# `import overlapack` before and after threadpoolctl.
THREADS = """
{imports}
overlapack.enable()
ours = lambda: [pool for pool in threadpoolctl.threadpool_info()
                if pool["internal_api"] == "overlapack"]
pool, = ours()
assert pool["user_api"] == "lapack" and pool["version"] == overlapack.__version__, pool
assert pool["num_threads"] >= 1 and pool["prefix"] == "liboverlapack", pool
with threadpoolctl.threadpool_limits(5, user_api="lapack"):
    assert ours()[0]["num_threads"] == 5 and overlapack.get("OVERLAPACK_THREADS") == "5"
assert ours() == [pool] and not overlapack.get("OVERLAPACK_THREADS")
"""


def expect(condition, what):
    if not condition:
        harness.fail(str(what))


class Package:
    def __init__(self, venv, scratch):
        self.python = os.path.join(venv, "bin", "python")
        self.command = os.path.join(venv, "bin", "overlapack")
        self.scratch = scratch
        self.script = os.path.join(scratch, "calls.py")
        with open(self.script, "w") as file:
            file.write(CALLS)
        self.log = os.path.join(scratch, "calls.log")

    def run(self, *command, log=False, status=0):
        """What a program prints, on standard output and standard error."""
        env = harness.environment("host", self.log if log else None, OVERLAPACK_MIN_N="100")
        done, output, errors = harness.run(list(command), env, cwd=self.scratch)
        expect(done == status, f"{command} ended with {done}\n{output}{errors}")
        return output, errors

    def logged(self):
        """Of the calls since the last time, how many there were of each kind."""
        calls = harness.read_log(self.log)
        os.remove(self.log)
        return harness.counts(calls)


def rows(summary):
    """The number of calls by routine and place."""
    return {(routine, place): int(calls) for routine, place, calls in
            re.findall(r"^(\w+) +([a-z][a-z:0-9+]*) +(\d+) ", summary, re.MULTILINE)}


def pack(python, source, build, folder, scratch):
    """The file of the wheel."""
    shutil.rmtree(folder, ignore_errors=True)
    settings = {"cmake.source-dir": "tests/clients/wheel",
                "cmake.define.OVERLAPACK_BUILD": build,
                "build-dir": os.path.join(scratch, "build")}
    done = subprocess.run(
        [python, "-m", "pip", "wheel", source, "--no-deps", "--wheel-dir", folder, "--retries",
         "1", "--timeout", "20", "--disable-pip-version-check",
         *(f"--config-settings={name}={value}" for name, value in settings.items())],
        capture_output=True, text=True)
    if "No matching distribution found for scikit-build-core" in done.stderr:
        harness.skip("pip cannot install scikit-build-core")
    expect(done.returncode == 0, done.stdout + done.stderr)
    wheels = glob.glob(os.path.join(folder, "overlapack-*-py3-none-linux_x86_64.whl"))
    expect(len(wheels) == 1, os.listdir(folder))
    return wheels[0]


def check_files(wheel, source, build):
    with open(os.path.join(source, "CMakeLists.txt")) as file:
        version = re.search(r"project\(overlapack VERSION (\S+)", file.read()).group(1)
    plugin = harness.plugin_of(os.path.join(build, "liboverlapack.so"))
    expected = {"__init__.py", "__main__.py", "threadpools.py", "bin/overlapack",
                "lib/liboverlapack.so.0"}
    if plugin:
        expected.add("lib/overlapack/" + os.path.basename(plugin))
    with zipfile.ZipFile(wheel) as archive:
        info = f"overlapack-{version}.dist-info/"
        names = archive.namelist()
        found = {name for name in names if not name.startswith(info)}
        expect(found == {"overlapack/" + name for name in expected}, found)
        metadata = archive.read(info + "METADATA").decode()
        licence = [name for name in names if name.endswith("/LICENSE")]
        with open(os.path.join(source, "LICENSE"), "rb") as file:
            expect(len(licence) == 1 and archive.read(licence[0]) == file.read(), names)
    for line in (f"Version: {version}", "License-Expression: Apache-2.0", "Provides-Extra: cu13"):
        expect(f"\n{line}\n" in metadata, metadata)
    return plugin


def check_plugin(wheel, plugin, scratch):
    """It finds the libraries in the folder of NVIDIA's wheels. Those of the toolkit take their
    place."""
    site = os.path.join(scratch, "site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    major = re.search(r"(\d+)\.so$", plugin).group(1)
    folder = os.path.join(site, "nvidia", "cu" + major, "lib")
    os.makedirs(folder)
    pattern = r"(lib(?:cudart|cublas|cublasLt)\.so\.\d+) => (/\S+)"
    installed = os.path.join(site, "overlapack", "lib", "overlapack", os.path.basename(plugin))
    before = dict(re.findall(pattern, harness.run(["ldd", installed], None)[1]))
    expect(len(before) == 3, before)
    for name, file in before.items():
        os.symlink(file, os.path.join(folder, name))
    for name, file in re.findall(pattern, harness.run(["ldd", installed], None)[1]):
        expect(os.path.realpath(os.path.dirname(file)) == os.path.realpath(folder),
               f"{name} comes from {file}")


def check_ways(package):
    python = package.python
    _, errors = package.run(python, "-m", "overlapack", "-s", package.script)
    summary = rows(errors)
    expect({key: summary.get(key) for key in COUNTS} == COUNTS, errors)

    # Options with values, the interpreter's own, a module, and the program's arguments and status.
    ends = "import sys; print(sys.argv, sys.warnoptions); sys.exit(7)"
    output, _ = package.run(python, "-W", "error", "-m", "overlapack", "--log", package.log,
                            "--min-n=1000", "-c", CALLS + ends, "-s", status=7)
    expect(output == "['-c', '-s'] ['error']\n", output)
    expect({place for _, place in package.logged()} == {"cpu"}, "--min-n=1000 is not heeded")
    package.run(python, "-m", "overlapack", "--log", package.log, "--", "-m", "calls")
    expect(package.logged(), "the module made no call")

    for load in "overlapack.enable()", "overlapack.load_ipython_extension(None)":
        package.run(python, "-c", f"import overlapack; {load}; {load}\n" + CALLS, log=True)
        counts = package.logged()
        expect({key: counts.get(key) for key in COUNTS} == COUNTS, f"{load}: {counts}")
    _, errors = package.run(python, "-c", "import numpy, overlapack; overlapack.enable()", status=1)
    expect("`python -m overlapack`" in errors.splitlines()[-1], errors)
    package.run(python, "-m", "overlapack", "-c", "import numpy, overlapack; overlapack.enable()")


def check_status(package):
    _, errors = package.run(package.python, "-c", BLOCKS)
    blocks = [rows(part) for part in errors.split("----\n")]
    expect(blocks == BLOCK_COUNTS + [{}], errors)
    _, errors = package.run(package.python, "-m", "overlapack", "-s", "-c", BLOCKS)
    blocks = [rows(part) for part in errors.split("----\n")]
    expect(blocks[:-1] == BLOCK_COUNTS, errors)
    expect(blocks[-1] == {("dgesv", "host"): 4, ("dpotrf", "host"): 3}, errors)
    _, errors = package.run(package.python, "-m", "overlapack", "-v", "-c", BLOCKS)
    logged = re.findall(r"^overlapack (\w+) ", errors, re.MULTILINE)
    expect((logged.count("dgesv"), logged.count("dpotrf")) == (4, 3), errors)

    _, errors = package.run(package.python, "-c", STATE)
    expect(not errors, errors)
    state = "import overlapack; print(overlapack.status()['library'])"
    output, _ = package.run(package.python, "-m", "overlapack", "-c", state)
    expect(output.endswith("/overlapack/lib/liboverlapack.so.0\n"), output)
    for imports in ("import threadpoolctl, overlapack",
                    "import overlapack, threadpoolctl, overlapack.threadpools"):
        package.run(package.python, "-c", THREADS.format(imports=imports))
    state = "import overlapack, sys; print('threadpoolctl' in sys.modules)"
    expect(package.run(package.python, "-c", state)[0] == "False\n", "it was imported by us")


def check_command(package):
    output, _ = package.run(package.command, "info")
    expect("/numpy.libs/libscipy_openblas" in output, output)
    output, _ = package.run(package.command, "info", "--", package.python, "-c",
                            "import scipy.linalg")
    expect("/scipy.libs/libscipy_openblas" in output and "OVERLAPACK_CPU_LAPACK" not in output,
           output)
    version = package.run(package.command, "--version")
    expect(package.run(package.python, "-m", "overlapack", "--version") == version, version)
    # Measured against what NumPy has, not against what else this machine may have.
    _, errors = package.run(package.command, "tune", "--quick", "--routines", "potrf", "--types",
                            "d", "--max-n", "32", "--output", os.path.join(package.scratch, "new"))
    expect(re.search(r" against \S+/numpy\.libs/libscipy_openblas", errors), errors)
    output, _ = package.run(package.command, "run", "--", package.python, "-c",
                            "import os; print(os.environ.get('OVERLAPACK_CPU_LAPACK'))")
    expect(output == "None\n", output)

    # An option takes a value if its help names one.
    output, _ = package.run(package.python, "-m", "overlapack", "--help")
    flags = {flag for names in re.findall(r"^  (-\S+)  ", output, re.MULTILINE)
             for flag in names.split(",")}
    known, _ = package.run(package.python, "-c",
                           "from overlapack.__main__ import FLAGS; print(*FLAGS)")
    expect(flags == set(known.split()), f"{flags} are not {known}")


def main():
    venv, source, build, folder = sys.argv[1:]
    unavailable = os.path.join(venv, "unavailable")
    if os.path.exists(unavailable):
        with open(unavailable) as file:
            harness.skip(file.read())
    if not os.path.exists(os.path.join(venv, "pyvenv.cfg")):
        harness.skip("there is no virtual environment of its own to install into")
    if harness.runtimes(os.path.join(build, "liboverlapack.so")):
        harness.skip("a library built with a sanitizer is not one to make a package of")
    with tempfile.TemporaryDirectory(prefix="overlapack-") as scratch:
        package = Package(venv, scratch)
        wheel = pack(package.python, source, build, folder, scratch)
        plugin = check_files(wheel, source, build)
        if plugin:
            check_plugin(wheel, plugin, scratch)
        subprocess.run([package.python, "-m", "pip", "install", "--quiet", "--no-deps",
                        "--force-reinstall", "--disable-pip-version-check", wheel], check=True)
        check_ways(package)
        check_status(package)
        check_command(package)
        print(f"{os.path.basename(wheel)}, {os.path.getsize(wheel) >> 10} KiB: "
              "packed, installed and used")


if __name__ == "__main__":
    main()
