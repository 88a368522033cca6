"""Installs the library into scratch folders, uninstalls it, and builds programs against it with
CMake and with pkg-config, as a user's project does:
check_package.py BUILD_FOLDER SOURCE_FOLDER CMAKE CC"""

import contextlib
import glob
import os
import shutil
import sys
import tempfile

import harness


DROPS_UNUSED = "-Wl,--as-needed"  # what some distributions' compilers tell the linker by default


def needs_the_library(program):
    status, output, errors = harness.run(["readelf", "-d", program], None)
    if status != 0 or "[liboverlapack.so" not in output:
        harness.fail(f"{program} does not load the library:\n{output}{errors}")


@contextlib.contextmanager
def lists_kept(build):
    """Whoever has installed from this build folder uninstalls by its lists of files."""
    lists = [os.path.join(build, name) for name in ("install_manifest.txt", "installed_files.txt")]
    for path in lists:
        if os.path.exists(path):
            os.rename(path, path + ".kept")  # it may be root's, and not for us to write
    try:
        yield
    finally:
        for path in lists:
            if os.path.exists(path + ".kept"):
                os.replace(path + ".kept", path)
            elif os.path.exists(path):
                os.remove(path)


def check_uninstall(step, cmake, build, scratch):
    """What two installations leave, one of them below DESTDIR, and nothing else goes."""
    first, second = os.path.join(scratch, "first"), os.path.join(scratch, "second")
    theirs = os.path.join(first, "share", "doc", "overlapack", "theirs")
    os.makedirs(os.path.dirname(theirs))
    open(theirs, "w").close()
    with lists_kept(build):
        step("install", [cmake, "--install", build, "--prefix", first])
        step("stage", [cmake, "--install", build, "--prefix", "/usr"],
             dict(os.environ, DESTDIR=second))
        step("uninstall", [cmake, "--build", build, "--target", "uninstall"])
    left = [path for path in glob.glob(os.path.join(scratch, "**"), recursive=True)
            if not os.path.isdir(path) or os.path.basename(path) == "overlapack"]
    if left != [os.path.dirname(theirs), theirs]:
        harness.fail(f"uninstalling leaves {left}")


def check_find_lapack(step, cmake, compiler, source, library, scratch):
    """CMake's FindLAPACK takes overlapack-lapack, which is all of LAPACK."""
    if harness.run(["pkg-config", "--exists", "lapack"], None)[0] != 0:
        harness.skip("there is no lapack.pc")
    settings = harness.environment("host", os.path.join(scratch, "calls.log"))
    settings["PKG_CONFIG_PATH"] = os.path.join(os.path.dirname(library), "pkgconfig")
    user = os.path.join(scratch, "lapack_user")
    step("configure", [cmake, "-S", os.path.join(source, "lapack_user"), "-B", user,
                       "-DBLA_PREFER_PKGCONFIG=ON", "-DBLA_PKGCONFIG_LAPACK=overlapack-lapack",
                       "-DCMAKE_C_COMPILER=" + compiler], settings)
    step("build", [cmake, "--build", user])
    step("run", [os.path.join(user, "user")], settings)
    routines = [call.routine for call in harness.read_log(settings["OVERLAPACK_VERBOSE"])]
    if routines != ["dpotrf"]:
        harness.fail(f"a program with FindLAPACK was served {routines}")


def main():
    build, source, cmake, compiler = sys.argv[1:]
    env = dict(harness.environment("host"))

    def step(what, command, settings=env):
        status, output, errors = harness.run(command, settings)
        if status != 0:
            harness.fail(f"{what}: {' '.join(command)} ended with {status}\n{output}{errors}")
        return output

    with tempfile.TemporaryDirectory(prefix="overlapack-") as scratch:
        prefix = os.path.join(scratch, "prefix")
        with lists_kept(build):
            step("install", [cmake, "--install", build, "--prefix", prefix])
        libraries = glob.glob(os.path.join(prefix, "**", "liboverlapack.so"), recursive=True)
        if not libraries:
            harness.fail("liboverlapack.so was not installed")
        if harness.runtimes(libraries[0]):
            harness.skip("a library built with a sanitizer is not one to link programs with")
        folder = os.path.dirname(libraries[0])
        for path in ("include/overlapack/lapack.h", "include/overlapack/overlapack.h",
                     "include/overlapack/overlapack.f90", "share/doc/overlapack/LICENSE",
                     "share/doc/overlapack/README.md", "share/doc/overlapack/CHANGELOG.md",
                     "share/doc/overlapack/docs/user/quickstart.md",
                     "share/doc/overlapack/docs/glossary.md",
                     "share/doc/overlapack/bench/README.md",
                     "share/doc/overlapack/bench/RESULTS.md",
                     "share/doc/overlapack/bench/results/README.md",
                     "share/doc/overlapack/bench/log/README.md",
                     "share/doc/overlapack/bench/comparison.svg"):
            if not os.path.exists(os.path.join(prefix, path)):
                harness.fail(f"{path} was not installed")

        check_uninstall(step, cmake, build, os.path.join(scratch, "uninstall"))

        user = os.path.join(scratch, "user")
        step("configure", [cmake, "-S", os.path.join(source, "package"), "-B", user,
                           "-DCMAKE_PREFIX_PATH=" + prefix, "-DCMAKE_C_COMPILER=" + compiler,
                           "-DCMAKE_EXE_LINKER_FLAGS=" + DROPS_UNUSED])
        step("build", [cmake, "--build", user])
        print("CMake:", step("run", [os.path.join(user, "user")]).strip())
        indirect = os.path.join(user, "indirect")
        has_lapacke = os.path.exists(indirect)
        if has_lapacke:
            needs_the_library(indirect)

        if shutil.which("pkg-config") is None:
            harness.skip("pkg-config is not installed")
        settings = dict(env, PKG_CONFIG_PATH=os.path.join(folder, "pkgconfig"),
                        LD_LIBRARY_PATH=folder)
        flags = step("pkg-config", ["pkg-config", "--cflags", "--libs", "overlapack"],
                     settings).split()
        if has_lapacke:
            step("compile", [compiler, DROPS_UNUSED, os.path.join(source, "lapacke_client.c"),
                             *flags, "-llapacke", "-o", indirect], settings)
            needs_the_library(indirect)
        program = os.path.join(scratch, "user-pkg-config")
        step("compile", [compiler, os.path.join(source, "solve_client.c"), *flags, "-ldl", "-lm",
                         "-o", program], settings)
        print("pkg-config:", step("run", [program], settings).strip())
        check_find_lapack(step, cmake, compiler, source, libraries[0], scratch)


if __name__ == "__main__":
    main()
