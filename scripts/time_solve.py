"""Usage: python3 time_solve.py numpy|torch N [LABEL]

Solves random systems of order N with one right-hand side by numpy.linalg.solve, or by
torch.linalg.solve on the GPU from and to the host's memory, and prints the median of five times with
the residual ||A x - b|| / (||A|| ||x|| eps n) in the one norm.
"""
import sys
import time

if len(sys.argv) < 3 or sys.argv[1] not in ("numpy", "torch"):
    sys.exit(print(__doc__) if sys.argv[1:] == ["--help"] else __doc__)

import numpy as np


def solver(name):
    if name == "numpy":
        return np.linalg.solve
    import torch

    def solve(a, b):
        on_gpu = [torch.from_numpy(x).cuda() for x in (a, b)]
        return torch.linalg.solve(*on_gpu).cpu().numpy()

    return solve


def main(name, n, label=""):
    solve = solver(name)
    random = np.random.default_rng()
    times = []
    for _ in range(6):  # the first one starts threads and the GPU
        a, b = random.uniform(-1, 1, (n, n)), random.uniform(-1, 1, n)
        start = time.perf_counter()
        x = solve(a, b)
        times.append(time.perf_counter() - start)
    residual = np.abs(a @ x - b).sum() / (
        np.linalg.norm(a, 1) * np.abs(x).sum() * np.finfo(float).eps * n)
    print(f"{name}.linalg.solve {label}".strip() + f", n = {n}: "
          f"{1e3 * np.median(times[1:]):.4g} ms (the first {1e3 * times[0]:.4g}), "
          f"residual {residual:.2g}", flush=True)
    sys.exit(0 if residual < 30 else 1)


main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
