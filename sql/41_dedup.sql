CREATE FUNCTION strata.page_symbols(
	relation regclass, block bigint,
	OUT symbol integer, OUT uses integer, OUT bytes integer, OUT columns name[], OUT value text)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_page_symbols' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION strata.page_symbols(regclass, bigint) IS
'the values that a page of a strata_dedup table keeps once: how often and in which columns each is used, its bytes, and its text by the first of these columns; no rows for a page without any';

CREATE FUNCTION strata.dedup_stats(
	relation regclass,
	OUT pages bigint, OUT pages_with_symbols bigint, OUT row_versions bigint, OUT row_versions_with_symbols bigint,
	OUT symbols bigint, OUT symbol_bytes bigint, OUT bytes bigint, OUT bytes_saved bigint, OUT ratio double precision)
	AS 'MODULE_PATHNAME', 'strata_dedup_stats' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION strata.dedup_stats(regclass) IS
'what the pages of a strata_dedup table hold: pages and those with symbols, row versions and those with symbols, symbols and bytes of their tables, bytes of rows and tables, and how many more the same rows would take without symbols; free space does not count. Reads the whole table';

CREATE FUNCTION strata.estimate_dedup(
	relation regclass,
	OUT bytes bigint, OUT heap_bytes bigint, OUT dedup_bytes bigint, OUT ratio double precision, OUT sampled double precision)
	AS 'MODULE_PATHNAME', 'strata_estimate_dedup' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION strata.estimate_dedup(regclass) IS
'what a heap (or strata_dedup) table would take as strata_dedup: bytes of its pages now, after VACUUM FULL as heap, after VACUUM FULL as strata_dedup, and the latter two''s ratio, from the part of the pages that was read; indexes and TOAST stay as they are';

CREATE FUNCTION strata.set_tablespace_access_method(tablespace name, access_method name) RETURNS void
	AS 'MODULE_PATHNAME', 'strata_set_tablespace_access_method' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION strata.set_tablespace_access_method(name, name) IS
'have new tables of a tablespace use this access method where nothing names another (NULL: no longer): tables of all databases, made with TABLESPACE, by default_tablespace, or by their database''s default; kept as a security label of the tablespace, so pg_dumpall has it; for the owner of the tablespace';

-- Here, since it is of both kinds of tables.
CREATE FUNCTION pg_get_compression_ratio(relation regclass) RETURNS double precision
	LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT sum(b.before)::float8 / nullif(sum(b.after), 0)
	FROM (SELECT before_compression_total_bytes AS before, after_compression_total_bytes AS after
		  FROM @extschema@.chunk_compression_stats(relation)
		  WHERE before_compression_total_bytes IS NOT NULL
		  UNION ALL
		  SELECT d.bytes + d.bytes_saved, d.bytes
		  FROM (SELECT t.relid FROM pg_partition_tree(_strata.hypertable_meant(relation)) t WHERE t.isleaf
				UNION SELECT relation::oid WHERE NOT EXISTS (SELECT FROM pg_partition_tree(relation))) l
		  JOIN pg_class c ON c.oid = l.relid
		  JOIN pg_am a ON a.oid = c.relam AND a.amname = 'strata_dedup'
		  CROSS JOIN LATERAL strata.dedup_stats(c.oid) d) b;
END;
COMMENT ON FUNCTION pg_get_compression_ratio(regclass) IS
'bytes before compression divided by bytes after, over the tables of a partition tree for which both are known; of strata_dedup tables, bytes of rows without symbols by those of rows and symbols; NULL when there are none';
