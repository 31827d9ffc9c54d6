/*-------------------------------------------------------------------------
 *
 * fuzz_jsonb_roundtrip.c
 *	  Fuzz target: documents through codec JSONB and back.
 *
 * First byte even: byte strings as for other codecs, said to be jsonb.  Odd: lines of
 * JSON, those that are none left out; with the second byte, where a byte of the jsonb is
 * changed.
 *
 * test/fuzz/fuzz_jsonb_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_JSONB
#define FUZZ_HINT STRATA_BYTES_JSONB
#define LLVMFuzzerTestOneInput fuzz_bytes
#include "fuzz.h"
#undef LLVMFuzzerTestOneInput

#include "unit/jsonb_make.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static FuzzVector f;
	static uint8_t payload[1 << 20];
	const char *line = (const char *) data + 2;
	const char *end = (const char *) data + len;

	if (len < 2 || data[0] % 2 == 0)
		return fuzz_bytes(data, len);
	memset(&f, 0, sizeof(f));
	while (line < end && f.v.n < FUZZ_ROWS)
	{
		const char *stop = memchr(line, '\n', (size_t) (end - line));
		uint32_t	at = f.offsets[f.v.n];
		size_t		nbytes;

		stop = stop ? stop : end;
		nbytes = jsonb_make(line, (size_t) (stop - line), payload + at, sizeof(payload) - at);
		if (nbytes > 0)
			f.offsets[++f.v.n] = at + (uint32_t) nbytes;
		line = stop + 1;
	}
	if (data[1] > 0 && f.offsets[f.v.n] > 0)
		payload[data[1] * UINT32_C(2654435761) % f.offsets[f.v.n]] ^= data[1];
	f.v.kind = STRATA_KIND_BYTES;
	f.v.payload = payload;
	f.v.offsets = f.offsets;
	f.v.hint = STRATA_BYTES_JSONB;
	f.nrows = f.v.n;
	fuzz_roundtrip(&f, STRATA_CODEC_JSONB);
	fuzz_roundtrip(&f, STRATA_CODEC_AUTO);
	return 0;
}
