/*-------------------------------------------------------------------------
 *
 * wire.h
 *	  Rows of a result to the client, as text.
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
 * would send of rows all of whose columns are wanted as text.  Memory: the
 * current context, and for as long.
 */
extern DestReceiver *strata_wire_receiver(DestReceiver *client);

#endif							/* STRATA_WIRE_H */
