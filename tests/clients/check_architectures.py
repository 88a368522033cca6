"""Which architectures the plug-in is built for, asked without nvcc and a GPU:
check_architectures.py SOURCE CMAKE"""

import os
import sys
import tempfile

import harness


def main():
    source, cmake = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="overlapack-") as folder:
        script = os.path.join(folder, "ask.cmake")
        with open(script, "w") as file:
            file.write('cmake_minimum_required(VERSION 3.22)\n'
                       f'include("{source}/src/device/cuda/architectures.cmake")\n'
                       f'overlapack_architectures(result "${{WANTED}}" "{folder}/nvcc")\n'
                       'message(STATUS "<${result}>")\n')

        def ask(wanted, expected):
            path = folder + ":" + os.environ.get("PATH", "")
            status, output, errors = harness.run([cmake, "-DWANTED=" + wanted, "-P", script],
                                                 dict(os.environ, PATH=path))
            text = " ".join((output + errors).split())
            lines = output.count("CUDA architectures: ")
            if status != 0 or f"<{expected}>" not in text or lines != (wanted != expected):
                harness.fail(f"for the architectures {wanted}, not {expected}: {text}")

        for wanted, expected in (
                ("90", "90a"), ("90-real", "90a-real"), ("90-virtual", "90a-virtual"),
                ("80;90", "80;90a"), ("90-real;100-real", "90a-real;100-real"),
                ("80-real;90a-real;90-virtual", "80-real;90a-real;90-virtual"),
                ("80", "80"), ("190", "190"), ("90a", "90a"), ("all-major", "all-major"),
                ("OFF", "OFF")):
            ask(wanted, expected)

        harness.executable(folder, "nvidia-smi", "exit 9")
        status, output, errors = harness.run([cmake, "-DWANTED=native", "-P", script],
                                             dict(os.environ, PATH=folder))
        if status == 0 or "90a for an H100" not in errors:
            harness.fail("nothing says that no GPU can be asked: " + output + errors)
        harness.executable(folder, "nvidia-smi", "echo 9.0; echo 9.0; echo 12.0")
        ask("native", "90a-real;120-real")
        harness.executable(folder, "__nvcc_device_query", "echo 80,90")
        ask("native", "80-real;90a-real")


main()
