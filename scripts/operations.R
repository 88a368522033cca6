# Operations of scripts/programs, in R: answers lines as child() does there.
# Usage: Rscript operations.R SECONDS_OF_WARM_UP
#
# Each has what makes its matrix, what is measured, and its error. Only what is measured may call
# LAPACK, as its calls are counted; R's norm() does.

size <- function(x) sqrt(sum(x^2))
residual <- function(a, x, b) size(a %*% x - b) / (size(a) * size(x))
solved <- function(v, x, a, b) residual(a, x, b)
inverted <- function(v, x, a, b) residual(a, x %*% v, v)

square <- function(n) matrix(runif(n * n, -1, 1), n)
positive <- function(n) {
  a <- square(n)
  a + t(a) + diag(2 * n, n)
}

operations <- list(
  "R solve" = list(make = square, run = function(a, b) solve(a, b), check = solved),
  "R solve(A)" = list(make = square, run = function(a, b) solve(a), check = inverted),
  "R chol2inv(chol(A))" = list(make = positive, run = function(a, b) chol2inv(chol(a)),
                               check = inverted))

now <- function() as.numeric(Sys.time())
reply <- function(...) {
  cat(sprintf(...), "\n", sep = "")
  flush(stdout())
}

end <- now() + as.numeric(commandArgs(TRUE))
while (now() < end) chol(diag(2200))
reply('{"versions": {"R": "%s"}}', getRversion())
lines <- file("stdin", "r")
while (length(line <- readLines(lines, 1))) {
  fields <- strsplit(line, " ")[[1]]
  numbers <- as.numeric(fields[1:3])  # order, turn, time
  operation <- operations[[paste(fields[-(1:3)], collapse = " ")]]
  set.seed(numbers[1] + 1e6 * numbers[2])
  a <- operation$make(numbers[1])
  b <- runif(numbers[1], -1, 1)
  v <- matrix(rnorm(2 * numbers[1]), ncol = 2)
  Sys.sleep(max(0, numbers[3] - now()))
  a <- a + 0  # a copy: the processor has slept
  matrix(1, 400, 400) %*% matrix(1, 400, 400)  # wakes the threads of BLAS
  begin <- now()
  x <- operation$run(a, b)
  seconds <- now() - begin
  # JSON has no infinity.
  reply('{"seconds": %.9f, "check": %g}', seconds, min(1, operation$check(v, x, a, b)))
  rm(a, x)
}
