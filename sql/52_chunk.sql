CREATE FUNCTION reorder_chunk(chunk regclass, index regclass DEFAULT NULL, verbose boolean DEFAULT false)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_reorder_chunk' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION reorder_chunk(regclass, regclass, boolean) IS
'rewrite the rows of a chunk in the order of an index of it or of its hypertable (the one used last); compressed rows keep the order of their batches';

CREATE FUNCTION move_chunk(
	chunk regclass,
	destination_tablespace name,
	index_destination_tablespace name DEFAULT NULL,
	reorder_index regclass DEFAULT NULL,
	verbose boolean DEFAULT false)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_move_chunk' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION move_chunk(regclass, name, name, regclass, boolean) IS
'move a chunk, its batches with it, to another tablespace, and its indexes to a second one if that is given; reorder it as well if an index is given';

CREATE PROCEDURE merge_chunks(chunk1 regclass, chunk2 regclass, concurrently boolean DEFAULT false)
	AS 'MODULE_PATHNAME', 'strata_merge_two_chunks' LANGUAGE C;
COMMENT ON PROCEDURE merge_chunks(regclass, regclass, boolean) IS
'merge two adjacent chunks of a hypertable into the earlier one; compressed when one of them was';

CREATE PROCEDURE merge_chunks(chunks regclass[])
	AS 'MODULE_PATHNAME', 'strata_merge_chunks' LANGUAGE C;
COMMENT ON PROCEDURE merge_chunks(regclass[]) IS
'merge adjacent chunks of a hypertable into the earliest of them; compressed when one of them was';

CREATE PROCEDURE split_chunk(chunk regclass, split_at "any" DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'strata_split_chunk' LANGUAGE C;
COMMENT ON PROCEDURE split_chunk(regclass, "any") IS
'split a chunk in two at a point of its time, or in the middle; the later rows go into a new chunk';

CREATE PROCEDURE attach_chunk(hypertable regclass, chunk regclass, slices jsonb)
	AS 'MODULE_PATHNAME', 'strata_attach_chunk' LANGUAGE C;
COMMENT ON PROCEDURE attach_chunk(regclass, regclass, jsonb) IS
'make a table a chunk of a hypertable for the range that slices gives, like {"time": ["2026-01-01", "2026-01-08"]}';

CREATE PROCEDURE detach_chunk(chunk regclass)
	AS 'MODULE_PATHNAME', 'strata_detach_chunk' LANGUAGE C;
COMMENT ON PROCEDURE detach_chunk(regclass) IS
'make a chunk a table of its own, with the settings that it was used with';

