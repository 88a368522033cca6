! Generic Fortran interfaces to the LAPACK routines that liboverlapack provides, and to its updates
! of a Cholesky factor.
!
!     use overlapack
!     call potrf('L', n, a, n, info)
!
! is spotrf, dpotrf, cpotrf or zpotrf by the type of `a`. The arguments are LAPACK's own (shapes,
! leading dimensions, ipiv and info are explained in overlapack/lapack.h); integers are 32 bits
! wide, but those of cholupdate, except for sigma, 64: integer(int64). Matrices are assumed-size, so
! a(lda, *) describes any part of an array.
!
! Module files belong to one compiler, so this file is installed as source: add it to your program.
module overlapack
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_double_complex, c_float, &
      c_float_complex, c_int, c_int64_t
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  implicit none
  private

  public :: potrf, potrs, posv, getrf, getrs, gesv, trtrs, lange, lansy, lanhe, lantr
  public :: gecon, pocon, trcon, trtri, lauum, potri, getri
  public :: geqrf, orgqr, ormqr, gelqf, orglq, ormlq
  public :: geqrt, gemqrt
  public :: gels
  public :: syev, syevd, syevr, syevx, sygv, sygvd, sygvx, sytrd, orgtr, ormtr, stedc
  public :: mixed_gesv, mixed_posv, cholupdate

  !> Cholesky factorization of the `uplo` triangle of the n x n matrix A, in place.
  interface potrf
    subroutine spotrf(uplo, n, a, lda, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      real(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine spotrf
    subroutine dpotrf(uplo, n, a, lda, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine dpotrf
    subroutine cpotrf(uplo, n, a, lda, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      complex(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine cpotrf
    subroutine zpotrf(uplo, n, a, lda, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine zpotrf
  end interface potrf

  !> Solves A X = B with the factor that potrf left in A; X replaces B (n x nrhs).
  interface potrs
    subroutine spotrs(uplo, n, nrhs, a, lda, b, ldb, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      real(real32), intent(in) :: a(lda, *)
      real(real32), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine spotrs
    subroutine dpotrs(uplo, n, nrhs, a, lda, b, ldb, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      real(real64), intent(in) :: a(lda, *)
      real(real64), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine dpotrs
    subroutine cpotrs(uplo, n, nrhs, a, lda, b, ldb, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      complex(real32), intent(in) :: a(lda, *)
      complex(real32), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine cpotrs
    subroutine zpotrs(uplo, n, nrhs, a, lda, b, ldb, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      complex(real64), intent(in) :: a(lda, *)
      complex(real64), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine zpotrs
  end interface potrs

  !> potrf and potrs in one: factors A and solves A X = B.
  interface posv
    subroutine sposv(uplo, n, nrhs, a, lda, b, ldb, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      real(real32), intent(inout) :: a(lda, *)
      real(real32), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine sposv
    subroutine dposv(uplo, n, nrhs, a, lda, b, ldb, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      real(real64), intent(inout) :: a(lda, *)
      real(real64), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine dposv
    subroutine cposv(uplo, n, nrhs, a, lda, b, ldb, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      complex(real32), intent(inout) :: a(lda, *)
      complex(real32), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine cposv
    subroutine zposv(uplo, n, nrhs, a, lda, b, ldb, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      complex(real64), intent(inout) :: a(lda, *)
      complex(real64), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine zposv
  end interface posv

  !> LU factorization with partial pivoting of the m x n matrix A, in place.
  interface getrf
    subroutine sgetrf(m, n, a, lda, ipiv, info)
      import :: int32, real32
      integer(int32), intent(in) :: m, n, lda
      real(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: ipiv(*)
      integer(int32), intent(out) :: info
    end subroutine sgetrf
    subroutine dgetrf(m, n, a, lda, ipiv, info)
      import :: int32, real64
      integer(int32), intent(in) :: m, n, lda
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: ipiv(*)
      integer(int32), intent(out) :: info
    end subroutine dgetrf
    subroutine cgetrf(m, n, a, lda, ipiv, info)
      import :: int32, real32
      integer(int32), intent(in) :: m, n, lda
      complex(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: ipiv(*)
      integer(int32), intent(out) :: info
    end subroutine cgetrf
    subroutine zgetrf(m, n, a, lda, ipiv, info)
      import :: int32, real64
      integer(int32), intent(in) :: m, n, lda
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: ipiv(*)
      integer(int32), intent(out) :: info
    end subroutine zgetrf
  end interface getrf

  !> Solves op(A) X = B with the factors that getrf left; op by trans: 'N', 'T' or 'C'.
  interface getrs
    subroutine sgetrs(trans, n, nrhs, a, lda, ipiv, b, ldb, info)
      import :: int32, real32
      character, intent(in) :: trans
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      real(real32), intent(in) :: a(lda, *)
      integer(int32), intent(in) :: ipiv(*)
      real(real32), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine sgetrs
    subroutine dgetrs(trans, n, nrhs, a, lda, ipiv, b, ldb, info)
      import :: int32, real64
      character, intent(in) :: trans
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      real(real64), intent(in) :: a(lda, *)
      integer(int32), intent(in) :: ipiv(*)
      real(real64), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine dgetrs
    subroutine cgetrs(trans, n, nrhs, a, lda, ipiv, b, ldb, info)
      import :: int32, real32
      character, intent(in) :: trans
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      complex(real32), intent(in) :: a(lda, *)
      integer(int32), intent(in) :: ipiv(*)
      complex(real32), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine cgetrs
    subroutine zgetrs(trans, n, nrhs, a, lda, ipiv, b, ldb, info)
      import :: int32, real64
      character, intent(in) :: trans
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      complex(real64), intent(in) :: a(lda, *)
      integer(int32), intent(in) :: ipiv(*)
      complex(real64), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine zgetrs
  end interface getrs

  !> getrf and getrs in one: factors A and solves A X = B.
  interface gesv
    subroutine sgesv(n, nrhs, a, lda, ipiv, b, ldb, info)
      import :: int32, real32
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      real(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: ipiv(*)
      real(real32), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine sgesv
    subroutine dgesv(n, nrhs, a, lda, ipiv, b, ldb, info)
      import :: int32, real64
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: ipiv(*)
      real(real64), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine dgesv
    subroutine cgesv(n, nrhs, a, lda, ipiv, b, ldb, info)
      import :: int32, real32
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      complex(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: ipiv(*)
      complex(real32), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine cgesv
    subroutine zgesv(n, nrhs, a, lda, ipiv, b, ldb, info)
      import :: int32, real64
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: ipiv(*)
      complex(real64), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine zgesv
  end interface gesv

  !> Solves op(A) X = B for the triangle A that uplo names; with diag = 'U' it has a unit diagonal.
  interface trtrs
    subroutine strtrs(uplo, trans, diag, n, nrhs, a, lda, b, ldb, info)
      import :: int32, real32
      character, intent(in) :: uplo, trans, diag
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      real(real32), intent(in) :: a(lda, *)
      real(real32), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine strtrs
    subroutine dtrtrs(uplo, trans, diag, n, nrhs, a, lda, b, ldb, info)
      import :: int32, real64
      character, intent(in) :: uplo, trans, diag
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      real(real64), intent(in) :: a(lda, *)
      real(real64), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine dtrtrs
    subroutine ctrtrs(uplo, trans, diag, n, nrhs, a, lda, b, ldb, info)
      import :: int32, real32
      character, intent(in) :: uplo, trans, diag
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      complex(real32), intent(in) :: a(lda, *)
      complex(real32), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine ctrtrs
    subroutine ztrtrs(uplo, trans, diag, n, nrhs, a, lda, b, ldb, info)
      import :: int32, real64
      character, intent(in) :: uplo, trans, diag
      integer(int32), intent(in) :: n, nrhs, lda, ldb
      complex(real64), intent(in) :: a(lda, *)
      complex(real64), intent(inout) :: b(ldb, *)
      integer(int32), intent(out) :: info
    end subroutine ztrtrs
  end interface trtrs

  !> The reciprocal condition number of a matrix from the factors that getrf left in A. anorm is the
  !> norm of the matrix. work2 has integers for real types and real numbers for complex ones.
  interface gecon
    subroutine sgecon(norm, n, a, lda, anorm, rcond, work, work2, info)
      import :: int32, real32
      character, intent(in) :: norm
      integer(int32), intent(in) :: n, lda
      real(real32), intent(in) :: a(lda, *)
      real(real32), intent(in) :: anorm
      real(real32), intent(out) :: rcond
      real(real32), intent(inout) :: work(*)
      integer(int32), intent(inout) :: work2(*)
      integer(int32), intent(out) :: info
    end subroutine sgecon
    subroutine dgecon(norm, n, a, lda, anorm, rcond, work, work2, info)
      import :: int32, real64
      character, intent(in) :: norm
      integer(int32), intent(in) :: n, lda
      real(real64), intent(in) :: a(lda, *)
      real(real64), intent(in) :: anorm
      real(real64), intent(out) :: rcond
      real(real64), intent(inout) :: work(*)
      integer(int32), intent(inout) :: work2(*)
      integer(int32), intent(out) :: info
    end subroutine dgecon
    subroutine cgecon(norm, n, a, lda, anorm, rcond, work, work2, info)
      import :: int32, real32
      character, intent(in) :: norm
      integer(int32), intent(in) :: n, lda
      complex(real32), intent(in) :: a(lda, *)
      real(real32), intent(in) :: anorm
      real(real32), intent(out) :: rcond
      complex(real32), intent(inout) :: work(*)
      real(real32), intent(inout) :: work2(*)
      integer(int32), intent(out) :: info
    end subroutine cgecon
    subroutine zgecon(norm, n, a, lda, anorm, rcond, work, work2, info)
      import :: int32, real64
      character, intent(in) :: norm
      integer(int32), intent(in) :: n, lda
      complex(real64), intent(in) :: a(lda, *)
      real(real64), intent(in) :: anorm
      real(real64), intent(out) :: rcond
      complex(real64), intent(inout) :: work(*)
      real(real64), intent(inout) :: work2(*)
      integer(int32), intent(out) :: info
    end subroutine zgecon
  end interface gecon

  !> The same from the factor that potrf left in the `uplo` triangle of A.
  interface pocon
    subroutine spocon(uplo, n, a, lda, anorm, rcond, work, work2, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      real(real32), intent(in) :: a(lda, *)
      real(real32), intent(in) :: anorm
      real(real32), intent(out) :: rcond
      real(real32), intent(inout) :: work(*)
      integer(int32), intent(inout) :: work2(*)
      integer(int32), intent(out) :: info
    end subroutine spocon
    subroutine dpocon(uplo, n, a, lda, anorm, rcond, work, work2, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      real(real64), intent(in) :: a(lda, *)
      real(real64), intent(in) :: anorm
      real(real64), intent(out) :: rcond
      real(real64), intent(inout) :: work(*)
      integer(int32), intent(inout) :: work2(*)
      integer(int32), intent(out) :: info
    end subroutine dpocon
    subroutine cpocon(uplo, n, a, lda, anorm, rcond, work, work2, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      complex(real32), intent(in) :: a(lda, *)
      real(real32), intent(in) :: anorm
      real(real32), intent(out) :: rcond
      complex(real32), intent(inout) :: work(*)
      real(real32), intent(inout) :: work2(*)
      integer(int32), intent(out) :: info
    end subroutine cpocon
    subroutine zpocon(uplo, n, a, lda, anorm, rcond, work, work2, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      complex(real64), intent(in) :: a(lda, *)
      real(real64), intent(in) :: anorm
      real(real64), intent(out) :: rcond
      complex(real64), intent(inout) :: work(*)
      real(real64), intent(inout) :: work2(*)
      integer(int32), intent(out) :: info
    end subroutine zpocon
  end interface pocon

  !> The same of a triangular matrix A, whose norm is computed.
  interface trcon
    subroutine strcon(norm, uplo, diag, n, a, lda, rcond, work, work2, info)
      import :: int32, real32
      character, intent(in) :: norm, uplo, diag
      integer(int32), intent(in) :: n, lda
      real(real32), intent(in) :: a(lda, *)
      real(real32), intent(out) :: rcond
      real(real32), intent(inout) :: work(*)
      integer(int32), intent(inout) :: work2(*)
      integer(int32), intent(out) :: info
    end subroutine strcon
    subroutine dtrcon(norm, uplo, diag, n, a, lda, rcond, work, work2, info)
      import :: int32, real64
      character, intent(in) :: norm, uplo, diag
      integer(int32), intent(in) :: n, lda
      real(real64), intent(in) :: a(lda, *)
      real(real64), intent(out) :: rcond
      real(real64), intent(inout) :: work(*)
      integer(int32), intent(inout) :: work2(*)
      integer(int32), intent(out) :: info
    end subroutine dtrcon
    subroutine ctrcon(norm, uplo, diag, n, a, lda, rcond, work, work2, info)
      import :: int32, real32
      character, intent(in) :: norm, uplo, diag
      integer(int32), intent(in) :: n, lda
      complex(real32), intent(in) :: a(lda, *)
      real(real32), intent(out) :: rcond
      complex(real32), intent(inout) :: work(*)
      real(real32), intent(inout) :: work2(*)
      integer(int32), intent(out) :: info
    end subroutine ctrcon
    subroutine ztrcon(norm, uplo, diag, n, a, lda, rcond, work, work2, info)
      import :: int32, real64
      character, intent(in) :: norm, uplo, diag
      integer(int32), intent(in) :: n, lda
      complex(real64), intent(in) :: a(lda, *)
      real(real64), intent(out) :: rcond
      complex(real64), intent(inout) :: work(*)
      real(real64), intent(inout) :: work2(*)
      integer(int32), intent(out) :: info
    end subroutine ztrcon
  end interface trcon

  !> The inverse of the triangle A that uplo names, in place; with diag = 'U' its diagonal is ones.
  interface trtri
    subroutine strtri(uplo, diag, n, a, lda, info)
      import :: int32, real32
      character, intent(in) :: uplo, diag
      integer(int32), intent(in) :: n, lda
      real(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine strtri
    subroutine dtrtri(uplo, diag, n, a, lda, info)
      import :: int32, real64
      character, intent(in) :: uplo, diag
      integer(int32), intent(in) :: n, lda
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine dtrtri
    subroutine ctrtri(uplo, diag, n, a, lda, info)
      import :: int32, real32
      character, intent(in) :: uplo, diag
      integer(int32), intent(in) :: n, lda
      complex(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine ctrtri
    subroutine ztrtri(uplo, diag, n, a, lda, info)
      import :: int32, real64
      character, intent(in) :: uplo, diag
      integer(int32), intent(in) :: n, lda
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine ztrtri
  end interface trtri

  !> The triangle of L^H L (uplo = 'L') or U U^H (uplo = 'U'), in place of L or U.
  interface lauum
    subroutine slauum(uplo, n, a, lda, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      real(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine slauum
    subroutine dlauum(uplo, n, a, lda, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine dlauum
    subroutine clauum(uplo, n, a, lda, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      complex(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine clauum
    subroutine zlauum(uplo, n, a, lda, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine zlauum
  end interface lauum

  !> The `uplo` triangle of A^-1, in place of the factor that potrf left.
  interface potri
    subroutine spotri(uplo, n, a, lda, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      real(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine spotri
    subroutine dpotri(uplo, n, a, lda, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine dpotri
    subroutine cpotri(uplo, n, a, lda, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      complex(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine cpotri
    subroutine zpotri(uplo, n, a, lda, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
    end subroutine zpotri
  end interface potri

  !> A^-1, in place of the factors that getrf left; lwork >= max(1, n).
  interface getri
    subroutine sgetri(n, a, lda, ipiv, work, lwork, info)
      import :: int32, real32
      integer(int32), intent(in) :: n, lda, lwork
      real(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(in) :: ipiv(*)
      real(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine sgetri
    subroutine dgetri(n, a, lda, ipiv, work, lwork, info)
      import :: int32, real64
      integer(int32), intent(in) :: n, lda, lwork
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(in) :: ipiv(*)
      real(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine dgetri
    subroutine cgetri(n, a, lda, ipiv, work, lwork, info)
      import :: int32, real32
      integer(int32), intent(in) :: n, lda, lwork
      complex(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(in) :: ipiv(*)
      complex(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine cgetri
    subroutine zgetri(n, a, lda, ipiv, work, lwork, info)
      import :: int32, real64
      integer(int32), intent(in) :: n, lda, lwork
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(in) :: ipiv(*)
      complex(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine zgetri
  end interface getri

  !> QR factorization of the m x n matrix A; lwork >= max(1, n).
  interface geqrf
    subroutine sgeqrf(m, n, a, lda, tau, work, lwork, info)
      import :: int32, real32
      integer(int32), intent(in) :: m, n, lda, lwork
      real(real32), intent(inout) :: a(lda, *)
      real(real32), intent(out) :: tau(*), work(*)
      integer(int32), intent(out) :: info
    end subroutine sgeqrf
    subroutine dgeqrf(m, n, a, lda, tau, work, lwork, info)
      import :: int32, real64
      integer(int32), intent(in) :: m, n, lda, lwork
      real(real64), intent(inout) :: a(lda, *)
      real(real64), intent(out) :: tau(*), work(*)
      integer(int32), intent(out) :: info
    end subroutine dgeqrf
    subroutine cgeqrf(m, n, a, lda, tau, work, lwork, info)
      import :: int32, real32
      integer(int32), intent(in) :: m, n, lda, lwork
      complex(real32), intent(inout) :: a(lda, *)
      complex(real32), intent(out) :: tau(*), work(*)
      integer(int32), intent(out) :: info
    end subroutine cgeqrf
    subroutine zgeqrf(m, n, a, lda, tau, work, lwork, info)
      import :: int32, real64
      integer(int32), intent(in) :: m, n, lda, lwork
      complex(real64), intent(inout) :: a(lda, *)
      complex(real64), intent(out) :: tau(*), work(*)
      integer(int32), intent(out) :: info
    end subroutine zgeqrf
  end interface geqrf

  !> The first n columns of Q, in place of the k reflectors that geqrf left; lwork >= max(1, n).
  interface orgqr
    subroutine sorgqr(m, n, k, a, lda, tau, work, lwork, info)
      import :: int32, real32
      integer(int32), intent(in) :: m, n, k, lda, lwork
      real(real32), intent(inout) :: a(lda, *)
      real(real32), intent(in) :: tau(*)
      real(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine sorgqr
    subroutine dorgqr(m, n, k, a, lda, tau, work, lwork, info)
      import :: int32, real64
      integer(int32), intent(in) :: m, n, k, lda, lwork
      real(real64), intent(inout) :: a(lda, *)
      real(real64), intent(in) :: tau(*)
      real(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine dorgqr
    subroutine cungqr(m, n, k, a, lda, tau, work, lwork, info)
      import :: int32, real32
      integer(int32), intent(in) :: m, n, k, lda, lwork
      complex(real32), intent(inout) :: a(lda, *)
      complex(real32), intent(in) :: tau(*)
      complex(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine cungqr
    subroutine zungqr(m, n, k, a, lda, tau, work, lwork, info)
      import :: int32, real64
      integer(int32), intent(in) :: m, n, k, lda, lwork
      complex(real64), intent(inout) :: a(lda, *)
      complex(real64), intent(in) :: tau(*)
      complex(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine zungqr
  end interface orgqr

  !> op(Q) C or C op(Q), in place of the m x n matrix C, by the k reflectors that geqrf left in A.
  !> `trans` is 'N' or 'T', of complex matrices 'N' or 'C'. lwork >= max(1, n), for 'R' max(1, m).
  interface ormqr
    subroutine sormqr(side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: side, trans
      integer(int32), intent(in) :: m, n, k, lda, ldc, lwork
      real(real32), intent(in) :: a(lda, *), tau(*)
      real(real32), intent(inout) :: c(ldc, *)
      real(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine sormqr
    subroutine dormqr(side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: side, trans
      integer(int32), intent(in) :: m, n, k, lda, ldc, lwork
      real(real64), intent(in) :: a(lda, *), tau(*)
      real(real64), intent(inout) :: c(ldc, *)
      real(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine dormqr
    subroutine cunmqr(side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: side, trans
      integer(int32), intent(in) :: m, n, k, lda, ldc, lwork
      complex(real32), intent(in) :: a(lda, *), tau(*)
      complex(real32), intent(inout) :: c(ldc, *)
      complex(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine cunmqr
    subroutine zunmqr(side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: side, trans
      integer(int32), intent(in) :: m, n, k, lda, ldc, lwork
      complex(real64), intent(in) :: a(lda, *), tau(*)
      complex(real64), intent(inout) :: c(ldc, *)
      complex(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine zunmqr
  end interface ormqr

  !> LQ factorization of the m x n matrix A; lwork >= max(1, m).
  interface gelqf
    subroutine sgelqf(m, n, a, lda, tau, work, lwork, info)
      import :: int32, real32
      integer(int32), intent(in) :: m, n, lda, lwork
      real(real32), intent(inout) :: a(lda, *)
      real(real32), intent(out) :: tau(*), work(*)
      integer(int32), intent(out) :: info
    end subroutine sgelqf
    subroutine dgelqf(m, n, a, lda, tau, work, lwork, info)
      import :: int32, real64
      integer(int32), intent(in) :: m, n, lda, lwork
      real(real64), intent(inout) :: a(lda, *)
      real(real64), intent(out) :: tau(*), work(*)
      integer(int32), intent(out) :: info
    end subroutine dgelqf
    subroutine cgelqf(m, n, a, lda, tau, work, lwork, info)
      import :: int32, real32
      integer(int32), intent(in) :: m, n, lda, lwork
      complex(real32), intent(inout) :: a(lda, *)
      complex(real32), intent(out) :: tau(*), work(*)
      integer(int32), intent(out) :: info
    end subroutine cgelqf
    subroutine zgelqf(m, n, a, lda, tau, work, lwork, info)
      import :: int32, real64
      integer(int32), intent(in) :: m, n, lda, lwork
      complex(real64), intent(inout) :: a(lda, *)
      complex(real64), intent(out) :: tau(*), work(*)
      integer(int32), intent(out) :: info
    end subroutine zgelqf
  end interface gelqf

  !> The first m rows of Q, in place of the k reflectors that gelqf left; lwork >= max(1, m).
  interface orglq
    subroutine sorglq(m, n, k, a, lda, tau, work, lwork, info)
      import :: int32, real32
      integer(int32), intent(in) :: m, n, k, lda, lwork
      real(real32), intent(inout) :: a(lda, *)
      real(real32), intent(in) :: tau(*)
      real(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine sorglq
    subroutine dorglq(m, n, k, a, lda, tau, work, lwork, info)
      import :: int32, real64
      integer(int32), intent(in) :: m, n, k, lda, lwork
      real(real64), intent(inout) :: a(lda, *)
      real(real64), intent(in) :: tau(*)
      real(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine dorglq
    subroutine cunglq(m, n, k, a, lda, tau, work, lwork, info)
      import :: int32, real32
      integer(int32), intent(in) :: m, n, k, lda, lwork
      complex(real32), intent(inout) :: a(lda, *)
      complex(real32), intent(in) :: tau(*)
      complex(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine cunglq
    subroutine zunglq(m, n, k, a, lda, tau, work, lwork, info)
      import :: int32, real64
      integer(int32), intent(in) :: m, n, k, lda, lwork
      complex(real64), intent(inout) :: a(lda, *)
      complex(real64), intent(in) :: tau(*)
      complex(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine zunglq
  end interface orglq

  !> As ormqr, by the k reflectors that gelqf left in A.
  interface ormlq
    subroutine sormlq(side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: side, trans
      integer(int32), intent(in) :: m, n, k, lda, ldc, lwork
      real(real32), intent(in) :: a(lda, *), tau(*)
      real(real32), intent(inout) :: c(ldc, *)
      real(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine sormlq
    subroutine dormlq(side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: side, trans
      integer(int32), intent(in) :: m, n, k, lda, ldc, lwork
      real(real64), intent(in) :: a(lda, *), tau(*)
      real(real64), intent(inout) :: c(ldc, *)
      real(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine dormlq
    subroutine cunmlq(side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: side, trans
      integer(int32), intent(in) :: m, n, k, lda, ldc, lwork
      complex(real32), intent(in) :: a(lda, *), tau(*)
      complex(real32), intent(inout) :: c(ldc, *)
      complex(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine cunmlq
    subroutine zunmlq(side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: side, trans
      integer(int32), intent(in) :: m, n, k, lda, ldc, lwork
      complex(real64), intent(in) :: a(lda, *), tau(*)
      complex(real64), intent(inout) :: c(ldc, *)
      complex(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine zunmlq
  end interface ormlq

  !> As geqrf, with the triangles of blocks of nb reflectors in T (nb x min(m, n)); work has nb n
  !> elements.
  interface geqrt
    subroutine sgeqrt(m, n, nb, a, lda, t, ldt, work, info)
      import :: int32, real32
      integer(int32), intent(in) :: m, n, nb, lda, ldt
      real(real32), intent(inout) :: a(lda, *)
      real(real32), intent(out) :: t(ldt, *), work(*)
      integer(int32), intent(out) :: info
    end subroutine sgeqrt
    subroutine dgeqrt(m, n, nb, a, lda, t, ldt, work, info)
      import :: int32, real64
      integer(int32), intent(in) :: m, n, nb, lda, ldt
      real(real64), intent(inout) :: a(lda, *)
      real(real64), intent(out) :: t(ldt, *), work(*)
      integer(int32), intent(out) :: info
    end subroutine dgeqrt
    subroutine cgeqrt(m, n, nb, a, lda, t, ldt, work, info)
      import :: int32, real32
      integer(int32), intent(in) :: m, n, nb, lda, ldt
      complex(real32), intent(inout) :: a(lda, *)
      complex(real32), intent(out) :: t(ldt, *), work(*)
      integer(int32), intent(out) :: info
    end subroutine cgeqrt
    subroutine zgeqrt(m, n, nb, a, lda, t, ldt, work, info)
      import :: int32, real64
      integer(int32), intent(in) :: m, n, nb, lda, ldt
      complex(real64), intent(inout) :: a(lda, *)
      complex(real64), intent(out) :: t(ldt, *), work(*)
      integer(int32), intent(out) :: info
    end subroutine zgeqrt
  end interface geqrt

  !> As ormqr, by the k reflectors that geqrt left in V and T; work has nb n elements, or nb m for
  !> 'R'.
  interface gemqrt
    subroutine sgemqrt(side, trans, m, n, k, nb, v, ldv, t, ldt, c, ldc, work, info)
      import :: int32, real32
      character, intent(in) :: side, trans
      integer(int32), intent(in) :: m, n, k, nb, ldv, ldt, ldc
      real(real32), intent(in) :: v(ldv, *), t(ldt, *)
      real(real32), intent(inout) :: c(ldc, *)
      real(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine sgemqrt
    subroutine dgemqrt(side, trans, m, n, k, nb, v, ldv, t, ldt, c, ldc, work, info)
      import :: int32, real64
      character, intent(in) :: side, trans
      integer(int32), intent(in) :: m, n, k, nb, ldv, ldt, ldc
      real(real64), intent(in) :: v(ldv, *), t(ldt, *)
      real(real64), intent(inout) :: c(ldc, *)
      real(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine dgemqrt
    subroutine cgemqrt(side, trans, m, n, k, nb, v, ldv, t, ldt, c, ldc, work, info)
      import :: int32, real32
      character, intent(in) :: side, trans
      integer(int32), intent(in) :: m, n, k, nb, ldv, ldt, ldc
      complex(real32), intent(in) :: v(ldv, *), t(ldt, *)
      complex(real32), intent(inout) :: c(ldc, *)
      complex(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine cgemqrt
    subroutine zgemqrt(side, trans, m, n, k, nb, v, ldv, t, ldt, c, ldc, work, info)
      import :: int32, real64
      character, intent(in) :: side, trans
      integer(int32), intent(in) :: m, n, k, nb, ldv, ldt, ldc
      complex(real64), intent(in) :: v(ldv, *), t(ldt, *)
      complex(real64), intent(inout) :: c(ldc, *)
      complex(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine zgemqrt
  end interface gemqrt

  !> Least squares, or the solution of least norm, of op(A) X = B, where A (m x n) has full rank;
  !> X replaces B. lwork >= max(1, k + max(k, nrhs)) with k = min(m, n).
  interface gels
    subroutine sgels(trans, m, n, nrhs, a, lda, b, ldb, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: trans
      integer(int32), intent(in) :: m, n, nrhs, lda, ldb, lwork
      real(real32), intent(inout) :: a(lda, *), b(ldb, *)
      real(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine sgels
    subroutine dgels(trans, m, n, nrhs, a, lda, b, ldb, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: trans
      integer(int32), intent(in) :: m, n, nrhs, lda, ldb, lwork
      real(real64), intent(inout) :: a(lda, *), b(ldb, *)
      real(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine dgels
    subroutine cgels(trans, m, n, nrhs, a, lda, b, ldb, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: trans
      integer(int32), intent(in) :: m, n, nrhs, lda, ldb, lwork
      complex(real32), intent(inout) :: a(lda, *), b(ldb, *)
      complex(real32), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine cgels
    subroutine zgels(trans, m, n, nrhs, a, lda, b, ldb, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: trans
      integer(int32), intent(in) :: m, n, nrhs, lda, ldb, lwork
      complex(real64), intent(inout) :: a(lda, *), b(ldb, *)
      complex(real64), intent(out) :: work(*)
      integer(int32), intent(out) :: info
    end subroutine zgels
  end interface gels

  !> Eigenvalues w of the symmetric (Hermitian) matrix A, in ascending order; with jobz = 'V' A
  !> becomes the eigenvectors. Of complex matrices, here and below, there is rwork.
  interface syev
    subroutine ssyev(jobz, uplo, n, a, lda, w, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: n, lda, lwork
      real(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
      real(real32), intent(out) :: w(*), work(*)
    end subroutine ssyev
    subroutine dsyev(jobz, uplo, n, a, lda, w, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: n, lda, lwork
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
      real(real64), intent(out) :: w(*), work(*)
    end subroutine dsyev
    subroutine cheev(jobz, uplo, n, a, lda, w, work, lwork, rwork, info)
      import :: int32, real32
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: n, lda, lwork
      complex(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
      complex(real32), intent(out) :: work(*)
      real(real32), intent(out) :: w(*), rwork(*)
    end subroutine cheev
    subroutine zheev(jobz, uplo, n, a, lda, w, work, lwork, rwork, info)
      import :: int32, real64
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: n, lda, lwork
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
      complex(real64), intent(out) :: work(*)
      real(real64), intent(out) :: w(*), rwork(*)
    end subroutine zheev
  end interface syev

  !> The same by divide and conquer. A query (lwork = -1) says in work(1), iwork(1) and, of complex
  !> matrices, rwork(1) how large the workspaces are to be.
  interface syevd
    subroutine ssyevd(jobz, uplo, n, a, lda, w, work, lwork, iwork, liwork, info)
      import :: int32, real32
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: n, lda, lwork, liwork
      real(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: iwork(*), info
      real(real32), intent(out) :: w(*), work(*)
    end subroutine ssyevd
    subroutine dsyevd(jobz, uplo, n, a, lda, w, work, lwork, iwork, liwork, info)
      import :: int32, real64
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: n, lda, lwork, liwork
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: iwork(*), info
      real(real64), intent(out) :: w(*), work(*)
    end subroutine dsyevd
    subroutine cheevd(jobz, uplo, n, a, lda, w, work, lwork, rwork, lrwork, iwork, liwork, info)
      import :: int32, real32
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: n, lda, lwork, lrwork, liwork
      complex(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: iwork(*), info
      complex(real32), intent(out) :: work(*)
      real(real32), intent(out) :: w(*), rwork(*)
    end subroutine cheevd
    subroutine zheevd(jobz, uplo, n, a, lda, w, work, lwork, rwork, lrwork, iwork, liwork, info)
      import :: int32, real64
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: n, lda, lwork, lrwork, liwork
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: iwork(*), info
      complex(real64), intent(out) :: work(*)
      real(real64), intent(out) :: w(*), rwork(*)
    end subroutine zheevd
  end interface syevd

  !> The same by relatively robust representations, or for some of the eigenvalues: all (range =
  !> 'A'), those in (vl, vu] ('V'), or number il to iu ('I'). They are m, and their vectors z (n x
  !> m).
  interface syevr
    subroutine ssyevr(jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, isuppz, &
        work, lwork, iwork, liwork, info)
      import :: int32, real32
      character, intent(in) :: jobz, range, uplo
      integer(int32), intent(in) :: n, lda, il, iu, ldz, lwork, liwork
      real(real32), intent(in) :: vl, vu, abstol
      real(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: m, isuppz(*), iwork(*), info
      real(real32), intent(out) :: w(*), z(ldz, *), work(*)
    end subroutine ssyevr
    subroutine dsyevr(jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, isuppz, &
        work, lwork, iwork, liwork, info)
      import :: int32, real64
      character, intent(in) :: jobz, range, uplo
      integer(int32), intent(in) :: n, lda, il, iu, ldz, lwork, liwork
      real(real64), intent(in) :: vl, vu, abstol
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: m, isuppz(*), iwork(*), info
      real(real64), intent(out) :: w(*), z(ldz, *), work(*)
    end subroutine dsyevr
    subroutine cheevr(jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, isuppz, &
        work, lwork, rwork, lrwork, iwork, liwork, info)
      import :: int32, real32
      character, intent(in) :: jobz, range, uplo
      integer(int32), intent(in) :: n, lda, il, iu, ldz, lwork, lrwork, liwork
      real(real32), intent(in) :: vl, vu, abstol
      complex(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: m, isuppz(*), iwork(*), info
      complex(real32), intent(out) :: z(ldz, *), work(*)
      real(real32), intent(out) :: w(*), rwork(*)
    end subroutine cheevr
    subroutine zheevr(jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, isuppz, &
        work, lwork, rwork, lrwork, iwork, liwork, info)
      import :: int32, real64
      character, intent(in) :: jobz, range, uplo
      integer(int32), intent(in) :: n, lda, il, iu, ldz, lwork, lrwork, liwork
      real(real64), intent(in) :: vl, vu, abstol
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: m, isuppz(*), iwork(*), info
      complex(real64), intent(out) :: z(ldz, *), work(*)
      real(real64), intent(out) :: w(*), rwork(*)
    end subroutine zheevr
  end interface syevr

  !> As syevr. ifail says which vectors have not converged, if info > 0.
  interface syevx
    subroutine ssyevx(jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, work, &
        lwork, iwork, ifail, info)
      import :: int32, real32
      character, intent(in) :: jobz, range, uplo
      integer(int32), intent(in) :: n, lda, il, iu, ldz, lwork
      real(real32), intent(in) :: vl, vu, abstol
      real(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: m, iwork(*), ifail(*), info
      real(real32), intent(out) :: w(*), z(ldz, *), work(*)
    end subroutine ssyevx
    subroutine dsyevx(jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, work, &
        lwork, iwork, ifail, info)
      import :: int32, real64
      character, intent(in) :: jobz, range, uplo
      integer(int32), intent(in) :: n, lda, il, iu, ldz, lwork
      real(real64), intent(in) :: vl, vu, abstol
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: m, iwork(*), ifail(*), info
      real(real64), intent(out) :: w(*), z(ldz, *), work(*)
    end subroutine dsyevx
    subroutine cheevx(jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, work, &
        lwork, rwork, iwork, ifail, info)
      import :: int32, real32
      character, intent(in) :: jobz, range, uplo
      integer(int32), intent(in) :: n, lda, il, iu, ldz, lwork
      real(real32), intent(in) :: vl, vu, abstol
      complex(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: m, iwork(*), ifail(*), info
      complex(real32), intent(out) :: z(ldz, *), work(*)
      real(real32), intent(out) :: w(*), rwork(*)
    end subroutine cheevx
    subroutine zheevx(jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, work, &
        lwork, rwork, iwork, ifail, info)
      import :: int32, real64
      character, intent(in) :: jobz, range, uplo
      integer(int32), intent(in) :: n, lda, il, iu, ldz, lwork
      real(real64), intent(in) :: vl, vu, abstol
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: m, iwork(*), ifail(*), info
      complex(real64), intent(out) :: z(ldz, *), work(*)
      real(real64), intent(out) :: w(*), rwork(*)
    end subroutine zheevx
  end interface syevx

  !> Eigenvalues and, with jobz = 'V', eigenvectors of A x = lambda B x (itype = 1), A B x = lambda
  !> x (2) or B A x = lambda x (3), for a positive definite B, which its Cholesky factor replaces.
  interface sygv
    subroutine ssygv(itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: itype, n, lda, ldb, lwork
      real(real32), intent(inout) :: a(lda, *), b(ldb, *)
      integer(int32), intent(out) :: info
      real(real32), intent(out) :: w(*), work(*)
    end subroutine ssygv
    subroutine dsygv(itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: itype, n, lda, ldb, lwork
      real(real64), intent(inout) :: a(lda, *), b(ldb, *)
      integer(int32), intent(out) :: info
      real(real64), intent(out) :: w(*), work(*)
    end subroutine dsygv
    subroutine chegv(itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork, rwork, info)
      import :: int32, real32
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: itype, n, lda, ldb, lwork
      complex(real32), intent(inout) :: a(lda, *), b(ldb, *)
      integer(int32), intent(out) :: info
      complex(real32), intent(out) :: work(*)
      real(real32), intent(out) :: w(*), rwork(*)
    end subroutine chegv
    subroutine zhegv(itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork, rwork, info)
      import :: int32, real64
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: itype, n, lda, ldb, lwork
      complex(real64), intent(inout) :: a(lda, *), b(ldb, *)
      integer(int32), intent(out) :: info
      complex(real64), intent(out) :: work(*)
      real(real64), intent(out) :: w(*), rwork(*)
    end subroutine zhegv
  end interface sygv

  !> The same by divide and conquer.
  interface sygvd
    subroutine ssygvd(itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork, iwork, liwork, info)
      import :: int32, real32
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: itype, n, lda, ldb, lwork, liwork
      real(real32), intent(inout) :: a(lda, *), b(ldb, *)
      integer(int32), intent(out) :: iwork(*), info
      real(real32), intent(out) :: w(*), work(*)
    end subroutine ssygvd
    subroutine dsygvd(itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork, iwork, liwork, info)
      import :: int32, real64
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: itype, n, lda, ldb, lwork, liwork
      real(real64), intent(inout) :: a(lda, *), b(ldb, *)
      integer(int32), intent(out) :: iwork(*), info
      real(real64), intent(out) :: w(*), work(*)
    end subroutine dsygvd
    subroutine chegvd(itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork, rwork, lrwork, iwork, &
        liwork, info)
      import :: int32, real32
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: itype, n, lda, ldb, lwork, lrwork, liwork
      complex(real32), intent(inout) :: a(lda, *), b(ldb, *)
      integer(int32), intent(out) :: iwork(*), info
      complex(real32), intent(out) :: work(*)
      real(real32), intent(out) :: w(*), rwork(*)
    end subroutine chegvd
    subroutine zhegvd(itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork, rwork, lrwork, iwork, &
        liwork, info)
      import :: int32, real64
      character, intent(in) :: jobz, uplo
      integer(int32), intent(in) :: itype, n, lda, ldb, lwork, lrwork, liwork
      complex(real64), intent(inout) :: a(lda, *), b(ldb, *)
      integer(int32), intent(out) :: iwork(*), info
      complex(real64), intent(out) :: work(*)
      real(real64), intent(out) :: w(*), rwork(*)
    end subroutine zhegvd
  end interface sygvd

  !> The same for some of the eigenvalues, as syevx.
  interface sygvx
    subroutine ssygvx(itype, jobz, range, uplo, n, a, lda, b, ldb, vl, vu, il, iu, abstol, m, w, &
        z, ldz, work, lwork, iwork, ifail, info)
      import :: int32, real32
      character, intent(in) :: jobz, range, uplo
      integer(int32), intent(in) :: itype, n, lda, ldb, il, iu, ldz, lwork
      real(real32), intent(in) :: vl, vu, abstol
      real(real32), intent(inout) :: a(lda, *), b(ldb, *)
      integer(int32), intent(out) :: m, iwork(*), ifail(*), info
      real(real32), intent(out) :: w(*), z(ldz, *), work(*)
    end subroutine ssygvx
    subroutine dsygvx(itype, jobz, range, uplo, n, a, lda, b, ldb, vl, vu, il, iu, abstol, m, w, &
        z, ldz, work, lwork, iwork, ifail, info)
      import :: int32, real64
      character, intent(in) :: jobz, range, uplo
      integer(int32), intent(in) :: itype, n, lda, ldb, il, iu, ldz, lwork
      real(real64), intent(in) :: vl, vu, abstol
      real(real64), intent(inout) :: a(lda, *), b(ldb, *)
      integer(int32), intent(out) :: m, iwork(*), ifail(*), info
      real(real64), intent(out) :: w(*), z(ldz, *), work(*)
    end subroutine dsygvx
    subroutine chegvx(itype, jobz, range, uplo, n, a, lda, b, ldb, vl, vu, il, iu, abstol, m, w, &
        z, ldz, work, lwork, rwork, iwork, ifail, info)
      import :: int32, real32
      character, intent(in) :: jobz, range, uplo
      integer(int32), intent(in) :: itype, n, lda, ldb, il, iu, ldz, lwork
      real(real32), intent(in) :: vl, vu, abstol
      complex(real32), intent(inout) :: a(lda, *), b(ldb, *)
      integer(int32), intent(out) :: m, iwork(*), ifail(*), info
      complex(real32), intent(out) :: z(ldz, *), work(*)
      real(real32), intent(out) :: w(*), rwork(*)
    end subroutine chegvx
    subroutine zhegvx(itype, jobz, range, uplo, n, a, lda, b, ldb, vl, vu, il, iu, abstol, m, w, &
        z, ldz, work, lwork, rwork, iwork, ifail, info)
      import :: int32, real64
      character, intent(in) :: jobz, range, uplo
      integer(int32), intent(in) :: itype, n, lda, ldb, il, iu, ldz, lwork
      real(real64), intent(in) :: vl, vu, abstol
      complex(real64), intent(inout) :: a(lda, *), b(ldb, *)
      integer(int32), intent(out) :: m, iwork(*), ifail(*), info
      complex(real64), intent(out) :: z(ldz, *), work(*)
      real(real64), intent(out) :: w(*), rwork(*)
    end subroutine zhegvx
  end interface sygvx

  !> Q**H A Q = T for a tridiagonal T with the diagonals d and e. A becomes the reflectors of Q,
  !> whose factors are tau.
  interface sytrd
    subroutine ssytrd(uplo, n, a, lda, d, e, tau, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda, lwork
      real(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
      real(real32), intent(out) :: d(*), e(*), tau(*), work(*)
    end subroutine ssytrd
    subroutine dsytrd(uplo, n, a, lda, d, e, tau, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda, lwork
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
      real(real64), intent(out) :: d(*), e(*), tau(*), work(*)
    end subroutine dsytrd
    subroutine chetrd(uplo, n, a, lda, d, e, tau, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda, lwork
      complex(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
      complex(real32), intent(out) :: tau(*), work(*)
      real(real32), intent(out) :: d(*), e(*)
    end subroutine chetrd
    subroutine zhetrd(uplo, n, a, lda, d, e, tau, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda, lwork
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
      complex(real64), intent(out) :: tau(*), work(*)
      real(real64), intent(out) :: d(*), e(*)
    end subroutine zhetrd
  end interface sytrd

  !> That Q as a matrix, in place of the reflectors; lwork >= max(1, n - 1).
  interface orgtr
    subroutine sorgtr(uplo, n, a, lda, tau, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda, lwork
      real(real32), intent(in) :: tau(*)
      real(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
      real(real32), intent(out) :: work(*)
    end subroutine sorgtr
    subroutine dorgtr(uplo, n, a, lda, tau, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda, lwork
      real(real64), intent(in) :: tau(*)
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
      real(real64), intent(out) :: work(*)
    end subroutine dorgtr
    subroutine cungtr(uplo, n, a, lda, tau, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda, lwork
      complex(real32), intent(in) :: tau(*)
      complex(real32), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
      complex(real32), intent(out) :: work(*)
    end subroutine cungtr
    subroutine zungtr(uplo, n, a, lda, tau, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, lda, lwork
      complex(real64), intent(in) :: tau(*)
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: info
      complex(real64), intent(out) :: work(*)
    end subroutine zungtr
  end interface orgtr

  !> op(Q) C (side = 'L') or C op(Q) ('R'), in place of the m x n matrix C. `trans` is 'N' or 'T',
  !> of complex matrices 'N' or 'C'. lwork >= max(1, n) for 'L', max(1, m) for 'R'.
  interface ormtr
    subroutine sormtr(side, uplo, trans, m, n, a, lda, tau, c, ldc, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: side, uplo, trans
      integer(int32), intent(in) :: m, n, lda, ldc, lwork
      real(real32), intent(in) :: a(lda, *), tau(*)
      real(real32), intent(inout) :: c(ldc, *)
      integer(int32), intent(out) :: info
      real(real32), intent(out) :: work(*)
    end subroutine sormtr
    subroutine dormtr(side, uplo, trans, m, n, a, lda, tau, c, ldc, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: side, uplo, trans
      integer(int32), intent(in) :: m, n, lda, ldc, lwork
      real(real64), intent(in) :: a(lda, *), tau(*)
      real(real64), intent(inout) :: c(ldc, *)
      integer(int32), intent(out) :: info
      real(real64), intent(out) :: work(*)
    end subroutine dormtr
    subroutine cunmtr(side, uplo, trans, m, n, a, lda, tau, c, ldc, work, lwork, info)
      import :: int32, real32
      character, intent(in) :: side, uplo, trans
      integer(int32), intent(in) :: m, n, lda, ldc, lwork
      complex(real32), intent(in) :: a(lda, *), tau(*)
      complex(real32), intent(inout) :: c(ldc, *)
      integer(int32), intent(out) :: info
      complex(real32), intent(out) :: work(*)
    end subroutine cunmtr
    subroutine zunmtr(side, uplo, trans, m, n, a, lda, tau, c, ldc, work, lwork, info)
      import :: int32, real64
      character, intent(in) :: side, uplo, trans
      integer(int32), intent(in) :: m, n, lda, ldc, lwork
      complex(real64), intent(in) :: a(lda, *), tau(*)
      complex(real64), intent(inout) :: c(ldc, *)
      integer(int32), intent(out) :: info
      complex(real64), intent(out) :: work(*)
    end subroutine zunmtr
  end interface ormtr

  !> Eigenvalues d of the tridiagonal matrix of d and e. With compz = 'I' z becomes its
  !> eigenvectors, and with 'V', where z is the Q of sytrd, those of A.
  interface stedc
    subroutine sstedc(compz, n, d, e, z, ldz, work, lwork, iwork, liwork, info)
      import :: int32, real32
      character, intent(in) :: compz
      integer(int32), intent(in) :: n, ldz, lwork, liwork
      real(real32), intent(inout) :: d(*), e(*), z(ldz, *)
      integer(int32), intent(out) :: iwork(*), info
      real(real32), intent(out) :: work(*)
    end subroutine sstedc
    subroutine dstedc(compz, n, d, e, z, ldz, work, lwork, iwork, liwork, info)
      import :: int32, real64
      character, intent(in) :: compz
      integer(int32), intent(in) :: n, ldz, lwork, liwork
      real(real64), intent(inout) :: d(*), e(*), z(ldz, *)
      integer(int32), intent(out) :: iwork(*), info
      real(real64), intent(out) :: work(*)
    end subroutine dstedc
    subroutine cstedc(compz, n, d, e, z, ldz, work, lwork, rwork, lrwork, iwork, liwork, info)
      import :: int32, real32
      character, intent(in) :: compz
      integer(int32), intent(in) :: n, ldz, lwork, lrwork, liwork
      complex(real32), intent(inout) :: z(ldz, *)
      real(real32), intent(inout) :: d(*), e(*)
      integer(int32), intent(out) :: iwork(*), info
      complex(real32), intent(out) :: work(*)
      real(real32), intent(out) :: rwork(*)
    end subroutine cstedc
    subroutine zstedc(compz, n, d, e, z, ldz, work, lwork, rwork, lrwork, iwork, liwork, info)
      import :: int32, real64
      character, intent(in) :: compz
      integer(int32), intent(in) :: n, ldz, lwork, lrwork, liwork
      complex(real64), intent(inout) :: z(ldz, *)
      real(real64), intent(inout) :: d(*), e(*)
      integer(int32), intent(out) :: iwork(*), info
      complex(real64), intent(out) :: work(*)
      real(real64), intent(out) :: rwork(*)
    end subroutine zstedc
  end interface stedc

  !> A norm of the m x n matrix A.
  interface lange
    function slange(norm, m, n, a, lda, work) result(value)
      import :: int32, real32
      character, intent(in) :: norm
      integer(int32), intent(in) :: m, n, lda
      real(real32), intent(in) :: a(lda, *)
      real(real32), intent(inout) :: work(*)
      real(real32) :: value
    end function slange
    function dlange(norm, m, n, a, lda, work) result(value)
      import :: int32, real64
      character, intent(in) :: norm
      integer(int32), intent(in) :: m, n, lda
      real(real64), intent(in) :: a(lda, *)
      real(real64), intent(inout) :: work(*)
      real(real64) :: value
    end function dlange
    function clange(norm, m, n, a, lda, work) result(value)
      import :: int32, real32
      character, intent(in) :: norm
      integer(int32), intent(in) :: m, n, lda
      complex(real32), intent(in) :: a(lda, *)
      real(real32), intent(inout) :: work(*)
      real(real32) :: value
    end function clange
    function zlange(norm, m, n, a, lda, work) result(value)
      import :: int32, real64
      character, intent(in) :: norm
      integer(int32), intent(in) :: m, n, lda
      complex(real64), intent(in) :: a(lda, *)
      real(real64), intent(inout) :: work(*)
      real(real64) :: value
    end function zlange
  end interface lange

  !> A norm of a symmetric matrix of which the `uplo` triangle is given.
  interface lansy
    function slansy(norm, uplo, n, a, lda, work) result(value)
      import :: int32, real32
      character, intent(in) :: norm, uplo
      integer(int32), intent(in) :: n, lda
      real(real32), intent(in) :: a(lda, *)
      real(real32), intent(inout) :: work(*)
      real(real32) :: value
    end function slansy
    function dlansy(norm, uplo, n, a, lda, work) result(value)
      import :: int32, real64
      character, intent(in) :: norm, uplo
      integer(int32), intent(in) :: n, lda
      real(real64), intent(in) :: a(lda, *)
      real(real64), intent(inout) :: work(*)
      real(real64) :: value
    end function dlansy
    function clansy(norm, uplo, n, a, lda, work) result(value)
      import :: int32, real32
      character, intent(in) :: norm, uplo
      integer(int32), intent(in) :: n, lda
      complex(real32), intent(in) :: a(lda, *)
      real(real32), intent(inout) :: work(*)
      real(real32) :: value
    end function clansy
    function zlansy(norm, uplo, n, a, lda, work) result(value)
      import :: int32, real64
      character, intent(in) :: norm, uplo
      integer(int32), intent(in) :: n, lda
      complex(real64), intent(in) :: a(lda, *)
      real(real64), intent(inout) :: work(*)
      real(real64) :: value
    end function zlansy
  end interface lansy

  !> A norm of a Hermitian matrix of which the `uplo` triangle is given.
  interface lanhe
    function clanhe(norm, uplo, n, a, lda, work) result(value)
      import :: int32, real32
      character, intent(in) :: norm, uplo
      integer(int32), intent(in) :: n, lda
      complex(real32), intent(in) :: a(lda, *)
      real(real32), intent(inout) :: work(*)
      real(real32) :: value
    end function clanhe
    function zlanhe(norm, uplo, n, a, lda, work) result(value)
      import :: int32, real64
      character, intent(in) :: norm, uplo
      integer(int32), intent(in) :: n, lda
      complex(real64), intent(in) :: a(lda, *)
      real(real64), intent(inout) :: work(*)
      real(real64) :: value
    end function zlanhe
  end interface lanhe

  !> A norm of a triangular or trapezoidal matrix (m x n), with ones on its diagonal for diag = 'U'.
  interface lantr
    function slantr(norm, uplo, diag, m, n, a, lda, work) result(value)
      import :: int32, real32
      character, intent(in) :: norm, uplo, diag
      integer(int32), intent(in) :: m, n, lda
      real(real32), intent(in) :: a(lda, *)
      real(real32), intent(inout) :: work(*)
      real(real32) :: value
    end function slantr
    function dlantr(norm, uplo, diag, m, n, a, lda, work) result(value)
      import :: int32, real64
      character, intent(in) :: norm, uplo, diag
      integer(int32), intent(in) :: m, n, lda
      real(real64), intent(in) :: a(lda, *)
      real(real64), intent(inout) :: work(*)
      real(real64) :: value
    end function dlantr
    function clantr(norm, uplo, diag, m, n, a, lda, work) result(value)
      import :: int32, real32
      character, intent(in) :: norm, uplo, diag
      integer(int32), intent(in) :: m, n, lda
      complex(real32), intent(in) :: a(lda, *)
      real(real32), intent(inout) :: work(*)
      real(real32) :: value
    end function clantr
    function zlantr(norm, uplo, diag, m, n, a, lda, work) result(value)
      import :: int32, real64
      character, intent(in) :: norm, uplo, diag
      integer(int32), intent(in) :: m, n, lda
      complex(real64), intent(in) :: a(lda, *)
      real(real64), intent(inout) :: work(*)
      real(real64) :: value
    end function zlantr
  end interface lantr

  !> Solves A X = B by a factorization in single precision and refinement (dsgesv, zcgesv); A holds
  !> the factors in double precision if iter < 0, and is not changed otherwise.
  interface mixed_gesv
    subroutine dsgesv(n, nrhs, a, lda, ipiv, b, ldb, x, ldx, work, swork, iter, info)
      import :: int32, real32, real64
      integer(int32), intent(in) :: n, nrhs, lda, ldb, ldx
      real(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: ipiv(*)
      real(real64), intent(in) :: b(ldb, *)
      real(real64), intent(inout) :: x(ldx, *), work(n, *)
      real(real32), intent(inout) :: swork(*)
      integer(int32), intent(out) :: iter, info
    end subroutine dsgesv
    subroutine zcgesv(n, nrhs, a, lda, ipiv, b, ldb, x, ldx, work, swork, rwork, iter, info)
      import :: int32, real32, real64
      integer(int32), intent(in) :: n, nrhs, lda, ldb, ldx
      complex(real64), intent(inout) :: a(lda, *)
      integer(int32), intent(out) :: ipiv(*)
      complex(real64), intent(in) :: b(ldb, *)
      complex(real64), intent(inout) :: x(ldx, *), work(n, *)
      complex(real32), intent(inout) :: swork(*)
      real(real64), intent(inout) :: rwork(*)
      integer(int32), intent(out) :: iter, info
    end subroutine zcgesv
  end interface mixed_gesv

  !> The same for a positive definite matrix of which the `uplo` triangle is given (dsposv, zcposv).
  interface mixed_posv
    subroutine dsposv(uplo, n, nrhs, a, lda, b, ldb, x, ldx, work, swork, iter, info)
      import :: int32, real32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, nrhs, lda, ldb, ldx
      real(real64), intent(inout) :: a(lda, *)
      real(real64), intent(in) :: b(ldb, *)
      real(real64), intent(inout) :: x(ldx, *), work(n, *)
      real(real32), intent(inout) :: swork(*)
      integer(int32), intent(out) :: iter, info
    end subroutine dsposv
    subroutine zcposv(uplo, n, nrhs, a, lda, b, ldb, x, ldx, work, swork, rwork, iter, info)
      import :: int32, real32, real64
      character, intent(in) :: uplo
      integer(int32), intent(in) :: n, nrhs, lda, ldb, ldx
      complex(real64), intent(inout) :: a(lda, *)
      complex(real64), intent(in) :: b(ldb, *)
      complex(real64), intent(inout) :: x(ldx, *), work(n, *)
      complex(real32), intent(inout) :: swork(*)
      real(real64), intent(inout) :: rwork(*)
      integer(int32), intent(out) :: iter, info
    end subroutine zcposv
  end interface mixed_posv
  !> Replaces the Cholesky factor of A in the `uplo` triangle by that of A + sigma V V^H; sigma is 1
  !> or -1, or an array of k of them, one for each column of V (overlapack/overlapack.h). Sizes and
  !> info have 64 bits.
  interface cholupdate
    subroutine ovl_scholupdate(uplo, n, k, a, lda, v, ldv, sigma, info) bind(c)
      import :: c_char, c_int, c_int64_t, c_float
      character(c_char), value :: uplo
      integer(c_int64_t), value :: n, k, lda, ldv
      real(c_float), intent(inout) :: a(lda, *)
      real(c_float), intent(in) :: v(ldv, *)
      integer(c_int), value :: sigma
      integer(c_int64_t), intent(out) :: info
    end subroutine ovl_scholupdate
    subroutine ovl_scholupdate_mixed(uplo, n, k, a, lda, v, ldv, sigma, info) bind(c)
      import :: c_char, c_int, c_int64_t, c_float
      character(c_char), value :: uplo
      integer(c_int64_t), value :: n, k, lda, ldv
      real(c_float), intent(inout) :: a(lda, *)
      real(c_float), intent(in) :: v(ldv, *)
      integer(c_int), intent(in) :: sigma(*)
      integer(c_int64_t), intent(out) :: info
    end subroutine ovl_scholupdate_mixed
    subroutine ovl_dcholupdate(uplo, n, k, a, lda, v, ldv, sigma, info) bind(c)
      import :: c_char, c_int, c_int64_t, c_double
      character(c_char), value :: uplo
      integer(c_int64_t), value :: n, k, lda, ldv
      real(c_double), intent(inout) :: a(lda, *)
      real(c_double), intent(in) :: v(ldv, *)
      integer(c_int), value :: sigma
      integer(c_int64_t), intent(out) :: info
    end subroutine ovl_dcholupdate
    subroutine ovl_dcholupdate_mixed(uplo, n, k, a, lda, v, ldv, sigma, info) bind(c)
      import :: c_char, c_int, c_int64_t, c_double
      character(c_char), value :: uplo
      integer(c_int64_t), value :: n, k, lda, ldv
      real(c_double), intent(inout) :: a(lda, *)
      real(c_double), intent(in) :: v(ldv, *)
      integer(c_int), intent(in) :: sigma(*)
      integer(c_int64_t), intent(out) :: info
    end subroutine ovl_dcholupdate_mixed
    subroutine ovl_ccholupdate(uplo, n, k, a, lda, v, ldv, sigma, info) bind(c)
      import :: c_char, c_int, c_int64_t, c_float_complex
      character(c_char), value :: uplo
      integer(c_int64_t), value :: n, k, lda, ldv
      complex(c_float_complex), intent(inout) :: a(lda, *)
      complex(c_float_complex), intent(in) :: v(ldv, *)
      integer(c_int), value :: sigma
      integer(c_int64_t), intent(out) :: info
    end subroutine ovl_ccholupdate
    subroutine ovl_ccholupdate_mixed(uplo, n, k, a, lda, v, ldv, sigma, info) bind(c)
      import :: c_char, c_int, c_int64_t, c_float_complex
      character(c_char), value :: uplo
      integer(c_int64_t), value :: n, k, lda, ldv
      complex(c_float_complex), intent(inout) :: a(lda, *)
      complex(c_float_complex), intent(in) :: v(ldv, *)
      integer(c_int), intent(in) :: sigma(*)
      integer(c_int64_t), intent(out) :: info
    end subroutine ovl_ccholupdate_mixed
    subroutine ovl_zcholupdate(uplo, n, k, a, lda, v, ldv, sigma, info) bind(c)
      import :: c_char, c_int, c_int64_t, c_double_complex
      character(c_char), value :: uplo
      integer(c_int64_t), value :: n, k, lda, ldv
      complex(c_double_complex), intent(inout) :: a(lda, *)
      complex(c_double_complex), intent(in) :: v(ldv, *)
      integer(c_int), value :: sigma
      integer(c_int64_t), intent(out) :: info
    end subroutine ovl_zcholupdate
    subroutine ovl_zcholupdate_mixed(uplo, n, k, a, lda, v, ldv, sigma, info) bind(c)
      import :: c_char, c_int, c_int64_t, c_double_complex
      character(c_char), value :: uplo
      integer(c_int64_t), value :: n, k, lda, ldv
      complex(c_double_complex), intent(inout) :: a(lda, *)
      complex(c_double_complex), intent(in) :: v(ldv, *)
      integer(c_int), intent(in) :: sigma(*)
      integer(c_int64_t), intent(out) :: info
    end subroutine ovl_zcholupdate_mixed
  end interface cholupdate

end module overlapack
