/*-------------------------------------------------------------------------
 *
 * pg_toast.h
 *	  Values of one table that are stored out of line, fetched without opening
 *	  its TOAST table anew for each.
 *
 * src/pg/pg_toast.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_PG_TOAST_H
#define STRATA_PG_TOAST_H

#include "postgres.h"

/*
 * What fetches values out of TOAST table toastid.  Opens it when first needed,
 * with AccessShareLock, which is kept.  Memory: the context it is made in;
 * free it before the snapshot goes.
 */
typedef struct StrataToastFetcher StrataToastFetcher;
extern StrataToastFetcher *strata_toast_fetcher_create(Oid toastid);
extern void strata_toast_fetcher_free(StrataToastFetcher *fetcher);

/*
 * A varlena of a tuple as pg_detoast_datum_packed gives it, in the current
 * context; ERRCODE_DATA_CORRUPTED when it is out of line elsewhere than in
 * TOAST table toastid, or not whole there.  fetcher: of that table, or NULL:
 * do without.
 */
extern struct varlena *strata_toast_fetch(StrataToastFetcher *fetcher,
										  Oid toastid, struct varlena *value);

/*
 * Bytes [from, from + len) of the same, of which at least one is wanted; NULL:
 * it has not so many.  *fetched: what is to be freed, if that is not NULL.
 */
extern const char *strata_toast_fetch_slice(StrataToastFetcher *fetcher,
											Oid toastid,
											struct varlena *value, Size from,
											Size len, char **fetched);

/* Its first bytes, want of them at least or all; a varlena of those alone. */
extern struct varlena *strata_toast_fetch_start(StrataToastFetcher *fetcher,
												Oid toastid,
												struct varlena *value,
												Size want);

#endif							/* STRATA_PG_TOAST_H */
