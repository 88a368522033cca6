"""The Debian packages of a build:

    check_debian.py build CPACK BUILD_FOLDER PACKAGES   makes them
    check_debian.py lint PACKAGES                       Debian's lintian finds no error in them
    check_debian.py install PACKAGES                    they are installed, serve R, NumPy and
                                                        Octave, and are removed

The machine stays as it is: the packages are installed on a layer above its files, which the test
alone sees. That takes root.
"""

import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "clients"))
import harness

ALTERNATIVES = ("liblapack.so.3", "libblas.so.3")
PROGRAMS = (["Rscript", "--vanilla", "solve.R"], ["/usr/bin/python3", "solve.py"],
            ["octave-cli", "solve.m"])


def step(*command):
    status, output, errors = harness.run(list(command), None)
    if status != 0:
        harness.fail(f"{' '.join(command)} ended with {status}\n{output}{errors}")
    return output


def packages(folder):
    return sorted(glob.glob(os.path.join(folder, "*.deb")))


def build(cpack, build_folder, folder):
    for program in ("dpkg-shlibdeps", "file"):
        if not shutil.which(program):
            harness.skip(f"there is no {program}")
    shutil.rmtree(folder, ignore_errors=True)
    # They go no further than the tests, so that their size does not matter.
    step(cpack, "--config", os.path.join(build_folder, "CPackConfig.cmake"), "-B", folder,
         "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")
    wanted = {"overlapack", "overlapack-alternatives", "liboverlapack-dev"}
    for plugin in glob.glob(os.path.join(build_folder, "liboverlapack_cuda*.so")):
        wanted.add("overlapack-cuda" + re.search(r"cuda(\d+)\.so$", plugin)[1])
    missing = wanted - {os.path.basename(path).split("_")[0] for path in packages(folder)}
    if missing:
        harness.fail(f"there are no packages {missing}")


def lint(folder):
    if not packages(folder) or not shutil.which("lintian"):
        harness.skip("no packages were made, or there is no lintian")
    status, output, errors = harness.run(
        ["lintian", "--allow-root", "--fail-on", "error", *packages(folder)], None)
    print(output + errors)
    if status != 0:
        harness.fail(f"lintian ended with {status}")


LAYER = """
layer=$1 packages=$2 source=$3
mount -t tmpfs tmpfs "$layer" && cd "$layer" && mkdir upper work root &&
  mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work overlay root &&
  mkdir -p root/test/packages root/test/source &&
  mount --rbind /dev root/dev && mount --rbind /proc root/proc &&
  mount --bind "$packages" root/test/packages && mount --bind "$source" root/test/source || {
    echo "skipped: no layer can be put above the files of this machine"
    exit 77
  }
exec chroot root python3 /test/source/tests/packaging/check_debian.py inside /test/packages
"""


def install(folder):
    if not packages(folder) or os.getuid() != 0:
        harness.skip("no packages were made, or this is not root")
    in_namespace = ["unshare", "--mount"]
    if harness.run([*in_namespace, "true"], None)[0] != 0:
        harness.skip("there are no mount namespaces here")
    with tempfile.TemporaryDirectory(prefix="overlapack-") as layer:
        done = subprocess.run([*in_namespace, "sh", "-c", LAYER, "sh", layer,
                               os.path.abspath(folder), os.path.join(HERE, "..", "..")])
    sys.exit(done.returncode)


def chosen(name):
    """The file that an alternative stands for."""
    link = glob.glob(f"/usr/lib/*-linux-gnu/{name}")
    return os.path.realpath(link[0]) if link else None


def is_served(program):
    """False if the program is not on this machine."""
    command, script = program[:-1], program[-1]
    if shutil.which(command[0]) is None:
        return False
    log = harness.temporary_log()
    status, output, errors = harness.run([*command, os.path.join(HERE, script)],
                                         harness.environment("host", log))
    if "No module named 'numpy'" in errors:
        return False
    if status != 0:
        harness.fail(f"{script} ends with {status}\n{output}{errors}")
    routines = {call.routine for call in harness.read_log(log) if call.on("host")}
    if "dpotrf" not in routines or not routines & {"dgesv", "dpotrs"}:
        harness.fail(f"{script} was served {routines or 'nothing'}")
    print(command[0], "was served", *sorted(routines))
    return True


def inside(folder):
    files = packages(folder)
    for name in ALTERNATIVES:
        for alternative in glob.glob(f"/etc/alternatives/{name}-*"):
            step("update-alternatives", "--auto", os.path.basename(alternative))
    before = [chosen(name) for name in ALTERNATIVES]
    with contextlib.suppress(FileNotFoundError):
        os.remove("/var/lib/man-db/auto-update")  # or man-db reads all pages again
    step("dpkg", "--install", *files)
    for name in ALTERNATIVES:
        if not re.fullmatch(rf"/usr/lib(/[^/]+)?/overlapack/{name}", str(chosen(name))):
            harness.fail(f"{name} is {chosen(name)}")

    step("overlapack", "info")
    missing = [program[0] for program in PROGRAMS if not is_served(program)]
    names = [os.path.basename(file).split("_")[0] for file in files]
    listed = step("dpkg", "--listfiles", *names).splitlines()
    step("dpkg", "--purge", *names)
    left = [path for path in listed if "overlapack" in path and os.path.lexists(path)]
    if left:
        harness.fail("these are left: " + " ".join(left))
    if [chosen(name) for name in ALTERNATIVES] != before:
        harness.fail("the alternatives are not what they were")
    if missing:
        harness.skip(f"all is well, but these are not here: {' '.join(missing)}")


def main():
    action, *arguments = sys.argv[1:]
    {"build": build, "lint": lint, "install": install, "inside": inside}[action](*arguments)


if __name__ == "__main__":
    main()
