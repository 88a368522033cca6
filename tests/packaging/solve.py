"""An ordinary NumPy program. Factorizations and solves are overlapack's, eigh() and svd() are
not."""

import numpy as np

n = 60
a = np.random.default_rng(1).normal(size=(n, n))
a = a.T @ a + np.eye(n)
np.testing.assert_allclose(a @ np.linalg.inv(a), np.eye(n), atol=1e-9)
r = np.linalg.cholesky(a)
np.testing.assert_allclose(r @ r.T, a, atol=1e-9)
np.testing.assert_allclose(np.linalg.eigvalsh(a)[::-1], np.linalg.svd(a)[1], atol=1e-9)
