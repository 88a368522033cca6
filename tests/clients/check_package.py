"""Installs the library into a scratch folder and builds a program against it with CMake and with
pkg-config, as a user's project does: check_package.py BUILD_FOLDER SOURCE_FOLDER CMAKE CC"""

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
def manifest_kept(build):
    """Whoever has installed from this build folder uninstalls by its manifest, which lists the
    files of the latest installation."""
    manifest = os.path.join(build, "install_manifest.txt")
    kept = manifest + ".kept"
    if os.path.exists(manifest):
        os.rename(manifest, kept)  # it may be root's, and not for us to write
    try:
        yield
    finally:
        if os.path.exists(kept):
            os.replace(kept, manifest)
        elif os.path.exists(manifest):
            os.remove(manifest)


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
        with manifest_kept(build):
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
                     "share/doc/overlapack/bench/README.md",
                     "share/doc/overlapack/bench/RESULTS.md",
                     "share/doc/overlapack/bench/results/README.md",
                     "share/doc/overlapack/bench/log/README.md",
                     "share/doc/overlapack/bench/comparison.svg"):
            if not os.path.exists(os.path.join(prefix, path)):
                harness.fail(f"{path} was not installed")

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


if __name__ == "__main__":
    main()
