"""The operations that scripts/programs measures.

An operation has a name, whose first word is the package, and the LAPACK routines that it waits for
on the CPU. Above the order `largest` it would take minutes. make(random, n) returns the operands,
run(*operands) the result, and check(v, result, *operands) its error, with n x 2 random numbers v;
or an array to compare with that of a run without overlapack. Errors above `bound` are wrong. Only
run() may call LAPACK, as what it calls is counted. Operations of R and Octave have all of this in
operations.R and operations.m.
"""
import collections
import importlib
import math
import types

RESIDUAL, DIFFERENCE = 1e-12, 1e-6
np = la = RBFInterpolator = sk = pyscf = None  # until load()


def load():
    """Versions of the packages that there are."""
    global np, la, RBFInterpolator, sk, pyscf
    versions = {}
    try:
        np = importlib.import_module("numpy")
        versions["numpy"] = np.__version__
        la = importlib.import_module("scipy.linalg")
        RBFInterpolator = importlib.import_module("scipy.interpolate").RBFInterpolator
        versions["scipy"] = importlib.import_module("scipy").__version__
        sk = types.SimpleNamespace()
        for module, names in (("linear_model", "LinearRegression Ridge BayesianRidge"),
                              ("kernel_ridge", "KernelRidge"),
                              ("gaussian_process", "GaussianProcessRegressor"),
                              ("mixture", "GaussianMixture"), ("decomposition", "PCA"),
                              ("covariance", "EmpiricalCovariance"),
                              ("discriminant_analysis", "LinearDiscriminantAnalysis"),
                              ("metrics.pairwise", "rbf_kernel")):
            module = importlib.import_module("sklearn." + module)
            vars(sk).update((name, getattr(module, name)) for name in names.split())
        versions["sklearn"] = importlib.import_module("sklearn").__version__
    except ImportError:
        pass
    try:
        pyscf = importlib.import_module("pyscf")
        importlib.import_module("pyscf.scf")
        versions["pyscf"] = pyscf.__version__
    except ImportError:
        pass
    return versions


Operation = collections.namedtuple(
    "Operation", "name waits_for largest make run check bound", defaults=[None] * 3 + [RESIDUAL])


def large_call():
    """One that goes to the GPU with built-in sizes, too."""
    np.linalg.cholesky(np.eye(2200))


def error(left, right, *scale):
    return float(np.linalg.norm(left - right) / math.prod(map(np.linalg.norm, scale)))


def worst(*errors):
    return float(np.max(errors))  # NaN if one is, unlike max()


def residual(a, x, b):
    return error(a @ x, b, a, x)


def orthogonal(v, q):
    v = v[:q.shape[1]]
    return error(q.T @ (q @ v), v, v)


def square(random, n):
    return (random.uniform(-1, 1, (n, n)),)


def near_identity(random, n):
    return (np.eye(n) + square(random, n)[0] * (0.5 / math.sqrt(n)),)


def moderate(random, n):
    """Products of its pivots, and so its determinant, are neither large nor small."""
    return (random.permutation(near_identity(random, n)[0]),)


def positive(random, n):
    a, = symmetric(random, n)
    a[np.diag_indices(n)] += 2 * n
    return (a,)


def symmetric(random, n):
    a, = square(random, n)
    return (a + a.T,)


def pencil(random, n):
    return symmetric(random, n) + positive(random, n)


def triangular(random, n):
    a = np.tril(square(random, n)[0])
    a[np.diag_indices(n)] += math.sqrt(n)
    return a, square(random, n)[0]


def tall(random, n):
    return (random.uniform(-1, 1, (n, n // 2)),)


def wide(random, n):
    return (tall(random, n)[0].T,)


def and_vector(make):
    return lambda random, n: (*make(random, n), random.uniform(-1, 1, n))


def and_matrix(make):
    return lambda random, n: (*make(random, n), square(random, n)[0])


def samples(random, n):
    x = random.uniform(-1, 1, (2 * n, n))
    return x, x[:, :5].sum(1) + 0.1 * random.standard_normal(2 * n)


def few_features(random, n):
    x = random.uniform(-1, 1, (n, 20))
    return x, np.sin(x.sum(1))


def classes(random, n):
    x, y = samples(random, n)
    return x, np.digitize(y, [-0.5, 0.5])


def points(random, n):
    x = random.uniform(-1, 1, (n, 2))
    return x, np.sin(x.sum(1))


def solved(v, x, a, b):
    return residual(a, x, b) if x.ndim == 1 else residual(a, x @ v, b @ v)


def value(v, x, a):
    return np.array(x)


def inverted(v, x, a):
    return residual(a, x @ v, v)


def cholesky_error(v, factor, a):
    return error(factor @ (factor.T @ v), a @ v, a, v)


def lu_error(v, result, a):
    lu, pivots = result
    y = np.triu(lu) @ v
    y += np.tril(lu, -1) @ y
    for i in reversed(range(len(y))):
        y[[i, pivots[i]]] = y[[pivots[i], i]]
    return error(y, a @ v, a, v)


def least_squares_error(v, result, a, b):
    return error(a.T @ (a @ result[0]), a.T @ b, a, a, result[0])


def eigh_error(v, result, a, b=None):
    w, z = result
    bz = z if b is None else b @ z
    scale = (a, v) if b is None else (a, z, v)
    return worst(error(a @ (z @ v), bz @ (w[:, None] * v), *scale), error(z.T @ (bz @ v), v, v))


def eigenvalues_error(v, w, a):
    return worst(error(w.sum(), np.trace(a), a), error((w * w).sum(), (a * a.T).sum(), a, a))


def qr_error(v, result, a):
    q, r = result
    return worst(error(q @ (r @ v), a @ v, a, v), orthogonal(v, q))


def svd_error(v, result, a):
    u, s, vt = result
    return worst(error(u @ (s[:, None] * (vt @ v)), a @ v, a, v), orthogonal(v, u),
                 orthogonal(v, vt.T))


def pinv_error(v, x, a):
    w = v[:a.shape[1]]
    projected = a @ (x @ v)
    return worst(error(x @ (a @ w), w, w), error(v.T @ projected, projected.T @ v, v))


def exponential(a, v):
    """e^a v, by the series."""
    total, term, k = v, v, 0
    while np.linalg.norm(term) > 1e-18 * np.linalg.norm(total):
        k += 1
        term = a @ term / k
        total = total + term
    return total


def null_space_error(v, z, a):
    if z.shape[1] != a.shape[1] - a.shape[0]:
        return math.inf
    w = v[:z.shape[1]]
    return worst(error(a @ (z @ w), 0, a, w), orthogonal(v, z))


def interpolation_error(v, f, x, y):
    return error(f(x[:100]), y[:100], y)


def kernel_ridge_error(v, model, x, y):
    k = sk.rbf_kernel(x)
    k[np.diag_indices(len(k))] += model.alpha
    return residual(k, model.dual_coef_, y)


def gaussian_process(x, y):
    model = sk.GaussianProcessRegressor(alpha=0.01, optimizer=None).fit(x, y)
    return model, model.predict(x[:100], return_std=True)


def gaussian_process_error(v, result, x, y):
    model, (mean, deviation) = result
    k = model.kernel_(x)
    some = k[:100].copy()
    k[np.diag_indices(len(k))] += model.alpha
    variance = 1 - np.square(la.blas.dtrsm(1, model.L_, some.T, lower=True)).sum(0)
    return worst(residual(k, model.alpha_, y), error(some @ model.alpha_, mean, some, model.alpha_),
                 error(variance, deviation**2, np.ones(100)), cholesky_error(v, model.L_, k))


def regression_error(v, model, x, y):
    """Without a gradient of the squares, and of the penalty if there is one."""
    x = x - x.mean(0)
    gradient = x.T @ (y - y.mean() - x @ model.coef_)
    return worst(error(gradient, getattr(model, "alpha", 0) * model.coef_, x, y),
                 error(model.intercept_ + model.predict(x * 0).mean(), 2 * model.intercept_, y))


def components_error(v, model, x, y):
    x, w = x - x.mean(0), model.components_.T
    scaled = (len(x) - 1) * model.explained_variance_[:, None] * v
    return worst(error(x.T @ (x @ (w @ v)), w @ scaled, x, x, v), orthogonal(v, w))


def mixture_error(v, model, x, y):
    root, covariance = model.precisions_cholesky_[0], model.covariances_[0]
    return error(root.T @ (covariance @ (root @ v)), v, v)


def hopping(random, n):
    """Of a model with n sites, whose energies are between -2 and 2."""
    a, = symmetric(random, n)
    return (a * math.sqrt(1.5 / n),)


def mean_field(h):
    """Eight rounds of self-consistency of a Hubbard model with an electron for each site."""
    repulsion, cycles = 1.0, 8
    molecule = pyscf.gto.M(verbose=0)
    molecule.nelectron = len(h) // 2 * 2
    molecule.incore_anyway = True
    model = pyscf.scf.RHF(molecule)
    model.max_cycle = cycles
    model.get_hcore = lambda *_: h
    model.get_ovlp = lambda *_: np.eye(len(h))
    model.get_veff = lambda _, density, *unused, **other: np.diag(repulsion / 2 * np.diag(density))
    return model.kernel(np.eye(len(h)))


# Lambdas where a package is to be loaded first.
OPERATIONS = [Operation(*row) for row in [
    ("numpy solve", "gesv", None, and_vector(square), lambda a, b: np.linalg.solve(a, b), solved),
    ("numpy solve n rhs", "gesv", None, and_matrix(square),
     lambda a, b: np.linalg.solve(a, b), solved),
    ("numpy inv", "gesv", None, square, lambda a: np.linalg.inv(a), inverted),
    ("numpy det", "getrf", None, moderate, lambda a: np.linalg.det(a),
     value, DIFFERENCE),
    ("numpy slogdet", "getrf", None, square, lambda a: np.linalg.slogdet(a),
     value, DIFFERENCE),
    ("numpy cond 1-norm", "gesv", None, square, lambda a: np.linalg.cond(a, 1),
     value, DIFFERENCE),
    ("numpy cholesky", "potrf", None, positive, lambda a: np.linalg.cholesky(a), cholesky_error),
    ("numpy lstsq", "gelsd", 2000, and_vector(tall),
     lambda a, b: np.linalg.lstsq(a, b, rcond=None), least_squares_error),
    ("numpy qr", "geqrf orgqr", 5000, square, lambda a: np.linalg.qr(a), qr_error),
    ("numpy eigh", "syevd", 5000, symmetric, lambda a: np.linalg.eigh(a), eigh_error),
    ("numpy eigvalsh", "syevd", 5000, symmetric, lambda a: np.linalg.eigvalsh(a),
     eigenvalues_error),
    ("numpy eigvals", "geev", 1000, square, lambda a: np.linalg.eigvals(a), eigenvalues_error),
    ("numpy svd", "gesdd", 2000, square, lambda a: np.linalg.svd(a), svd_error),
    ("numpy pinv", "gesdd", 2000, tall, lambda a: np.linalg.pinv(a), pinv_error),
    ("scipy solve", "getrf getrs", None, and_vector(square), lambda a, b: la.solve(a, b), solved),
    ("scipy solve pos", "potrf potrs", None, and_vector(positive),
     lambda a, b: la.solve(a, b, assume_a="pos"), solved),
    ("scipy lu_factor", "getrf", None, square, lambda a: la.lu_factor(a), lu_error),
    ("scipy lu_factor+lu_solve", "getrf getrs", None, and_matrix(square),
     lambda a, b: la.lu_solve(la.lu_factor(a), b), solved),
    ("scipy lu", "getrf", None, square, lambda a: la.lu(a),
     lambda v, plu, a: error(plu[0] @ (plu[1] @ (plu[2] @ v)), a @ v, a, v)),
    ("scipy cho_factor+cho_solve", "potrf potrs", None, and_matrix(positive),
     lambda a, b: la.cho_solve(la.cho_factor(a), b), solved),
    ("scipy solve_triangular", "trtrs", None, triangular,
     lambda a, b: la.solve_triangular(a, b, lower=True), solved),
    ("scipy inv", "getrf getri", None, square, lambda a: la.inv(a), inverted),
    ("scipy det", "getrf", None, moderate, lambda a: la.det(a), value,
     DIFFERENCE),
    ("scipy expm", "getrf getrs", 2000, near_identity, lambda a: la.expm(a),
     lambda v, x, a: error(x @ v, exponential(a, v), x, v)),
    ("scipy sqrtm", "gees", 1000, near_identity, lambda a: la.sqrtm(a),
     lambda v, x, a: error(x @ (x @ v), a @ v, a, v)),
    ("scipy logm", "gees", 500, near_identity, lambda a: la.logm(a),
     lambda v, x, a: error(exponential(x, v), a @ v, a, v)),
    ("scipy lstsq", "gelsd", 2000, and_vector(tall), lambda a, b: la.lstsq(a, b),
     least_squares_error),
    ("scipy qr", "geqrf orgqr", 5000, square, lambda a: la.qr(a), qr_error),
    ("scipy eigh", "syevr", 5000, symmetric, lambda a: la.eigh(a), eigh_error),
    ("scipy eigh generalized", "sygvd", 2000, pencil, lambda a, b: la.eigh(a, b), eigh_error),
    ("scipy svd", "gesdd", 2000, square, lambda a: la.svd(a), svd_error),
    ("scipy pinvh", "syevr", 2000, positive, lambda a: la.pinvh(a), inverted),
    ("scipy null_space", "gesdd", 2000, wide, lambda a: la.null_space(a), null_space_error),
    ("scipy RBFInterpolator", "gesv", None, points,
     lambda x, y: RBFInterpolator(x, y), interpolation_error,
     1e-10),
    ("sklearn KernelRidge", "potrf potrs", None, few_features,
     lambda x, y: sk.KernelRidge(kernel="rbf").fit(x, y), kernel_ridge_error),
    ("sklearn GaussianProcess", "potrf potrs", None, few_features, gaussian_process,
     gaussian_process_error),
    ("sklearn Ridge", "potrf potrs", None, samples,
     lambda x, y: sk.Ridge(solver="cholesky").fit(x, y), regression_error),
    ("sklearn LinearRegression", "gelsd", 2000, samples,
     lambda x, y: sk.LinearRegression().fit(x, y), regression_error),
    ("sklearn GaussianMixture", "potrf trtrs", 2000, samples,
     lambda x, y: sk.GaussianMixture(1, init_params="random").fit(x), mixture_error),
    ("sklearn EmpiricalCovariance", "syevr", 2000, samples,
     lambda x, y: sk.EmpiricalCovariance().fit(x),
     lambda v, model, x, y: residual(model.covariance_, model.precision_ @ v, v)),
    ("sklearn PCA", "gesdd", 1000, samples, lambda x, y: sk.PCA(svd_solver="full").fit(x),
     components_error),
    ("sklearn LinearDiscriminant", "gesdd", 1000, classes,
     lambda x, y: sk.LinearDiscriminantAnalysis().fit(x, y),
     lambda v, model, x, y: model.coef_ @ v, DIFFERENCE),
    ("sklearn BayesianRidge", "gesdd", 1000, samples, lambda x, y: sk.BayesianRidge().fit(x, y),
     lambda v, model, x, y: model.coef_ @ v, DIFFERENCE),
    ("pyscf mean field", "sygvd", 2000, hopping, mean_field, lambda v, energy, h: np.array(energy),
     DIFFERENCE),
    ("R solve", "gesv", None),
    ("R solve(A)", "gesv", None),
    ("R chol2inv(chol(A))", "potrf potri", None),
    ("octave A\\b", "getrf getrs", None),
    ("octave inv(A)", "getrf getri", None),
]]
