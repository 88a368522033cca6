# An ordinary R program. Factorizations and solves are overlapack's, eigen() and svd() are not.
set.seed(1)
n <- 60
a <- crossprod(matrix(rnorm(n * n), n)) + diag(n)
small <- function(x) stopifnot(max(abs(x)) < 1e-9)
small(a %*% solve(a) - diag(n))
small(crossprod(chol(a)) - a)
e <- eigen(a)
small(e$vectors %*% (e$values * t(e$vectors)) - a)
small(svd(a)$d - e$values)
