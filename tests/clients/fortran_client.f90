! Calls the routines for their types through the generic interfaces of module overlapack and
! prints the results, one line "<routine> <label> <numbers>", for run_client.py to compare.
program fortran_client
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use overlapack
  implicit none
  integer(int32), parameter :: n = 70, nrhs = 2
  ! Two fixed real matrices and a right-hand side; every type starts from them.
  real(real64) :: general(n, n), definite(n, n), rhs(n, nrhs)
  integer(int32) :: i, j

  do j = 1, n
    do i = 1, n
      general(i, j) = sin(real(7*i + 3*j*j, real64))
      definite(i, j) = cos(real(abs(i - j), real64)) / 2
    end do
    general(1 + mod(j, n), j) = general(1 + mod(j, n), j) + n
    definite(j, j) = n + j
  end do
  do j = 1, nrhs
    do i = 1, n
      rhs(i, j) = i - 10*j
    end do
  end do
  call run_s()
  call run_d()
  call run_c()
  call run_z()

contains

  subroutine run_s()
    real(real32), save :: a(n, n), b(n, nrhs)
    integer(int32) :: ipiv(n), info
    a = real(definite, real32)
    b = real(rhs, real32)
    call potrf('U', n, a, n, info)
    call potrs('U', n, nrhs, a, n, b, n, info)
    call print_result('spotrs', info, real(b, real64))
    a = real(definite, real32)
    b = real(rhs, real32)
    call posv('L', n, nrhs, a, n, b, n, info)
    call print_result('sposv ', info, real(b, real64))
    a = real(general, real32)
    b = real(rhs, real32)
    call getrf(n, n, a, n, ipiv, info)
    call getrs('T', n, nrhs, a, n, ipiv, b, n, info)
    call print_result('sgetrs', info, real(b, real64))
    a = real(general, real32)
    b = real(rhs, real32)
    call gesv(n, nrhs, a, n, ipiv, b, n, info)
    call print_result('sgesv ', info, real(b, real64))
  end subroutine run_s

  subroutine run_d()
    real(real64), save :: a(n, n), b(n, nrhs), x(n, nrhs), work(n, nrhs)
    real(real32), save :: swork(n*(n + nrhs))
    integer(int32) :: ipiv(n), iter, info
    a = definite
    b = rhs
    call potrf('U', n, a, n, info)
    call potrs('U', n, nrhs, a, n, b, n, info)
    call print_result('dpotrs', info, b)
    a = definite
    b = rhs
    call posv('L', n, nrhs, a, n, b, n, info)
    call print_result('dposv ', info, b)
    a = general
    b = rhs
    call getrf(n, n, a, n, ipiv, info)
    call getrs('T', n, nrhs, a, n, ipiv, b, n, info)
    call print_result('dgetrs', info, b)
    a = general
    b = rhs
    call gesv(n, nrhs, a, n, ipiv, b, n, info)
    call print_result('dgesv ', info, b)
    a = general
    b = rhs
    call mixed_gesv(n, nrhs, a, n, ipiv, b, n, x, n, work, swork, iter, info)
    call print_result('dsgesv', info, x)
    a = definite
    call mixed_posv('U', n, nrhs, a, n, b, n, x, n, work, swork, iter, info)
    call print_result('dsposv', info, x)
    call eigenvalues_d()
  end subroutine run_d

  subroutine eigenvalues_d()
    real(real64), save :: a(n, n), b(n, n), z(n, n), w(n, 1), work(2*n*n + 32*n)
    integer(int32) :: iwork(10*n), support(2*n), m, info
    a = definite
    call syevd('V', 'L', n, a, n, w(:, 1), work, size(work), iwork, size(iwork), info)
    call print_result('dsyevd', info, w)
    a = definite
    call syevr('V', 'I', 'U', n, a, n, 0.0d0, 0.0d0, 2, n - 2, 0.0d0, m, w(:, 1), z, n, support, &
        work, size(work), iwork, size(iwork), info)
    call print_result('dsyevr', info + 100*m, w(2:m, :))
    a = general + transpose(general)
    b = definite
    call sygvd(1, 'N', 'L', n, a, n, b, n, w(:, 1), work, size(work), iwork, size(iwork), info)
    call print_result('dsygvd', info, w)
  end subroutine eigenvalues_d

  subroutine run_c()
    complex(real32), save :: a(n, n), b(n, nrhs)
    integer(int32) :: ipiv(n), info
    a = cmplx(definite, skew(), real32)
    b = cmplx(rhs, -rhs, real32)
    call potrf('U', n, a, n, info)
    call potrs('U', n, nrhs, a, n, b, n, info)
    call print_complex('cpotrs', info, cmplx(b, kind=real64))
    a = cmplx(definite, skew(), real32)
    b = cmplx(rhs, -rhs, real32)
    call posv('L', n, nrhs, a, n, b, n, info)
    call print_complex('cposv ', info, cmplx(b, kind=real64))
    a = cmplx(general, transpose(general), real32)
    b = cmplx(rhs, -rhs, real32)
    call getrf(n, n, a, n, ipiv, info)
    call getrs('C', n, nrhs, a, n, ipiv, b, n, info)
    call print_complex('cgetrs', info, cmplx(b, kind=real64))
    a = cmplx(general, transpose(general), real32)
    b = cmplx(rhs, -rhs, real32)
    call gesv(n, nrhs, a, n, ipiv, b, n, info)
    call print_complex('cgesv ', info, cmplx(b, kind=real64))
  end subroutine run_c

  subroutine run_z()
    complex(real64), save :: a(n, n), b(n, nrhs), x(n, nrhs), work(n, nrhs)
    complex(real32), save :: swork(n*(n + nrhs))
    real(real64) :: rwork(n)
    integer(int32) :: ipiv(n), iter, info
    a = cmplx(definite, skew(), real64)
    b = cmplx(rhs, -rhs, real64)
    call potrf('U', n, a, n, info)
    call potrs('U', n, nrhs, a, n, b, n, info)
    call print_complex('zpotrs', info, b)
    a = cmplx(definite, skew(), real64)
    b = cmplx(rhs, -rhs, real64)
    call posv('L', n, nrhs, a, n, b, n, info)
    call print_complex('zposv ', info, b)
    a = cmplx(general, transpose(general), real64)
    b = cmplx(rhs, -rhs, real64)
    call getrf(n, n, a, n, ipiv, info)
    call getrs('C', n, nrhs, a, n, ipiv, b, n, info)
    call print_complex('zgetrs', info, b)
    a = cmplx(general, transpose(general), real64)
    b = cmplx(rhs, -rhs, real64)
    call gesv(n, nrhs, a, n, ipiv, b, n, info)
    call print_complex('zgesv ', info, b)
    a = cmplx(general, transpose(general), real64)
    b = cmplx(rhs, -rhs, real64)
    call mixed_gesv(n, nrhs, a, n, ipiv, b, n, x, n, work, swork, rwork, iter, info)
    call print_complex('zcgesv', info, x)
    a = cmplx(definite, skew(), real64)
    call mixed_posv('L', n, nrhs, a, n, b, n, x, n, work, swork, rwork, iter, info)
    call print_complex('zcposv', info, x)
    call eigenvalues_z()
  end subroutine run_z

  subroutine eigenvalues_z()
    complex(real64), save :: a(n, n), tau(n), work(n*n + 32*n)
    real(real64), save :: w(n, 1), e(n), rwork(2*n*n + 24*n)
    integer(int32) :: iwork(10*n), info
    a = cmplx(definite, skew(), real64)
    call syevd('V', 'L', n, a, n, w(:, 1), work, size(work), rwork, size(rwork), iwork, &
        size(iwork), info)
    call print_result('zheevd', info, w)
    a = cmplx(definite, skew(), real64)
    call sytrd('U', n, a, n, w(:, 1), e, tau, work, size(work), info)
    call orgtr('U', n, a, n, tau, work, size(work), info)
    call stedc('V', n, w(:, 1), e, a, n, work, size(work), rwork, size(rwork), iwork, &
        size(iwork), info)
    call print_result('zstedc', info, w)
  end subroutine eigenvalues_z

  ! An antisymmetric matrix: the imaginary part of a Hermitian one.
  function skew() result(s)
    real(real64) :: s(n, n)
    s = (general - transpose(general)) / (4*n)
  end function skew

  subroutine print_result(routine, info, b)
    character(*), intent(in) :: routine
    integer(int32), intent(in) :: info
    real(real64), intent(in) :: b(:, :)
    print '(a, a, i0, a, *(1x, es18.9))', routine, ' solution info ', info, ' values', b(::9, :)
  end subroutine print_result

  subroutine print_complex(routine, info, b)
    character(*), intent(in) :: routine
    integer(int32), intent(in) :: info
    complex(real64), intent(in) :: b(:, :)
    print '(a, a, i0, a, *(1x, es18.9))', routine, ' solution info ', info, ' values', b(1:n:9, :)
  end subroutine print_complex
end program fortran_client
