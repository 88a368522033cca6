! Updates of a Cholesky factor through the generic interface of module overlapack: up, down, and
! both at once, in two precisions. Stops with an error if a result is wrong.
program fortran_update
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use overlapack
  implicit none
  integer(int64), parameter :: n = 90, k = 4
  integer(c_int), parameter :: up = 1, down = -1
  real(real32) :: r(n, n), v(n, k)
  complex(real64) :: l(n, n), x(n, k)
  integer(int64) :: info
  integer :: i, j

  do j = 1, int(n)
    do i = 1, int(n)
      r(i, j) = merge(cos(real(i + 2*j)), 0.0, i < j) / 20
      l(i, j) = cmplx(sin(real(i - 3*j, real64)), merge(1, 0, i > j), real64) / 20
      if (i < j) l(i, j) = 0
    end do
    r(j, j) = 2
    l(j, j) = 3
    do i = 1, int(k)
      v(j, i) = sin(real(i*j))
      x(j, i) = cmplx(cos(real(j*i, real64)), 0.5_real64, real64)
    end do
  end do

  block
    real(real32) :: before(n, n), expected(n, n)
    before = r
    expected = matmul(transpose(r), r) + matmul(v, transpose(v))
    call cholupdate('U', n, k, r, n, v, n, up, info)
    call check(info == 0 .and. maxval(abs(matmul(transpose(r), r) - expected)) < 1e-4)
    call cholupdate('U', n, k, r, n, v, n, down, info)
    call check(info == 0 .and. maxval(abs(r - before)) < 1e-3)
    call cholupdate('U', n, k, r, n, 100*v, n, down, info)
    call check(info > 0)
  end block
  block
    complex(real64) :: expected(n, n)
    expected = matmul(l, conjg(transpose(l))) + matmul(x(:, 1:2), conjg(transpose(x(:, 1:2)))) &
      - matmul(x(:, 3:4), conjg(transpose(x(:, 3:4)))) * 1e-4_real64
    x(:, 3:4) = x(:, 3:4) * 1e-2_real64
    call cholupdate('L', n, k, l, n, x, n, [up, up, down, down], info)
    expected = expected - matmul(l, conjg(transpose(l)))
    call check(info == 0 .and. maxval(abs(expected)) < 1e-11_real64)
  end block

contains

  subroutine check(right)
    logical, intent(in) :: right
    if (.not. right) error stop 'a result is wrong'
  end subroutine check

end program fortran_update
