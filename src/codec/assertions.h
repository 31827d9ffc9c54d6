/*-------------------------------------------------------------------------
 *
 * assertions.h
 *	  Assert() as PostgreSQL has it, where there is no PostgreSQL: nothing in a
 *	  release.  Each says which invariant of the README it holds: codec:C2.
 *
 * src/codec/assertions.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_ASSERTIONS_H
#define STRATA_ASSERTIONS_H

#ifdef STRATA_SERVER_BUILD
#include <pg_config.h>			/* USE_ASSERT_CHECKING */
#endif

#ifdef USE_ASSERT_CHECKING
#include <assert.h>
#define Assert(condition) assert(condition)
#else
#define Assert(condition) ((void) true)
#endif

#endif							/* STRATA_ASSERTIONS_H */
