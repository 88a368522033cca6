"""An ordinary SciPy program: scipy.linalg's solvers in four dtypes, singular input and bad
arguments. Prints "<name> <numbers>" lines for run_client.py."""

import sys
import warnings

try:
    import numpy as np
    import scipy.linalg as sla
except ImportError:
    print("this Python has no SciPy")
    sys.exit(77)
from scipy.linalg import lapack

N = 60
LETTERS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


def show(letter, label, *arrays):
    words = []
    for array in map(np.asarray, arrays):
        values = array.ravel()[:: max(1, array.size // 20)]
        if np.iscomplexobj(values):
            values = values.copy().view(values.real.dtype)
        exact = np.issubdtype(values.dtype, np.integer)
        words += ["%d" % v if exact else "%.9e" % v for v in values]
    print(letter, label, *words)


def outcome(call):
    """What a call does: its info, or the exception it raises."""
    try:
        return "info %d" % call()[-1]
    except Exception as error:  # the kind of error is the result here
        return "raised %s: %s" % (type(error).__name__, error)


warnings.simplefilter("ignore")
random = np.random.RandomState(11)
for letter, dtype in LETTERS.items():
    a = random.uniform(-1, 1, (N, N)) + 1j * random.uniform(-1, 1, (N, N))
    if not np.issubdtype(dtype, np.complexfloating):
        a = a.real
    a = (a + N * np.roll(np.eye(N), 3, axis=0)).astype(dtype)
    b = np.arange(2 * N).reshape(N, 2).astype(dtype)
    spd = (a @ a.conj().T / N + np.eye(N)).astype(dtype)

    show(letter, "solve-gen", sla.solve(a, b, assume_a="gen"))
    show(letter, "solve-pos", sla.solve(spd, b, assume_a="pos"))
    show(letter, "solve-pos-lower", sla.solve(spd, b, assume_a="pos", lower=True))
    lu, pivots = sla.lu_factor(a)
    show(letter, "lu_factor", lu, pivots)
    for trans in (0, 1, 2):
        show(letter, "lu_solve-%d" % trans, sla.lu_solve((lu, pivots), b, trans=trans))
    show(letter, "lu_factor-tall", *sla.lu_factor(a[:, :40]))
    for lower in (False, True):
        factor = sla.cho_factor(spd, lower=lower)
        show(letter, "cho_factor", factor[0])
        show(letter, "cho_solve", sla.cho_solve(factor, b))
    show(letter, "cholesky", sla.cholesky(spd), sla.cholesky(spd, lower=True))

    gesv, posv = sla.get_lapack_funcs(("gesv", "posv"), dtype=dtype)
    show(letter, "gesv", *gesv(a, b)[1:3])
    show(letter, "posv", posv(spd, b)[1])

    # Some of these are drivers of the CPU LAPACK, which call routines of QR by their names.
    for label, matrix in (("tall", a[:, :40]), ("wide", a[:40])):
        right = b[:len(matrix)]
        show(letter, "qr-" + label, *sla.qr(matrix))
        show(letter, "qr-raw-" + label, *sla.qr(matrix, mode="raw")[0])
        show(letter, "qr-multiply-" + label, sla.qr_multiply(matrix, right.T.copy())[0])
        show(letter, "gesvd-" + label, sla.svd(matrix, compute_uv=False, lapack_driver="gesvd"))
        for driver in ("gelsd", "gelsy", "gelss"):
            show(letter, driver + label, sla.lstsq(matrix, right, lapack_driver=driver)[0])
        gels, gels_lwork = sla.get_lapack_funcs(("gels", "gels_lwork"), dtype=dtype)
        lwork = int(gels_lwork(*matrix.shape, b.shape[1])[0].real)
        show(letter, "gels-" + label, *gels(matrix, b[:max(matrix.shape)], lwork=lwork)[:2])

    # Drivers of eigenproblems: what they are made of comes back by name, too.
    for driver in ("ev", "evd", "evr", "evx"):
        values, vectors = sla.eigh(spd, driver=driver)
        show(letter, "eigh-" + driver, values, np.abs(vectors))
    hermitian = a + a.conj().T
    for driver in ("gv", "gvd", "gvx"):
        show(letter, "eigh-" + driver, sla.eigh(hermitian, spd, driver=driver, eigvals_only=True))
    show(letter, "eigh-subset", sla.eigh(hermitian, subset_by_index=(3, 9), eigvals_only=True))

    singular = a.copy()
    singular[:, 10] = 0
    for name, call in (("solve", lambda: sla.solve(singular, b)),
                       ("cholesky", lambda: sla.cholesky(-spd)),
                       ("solve-pos", lambda: sla.solve(-spd, b, assume_a="pos"))):
        try:
            call()
            print(letter, name, "raised nothing")
        except sla.LinAlgError as error:
            print(letter, name, "raised LinAlgError:", error)

    # Bad arguments: the wrappers of SciPy stop some of them, LAPACK answers the others.
    getrs, potrs = (getattr(lapack, letter + name) for name in ("getrs", "potrs"))
    potrf, getrf = (getattr(lapack, letter + name) for name in ("potrf", "getrf"))
    print(letter, "singular", outcome(lambda: getrf(singular)), outcome(lambda: potrf(-spd)))
    print(letter, "bad-trans", outcome(lambda: getrs(lu, pivots, b, trans=7)))
    print(letter, "bad-rhs", outcome(lambda: getrs(lu, pivots, b[:10])))
    print(letter, "bad-shape", outcome(lambda: potrs(spd[:, :20], b)))
    print(letter, "not-square", outcome(lambda: gesv(a[:, :20], b)))
    print(letter, "empty", outcome(lambda: getrf(np.zeros((0, 0), dtype))))
