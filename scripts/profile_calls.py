"""Usage: python3 profile_calls.py LIBRARY OUT_DIR ROUTINE:N:host|device[:U][:COLUMNS]...

Every kernel and copy of one call, by the GPU's own clock: when it began, how long it took, and in
which queue. For potrf and getrf, posv and gesv in all precisions and the mixed-precision solvers,
with one right-hand side or COLUMNS of them, on a matrix in the host's or the device's memory, e.g.

    profile_calls.py build/liboverlapack.so /tmp/profile dpotrf:8192:host:U dposv:4096:host:100

Prints the sums by kernel and queue, largest first, and leaves the list in OUT_DIR (tab-separated:
start and duration in microseconds, queue, kernel). Needs PyTorch with CUDA, whose profiler sees all
that the process does on the GPU. Times of whole calls are printed without the profiler, too, which
makes calls of a few milliseconds longer. It has a thread of its own: leave it a core where copy
threads have them all (OVERLAPACK_THREADS=12 with 16 cores), or copies stand still for milliseconds.
"""
import collections
import ctypes
import os
import re
import sys
import time


def load_torch():
    try:
        import torch
    except ImportError:
        sys.exit("profile_calls: skipped: there is no PyTorch")
    if not torch.cuda.is_available():
        sys.exit("profile_calls: skipped: PyTorch finds no GPU")
    return torch


KINDS = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}


def random_matrix(torch, routine, n, columns=None):
    a = torch.rand(n, columns or n, dtype=getattr(torch, KINDS[routine[0]]), device="cuda") - 0.5
    if "po" in routine and columns is None:
        a = a + a.mH
        a.diagonal().add_(2 * n)
    torch.cuda.synchronize()
    return a


def call(torch, library, routine, a, b, uplo):
    """LAPACK's routine on `a` in place, with the right-hand sides `b` if it is a solver; returns
    its seconds and info."""
    n, nrhs, info = ctypes.c_int(a.shape[0]), ctypes.c_int(b.shape[1]), ctypes.c_int(-99)
    order, columns, matrix = ctypes.byref(n), ctypes.byref(nrhs), ctypes.c_void_p(a.data_ptr())
    pivots = [(ctypes.c_int * n.value)()] if "ge" in routine else []
    end = [ctypes.byref(info)] + ([] if pivots else [ctypes.c_size_t(1)])
    first = [] if pivots else [uplo.encode()]
    if routine.endswith("trf"):
        arguments = first + [order] * (2 if pivots else 1) + [matrix, order] + pivots + end
    elif len(routine) == len("dposv"):
        right_hand_side = [ctypes.c_void_p(b.data_ptr()), order]
        arguments = first + [order, columns, matrix, order] + pivots + right_hand_side + end
    else:  # mixed precision
        size = n.value * (nrhs.value + 1)
        x, work = torch.empty_like(b), torch.empty(size, dtype=torch.complex128)
        rounded = torch.empty((n.value, n.value + nrhs.value), dtype=torch.complex64)
        arguments = first + [order, columns, matrix, order] + pivots
        arguments += [ctypes.c_void_p(b.data_ptr()), order, ctypes.c_void_p(x.data_ptr()), order]
        arguments += [ctypes.c_void_p(work.data_ptr()), ctypes.c_void_p(rounded.data_ptr())]
        if routine[0] == "z":
            arguments += [ctypes.c_void_p(work.data_ptr())]
        arguments += [ctypes.byref(ctypes.c_int(0))] + end
    start = time.perf_counter()
    getattr(library, routine + "_")(*arguments)
    return time.perf_counter() - start, info.value


def short(kernel):
    """The name of a function without its arguments, or of a cuBLAS kernel without its details."""
    kernel = re.sub(r"^void |\(anonymous namespace\)::|overlapack::cuda::", "", kernel)
    return re.sub(r"_tilesize.*|[(<].*", "", kernel) if "Mem" not in kernel else kernel


def file_of(out, spec):
    return os.path.join(out, spec.replace(":", "_") + ".tsv")


def check_outputs(out, specs):
    """Before any call is made whose profile would be lost."""
    try:
        os.makedirs(out, exist_ok=True)
        for spec in specs:
            with open(file_of(out, spec), "a", encoding="utf-8"):
                pass
    except OSError as error:
        sys.exit(f"profile_calls: cannot write {error.filename}: {error.strerror}")


def profile(torch, library, out, spec):
    routine, n, where, *rest = spec.split(":")
    uplo = "U" if "U" in rest else "L"
    columns = int(next((part for part in rest if part.isdigit()), 1))

    def fresh():
        a = random_matrix(torch, routine, int(n))
        b = random_matrix(torch, routine, int(n), columns)
        return (a, b) if where == "device" else (a.cpu(), b.cpu())

    # The first call starts the device and takes its memory.
    seconds, _ = zip(*[call(torch, library, routine, *fresh(), uplo) for _ in range(3)])
    a, b = fresh()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        profiled, info = call(torch, library, routine, a, b, uplo)
    events = sorted((e.start_ns(), e.duration_ns(), e.device_resource_id(), e.name())
                    for e in profiler.profiler.kineto_results.events()
                    if "CUDA" in str(e.device_type()))
    print(f"{spec}: {1e3 * min(seconds[1:]):.3g} ms, {1e3 * profiled:.3g} ms with the profiler; "
          f"info {info}")
    sums = collections.defaultdict(lambda: [0, 0])
    with open(file_of(out, spec), "w", encoding="utf-8") as file:
        for start, duration, queue, kernel in events:
            print(f"{(start - events[0][0]) / 1e3:.2f}", f"{duration / 1e3:.2f}", queue, kernel,
                  sep="\t", file=file)
            total = sums[short(kernel), queue]
            total[0] += 1
            total[1] += duration
    for (kernel, queue), (count, total) in sorted(sums.items(), key=lambda item: -item[1][1]):
        print(f"  {total / 1e6:9.3f} ms  {count:5d} x  queue {queue:3d}  {kernel}")


def main():
    if len(sys.argv) < 4:
        sys.exit(print(__doc__) if sys.argv[1:] == ["--help"] else __doc__)
    routine = r"([sdcz](potrf|getrf)|([sdcz]|ds|zc)(gesv|posv))"
    pattern = routine + r":[1-9]\d*:(host|device)(:[LU])?(:[1-9]\d*)?"
    for spec in sys.argv[3:]:
        if not re.fullmatch(pattern, spec):
            sys.exit(f"profile_calls: '{spec}' is not like dgetrf:4096:device or "
                     "dpotrf:4096:host:U")
    torch = load_torch()
    library = ctypes.CDLL(sys.argv[1])
    check_outputs(sys.argv[2], sys.argv[3:])
    for spec in sys.argv[3:]:
        profile(torch, library, sys.argv[2], spec)


main()
