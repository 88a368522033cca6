% An ordinary Octave program. Factorizations and solves are overlapack's, eig() and svd() are not.
n = 60;
a = rand (n);
a = a' * a + eye (n);
assert (a * inv (a), eye (n), 1e-9);
assert (a * (a \ eye (n)), eye (n), 1e-9);
r = chol (a);
assert (r' * r, a, 1e-9);
assert (sort (eig (a), "descend"), svd (a), 1e-9);
