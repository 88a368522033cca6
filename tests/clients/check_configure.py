"""Configures the project in other ways than the one at hand:
check_configure.py SOURCE CMAKE [NVCC]"""

import os
import re
import sys
import tempfile

import harness


def main():
    source, cmake, *nvcc = sys.argv[1:]

    def configure(*options, result="compat/overlapack.pc", **settings):
        with tempfile.TemporaryDirectory(prefix="overlapack-") as build:
            status, output, errors = harness.run(
                [cmake, "-S", source, "-B", build, *options], dict(os.environ, **settings))
            path = os.path.join(build, result)
            text = open(path).read() if os.path.exists(path) else ""
            return status, " ".join((output + errors).split()), text

    without = ["-DOVERLAPACK_CUDA=OFF", "-DOVERLAPACK_TESTS=OFF"]
    for libdir, expected in (("lib/here", "${prefix}/lib/here"), ("/else/where", "/else/where")):
        status, output, package = configure(*without, "-DCMAKE_INSTALL_PREFIX=/opt/us",
                                            "-DCMAKE_INSTALL_LIBDIR=" + libdir)
        if status != 0:
            harness.fail(output)
        lines = dict(re.findall(r"(\w+)=(.*)", package))
        prefix = os.path.normpath(lines["prefix"].replace("${pcfiledir}",
                                                          f"/opt/us/{libdir}/pkgconfig"))
        if (prefix, lines["libdir"]) != ("/opt/us", expected):
            harness.fail(f"the package file with the libraries in {libdir} says\n{package}")

    status, output, _ = configure("-DOVERLAPACK_CUDA=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON")
    if status == 0 or "-DOVERLAPACK_TESTS=OFF" not in output:
        harness.fail("without GoogleTest nothing says what to do: " + output)

    status, output, _ = configure(*without, "-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON")
    said = "Not found: nlohmann-json (nlohmann-json3-dev). The `overlapack` command and the "
    if status != 0 or said not in output:
        harness.fail("without nlohmann-json: " + output)

    for file in ("/etc/passwd", sys.executable):
        status, output, _ = configure(*without, "-DOVERLAPACK_OPENBLAS=" + file)
        if status != 0 or ("is no shared library" in output) != (file == "/etc/passwd"):
            harness.fail(f"with {file} as OpenBLAS: {output}")

    if nvcc:  # one that says it is older
        with tempfile.TemporaryDirectory(prefix="overlapack-") as folder:
            older = harness.executable(folder, "nvcc", f"""
[ "$1" = --version ] && echo "Cuda compilation tools, release 12.4, V12.4.131" && exit
exec {nvcc[0]} "$@"
""")
            status, output, _ = configure("-DOVERLAPACK_TESTS=OFF", CUDACXX=older)
            if status != 0 or "12.4 is older than 12.5: building without" not in output:
                harness.fail("with an older CUDA toolkit: " + output)
        status, output, commands = configure(
            "-DOVERLAPACK_TESTS=OFF", "-DCMAKE_CUDA_ARCHITECTURES=80-real;90-real",
            CUDACXX=nvcc[0], result="compile_commands.json")
        if status != 0 or "80-real;90a-real instead of 80-real;90-real:" not in output:
            harness.fail("for compute capability 9.0 without its a: " + output)
        architectures = set(re.findall(r"arch=(\w+)", commands))
        if architectures != {"compute_80", "compute_90a"}:
            harness.fail(f"for compute capability 9.0 nvcc is asked for {architectures}")


main()
