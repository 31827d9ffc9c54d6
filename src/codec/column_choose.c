/*-------------------------------------------------------------------------
 *
 * column_choose.c
 *	  Which codec for which values: candidates by kind, judged by size before
 *	  anything is written.
 *
 * Each candidate of a fixed kind is planned: what it would write is counted to
 * the byte, from one pass over differences, bit lengths and distinct values;
 * only the winner is written.  What a candidate cannot beat is known before it
 * is planned, so most of them are not.  What LZ blocks will take is guessed,
 * from a few kB of the values and from what repeats in them.  In archives the
 * packing of integers is known only when it is done: that is tried.  A codec
 * that decodes slower has to win by a margin, but not in archives; hot columns
 * do without zstd.
 *
 *	INT		CONSTANT, DELTA_DELTA, DICTIONARY, RAW
 *	FLOAT	CONSTANT, DECIMAL, DICTIONARY, ZSTD, RAW
 *	BYTES	CONSTANT, DICTIONARY, PACKED, LZ4, ZSTD, NUMERIC, RAW, as the
 *			vector's hint allows; large values in LARGE, with LZ4 or zstd
 *
 * Over 600 lines: every candidate is judged beside the others.
 *
 * src/codec/column_choose.c
 *-------------------------------------------------------------------------
 */
#include "codec/decimal.h"
#include "codec/dictionary.h"
#include "codec/float_lz.h"
#include "codec/lz_library.h"

/*
 * What LZ codecs are asked about to choose one; the whole, where that is few
 * bytes.
 */
#define LZ_PIECE_BYTES 4096
#define LZ_FEW_BYTES (2 * LZ_PIECE_BYTES)

/*
 * Pieces of documents that are compressed to say whether they are better taken
 * apart.
 */
#define LZ_SAMPLE_BYTES 65536

/*
 * A dictionary with at most one entry for so many values is not compared with
 * LZ.
 */
#define FEW_ENTRIES 16

/*
 * No dictionary of two numbers is smaller: head, two entries, a stream of
 * codes.
 */
#define DICTIONARY_LEAST 8

/* So few byte strings, and packed to half of them: no LZ codec is asked. */
#define PACKED_AT_ONCE 4096

/* Fewer documents are not taken apart. */
#define JSONB_ROWS 16

/* May the entries of a dictionary be in this codec? */
bool
strata_nested_allowed(unsigned id)
{
	return id == STRATA_CODEC_RAW || id == STRATA_CODEC_DELTA_DELTA ||
		id == STRATA_CODEC_GORILLA || id == STRATA_CODEC_DECIMAL ||
		id == STRATA_CODEC_LZ4 || id == STRATA_CODEC_ZSTD ||
		id == STRATA_CODEC_PACKED;
}

/* The most scratch any codec but DICTIONARY needs. */
static size_t
single_scratch_size(const StrataVector *v)
{
	size_t		most = 0;

	for (unsigned id = 1; id < STRATA_CODEC_COUNT; id++)
	{
		const StrataCodec *codec = strata_codec_get(id);
		size_t		size;

		/* those that hand their parts to any other */
		if (id == STRATA_CODEC_DICTIONARY || id == STRATA_CODEC_JSONB ||
			!strata_codec_supports((StrataCodecId) id, v->kind, v->width))
			continue;
		size = codec->encode_scratch_size == NULL ? 0 :
			codec->encode_scratch_size(v);
		most = size > most ? size : most;
	}
	return most + (v->kind == STRATA_KIND_BYTES ?
				   STRATA_ARENA_SIZE(LZ_SAMPLE_BYTES) :
				   0);
}

/* Scratch of strata_nested_encode. */
size_t
strata_nested_scratch_size(const StrataVector *v)
{
	return single_scratch_size(v);
}

/*
 * Scratch of strata_choose_encode, and of any single codec: plans of two
 * codecs stand beside each other. (Codec JSONB asks about vectors whose bytes
 * it does not know yet, without offsets, and adds them itself.)
 */
size_t
strata_choose_scratch_size(const StrataVector *v)
{
	size_t		size;

	size = single_scratch_size(v) + strata_dictionary_scratch_size(v);
	if (v->kind == STRATA_KIND_FLOAT)
		size += strata_float_lz_scratch_size(v);
	if (v->hint == STRATA_BYTES_JSONB)
		size += STRATA_ARENA_SIZE(strata_raw_bound(v)) +
			strata_codec_jsonb.encode_scratch_size(v);
	return size;
}

/* Do most values equal the one before? */
STRATA_CLONES
static bool
mostly_repeats(const StrataVector *v)
{
	/* counters as wide as values are what vectors do best */
	if (v->width == 8)
	{
		const uint64_t *values = v->fixed;
		uint64_t	repeats = 0;

		for (uint32_t i = 1; i < v->n; i++)
			repeats += values[i] == values[i - 1];
		return repeats > v->n / 2;
	}
	if (v->width == 4)
	{
		const uint32_t *values = v->fixed;
		uint32_t	repeats = 0;

		for (uint32_t i = 1; i < v->n; i++)
			repeats += values[i] == values[i - 1];
		return repeats > v->n / 2;
	}
	return false;
}

/*
 * How many entries a dictionary of less than room bytes can have: entries cost
 * half a byte at the very least, codes most of their bits, less where integers
 * are kept as differences (those between codes are smaller still).  With many
 * runs there is no telling.
 */
static uint32_t
entries_limit(const StrataVector *v, size_t room, bool differences)
{
	unsigned	share;
	uint32_t	limit = 1;

	share = v->kind != STRATA_KIND_INT ? 14 :
		differences || v->level == STRATA_LEVEL_ARCHIVE ? 10 : 13;
	if (mostly_repeats(v))
		return v->n / 4 + 1;
	for (unsigned bits = 1; bits < 16; bits++)
		if ((size_t) v->n * bits * share / 128 + (UINT32_C(1) << bits) / 2 <=
			room)
			limit = UINT32_C(1) << bits;
	return limit < v->n / 4 ? limit : v->n / 4 + 1;
}

/* A margin of 1 / `part` of a size; none in archives. */
static size_t
margin(const StrataVector *v, size_t size, unsigned part)
{
	return part > 0 && v->level != STRATA_LEVEL_ARCHIVE ? size / part : 0;
}

/* What is to be written for a vector of a fixed kind. */
typedef struct FixedPlan
{
	StrataCodecId id;
	size_t		nbytes;
	StrataIntPlan ints;
	StrataDecimalPlan decimal;
	const int64_t *integers;	/* the values as such, or NULL */
	StrataDictionary dictionary;
	StrataFloatLzPlan lz;
} FixedPlan;

/* The size to beat, less a margin of 1 / `part` of it. */
static size_t
room_below(const StrataVector *v, const FixedPlan *plan, unsigned part)
{
	return plan->nbytes - margin(v, plan->nbytes, part);
}

/* Let a codec have it if that takes less than room bytes. */
static void
consider(FixedPlan *plan, StrataCodecId id, size_t nbytes, size_t room)
{
	if (nbytes < room)
	{
		plan->id = id;
		plan->nbytes = nbytes;
	}
}

/* Would a dictionary be smaller? */
static void
consider_dictionary(const StrataVector *v, StrataArena *arena, FixedPlan *plan)
{
	size_t		room = room_below(v, plan, 20);
	bool		differences;
	uint32_t	limit;

	differences = plan->id == STRATA_CODEC_DELTA_DELTA &&
		strata_ints_are_differences(&plan->ints);
	limit = room <= DICTIONARY_LEAST ? 1 : entries_limit(v, room, differences);
	if (limit > 1 &&
		strata_dictionary_collect(v, plan->integers, limit, arena,
								  &plan->dictionary) == STRATA_CODEC_OK &&
		strata_dictionary_plan(&plan->dictionary, room, arena) ==
		STRATA_CODEC_OK)
		consider(plan, STRATA_CODEC_DICTIONARY, plan->dictionary.nbytes, room);
}

/*
 * Would zstd be smaller, by a fifth?  Floats are asked about that take more
 * than a third of their bits, in archives a quarter.
 */
static StrataCodecResult
consider_float_lz(const StrataVector *v, StrataArena *arena, FixedPlan *plan)
{
	bool		archive = v->level == STRATA_LEVEL_ARCHIVE;
	size_t		room = room_below(v, plan, 5);
	StrataCodecResult rc;

	if (v->level == STRATA_LEVEL_HOT ||
		!strata_codec_available(STRATA_CODEC_ZSTD) ||
		plan->nbytes < strata_raw_bound(v) / (archive ? 4 : 3))
		return STRATA_CODEC_OK;
	rc = strata_float_lz_plan(v, room, !archive, arena, &plan->lz);
	if (rc == STRATA_CODEC_OK)
		consider(plan, STRATA_CODEC_ZSTD, plan->lz.nbytes, room);
	return rc == STRATA_CODEC_NOT_APPLICABLE ? STRATA_CODEC_OK : rc;
}

/* Plan the best codec for INT and FLOAT. */
static StrataCodecResult
plan_fixed(const StrataVector *v, bool nested, StrataArena *arena,
		   FixedPlan *plan)
{
	size_t		raw = strata_raw_bound(v);
	StrataCodecResult rc;

	plan->id = STRATA_CODEC_RAW;
	plan->nbytes = raw;
	if (v->kind == STRATA_KIND_INT)
	{
		rc = strata_delta_delta_plan(v, arena, &plan->ints);
		plan->integers = plan->ints.values;
		consider(plan, STRATA_CODEC_DELTA_DELTA, plan->ints.nbytes, raw);
	}
	else
	{
		rc = strata_decimal_plan(v, arena, &plan->decimal);
		plan->integers = plan->decimal.exact;
		consider(plan, STRATA_CODEC_DECIMAL, plan->decimal.nbytes, raw);
	}
	if (rc == STRATA_CODEC_OK && !nested)
	{
		consider_dictionary(v, arena, plan);
		if (v->kind == STRATA_KIND_FLOAT)
			rc = consider_float_lz(v, arena, plan);
	}
	return rc;
}

/* INT and FLOAT. */
static StrataCodecResult
choose_fixed(const StrataVector *v, bool nested, StrataArena *scratch,
			 StrataWriter *out, StrataCodecId *chosen)
{
	StrataArena arena = *scratch;
	StrataCodecResult rc;
	FixedPlan	plan;

	if (!nested)
	{
		/* one wide integer may take more than it does raw */
		StrataWriter w = *out;
		size_t		raw = strata_raw_bound(v);

		if (raw < strata_writer_left(out))
			w.end = w.next + raw;
		rc = strata_codec_constant.encode(v, &arena, &w);
		if (rc == STRATA_CODEC_OK)
		{
			*chosen = STRATA_CODEC_CONSTANT;
			out->next = w.next;
			return rc;
		}
	}
	rc = plan_fixed(v, nested, &arena, &plan);
	*chosen = plan.id;
	if (rc != STRATA_CODEC_OK)
		return rc;
	switch (plan.id)
	{
		case STRATA_CODEC_DELTA_DELTA:
			return strata_ints_write(&plan.ints, out);
		case STRATA_CODEC_DECIMAL:
			return strata_decimal_write(v, &plan.decimal, out);
		case STRATA_CODEC_DICTIONARY:
			return strata_dictionary_write(&plan.dictionary, out);
		case STRATA_CODEC_ZSTD:
			return strata_float_lz_write(&plan.lz, out);
		default:
			return strata_codec_get(plan.id)->encode(v, &arena, out);
	}
}

/*
 * Estimated bytes of a BYTES payload in an LZ codec, lengths not counted: by
 * compressing up to `samples` pieces, so exact for a small column.
 */
static size_t
estimate_lz(StrataCodecId id, const StrataVector *v, StrataArena scratch,
			unsigned samples)
{
	size_t		total = v->offsets[v->n];
	uint8_t    *to = strata_arena_alloc(&scratch, LZ_SAMPLE_BYTES);
	void	   *lz = strata_arena_alloc(&scratch, strata_lz_scratch_size(id));
	size_t		pieces = (total + LZ_SAMPLE_BYTES - 1) / LZ_SAMPLE_BYTES;
	size_t		step = pieces > samples ? total / samples : LZ_SAMPLE_BYTES;
	size_t		seen = 0;
	size_t		size = 0;

	if (to == NULL || lz == NULL || !strata_codec_available(id) || total == 0)
		return SIZE_MAX;
	for (size_t at = 0; at < total; at += step)
	{
		size_t		nbytes = total - at < LZ_SAMPLE_BYTES ? total - at :
		LZ_SAMPLE_BYTES;
		size_t		len = strata_lz_compress(id, v->level, v->payload + at,
											 nbytes, to, nbytes - nbytes / 32,
											 lz);

		seen += nbytes;
		size += len > 0 ? len : nbytes;
	}
	return (size_t) ((double) size / (double) seen * (double) total);
}

/*
 * Encode with an LZ codec or RAW in place of what `out` got since `start`;
 * large values so that parts can be read, unless that is not allowed.
 */
static StrataCodecResult
encode_lz(StrataCodecId id, const StrataVector *v, bool in_parts,
		  StrataArena *scratch, const StrataWriter *start, StrataWriter *out,
		  StrataCodecId *chosen, size_t *blocks_len)
{
	*out = *start;
	*chosen = id;
	if (in_parts && strata_large_suits(v))
	{
		*chosen = STRATA_CODEC_LARGE;
		return strata_large_encode(id, v, scratch, out, blocks_len);
	}
	return strata_lzarray_encode(id, v, scratch, out, blocks_len);
}

/*
 * What an LZ codec would make of the whole: of few bytes done, else by what it
 * makes of a piece in the middle.
 */
static size_t
guess_lz_of_bytes(StrataCodecId id, const StrataVector *v, StrataArena scratch)
{
	size_t		total = v->offsets[v->n];
	size_t		nbytes = total <= LZ_FEW_BYTES ? total : LZ_PIECE_BYTES;
	uint8_t    *to = strata_arena_alloc(&scratch, LZ_FEW_BYTES);
	void	   *lz = strata_arena_alloc(&scratch, strata_lz_scratch_size(id));
	size_t		len;

	if (to == NULL || lz == NULL || !strata_codec_available(id) || total == 0)
		return total;
	len = strata_lz_compress(id, v->level, v->payload + (total - nbytes) / 2,
							 nbytes, to, nbytes - nbytes / 32, lz);
	return len > 0 ?
		(size_t) ((double) len / (double) nbytes * (double) total) :
		total;
}

/* May zstd be asked, beside LZ4 if that is there? */
static bool
may_be_zstd(const StrataVector *v)
{
	return strata_codec_available(STRATA_CODEC_ZSTD) &&
		v->hint != STRATA_BYTES_NO_LZ &&
		!((v->hint == STRATA_BYTES_LZ4 || v->level == STRATA_LEVEL_HOT) &&
		  strata_codec_available(STRATA_CODEC_LZ4));
}

/*
 * PACKED, LZ4, ZSTD or RAW.  ZSTD has to win by a tenth, over PACKED by a
 * fifth; hot columns have none.  Which one is guessed from a piece of the
 * values, where they are more than a few bytes, and only that one is written;
 * PACKED after it, if the guess was wrong.  in_parts: large ones in LARGE.
 */
static StrataCodecResult
choose_lz(const StrataVector *v, bool in_parts, StrataArena *scratch,
		  StrataWriter *out, StrataCodecId *chosen)
{
	StrataWriter start = *out;
	size_t		total = v->offsets[v->n];
	size_t		packed = strata_packed_size(v);
	bool		is_packed = packed < total - total / 32;
	bool		archive = v->level == STRATA_LEVEL_ARCHIVE;
	bool		any = v->hint != STRATA_BYTES_NO_LZ && (packed > total / 2 ||
														total >
														PACKED_AT_ONCE ||
														archive);
	bool		zstd = any && may_be_zstd(v);

	/* archives have no margin for what decodes faster */
	size_t		lz4 = any && !(zstd &&
							   archive) ? guess_lz_of_bytes(STRATA_CODEC_LZ4,
															v,
															*scratch) : total;
	size_t		others = is_packed && packed <= lz4 ? packed : lz4;
	size_t		room;
	size_t		len;

	room = others - margin(v, others, is_packed && packed <= lz4 ? 5 : 10);
	/* what shrinks nowhere may repeat further off */
	if (zstd && (total <= LZ_FEW_BYTES || others == total ||
				 guess_lz_of_bytes(STRATA_CODEC_ZSTD, v, *scratch) < room))
	{
		StrataCodecResult rc = encode_lz(STRATA_CODEC_ZSTD, v, in_parts,
										 scratch, &start, out, chosen, &len);

		if (rc != STRATA_CODEC_OK || len < room || others == total)
			return rc;
	}
	if (!is_packed || packed > lz4)
		return encode_lz(lz4 < total ? STRATA_CODEC_LZ4 : STRATA_CODEC_RAW, v,
						 in_parts, scratch, &start, out, chosen, &len);
	*out = start;
	*chosen = STRATA_CODEC_PACKED;
	return strata_codec_packed.encode(v, scratch, out);
}

/*
 * Values that LZ finds again further back than the one before: each costs it a
 * match.
 */
static uint32_t
count_matches(const StrataDictionary *d)
{
	int64_t		seen = 0;		/* codes are in order of appearance */
	uint32_t	matches = 0;

	for (uint32_t i = 1; i < d->n; i++)
	{
		matches += d->codes[i] <= seen && d->codes[i] != d->codes[i - 1];
		seen = d->codes[i] > seen ? d->codes[i] : seen;
	}
	return matches;
}

/*
 * Is a dictionary the best without asking LZ about the values themselves?  LZ
 * has to say what is in the entries too, and needs three bytes for a match,
 * zstd about two. (PACKED was preferred for the entries to what is up to a
 * fifth smaller.)
 */
static bool
dictionary_wins(const StrataVector *v, const StrataDictionary *d)
{
	bool		zstd = strata_codec_available(STRATA_CODEC_ZSTD) &&
	v->level != STRATA_LEVEL_HOT;
	bool		in_lz = d->entries_codec == STRATA_CODEC_LZ4 ||
	d->entries_codec == STRATA_CODEC_ZSTD;
	size_t		entries = in_lz ? d->encoded_len :
	d->encoded_len - d->encoded_len / 5;
	size_t		least = entries + (size_t) count_matches(d) * (zstd ? 2 : 3);
	size_t		most = d->nbytes - margin(v, d->nbytes, 20);

	return v->level != STRATA_LEVEL_ARCHIVE && v->hint != STRATA_BYTES_NO_LZ &&
		most <= least && most <= strata_packed_size(v);
}

/*
 * What LZ of the whole would make of documents, from one or two pieces: zstd
 * where it may be asked, else LZ4.
 */
static size_t
estimate_best_lz(const StrataVector *v, const StrataArena *scratch)
{
	bool		hot = v->level == STRATA_LEVEL_HOT &&
	strata_codec_available(STRATA_CODEC_LZ4);
	size_t		size = estimate_lz(hot ||
								   !strata_codec_available(STRATA_CODEC_ZSTD) ?
								   STRATA_CODEC_LZ4 : STRATA_CODEC_ZSTD, v,
								   *scratch, 2);

	return size < v->offsets[v->n] ? size : v->offsets[v->n];
}

/*
 * What zstd would make of documents in archives, if that may be below `least`
 * bytes: in a hurry, at the level of others, it takes longer by less than a
 * third.  *out is undefined then.
 */
static size_t
zstd_size(const StrataVector *v, size_t least, StrataArena *scratch,
		  const StrataWriter *start, StrataWriter *out)
{
	StrataVector hurried = *v;
	StrataCodecId chosen;
	size_t		blocks;
	size_t		size = SIZE_MAX;

	hurried.level = STRATA_LEVEL_BALANCED;
	if (strata_codec_available(STRATA_CODEC_ZSTD) &&
		encode_lz(STRATA_CODEC_ZSTD, &hurried, false, scratch, start, out,
				  &chosen, &blocks) == STRATA_CODEC_OK)
		size = strata_writer_len(out) - strata_writer_len(start);
	if (size != SIZE_MAX && least > size / 4 * 3 &&
		encode_lz(STRATA_CODEC_ZSTD, v, false, scratch, start, out, &chosen,
				  &blocks) == STRATA_CODEC_OK)
		size = strata_writer_len(out) - strata_writer_len(start);
	return size != SIZE_MAX ? size : estimate_best_lz(v, scratch);
}

/*
 * Documents by path, if that is below `most` bytes and a tenth below what LZ
 * would make of them, which is estimated, in archives (where the margin is
 * none) done if it may be close.  *out is undefined otherwise.
 */
static StrataCodecResult
choose_jsonb(const StrataVector *v, size_t most, StrataArena *scratch,
			 StrataWriter *out, StrataCodecId *chosen)
{
	StrataArena arena = *scratch;
	StrataWriter start = *out;
	bool		archive = v->level == STRATA_LEVEL_ARCHIVE;
	size_t		lz;
	size_t		len;
	uint8_t    *shredded = strata_arena_alloc(&arena, strata_raw_bound(v));
	StrataWriter w = strata_writer(shredded, strata_raw_bound(v));
	StrataCodecResult rc;

	if (shredded == NULL || v->n < JSONB_ROWS)
		return STRATA_CODEC_NOT_APPLICABLE;
	rc = strata_codec_jsonb.encode(v, &arena, &w);
	if (rc != STRATA_CODEC_OK)
		return rc;
	len = strata_writer_len(&w);
	if (len >= most)
		return STRATA_CODEC_NOT_APPLICABLE;
	lz = archive ? zstd_size(v, len, &arena, &start, out) :
		estimate_best_lz(v, &arena);
	*out = start;
	if (len >= lz - margin(v, lz, 10))
		return STRATA_CODEC_NOT_APPLICABLE;
	*chosen = STRATA_CODEC_JSONB;
	strata_write_bytes(out, shredded, len);
	return out->failed ? STRATA_CODEC_NO_SPACE : STRATA_CODEC_OK;
}

/*
 * BYTES.  A dictionary decodes faster and to a shape that grouping likes, so
 * it is taken without further ado when its entries are few, else when LZ is
 * not 5 % better.
 */
static StrataCodecResult
choose_bytes(const StrataVector *v, StrataArena *scratch, StrataWriter *out,
			 StrataCodecId *chosen)
{
	StrataArena arena = *scratch;
	StrataWriter start = *out;
	StrataDictionary d;
	StrataCodecResult rc;
	bool		has_dictionary;
	bool		few;

	/* a large value alone is better compressed than called constant */
	*chosen = STRATA_CODEC_CONSTANT;
	rc = v->n == 1 && strata_large_suits(v) ? STRATA_CODEC_NOT_APPLICABLE :
		strata_codec_constant.encode(v, scratch, out);
	if (rc != STRATA_CODEC_NOT_APPLICABLE)
		return rc;
	has_dictionary = strata_dictionary_collect(v, NULL, v->n / 2, &arena,
											   &d) == STRATA_CODEC_OK;
	few = has_dictionary && d.entries.n <= v->n / FEW_ENTRIES;
	if (v->hint == STRATA_BYTES_NUMERIC && !few)
	{
		*chosen = STRATA_CODEC_NUMERIC;
		rc = strata_codec_numeric.encode(v, &arena, out);
		if (rc == STRATA_CODEC_OK)
			return rc;
		*out = start;
	}
	has_dictionary = has_dictionary &&
		strata_dictionary_plan(&d, SIZE_MAX, &arena) ==
		STRATA_CODEC_OK;
	if (v->hint == STRATA_BYTES_JSONB && !few)
	{
		rc = choose_jsonb(v, has_dictionary ? d.nbytes : SIZE_MAX, &arena, out,
						  chosen);
		if (rc == STRATA_CODEC_OK)
			return rc;
		*out = start;
	}
	if (!has_dictionary || !(few || dictionary_wins(v, &d)))
	{
		rc = choose_lz(v, true, &arena, out, chosen);
		if (rc != STRATA_CODEC_OK || !has_dictionary ||
			d.nbytes - margin(v, d.nbytes, 20) >
			strata_writer_len(out) - strata_writer_len(&start))
			return rc;
		*out = start;
	}
	*chosen = STRATA_CODEC_DICTIONARY;
	return strata_dictionary_write(&d, out);
}

/* Encode v (v->n > 0) in the codec that suits it best. */
StrataCodecResult
strata_choose_encode(const StrataVector *v, StrataArena *scratch,
					 StrataWriter *out, StrataCodecId *chosen)
{
	Assert(v->n > 0);			/* codec:C4 */
	if (v->kind == STRATA_KIND_BYTES)
		return choose_bytes(v, scratch, out, chosen);
	return choose_fixed(v, false, scratch, out, chosen);
}

/* The same for entries of a dictionary. */
StrataCodecResult
strata_nested_encode(const StrataVector *v, StrataArena *scratch,
					 StrataWriter *out, StrataCodecId *chosen)
{
	Assert(v->n > 0);			/* codec:C4 */
	if (v->kind == STRATA_KIND_BYTES)
		return choose_lz(v, false, scratch, out, chosen);
	return choose_fixed(v, true, scratch, out, chosen);
}
