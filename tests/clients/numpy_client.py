"""An ordinary NumPy program: numpy.linalg in its four dtypes. Prints "<name> <numbers>" lines for
run_client.py. solve and inv call gesv, cholesky calls potrf, eigh calls syevd or heevd."""

import sys

try:
    import numpy as np
except ImportError:
    print("this Python has no NumPy")
    sys.exit(77)
from numpy.linalg import LinAlgError

N = 60
LETTERS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


def show(letter, label, array):
    values = np.asarray(array).ravel()[:: max(1, np.asarray(array).size // 20)]
    if np.iscomplexobj(values):
        values = values.copy().view(values.real.dtype)
    print(letter, label, *("%.9e" % v for v in values))


random = np.random.RandomState(7)
for letter, dtype in LETTERS.items():
    a = random.uniform(-1, 1, (N, N)) + 1j * random.uniform(-1, 1, (N, N))
    if not np.issubdtype(dtype, np.complexfloating):
        a = a.real
    a = (a + N * np.roll(np.eye(N), 3, axis=0)).astype(dtype)
    b = np.arange(2 * N).reshape(N, 2).astype(dtype)
    spd = (a @ a.conj().T / N + np.eye(N)).astype(dtype)
    show(letter, "solve", np.linalg.solve(a, b))
    show(letter, "solve1", np.linalg.solve(a, b[:, 0]))
    show(letter, "inv", np.linalg.inv(a))
    show(letter, "cholesky", np.linalg.cholesky(spd))
    show(letter, "stack", np.linalg.solve(np.stack([a, spd]), np.stack([b, b])))
    show(letter, "eigvalsh", np.linalg.eigvalsh(spd))
    values, vectors = np.linalg.eigh(spd, UPLO="U")
    show(letter, "eigh", values)
    show(letter, "eigenvectors", np.abs(vectors))

    # Enough columns, and long enough, for their copies to be made by several threads.
    tall = np.concatenate([spd, np.cos(np.arange(2100 * N, dtype=float).reshape(2100, N))])
    show(letter, "qr", np.abs(np.linalg.qr(tall, mode="r")))
    # Several columns may be read together; these rows begin with a cache line.
    lines = np.hstack([tall, tall[::-1, :4]]).astype(dtype)
    for first in (0, 3):
        show(letter, f"qr{first}", np.abs(np.linalg.qr(lines[:, first:], mode="r")))

    singular = a.copy()
    singular[:, 10] = 0
    for name, call in (("solve", lambda: np.linalg.solve(singular, b)),
                       ("inv", lambda: np.linalg.inv(singular)),
                       ("cholesky", lambda: np.linalg.cholesky(-spd))):
        try:
            call()
            print(letter, name, "raised nothing")
        except LinAlgError as error:
            print(letter, name, "raised LinAlgError:", error)
