/*-------------------------------------------------------------------------
 *
 * codec_base.h
 *	  What every file of src/codec stands on: code for several CPUs, and
 *	  scratch.
 *
 * src/codec/codec_base.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_CODEC_BASE_H
#define STRATA_CODEC_BASE_H

#include "codec/assertions.h"
#include "codec/bytes.h"
#include "codec/codec.h"

/*
 * Compile a function for AVX2 and AVX-512 too, where that is known to work and
 * to pay.
 */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && \
    !defined(__clang__) && !defined(STRATA_NO_CLONES)
#if __GNUC__ >= 12
#define STRATA_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define STRATA_CLONES __attribute__((target_clones("avx2", "default")))
#endif
#else
#define STRATA_CLONES
#endif

/* May AVX2 be used where the CPU has it? */
#if defined(__x86_64__) && defined(__GNUC__) && \
    !defined(STRATA_NO_AVX2)
#define STRATA_HAVE_AVX2
#endif

/*
 * Work as if the CPU had no vector instructions, and with integers of 64 bits
 * only; for tests.
 */
extern bool strata_codec_portable_only;

/*
 * Decoded BYTES never exceed this in one column: offsets are uint32 and some
 * arithmetic on them is signed.
 */
#define STRATA_BYTES_MAX UINT32_C(0x7fffffff)


/* A bump allocator over the caller's scratch area. */
typedef struct StrataArena
{
	uint8_t    *next;
	uint8_t    *end;
} StrataArena;

#define STRATA_ARENA_ALIGN 64

/* What an allocation of nbytes takes, alignment included. */
#define STRATA_ARENA_SIZE(nbytes) ((size_t) (nbytes) + STRATA_ARENA_ALIGN)

STRATA_INLINE StrataArena
strata_arena(void *data, size_t nbytes)
{
	StrataArena arena = {data, data ? (uint8_t *) data + nbytes : NULL};

	return arena;
}

/* Aligned room for nbytes, or NULL. */
STRATA_INLINE void *
strata_arena_alloc(StrataArena *arena, size_t nbytes)
{
	size_t		pad;
	size_t		left = (size_t) (arena->end - arena->next);
	uint8_t    *at;

	pad = (size_t) (-(uintptr_t) arena->next) & (STRATA_ARENA_ALIGN - 1);
	if (arena->next == NULL || pad > left || nbytes > left - pad)
		return NULL;
	Assert(arena->next <= arena->end);	/* codec:C9 */
	at = arena->next + pad;
	arena->next = at + nbytes;
	return at;
}

#endif							/* STRATA_CODEC_BASE_H */
