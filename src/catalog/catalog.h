/*-------------------------------------------------------------------------
 *
 * catalog.h
 *	  A table's strata settings: where they are kept and what they mean.
 *
 * Settings live in pg_class.reloptions as "strata.<name>=<value>", so a dump
 * carries them, psql shows them, and they roll back, move and die with their
 * table (docs/adr/001).  A partition without settings of its own uses those of
 * its nearest ancestor that has some (segmentby and orderby together, each codec
 * option by itself).
 *
 * src/catalog/catalog.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_CATALOG_H
#define STRATA_CATALOG_H

#include "postgres.h"

#include "codec/codec.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

/* One column of strata.segmentby or strata.orderby, resolved. */
typedef struct StrataSettingKey
{
	AttrNumber	attno;
	bool		desc;
	bool		nulls_first;
} StrataSettingKey;

typedef struct StrataSettings
{
	bool		has_segmentby;	/* said, even if empty */
	bool		has_orderby;
	int			nsegmentby;
	StrataSettingKey *segmentby;
	int			norderby;
	StrataSettingKey *orderby;
	StrataLevel codec_level;
	StrataCodecId *codecs;		/* wanted, indexed by attno - 1; NULL: none named */
} StrataSettings;

/*
 * Settings in force for rel, own or inherited.  Columns that no longer exist
 * are left out.  Current context.
 */
extern StrataSettings *strata_settings_get(Relation rel);

/* Value of one stored option of relid ("segmentby"), or NULL; own only. */
extern char *strata_settings_get_text(Oid relid, const char *name);

/*
 * Check options (DefElems without the namespace, names like "segmentby") for
 * rel: ereport on unknown names, columns, duplicates, types without order.
 * rel may be a partitioned table.
 */
extern void strata_settings_check(Relation rel, List *options);

/*
 * Set or (reset) remove options in relid's pg_class row.  The caller holds a
 * lock that conflicts with itself and did the check.  Ends with a command
 * counter increment.
 */
extern void strata_settings_store(Oid relid, List *options, bool reset);

/* Take all strata.* entries out of relid's row, and return them as DefElems. */
extern List *strata_settings_remove_all(Oid relid);

/* Make these (names without prefix) relid's only options, of whatever kind. */
extern void strata_settings_replace_all(Oid relid, List *options);

/* After RENAME COLUMN / DROP COLUMN: keep the stored texts in step (new NULL: drop). */
extern void strata_settings_column_changed(Oid relid, const char *old, const char *new_name);

/* "hot", "balanced", "archive". */
extern const char *strata_level_name(StrataLevel level);

/* Is the DefElem one of ours ("strata".x or "strata.x")?  *name: without prefix. */
extern bool strata_settings_is_option(DefElem *def, const char **name);

#endif							/* STRATA_CATALOG_H */
