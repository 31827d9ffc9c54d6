/*-------------------------------------------------------------------------
 *
 * dump.h
 *	  A column as text, a row a line: what golden files are compared by.
 *
 * Null is \N; INT a decimal number; FLOAT its bits as 0x...; BYTES ' and hex
 * digits.  The first line is "kind width nrows".
 *
 * test/unit/dump.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_DUMP_H
#define STRATA_DUMP_H

#include "codec/codec.h"

/* The text of decoded rows; the caller frees it. */
extern char *dump_column(const uint8_t *buf, size_t len, StrataCodecResult *rc);

/* The text of values as they were before encoding. */
extern char *dump_values(const StrataVector *v, uint32_t nrows, const bool *isnull);

/* A whole file; NULL when it is not there.  *len bytes and a 0 behind them. */
extern uint8_t *read_file(const char *path, size_t *len);

#endif							/* STRATA_DUMP_H */
