! Norms through the generic interface of module overlapack, in the four precisions. Stops with an
! error if one is wrong.
program fortran_norms
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use overlapack
  implicit none
  integer(int32), parameter :: m = 5, n = 3, ld = 7
  real(real32) :: s(ld, n), swork(m)
  real(real64) :: d(ld, n), dwork(m)
  complex(real32) :: c(ld, n)
  complex(real64) :: z(ld, n)
  integer :: i, j

  do j = 1, n
    do i = 1, ld
      d(i, j) = merge((-1)**i * real(i + 10*j, real64), 1e9_real64, i <= m)
    end do
  end do
  s = real(d, real32)
  z = cmplx(3*d, -4*d, real64)
  c = cmplx(z, kind=real32)

  call check(real(lange('M', m, n, s, ld, swork), real64), 35._real64)
  call check(lange('1', m, n, d, ld, dwork), 165._real64)
  call check(real(lange('I', m, n, c, ld, swork), real64), 375._real64)
  call check(lange('f', m, n, z, ld, dwork), 5*norm2(d(1:m, :)))
  call check(real(lansy('M', 'L', n, s, ld, swork), real64), 33._real64)
  call check(lansy('O', 'U', n, d, ld, dwork), 96._real64)
  call check(real(lansy('I', 'U', n, c, ld, swork), real64), 480._real64)
  call check(lanhe('O', 'U', n, z, ld, dwork), 5*63 + 3*33._real64)
  call check(real(lanhe('M', 'L', n, c, ld, swork), real64), 115._real64)
  call check(real(lantr('I', 'L', 'U', m, n, s, ld, swork), real64), 75._real64)
  call check(lantr('1', 'L', 'N', m, n, d, ld, dwork), 102._real64)
  call check(real(lantr('M', 'U', 'U', n, n, c, ld, swork), real64), 160._real64)
  call check(lantr('f', 'U', 'N', n, n, z, ld, dwork), &
             5*norm2([11._real64, 21._real64, 22._real64, 31._real64, 32._real64, 33._real64]))

contains

  subroutine check(norm, expected)
    real(real64), intent(in) :: norm, expected
    if (abs(norm - expected) > 1e-5_real64 * expected) then
      print *, norm, 'instead of', expected
      error stop 'a norm is wrong'
    end if
  end subroutine check

end program fortran_norms
