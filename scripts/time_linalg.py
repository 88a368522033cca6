"""Usage: python3 time_linalg.py numpy|torch N [LABEL]

Times solve (one right-hand side), cholesky and inv of numpy.linalg for random matrices of order N,
or of torch.linalg on the GPU from and to the host's memory. Prints the median of four times, with
the residual in the one norm: ||A x - b|| / (||A|| ||x|| eps n), ||L L^T - A|| / (||A|| eps n) or
||A X - I|| / (||A|| ||X|| eps n). Exit status 0 if all are below 30.
"""
import re
import sys
import time

if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("numpy", "torch"):
    sys.exit(print(__doc__) if sys.argv[1:] == ["--help"] else __doc__)
if not re.fullmatch("[1-9][0-9]*", sys.argv[2]):
    sys.exit(f"time_linalg: '{sys.argv[2]}' is not the order of a matrix")

try:
    import numpy as np
except ImportError:
    sys.exit("time_linalg: there is no NumPy")


def library(name):
    """Its functions by name, from and to NumPy's arrays."""
    names = "solve", "cholesky", "inv"
    if name == "numpy":
        return {f: getattr(np.linalg, f) for f in names}
    try:
        import torch
    except ImportError:
        sys.exit("time_linalg: there is no PyTorch")

    def by_gpu(function):
        def call(*arrays):
            return function(*(torch.from_numpy(x).cuda() for x in arrays)).cpu().numpy()
        return call

    return {f: by_gpu(getattr(torch.linalg, f)) for f in names}


def problem(function, n, random):
    a = random.uniform(-1, 1, (n, n))
    if function == "solve":
        return a, random.uniform(-1, 1, n)
    if function == "cholesky":
        a += a.T
        a[np.diag_indices(n)] += 2 * n
    return (a,)


def norm(x):
    return np.linalg.norm(x, 1)


def residual(function, x, a, b=None):
    unit = norm(a) * np.finfo(float).eps * len(a)
    if function == "solve":
        return norm(a @ x - b) / (unit * norm(x))
    if function == "cholesky":
        return norm(x @ x.T - a) / unit
    return norm(a @ x - np.eye(len(a))) / (unit * norm(x))


def main(name, n, label=""):
    random = np.random.default_rng()
    worst = 0
    for function, call in library(name).items():
        times = []
        for _ in range(5):  # the first one starts threads and the GPU
            operands = problem(function, n, random)
            start = time.perf_counter()
            x = call(*operands)
            times.append(time.perf_counter() - start)
        wrong = residual(function, x, *operands)
        worst = max(worst, wrong)
        print(f"{name}.linalg.{function} {label}".strip() + f", n = {n}: "
              f"{1e3 * np.median(times[1:]):.4g} ms (the first {1e3 * times[0]:.4g}), "
              f"residual {wrong:.2g}", flush=True)
    sys.exit(0 if worst < 30 else 1)


main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
