"""Handwritten digits by kernel methods, with scikit-learn: an ordinary program that knows nothing
of the LAPACK it runs on.

A kernel ridge classifier is tuned by cross-validation and judged on digits it has not seen; a
Gaussian process with the same kernel then says how sure it is of each digit's value. Writes the
predictions to the file named on the command line.
"""

import sys
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, train_test_split

output = open(sys.argv[1], "wb")  # first: what cannot be written is not worth computing
digits = load_digits()
images = digits.data / 16
x, x_test, y, y_test = train_test_split(images, digits.target, test_size=360, random_state=0)
print(f"{len(x)} images to learn from, {len(x_test)} to be tested on")
start = time.perf_counter()

one_hot = np.eye(10)[y]
search = GridSearchCV(KernelRidge(kernel="rbf"), cv=3,
                      param_grid={"alpha": [1e-3, 1e-2, 1e-1], "gamma": [0.03, 0.1, 0.3]})
search.fit(x, one_hot)
scores = search.predict(x_test)
accuracy = np.mean(scores.argmax(axis=1) == y_test)

gamma, alpha = search.best_params_["gamma"], search.best_params_["alpha"]
kernel = RBF(length_scale=(2 * gamma) ** -0.5) + WhiteKernel(alpha)
process = GaussianProcessRegressor(kernel, optimizer=None).fit(x, y - 4.5)
mean, deviation = process.predict(x_test, return_std=True)

seconds = time.perf_counter() - start
print(f"kernel ridge with alpha = {alpha}, gamma = {gamma}: {100 * accuracy:.2f} % recognised")
print(f"Gaussian process: mean absolute error {np.mean(abs(mean + 4.5 - y_test)):.3f}, "
      f"mean standard deviation {deviation.mean():.3f}")
print(f"computed in {seconds:.2f} s")
with output:
    np.savez(output, scores=scores, mean=mean, deviation=deviation, seconds=seconds)
