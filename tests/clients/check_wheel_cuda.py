"""On a GPU the Python package uses cuBLAS of NVIDIA's wheels, which its extra cu13 brings:

    check_wheel_cuda.py VENV FOLDER LIB

VENV is the virtual environment of make_venv.py, and FOLDER has the wheel of check_wheel.py.
"""

import glob
import os
import re
import subprocess
import sys

import harness
from check_wheel import CALLS, COUNTS, expect

MAPS = """
for line in open("/proc/self/maps"):
    print(line, end="")
"""


def main():
    venv, folder, library = sys.argv[1:]
    reason = harness.gpu_missing(library)
    if reason:
        harness.skip(reason)
    wheels = glob.glob(os.path.join(folder, "*.whl"))
    if not wheels:
        harness.skip("no wheel was made")
    if not harness.plugin_of(library).endswith("_cuda13.so"):
        harness.skip("the CUDA plug-in was not built with CUDA 13")
    python = os.path.join(venv, "bin", "python")
    pip = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                          "--retries", "1", "--timeout", "60", wheels[0] + "[cu13]"],
                         capture_output=True, text=True)
    if pip.returncode != 0:
        harness.skip("pip cannot install NVIDIA's wheels: " + pip.stderr.strip())
    log = harness.temporary_log()
    env = harness.environment("cuda", log, OVERLAPACK_MIN_N="100")
    status, output, errors = harness.run([python, "-m", "overlapack", "-c", CALLS + MAPS], env)
    expect(status == 0 and not errors, f"status {status}: {errors}")
    counts = harness.counts(harness.read_log(log))
    on_gpu = {routine: count for (routine, place), count in counts.items()
              if place.startswith("cuda:")}
    expect(on_gpu == {routine: count for (routine, _), count in COUNTS.items()}, counts)
    files = set(re.findall(r"/\S*/lib(?:cudart|cublas|cublasLt)\.so\S*", output))
    print(counts, *sorted(files), sep="\n")
    expect(len(files) == 3 and all("/nvidia/cu13/lib/" in file for file in files), files)


if __name__ == "__main__":
    main()
