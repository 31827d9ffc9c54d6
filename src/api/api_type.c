/*-------------------------------------------------------------------------
 *
 * api_type.c
 *	  Input and output of type strata.compressed: as bytea's.
 *
 * Contents are not looked at here: decoders distrust them in any case.
 *
 * src/api/api_type.c
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

PG_FUNCTION_INFO_V1(strata_compressed_in);
PG_FUNCTION_INFO_V1(strata_compressed_out);
PG_FUNCTION_INFO_V1(strata_compressed_recv);
PG_FUNCTION_INFO_V1(strata_compressed_send);

Datum
strata_compressed_in(PG_FUNCTION_ARGS)
{
	return byteain(fcinfo);
}

Datum
strata_compressed_out(PG_FUNCTION_ARGS)
{
	return byteaout(fcinfo);
}

Datum
strata_compressed_recv(PG_FUNCTION_ARGS)
{
	return bytearecv(fcinfo);
}

Datum
strata_compressed_send(PG_FUNCTION_ARGS)
{
	return byteasend(fcinfo);
}
