/*-------------------------------------------------------------------------
 *
 * change_ahead.c
 *	  Rows that the scan below a node has deleted for it.
 *
 * Where all rows that a scan returns are deleted by the ModifyTable node above
 * it, the scan does so for the rows of a batch together, and returns them
 * nonetheless: somebody wants to see them.  The node then asks for each row
 * what has been done already, and is told so.
 *
 * A row is told once, to the command and subtransaction that did it.
 *
 * src/change/change_ahead.c
 *-------------------------------------------------------------------------
 */
#include "change/change_private.h"

#include "access/xact.h"
#include "utils/memutils.h"

typedef struct AheadRows
{
	struct AheadRows *next;
	Oid			companion;
	CommandId	cid;
	SubTransactionId subtransaction;
	int64		first_row;
	int			span;
	int			left;			/* not told yet */
	uint8		bits[FLEXIBLE_ARRAY_MEMBER];
} AheadRows;

/* In memory of the transaction; of one scan there is one, usually. */
static AheadRows *all_ahead = NULL;

static void
forget_ahead(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		all_ahead = NULL;
}

/* See change_private.h. */
void
strata_ahead_note(Relation batches, int64 first_row, const uint16 *rows,
				  int nrows, CommandId cid)
{
	static bool registered = false;
	int			span = rows[nrows - 1] + 1;
	AheadRows  *ahead;

	if (!registered)
		RegisterXactCallback(forget_ahead, NULL);
	registered = true;
	ahead = MemoryContextAllocZero(TopTransactionContext,
								   offsetof(AheadRows, bits) +
								   (span + 7) / 8);
	ahead->companion = RelationGetRelid(batches);
	ahead->cid = cid;
	ahead->subtransaction = GetCurrentSubTransactionId();
	ahead->first_row = first_row;
	ahead->span = span;
	ahead->left = nrows;
	for (int i = 0; i < nrows; i++)
		ahead->bits[rows[i] / 8] |= 1 << rows[i] % 8;
	ahead->next = all_ahead;
	all_ahead = ahead;
}

/* See change_private.h. */
bool
strata_ahead_take(Oid companion, int64 row, CommandId cid)
{
	for (AheadRows **link = &all_ahead; *link != NULL; link = &(*link)->next)
	{
		AheadRows  *ahead = *link;
		int64		i = row - ahead->first_row;

		if (ahead->companion != companion || i < 0 || i >= ahead->span ||
			(ahead->bits[i / 8] & (1 << i % 8)) == 0 || ahead->cid != cid ||
			ahead->subtransaction != GetCurrentSubTransactionId())
			continue;
		ahead->bits[i / 8] &= ~(1 << i % 8);
		if (--ahead->left == 0)
		{
			*link = ahead->next;
			pfree(ahead);
		}
		return true;
	}
	return false;
}
