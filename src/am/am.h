/*-------------------------------------------------------------------------
 *
 * am.h
 *	  The table access method "strata".
 *
 * src/am/am.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AM_H
#define STRATA_AM_H

#include "postgres.h"

/* Fill the routine and install callbacks; called once by _PG_init. */
extern void strata_am_init(void);

#endif							/* STRATA_AM_H */
