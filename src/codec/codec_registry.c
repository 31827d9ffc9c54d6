/*-------------------------------------------------------------------------
 *
 * codec_registry.c
 *	  Codec ids, names, and which codec holds what.
 *
 * Hides the table of codecs: a new codec is one file, one line here, one row
 * in README.md and docs/format.md, golden files and two fuzz targets.
 *
 * src/codec/codec_registry.c
 *-------------------------------------------------------------------------
 */
#include "codec/codec_private.h"

static const StrataCodec *const codecs[STRATA_CODEC_COUNT] = {
	[STRATA_CODEC_RAW] = &strata_codec_raw,
	[STRATA_CODEC_CONSTANT] = &strata_codec_constant,
	[STRATA_CODEC_DELTA_DELTA] = &strata_codec_delta_delta,
	[STRATA_CODEC_GORILLA] = &strata_codec_gorilla,
	[STRATA_CODEC_DICTIONARY] = &strata_codec_dictionary,
	[STRATA_CODEC_LZ4] = &strata_codec_lz4,
	[STRATA_CODEC_ZSTD] = &strata_codec_zstd,
	[STRATA_CODEC_DECIMAL] = &strata_codec_decimal,
	[STRATA_CODEC_NUMERIC] = &strata_codec_numeric,
	[STRATA_CODEC_PACKED] = &strata_codec_packed,
	[STRATA_CODEC_JSONB] = &strata_codec_jsonb,
	[STRATA_CODEC_SIMPLE8B] = &strata_codec_simple8b,
	[STRATA_CODEC_LARGE] = &strata_codec_large,
};

/* The codec of an id read from anywhere; NULL for AUTO and unknown ids. */
const StrataCodec *
strata_codec_get(unsigned id)
{
	return id < STRATA_CODEC_COUNT ? codecs[id] : NULL;
}

/* The name users know a codec by; "unknown" for an id of the future. */
const char *
strata_codec_name(StrataCodecId id)
{
	const StrataCodec *codec = strata_codec_get((unsigned) id);

	if (id == STRATA_CODEC_AUTO)
		return "auto";
	return codec ? codec->name : "unknown";
}

/* The id of a name; AUTO for "auto" and for names nobody knows. */
StrataCodecId
strata_codec_by_name(const char *name)
{
	for (unsigned id = 1; id < STRATA_CODEC_COUNT; id++)
		if (codecs[id] && strcmp(codecs[id]->name, name) == 0)
			return (StrataCodecId) id;
	return STRATA_CODEC_AUTO;
}

/* Can values of this kind and width exist at all? */
static bool
kind_is_valid(StrataKind kind, uint8_t width)
{
	switch (kind)
	{
		case STRATA_KIND_INT:
			return width == 1 || width == 2 || width == 4 || width == 8;
		case STRATA_KIND_FLOAT:
			return width == 4 || width == 8;
		case STRATA_KIND_BYTES:
			return width == 0;
	}
	return false;
}

/* Can this codec hold values of this kind?  AUTO holds every valid one. */
bool
strata_codec_supports(StrataCodecId id, StrataKind kind, uint8_t width)
{
	const StrataCodec *codec = strata_codec_get((unsigned) id);

	if (!kind_is_valid(kind, width))
		return false;
	if (id == STRATA_CODEC_AUTO)
		return true;
	return codec && (codec->kinds & 1U << kind);
}

/* Is the codec built into this library? */
bool
strata_codec_available(StrataCodecId id)
{
	const StrataCodec *codec = strata_codec_get((unsigned) id);

	if (id == STRATA_CODEC_AUTO)
		return true;
	return codec && codec->available;
}

/* A result in words, lower case, for errdetail. */
const char *
strata_codec_result_text(StrataCodecResult rc)
{
	switch (rc)
	{
		case STRATA_CODEC_OK:
			return "ok";
		case STRATA_CODEC_CORRUPT:
			return "the bytes are not what an encoder wrote";
		case STRATA_CODEC_NO_SPACE:
			return "the buffer is too small";
		case STRATA_CODEC_NOT_APPLICABLE:
			return "the codec cannot hold these values";
		case STRATA_CODEC_UNSUPPORTED:
			return "the codec is unknown to this library or was not built into it";
	}
	return "unknown result";
}
