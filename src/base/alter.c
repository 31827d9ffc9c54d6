/*-------------------------------------------------------------------------
 *
 * alter.c
 *	  ALTER TABLE as a part of another command.
 *
 * src/base/alter.c
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/base.h"

#include "commands/event_trigger.h"
#include "commands/tablecmds.h"

/*
 * See base.h.  PostgreSQL notes what is altered for event triggers of the
 * command under way, and up to 15.18 ends the server where that is none that
 * alters a table (CREATE TABLE AS SELECT compress_chunk(...)).  What we alter
 * is nobody's command, so nothing is noted.  An error leaves that to the
 * command's end.
 */
void
strata_alter_table(Oid relid, List *cmds)
{
	EventTriggerInhibitCommandCollection();
	AlterTableInternal(relid, cmds, false);
	EventTriggerUndoInhibitCommandCollection();
}
