/*-------------------------------------------------------------------------
 *
 * jsonb_make.h
 *	  JSON as text to PostgreSQL's jsonb, for tests and benchmarks without a server.
 *
 * test/unit/jsonb_make.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_JSONB_MAKE_H
#define STRATA_JSONB_MAKE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The bytes of a jsonb value behind its varlena header, at most cap; 0 when the text is
 * no JSON, does not fit, or has what this does not make (numbers with an exponent or more
 * than 63 decimals, 64 levels and more).  Of equal keys both are kept.
 */
extern size_t jsonb_make(const char *text, size_t len, uint8_t *to, size_t cap);

/* Document number i of a pattern: "jsonb" events, "jsonb_nested", "jsonb_ragged"; its length. */
extern size_t jsonb_sample(const char *pattern, uint32_t i, uint8_t *to, size_t cap);

#endif							/* STRATA_JSONB_MAKE_H */
