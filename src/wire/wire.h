/*-------------------------------------------------------------------------
 *
 * wire.h
 *	  Rows of a result to the client, as text and in binary.
 *
 * src/wire/wire.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_WIRE_H
#define STRATA_WIRE_H

#include "postgres.h"

#include "tcop/dest.h"

/*
 * A receiver that sends what client, a DestRemote or DestRemoteExecute one,
 * would send of rows whose columns are wanted in these formats, 0 (text) or 1
 * (binary) for each; NULL: all as text.  Memory: the current context, and for
 * as long, as formats has to stay.
 */
extern DestReceiver *strata_wire_receiver(DestReceiver *client,
										  const int16 *formats);

#endif							/* STRATA_WIRE_H */
