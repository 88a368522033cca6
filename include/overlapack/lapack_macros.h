/* Names of LAPACK routines as <lapacke.h> has them, which pass the hidden lengths. Included by
 * overlapack/lapack.h.
 */
#ifndef OVERLAPACK_LAPACK_MACROS_H
#define OVERLAPACK_LAPACK_MACROS_H

#define LAPACK_spotrf(...) spotrf_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_dpotrf(...) dpotrf_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_cpotrf(...) cpotrf_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zpotrf(...) zpotrf_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#define LAPACK_spotrs(...) spotrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_dpotrs(...) dpotrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_cpotrs(...) cpotrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zpotrs(...) zpotrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#define LAPACK_sposv(...) sposv_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_dposv(...) dposv_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_cposv(...) cposv_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zposv(...) zposv_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#define LAPACK_sgetrf sgetrf_
#define LAPACK_dgetrf dgetrf_
#define LAPACK_cgetrf cgetrf_
#define LAPACK_zgetrf zgetrf_

#define LAPACK_sgetrs(...) sgetrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_dgetrs(...) dgetrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_cgetrs(...) cgetrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zgetrs(...) zgetrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#define LAPACK_sgesv sgesv_
#define LAPACK_dgesv dgesv_
#define LAPACK_cgesv cgesv_
#define LAPACK_zgesv zgesv_

#define LAPACK_strtrs(...) strtrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_dtrtrs(...) dtrtrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_ctrtrs(...) ctrtrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_ztrtrs(...) ztrtrs_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))

#define LAPACK_sgecon(...) sgecon_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_dgecon(...) dgecon_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_cgecon(...) cgecon_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zgecon(...) zgecon_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#define LAPACK_spocon(...) spocon_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_dpocon(...) dpocon_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_cpocon(...) cpocon_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zpocon(...) zpocon_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#define LAPACK_strcon(...) strcon_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_dtrcon(...) dtrcon_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_ctrcon(...) ctrcon_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_ztrcon(...) ztrcon_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))

#define LAPACK_strtri(...) strtri_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_dtrtri(...) dtrtri_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_ctrtri(...) ctrtri_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_ztrtri(...) ztrtri_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))

#define LAPACK_slauum(...) slauum_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_dlauum(...) dlauum_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_clauum(...) clauum_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zlauum(...) zlauum_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#define LAPACK_spotri(...) spotri_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_dpotri(...) dpotri_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_cpotri(...) cpotri_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zpotri(...) zpotri_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#define LAPACK_sgetri sgetri_
#define LAPACK_dgetri dgetri_
#define LAPACK_cgetri cgetri_
#define LAPACK_zgetri zgetri_

#define LAPACK_sgeqrf sgeqrf_
#define LAPACK_dgeqrf dgeqrf_
#define LAPACK_cgeqrf cgeqrf_
#define LAPACK_zgeqrf zgeqrf_

#define LAPACK_sorgqr sorgqr_
#define LAPACK_dorgqr dorgqr_
#define LAPACK_cungqr cungqr_
#define LAPACK_zungqr zungqr_

#define LAPACK_sormqr(...) sormqr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_dormqr(...) dormqr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_cunmqr(...) cunmqr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_zunmqr(...) zunmqr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))

#define LAPACK_sgelqf sgelqf_
#define LAPACK_dgelqf dgelqf_
#define LAPACK_cgelqf cgelqf_
#define LAPACK_zgelqf zgelqf_

#define LAPACK_sorglq sorglq_
#define LAPACK_dorglq dorglq_
#define LAPACK_cunglq cunglq_
#define LAPACK_zunglq zunglq_

#define LAPACK_sormlq(...) sormlq_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_dormlq(...) dormlq_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_cunmlq(...) cunmlq_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_zunmlq(...) zunmlq_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))

#define LAPACK_sgeqrt sgeqrt_
#define LAPACK_dgeqrt dgeqrt_
#define LAPACK_cgeqrt cgeqrt_
#define LAPACK_zgeqrt zgeqrt_

#define LAPACK_sgemqrt(...) sgemqrt_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_dgemqrt(...) dgemqrt_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_cgemqrt(...) cgemqrt_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_zgemqrt(...) zgemqrt_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))

#define LAPACK_sgels(...) sgels_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_dgels(...) dgels_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_cgels(...) cgels_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zgels(...) zgels_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#define LAPACK_ssyev(...) ssyev_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_dsyev(...) dsyev_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_cheev(...) cheev_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_zheev(...) zheev_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))

#define LAPACK_ssyevd(...) ssyevd_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_dsyevd(...) dsyevd_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_cheevd(...) cheevd_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_zheevd(...) zheevd_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))

#define LAPACK_ssyevr(...) ssyevr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_dsyevr(...) dsyevr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_cheevr(...) cheevr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_zheevr(...) zheevr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))

#define LAPACK_ssyevx(...) ssyevx_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_dsyevx(...) dsyevx_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_cheevx(...) cheevx_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_zheevx(...) zheevx_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))

#define LAPACK_ssygv(...) ssygv_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_dsygv(...) dsygv_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_chegv(...) chegv_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_zhegv(...) zhegv_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))

#define LAPACK_ssygvd(...) ssygvd_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_dsygvd(...) dsygvd_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_chegvd(...) chegvd_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_zhegvd(...) zhegvd_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))

#define LAPACK_ssygvx(...) ssygvx_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_dsygvx(...) dsygvx_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_chegvx(...) chegvx_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_zhegvx(...) zhegvx_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))

#define LAPACK_ssytrd(...) ssytrd_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_dsytrd(...) dsytrd_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_chetrd(...) chetrd_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zhetrd(...) zhetrd_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#define LAPACK_sorgtr(...) sorgtr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_dorgtr(...) dorgtr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_cungtr(...) cungtr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zungtr(...) zungtr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#define LAPACK_sormtr(...) sormtr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_dormtr(...) dormtr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_cunmtr(...) cunmtr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_zunmtr(...) zunmtr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))

#define LAPACK_sstedc(...) sstedc_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_dstedc(...) dstedc_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_cstedc(...) cstedc_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zstedc(...) zstedc_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#define LAPACK_slange(...) slange_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_dlange(...) dlange_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_clange(...) clange_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zlange(...) zlange_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#define LAPACK_slansy(...) slansy_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_dlansy(...) dlansy_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_clansy(...) clansy_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_zlansy(...) zlansy_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))

#define LAPACK_slantr(...) slantr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_dlantr(...) dlantr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_clantr(...) clantr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))
#define LAPACK_zlantr(...) zlantr_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1, 1))

#define LAPACK_clanhe(...) clanhe_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))
#define LAPACK_zlanhe(...) zlanhe_(__VA_ARGS__ OVERLAPACK_LENGTHS(1, 1))

#define LAPACK_dsgesv dsgesv_
#define LAPACK_zcgesv zcgesv_
#define LAPACK_dsposv(...) dsposv_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))
#define LAPACK_zcposv(...) zcposv_(__VA_ARGS__ OVERLAPACK_LENGTHS(1))

#endif /* OVERLAPACK_LAPACK_MACROS_H */
