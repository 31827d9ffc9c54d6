/*-------------------------------------------------------------------------
 *
 * float_lz.c
 *	  Codec ZSTD of floats: their bytes in a zstd frame.
 *
 *	OFFSET	SIZE	MEANING
 *	0		1		0: the values, little-endian; 1: the lowest bytes of all
 *					values, then the next ones, and so on
 *	1		...		a zstd frame of these n * width bytes
 *
 * For numbers of 15 to 17 digits that are no short decimals, and so differ in
 * all of their bits, but are computed from few: they repeat further back than
 * a dictionary reaches, or share some of their bytes.  It decodes several
 * times as slowly as integers do, and no value without all others.
 *
 * src/codec/float_lz.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "codec/float_lz.h"
#include "codec/lz_library.h"

#define FORM_VALUES 0
#define FORM_PLANES 1

/* So many values in the middle are asked about. */
#define SAMPLE_VALUES 256

/* Bytes of values [from, from + n) in a form. */
STRATA_CLONES
static void
write_form(const StrataVector *v, unsigned form, uint32_t from, uint32_t n,
		   uint8_t *to)
{
	const uint64_t *eights = (const uint64_t *) v->fixed + from;
	const uint32_t *fours = (const uint32_t *) v->fixed + from;

	if (form == FORM_PLANES && v->width == 8)
		for (unsigned b = 0; b < 8; b++)
			for (uint32_t i = 0; i < n; i++)
				to[(size_t) b * n + i] = (uint8_t) (eights[i] >> 8 * b);
	else if (form == FORM_PLANES)
		for (unsigned b = 0; b < 4; b++)
			for (uint32_t i = 0; i < n; i++)
				to[(size_t) b * n + i] = (uint8_t) (fours[i] >> 8 * b);
	else if (v->width == 8)
		for (uint32_t i = 0; i < n; i++)
			strata_store64(to + (size_t) i * 8, eights[i]);
	else
		for (uint32_t i = 0; i < n; i++)
			strata_store32(to + (size_t) i * 4, fours[i]);
}

/* Scratch of strata_float_lz_plan. */
size_t
strata_float_lz_scratch_size(const StrataVector *v)
{
	return 3 * STRATA_ARENA_SIZE((size_t) v->n * v->width);
}

/* Compress values in a form to less than room bytes; 0: it does not fit. */
static size_t
compress_form(const StrataVector *v, StrataLevel level, unsigned form,
			  uint32_t from, uint32_t n, uint8_t *form_bytes, uint8_t *to,
			  size_t room)
{
	write_form(v, form, from, n, form_bytes);
	return strata_lz_compress(STRATA_CODEC_ZSTD, level, form_bytes,
							  (size_t) n * v->width, to, room, NULL);
}

/* Does a piece of the values say that the whole may take less than room? */
static bool
may_fit(const StrataVector *v, unsigned form, uint8_t *form_bytes, uint8_t *to,
		size_t room)
{
	uint32_t	n = SAMPLE_VALUES;

	if (v->n < 2 * n)
		return true;
	/* what repeats in the whole repeats less in a piece */
	room = (size_t) ((double) room * n / v->n * 1.25);
	if (room > (size_t) n * v->width)
		return true;
	return compress_form(v, STRATA_LEVEL_BALANCED, form, (v->n - n) / 2, n,
						 form_bytes, to, room) > 0;
}

/*
 * What a payload of at most room bytes would be; NOT_APPLICABLE: there is
 * none.  The arena keeps it.  In a hurry, forms are tried of which a piece
 * says that it pays.
 */
StrataCodecResult
strata_float_lz_plan(const StrataVector *v, size_t room, bool in_a_hurry,
					 StrataArena *arena, StrataFloatLzPlan *plan)
{
	size_t		nbytes = (size_t) v->n * v->width;
	uint8_t    *form_bytes = strata_arena_alloc(arena, nbytes);
	uint8_t    *best = strata_arena_alloc(arena, nbytes);
	uint8_t    *other = strata_arena_alloc(arena, nbytes);

	Assert(v->n > 0 && v->kind == STRATA_KIND_FLOAT);	/* codec:C4 */
	if (form_bytes == NULL || best == NULL || other == NULL)
		return STRATA_CODEC_NO_SPACE;
	if (!strata_codec_available(STRATA_CODEC_ZSTD))
		return STRATA_CODEC_UNSUPPORTED;
	/* the form, and a frame that is smaller than what it holds */
	room = room > nbytes ? nbytes : room;
	plan->frame = NULL;
	for (unsigned form = FORM_VALUES; form <= FORM_PLANES && room > 1; form++)
	{
		size_t		len;

		if (in_a_hurry && !may_fit(v, form, form_bytes, other, room - 1))
			continue;
		len = compress_form(v, v->level, form, 0, v->n, form_bytes, other,
							room - 1);
		if (len == 0)
			continue;
		plan->form = form;
		plan->nbytes = room = 1 + len;
		plan->frame = other;
		other = best;
		best = (uint8_t *) plan->frame;
		/* the next one has to be smaller */
		room--;
	}
	return plan->frame != NULL ? STRATA_CODEC_OK : STRATA_CODEC_NOT_APPLICABLE;
}

/* Append a planned payload. */
StrataCodecResult
strata_float_lz_write(const StrataFloatLzPlan *plan, StrataWriter *out)
{
	strata_write_u8(out, (uint8_t) plan->form);
	strata_write_bytes(out, plan->frame, plan->nbytes - 1);
	return out->failed ? STRATA_CODEC_NO_SPACE : STRATA_CODEC_OK;
}

/* Whatever was asked for: NO_SPACE where it does not shrink. */
StrataCodecResult
strata_float_lz_encode(const StrataVector *v, StrataArena *scratch,
					   StrataWriter *out)
{
	StrataArena arena = *scratch;
	StrataFloatLzPlan plan;
	StrataCodecResult rc;

	rc = strata_float_lz_plan(v, strata_writer_left(out), false, &arena,
							  &plan);
	if (rc == STRATA_CODEC_OK)
		return strata_float_lz_write(&plan, out);
	return rc == STRATA_CODEC_NOT_APPLICABLE ? STRATA_CODEC_NO_SPACE : rc;
}

/*
 * --- decoding
 * ----------------------------------------------------------------
 */

/* Scratch to decode any values: all of them are decompressed. */
StrataCodecResult
strata_float_lz_decode_size(const StrataPayload *p, size_t *size)
{
	*size = STRATA_ARENA_SIZE((size_t) p->n * p->width);
	return STRATA_CODEC_OK;
}

/* Values [from, from + n) of `all` from planes. */
STRATA_CLONES
static void
read_planes(const uint8_t *planes, uint32_t all, unsigned width, uint32_t from,
			uint32_t n, void *out)
{
	const uint8_t *at = planes + from;

	if (width == 8)
	{
		const uint8_t *b[8];
		uint64_t   *to = out;

		for (unsigned k = 0; k < 8; k++)
			b[k] = at + (size_t) k * all;
		for (uint32_t i = 0; i < n; i++)
			to[i] = b[0][i] | (uint64_t) b[1][i] << 8 |
				(uint64_t) b[2][i] << 16 | (uint64_t) b[3][i] << 24 |
				(uint64_t) b[4][i] << 32 | (uint64_t) b[5][i] << 40 |
				(uint64_t) b[6][i] << 48 | (uint64_t) b[7][i] << 56;
	}
	else
	{
		const uint8_t *b[4];
		uint32_t   *to = out;

		for (unsigned k = 0; k < 4; k++)
			b[k] = at + (size_t) k * all;
		for (uint32_t i = 0; i < n; i++)
			to[i] = b[0][i] | (uint32_t) b[1][i] << 8 |
				(uint32_t) b[2][i] << 16 | (uint32_t) b[3][i] << 24;
	}
}

/* n values that are little-endian. */
static void
read_values(const uint8_t *from, unsigned width, uint32_t n, void *out)
{
	if (width == 8)
		for (uint32_t i = 0; i < n; i++)
			((uint64_t *) out)[i] = strata_load64(from + (size_t) i * 8);
	else
		for (uint32_t i = 0; i < n; i++)
			((uint32_t *) out)[i] = strata_load32(from + (size_t) i * 4);
}

/* Values [from, from + n). */
StrataCodecResult
strata_float_lz_decode(const StrataPayload *p, uint32_t from, uint32_t n,
					   StrataArena *scratch, void *out)
{
	StrataReader in = strata_reader(p->data, p->len);
	unsigned	form = strata_read_u8(&in);
	size_t		nbytes = (size_t) p->n * p->width;
	uint8_t    *bytes = strata_arena_alloc(scratch, nbytes);
	StrataCodecResult rc;

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	if (in.failed || form > FORM_PLANES || strata_reader_left(&in) >= nbytes)
		return STRATA_CODEC_CORRUPT;
	if (bytes == NULL)
		return STRATA_CODEC_NO_SPACE;
	rc = strata_lz_decompress(STRATA_CODEC_ZSTD, in.next,
							  strata_reader_left(&in), bytes, nbytes);
	if (rc != STRATA_CODEC_OK)
		return rc;
	if (form == FORM_PLANES)
		read_planes(bytes, p->n, p->width, from, n, out);
	else
		read_values(bytes + (size_t) from * p->width, p->width, n, out);
	return STRATA_CODEC_OK;
}

/* For people: "byte planes, 27.1 bits a value". */
void
strata_float_lz_describe(const StrataPayload *p, char *text, size_t size)
{
	snprintf(text, size, "%s, %.1f bits a value",
			 p->len > 0 && p->data[0] == FORM_PLANES ? "byte planes" :
			 "values",
			 p->n ? (double) p->len * 8 / p->n : 0.0);
}
