/* The calls of c_client.c for one type. Expects LETTER, NAME (the same as a string), SCALAR and
 * IS_COMPLEX, and undefines them. No include guard: it is included once for each type.
 */

static SCALAR LOCAL(random)(void) {
  const double re = next_random();
#if IS_COMPLEX
  return (SCALAR)(re + next_random() * I);
#else
  return (SCALAR)re;
#endif
}

/* Fills a rows x columns matrix whose columns are ld apart, and the rows between with a sentinel.
 */
static void LOCAL(fill)(SCALAR* a, integer rows, integer columns, integer ld) {
  for (integer j = 0; j < columns; ++j) {
    for (integer i = 0; i < ld; ++i) {
      a[i + j * ld] = i < rows ? LOCAL(random)() : (SCALAR)kSentinel;
    }
  }
}

/* Makes a random square matrix Hermitian and its diagonal dominant. */
static void LOCAL(make_definite)(SCALAR* a, integer n, integer ld) {
  for (integer j = 0; j < n; ++j) {
    for (integer i = 0; i < j; ++i) {
#if IS_COMPLEX
      a[i + j * ld] = (SCALAR)conj(a[j + i * ld]);
#else
      a[i + j * ld] = a[j + i * ld];
#endif
    }
    a[j + j * ld] = (SCALAR)(n + j);
  }
}

static void LOCAL(print)(const char* routine, const char* label, integer info, const SCALAR* a,
                         integer rows, integer columns, integer ld) {
  printf(NAME "%s %s info %ld values", routine, label, (long)info);
  for (integer j = 0; j < columns; j += 1 + columns / 4) {
    for (integer i = 0; i < rows; i += 1 + rows / 7) {
      const SCALAR x = a[i + j * ld];
#if IS_COMPLEX
      printf(" %.9e %.9e", creal((double _Complex)x), cimag((double _Complex)x));
#else
      printf(" %.9e", (double)x);
#endif
    }
  }
  int touched = 0;
  for (integer j = 0; j < columns; ++j) {
    for (integer i = rows; i < ld; ++i) touched += a[i + j * ld] != (SCALAR)kSentinel;
  }
  printf(" touched %d\n", touched);
}

static void LOCAL(print_pivots)(const char* routine, const integer* ipiv, integer count) {
  printf(NAME "%s pivots", routine);
  for (integer i = 0; i < count; ++i) printf(" %ld", (long)ipiv[i]);
  printf("\n");
}

static void LOCAL(run)(void) {
  const integer n = kOrder, ld = kOrder + kPadding, nrhs = kRhs, m = kRows, columns = kColumns;
  const integer tall_ld = kRows + kPadding;
  const size_t square = (size_t)(ld * n), tall = (size_t)(tall_ld * columns);
  const size_t rhs = (size_t)(ld * nrhs);
  SCALAR* const general = malloc(square * sizeof(SCALAR));
  SCALAR* const definite = malloc(square * sizeof(SCALAR));
  SCALAR* const a = malloc(square * sizeof(SCALAR));
  SCALAR* const rectangle = malloc(tall * sizeof(SCALAR));
  SCALAR* const b = malloc(rhs * sizeof(SCALAR));
  SCALAR* const x = malloc(rhs * sizeof(SCALAR));
  integer* const ipiv = malloc((size_t)n * sizeof(integer));
  integer info = -99;
  LOCAL(fill)(general, n, n, ld);
  for (integer j = 0; j < n; ++j) general[(j + 1) % n + j * ld] += (SCALAR)n; /* needs pivoting */
  LOCAL(fill)(definite, n, n, ld);
  LOCAL(make_definite)(definite, n, ld);
  LOCAL(fill)(rectangle, m, columns, tall_ld);
  LOCAL(fill)(b, n, nrhs, ld);

  LAPACK(getrf)(&m, &columns, rectangle, &tall_ld, ipiv, &info);
  LOCAL(print)("getrf", "tall", info, rectangle, m, columns, tall_ld);
  LOCAL(print_pivots)("getrf", ipiv, columns);

  memcpy(a, general, square * sizeof(SCALAR));
  LAPACK(getrf)(&n, &n, a, &ld, ipiv, &info);
  LOCAL(print)("getrf", "square", info, a, n, n, ld);
  LOCAL(print_pivots)("getrf", ipiv, n);
  const char* const operations[] = {"N", "T", "C"};
  for (int i = 0; i < 3; ++i) {
    memcpy(x, b, rhs * sizeof(SCALAR));
    LAPACK(getrs)(operations[i], &n, &nrhs, a, &ld, ipiv, x, &ld, &info, 1);
    LOCAL(print)("getrs", operations[i], info, x, n, nrhs, ld);
  }

  memcpy(a, general, square * sizeof(SCALAR));
  memcpy(x, b, rhs * sizeof(SCALAR));
  LAPACK(gesv)(&n, &nrhs, a, &ld, ipiv, x, &ld, &info);
  LOCAL(print)("gesv", "solution", info, x, n, nrhs, ld);
  LOCAL(print_pivots)("gesv", ipiv, n);

  /* A zero column in the middle: the factorization goes on, the solve does not happen. */
  memcpy(a, general, square * sizeof(SCALAR));
  for (integer i = 0; i < n; ++i) a[i + (n / 2) * ld] = 0;
  memcpy(x, b, rhs * sizeof(SCALAR));
  LAPACK(gesv)(&n, &nrhs, a, &ld, ipiv, x, &ld, &info);
  LOCAL(print)("gesv", "singular", info, a, n, n, ld);

  const char* const triangles[] = {"L", "U", "l"};
  for (int i = 0; i < 3; ++i) {
    const char* const uplo = triangles[i];
    memcpy(a, definite, square * sizeof(SCALAR));
    LAPACK(potrf)(uplo, &n, a, &ld, &info, 1);
    LOCAL(print)("potrf", uplo, info, a, n, n, ld); /* the other triangle is as it was */
    memcpy(x, b, rhs * sizeof(SCALAR));
    LAPACK(potrs)(uplo, &n, &nrhs, a, &ld, x, &ld, &info, 1);
    LOCAL(print)("potrs", uplo, info, x, n, nrhs, ld);

    memcpy(a, definite, square * sizeof(SCALAR));
    memcpy(x, b, rhs * sizeof(SCALAR));
    LAPACK(posv)(uplo, &n, &nrhs, a, &ld, x, &ld, &info, 1);
    LOCAL(print)("posv", uplo, info, x, n, nrhs, ld);

    memcpy(a, definite, square * sizeof(SCALAR));
    a[(n - 10) + (n - 10) * ld] = -1; /* not positive definite; B must stay as it is */
    memcpy(x, b, rhs * sizeof(SCALAR));
    LAPACK(posv)(uplo, &n, &nrhs, a, &ld, x, &ld, &info, 1);
    LOCAL(print)("posv", "indefinite", info, x, n, nrhs, ld);
  }

  free(general);
  free(definite);
  free(a);
  free(rectangle);
  free(b);
  free(x);
  free(ipiv);
}

#undef LETTER
#undef NAME
#undef SCALAR
#undef IS_COMPLEX
