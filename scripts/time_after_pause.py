#!/usr/bin/env python3
"""What a process keeps of the GPU's memory when it makes no calls, and what its next call takes.

Usage: scripts/time_after_pause.py [options] [BUILD]

  --order N        order of the matrices for dgetrf (default 16384)
  --pause SECONDS  without a call (default 10)
  --rounds N       pauses (default 3)
  --held MB        how much memory may be held after a pause (default 500)
  --ratio R        what a call after a pause may take, relative to others (default 1.15)

BUILD (default build) has liboverlapack.so and the CUDA plug-in. A process makes calls one after the
other, and then one after each pause. That is done with OVERLAPACK_KEEP_MEMORY unset and, for
comparison, with forever: after a pause threads must start again, too, and the GPU's clocks may be
low. Memory is what is less free than when CUDA has just been started, so no other program should
use that GPU.

The last line is the verdict. Exit status 0 if both bounds are kept, 1 if not, 2 for a usage error.
"""
import argparse
import array
import ctypes
import json
import mmap
import os
import random
import statistics
import subprocess
import sys
import time

CALLS = 6  # one after the other; the first one starts the device
PERIOD = 65537  # of the numbers of the matrix: a prime, so that no two columns are alike


class Gpu:
    """The driver, as a program that computes nothing itself."""

    def __init__(self):
        try:
            self.driver = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            sys.exit(f"time_after_pause: there is no NVIDIA driver: {error}")
        context = ctypes.c_void_p()
        for status in (self.driver.cuInit(0),
                       self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
                       self.driver.cuCtxSetCurrent(context)):
            if status != 0:
                sys.exit(f"time_after_pause: the driver does not start: error {status}")

    def free_megabytes(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        if self.driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)) != 0:
            sys.exit("time_after_pause: the driver does not say how much memory is free")
        return free.value / 1e6


class Matrix:
    """A square matrix of pseudo-random numbers for dgetrf, and its pivots."""

    def __init__(self, order):
        self.order = order
        self.bytes = 8 * order * order
        generator = random.Random(1)
        self.numbers = array.array("d", (generator.uniform(-1, 1) for _ in range(PERIOD)))
        self.memory = mmap.mmap(-1, self.bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.pivots = (ctypes.c_int32 * order)()

    def fill(self):
        source, count = self.numbers.buffer_info()
        for begin in range(0, self.bytes, 8 * count):
            ctypes.memmove(self.address + begin, source, min(8 * count, self.bytes - begin))

    def milliseconds_of_dgetrf(self, library):
        self.fill()
        order, info = ctypes.c_int32(self.order), ctypes.c_int32(-1)
        n = ctypes.byref(order)
        begin = time.perf_counter()
        library.dgetrf_(n, n, ctypes.c_void_p(self.address), n, self.pivots, ctypes.byref(info))
        taken = time.perf_counter() - begin
        if info.value != 0:
            sys.exit(f"time_after_pause: dgetrf returns info={info.value}")
        return 1e3 * taken


def measure(options):
    """In the process that makes the calls."""
    gpu = Gpu()
    before = gpu.free_megabytes()
    library = ctypes.CDLL(os.path.join(options.build, "liboverlapack.so"))
    matrix = Matrix(options.order)
    usual = [matrix.milliseconds_of_dgetrf(library) for _ in range(CALLS)][1:]
    result = {"usual": usual, "after": [], "held": [], "in_use": before - gpu.free_megabytes()}
    for _ in range(options.rounds):
        time.sleep(options.pause)
        result["held"].append(before - gpu.free_megabytes())
        result["after"].append(matrix.milliseconds_of_dgetrf(library))
    print(json.dumps(result))


def run(keep):
    """Measures in another process. None stands for the default."""
    environment = dict(os.environ, OVERLAPACK_DEVICE="cuda", OVERLAPACK_PROFILE="/dev/null")
    environment.pop("OVERLAPACK_KEEP_MEMORY", None)
    if keep is not None:
        environment["OVERLAPACK_KEEP_MEMORY"] = keep
    done = subprocess.run([sys.executable, os.path.abspath(__file__), "--measure", *sys.argv[1:]],
                          env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(1)
    result = json.loads(done.stdout)
    usual, after = statistics.median(result["usual"]), statistics.median(result["after"])
    print(f"{keep or 'default':>9} {usual:14.1f} {after:17.1f} {after / usual:7.3f} "
          f"{result['in_use']:14.0f} {max(result['held']):15.0f}", flush=True)
    return usual, after, max(result["held"])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--order", type=int, default=16384)
    parser.add_argument("--pause", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--held", type=float, default=500)
    parser.add_argument("--ratio", type=float, default=1.15)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("build", nargs="?", default="build")
    options = parser.parse_args()
    if options.measure:
        return measure(options)
    print(f"dgetrf of order {options.order}, after {options.pause:g} seconds without a call:")
    print("     kept  in a row (ms)  after pauses (ms)   ratio  MB after calls  MB after pauses")
    run("forever")
    usual, after, held = run(None)
    kept = held <= options.held and after <= options.ratio * usual
    print(f"{'right' if kept else 'WRONG'}: {held:.0f} MB held (at most {options.held:g}), "
          f"{after / usual:.3f} times a usual call (at most {options.ratio:g})")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
