/*-------------------------------------------------------------------------
 *
 * clones.h
 *	  Loops over vectors, compiled for more than one CPU.
 *
 * src/base/clones.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_CLONES_H
#define STRATA_CLONES_H

/*
 * A second copy of a function for AVX2, chosen when the library is loaded: the
 * baseline of x86-64 has no comparison of 64-bit integers.
 */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && \
    !defined(__clang__)
#define STRATA_AVX2_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define STRATA_AVX2_CLONES
#endif

#endif							/* STRATA_CLONES_H */
