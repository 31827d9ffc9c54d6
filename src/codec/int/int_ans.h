/*-------------------------------------------------------------------------
 *
 * int_ans.h
 *	  The entropy coder of archives: tables of how often each token occurs, and
 *	  what is written and read with them.
 *
 * src/codec/int/int_ans.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_INT_ANS_H
#define STRATA_INT_ANS_H

#include "codec/codec_base.h"

#define ANS_STATES 4
#define ANS_LOG_MIN 5
#define ANS_LOG_MAX 11
#define ANS_SIZE_MAX (1 << ANS_LOG_MAX)
#define ANS_TOKENS_MAX 512
#define ANS_BLOCK 1024			/* tokens in a block */

/* How often each token occurs among 1 << table_log. */
typedef struct AnsTable
{
	unsigned	table_log;
	uint32_t	ntokens;
	uint16_t	count[ANS_TOKENS_MAX];
} AnsTable;

typedef struct AnsEncoder
{
	unsigned	table_log;
	uint16_t	count[ANS_TOKENS_MAX];
	uint16_t	first[ANS_TOKENS_MAX];	/* where the token's states start */
	uint16_t	state[ANS_SIZE_MAX];
} AnsEncoder;

/* What a state means. */
typedef struct AnsEntry
{
	uint16_t	next;
	uint16_t	token;
	uint8_t		nbits;
} AnsEntry;

typedef struct AnsDecoder
{
	unsigned	table_log;
	AnsEntry	entry[ANS_SIZE_MAX];
} AnsDecoder;

extern void strata_ans_normalise(const uint32_t *having, uint32_t ntokens,
								 uint32_t total, unsigned table_log,
								 AnsTable *table);
extern void strata_ans_table_write(const AnsTable *table, StrataWriter *out);
extern bool strata_ans_table_read(StrataReader *in, AnsTable *table);
extern void strata_ans_encoder_init(const AnsTable *table,
									AnsEncoder *encoder);
extern void strata_ans_write(const AnsEncoder *encoder, const uint16_t *tokens,
							 uint32_t m, StrataWriter *out);
extern void strata_ans_decoder_init(const AnsTable *table,
									AnsDecoder *decoder);
extern bool strata_ans_read(const AnsDecoder *decoder, StrataReader *in,
							size_t nbytes, uint32_t m, uint16_t *tokens);

#endif							/* STRATA_INT_ANS_H */
