/*-------------------------------------------------------------------------
 *
 * filter_bytes.c
 *	  Conditions that the bytes of values decide: "=" and "= ANY" of types whose
 *	  equal values have equal bytes, and LIKE (expr_like.c).
 *
 * No operator is called: a value is compared with one, or looked for among
 * many by a hash of its bytes.  Those of a batch are looked at where they
 * were decoded: no values are made of them.
 *
 * src/scan/filter_bytes.c
 *-------------------------------------------------------------------------
 */
#include "scan/filter_kernel_private.h"
#include "base/base.h"
#include "base/words.h"

#include "access/detoast.h"
#include "codec/codec.h"
#include "common/hashfn.h"
#include "mb/pg_wchar.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"
#include "utils/uuid.h"

/* So many elements of a list are compared one after the other. */
#define FEW_BYTES 4

/*
 * The bytes of a value that is not out of line nor compressed; typlen: of its
 * type.
 */
static FilterBytes
bytes_of(Datum value, int typlen)
{
	FilterBytes result = {DatumGetPointer(value), typlen};

	if (typlen < 0)
	{
		Assert(strata_varlena_is_plain(result.data));	/* scan:R21 */
		result.data = VARDATA_ANY(DatumGetPointer(value));
		result.len = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	}
	return result;
}

static inline uint32
hash_bytes_of(FilterBytes value)
{
	return murmurhash32(strata_crc32c(value.data, value.len));
}

/*
 * Give the elements of a list places by their hashes.  Memory: the current
 * context.
 */
static void
place_by_hash(FilterNode *leaf, int n)
{
	uint32		nslots = pg_nextpower2_32(2 * Max(n, 1));

	leaf->slots = NULL;
	if (n <= FEW_BYTES)
		return;
	leaf->slots = MemoryContextAllocExtended(CurrentMemoryContext,
											 sizeof(int) * (Size) nslots,
											 MCXT_ALLOC_HUGE |
											 MCXT_ALLOC_ZERO);
	leaf->slot_mask = nslots - 1;
	leaf->hashes = MemoryContextAllocHuge(CurrentMemoryContext,
										  sizeof(uint32) * (Size) n);
	for (int i = 0; i < n; i++)
	{
		uint32		slot;

		leaf->hashes[i] = hash_bytes_of(leaf->bytes[i]);
		slot = leaf->hashes[i] & leaf->slot_mask;
		while (leaf->slots[slot] != 0)
			slot = (slot + 1) & leaf->slot_mask;
		leaf->slots[slot] = i + 1;
	}
}

/* See filter_kernel_private.h. */
void
strata_filter_prepare_bytes(FilterNode *leaf)
{
	int			n = leaf->op == FILTER_COMPARE ? 1 : leaf->nvalues;
	bool		is_uuid = leaf->righttype == UUIDOID;

	leaf->bytes = leaf->op == FILTER_COMPARE ?
		&leaf->one :
		palloc(sizeof(FilterBytes) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		Datum		value;

		value = leaf->op == FILTER_COMPARE ? leaf->value : leaf->values[i];
		if (!is_uuid)
			value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
		leaf->bytes[i] = bytes_of(value, is_uuid ? UUID_LEN : -1);
	}
	place_by_hash(leaf, n);
	/* another byte, and what may be cut off of a character, tell a longer one */
	leaf->start.kind = STRATA_PART_START;
	leaf->start.nbytes = 0;
	for (int i = 0; i < n && !is_uuid; i++)
		leaf->start.nbytes = Max(leaf->start.nbytes,
								 (int) leaf->bytes[i].len + 1 +
								 MAX_MULTIBYTE_CHAR_LEN);
}

/* mask[i] &= found[the row's code] */
static void
mask_codes(const StrataColumn *col, const uint8 *found, int n, uint8 *mask)
{
	for (int i = 0; i < n; i++)
		mask[i] &= found[col->codes[i]];
}

static inline bool
same_bytes(const FilterBytes *a, const FilterBytes *b)
{
	return a->len == b->len && strata_same_bytes(a->data, b->data, a->len);
}

/* Is a value, not null, among those of a by_bytes leaf? */
static inline bool
has_bytes(const FilterNode *leaf, FilterBytes value)
{
	int			n = leaf->op == FILTER_COMPARE ? 1 : leaf->nvalues;
	uint32		hash;

	if (leaf->slots == NULL)
	{
		for (int i = 0; i < n; i++)
			if (same_bytes(&leaf->bytes[i], &value))
				return true;
		return false;
	}
	hash = hash_bytes_of(value);
	for (uint32 slot = hash & leaf->slot_mask;
		 leaf->slots[slot] != 0; slot = (slot + 1) & leaf->slot_mask)
	{
		int			i = leaf->slots[slot] - 1;

		if (leaf->hashes[i] == hash && same_bytes(&leaf->bytes[i], &value))
			return true;
	}
	return false;
}

/* Which of these strings, of those wanted, are among the values? */
static void
find_strings(const FilterNode *leaf, const StrataBytes *strings,
			 const uint8 *wanted, uint8 *found)
{
	for (uint32 i = 0; i < strings->nentries; i++)
	{
		uint32		at = strings->offsets[i];
		FilterBytes value = {(const char *) strings->payload + at,
		strings->offsets[i + 1] - at};

		found[i] = (wanted == NULL || wanted[i]) && has_bytes(leaf, value);
	}
}

/* Is a value of `len` bytes looked for? */
static bool
has_length(const FilterNode *leaf, Size len)
{
	int			n = leaf->op == FILTER_COMPARE ? 1 : leaf->nvalues;

	for (int i = 0; i < n; i++)
		if (leaf->bytes[i].len == len)
			return true;
	return false;
}

/*
 * The same as has_bytes() of a value of the row store that is compressed or
 * out of line.
 */
static bool
has_detoasted(const FilterNode *leaf, Datum value, MemoryContext mcxt)
{
	MemoryContext old;

	if (!has_length(leaf, toast_raw_datum_size(value) - VARHDRSZ))
		return false;
	old = MemoryContextSwitchTo(mcxt);
	value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	MemoryContextSwitchTo(old);
	return has_bytes(leaf, bytes_of(value, -1));
}

/* See filter_kernel_private.h. */
void
strata_filter_bytes(const FilterNode *leaf, StrataFilterRun *run,
					const StrataColumn *col, uint8 *mask)
{
	int			n = run->reader->nrows;
	int			typlen = col->type.typlen;

	for (int i = 0; i < n; i++)
	{
		Datum		value = col->datums[i];

		if (!mask[i])
			continue;
		if (col->isnull != NULL && col->isnull[i])
			mask[i] = false;
		else if (typlen >= 0 ||
				 strata_varlena_is_plain(DatumGetPointer(value)))
			mask[i] = has_bytes(leaf, bytes_of(value, typlen));
		else
			mask[i] = has_detoasted(leaf, value, run->reader->batch_mcxt);
	}
}

/* See filter_kernel_private.h. */
bool
strata_filter_strings(const FilterNode *leaf, StrataFilterRun *run,
					  uint8 *mask)
{
	int			n = run->reader->nrows;
	const StrataColumn *col;
	uint8	   *found;

	if (!leaf->by_bytes &&
		(leaf->like == NULL || !strata_like_takes_strings(leaf->like)))
		return false;
	col = strata_batch_reader_strings(run->reader, leaf->attno);
	if (col == NULL)
		return false;
	found = MemoryContextAlloc(run->reader->batch_mcxt,
							   Max(col->strings.nentries, 1));
	if (leaf->by_bytes)
		find_strings(leaf, &col->strings, col->codes == NULL ? mask : NULL,
					 found);
	else
		strata_like_strings(leaf->like, &col->strings, leaf->not_like, found);
	if (memchr(found, 1, col->strings.nentries) == NULL)
		memset(mask, 0, n);
	else if (col->codes != NULL)
		mask_codes(col, found, n, mask);
	else
		for (int i = 0; i < n; i++)
			mask[i] &= found[i];
	if (col->isnull != NULL)
		for (int i = 0; i < n; i++)
			mask[i] &= !col->isnull[i];
	return true;
}
