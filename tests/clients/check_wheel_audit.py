"""For which systems a wheel is, by auditwheel: check_wheel_audit.py VENV FOLDER

The wheel in FOLDER, made by check_wheel.py, must run wherever the C library is not older than this
machine's, and must need no library that neither each system nor one of NVIDIA's wheels has.
"""

import glob
import json
import os
import platform
import re
import subprocess
import sys

import harness


def main():
    venv, folder = sys.argv[1:]
    wheels = glob.glob(os.path.join(folder, "*.whl"))
    if not wheels:
        harness.skip("no wheel was made")
    python = os.path.join(venv, "bin", "python")
    pip = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                          "--retries", "1", "--timeout", "20", "auditwheel"],
                         capture_output=True, text=True)
    if pip.returncode != 0:
        harness.skip("pip cannot install auditwheel: " + pip.stderr.strip())
    status, output, errors = harness.run([python, "-m", "auditwheel", "show", "--json", wheels[0]],
                                         None)
    if status != 0:
        harness.fail(output + errors)
    report = json.loads(output)
    print(report["sym_tag"], *report["external_libs"])
    foreign = [name for name in report["external_libs"]
               if not re.match(r"lib(cudart|cublas|cublasLt)\.so\.", name)]
    if foreign:
        harness.fail(f"the wheel needs {foreign}")
    tag = re.fullmatch(r"manylinux_2_(\d+)_x86_64", report["sym_tag"])
    if not tag or int(tag.group(1)) > int(platform.libc_ver()[1].split(".")[1]):
        harness.fail(f"its tag is {report['sym_tag']}, on a machine with {platform.libc_ver()}")


if __name__ == "__main__":
    main()
