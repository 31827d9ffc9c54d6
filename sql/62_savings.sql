-- Whoever may see a list of relations and their sizes may see whose they are.
CREATE VIEW strata.relation_sizes AS
	SELECT r.oid::regclass AS relation, c.oid::regclass AS of_table,
		   coalesce((SELECT i.inhparent::regclass FROM pg_catalog.pg_inherits i JOIN _strata.hypertable h ON h.relid = i.inhparent
					 WHERE i.inhrelid = c.oid), c.oid::regclass) AS of_hypertable,
		   r.kind || CASE WHEN r.oid <> p.oid THEN p.suffix ELSE '' END AS kind,
		   pg_catalog.pg_relation_size(r.oid, 'main') + pg_catalog.pg_relation_size(r.oid, 'fsm')
		   + pg_catalog.pg_relation_size(r.oid, 'vm') + pg_catalog.pg_relation_size(r.oid, 'init') AS bytes
	FROM pg_catalog.pg_class c
	JOIN pg_catalog.pg_am am ON am.oid = c.relam AND am.amname = 'strata'
	CROSS JOIN LATERAL (VALUES (c.oid, 'row store', ''), (strata.batch_relation(c.oid)::oid, 'batches', ' of batches'),
		(_strata.batch_index_relation(strata.batch_relation(c.oid)), 'batch index', ' of batch index')) p(oid, kind, suffix)
	JOIN pg_catalog.pg_class k ON k.oid = p.oid
	CROSS JOIN LATERAL (
		SELECT k.oid, p.kind
		UNION ALL SELECT i.indexrelid, 'index' FROM pg_catalog.pg_index i WHERE i.indrelid = k.oid
		UNION ALL SELECT k.reltoastrelid, 'TOAST' WHERE k.reltoastrelid <> 0
		UNION ALL SELECT i.indexrelid, 'TOAST index' FROM pg_catalog.pg_index i
			WHERE i.indrelid = k.reltoastrelid AND k.reltoastrelid <> 0) r(oid, kind)
	WHERE c.relkind IN ('r', 'm');
COMMENT ON VIEW strata.relation_sizes IS
'every relation that holds a strata table''s data: row store, batches, batch index, their indexes and TOAST; which table and hypertable it is of, and its bytes on disk';

-- Disks are sold by the GB of 1,000,000,000 bytes, or by one of 2^30 that is called so; the smaller saves less.
CREATE FUNCTION _strata.storage_price(bytes numeric, price_per_gb_month numeric, copies integer) RETURNS numeric
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF NOT price_per_gb_month BETWEEN 0 AND 1e30 THEN
		RAISE EXCEPTION 'price_per_gb_month must be a number that is not negative' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF copies < 1 THEN
		RAISE EXCEPTION 'copies must be at least 1' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN bytes / 1000000000 * price_per_gb_month * copies;
END
$$;
COMMENT ON FUNCTION _strata.storage_price(numeric, numeric, integer) IS 'what so many bytes cost a month, kept so many times; 22023 for what is no price or number of copies';

CREATE FUNCTION strata.savings_report(
	price_per_gb_month numeric, copies integer,
	OUT relation regclass, OUT tables bigint, OUT compressed_tables bigint, OUT unmeasured_tables bigint,
	OUT bytes_as_rows bigint, OUT bytes_now bigint, OUT bytes_saved bigint, OUT saved_percent numeric,
	OUT saved_per_month numeric, OUT saved_per_year numeric)
RETURNS SETOF record LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	WITH part AS (
		SELECT coalesce(pg_partition_root(c.oid), c.oid::regclass) AS relation,
			   s.compression_status = 'Compressed' AS is_compressed,
			   s.before_compression_total_bytes AS before,
			   coalesce(s.after_compression_total_bytes, pg_total_relation_size(c.oid)) AS now
		FROM pg_class c
		JOIN pg_am am ON am.oid = c.relam AND am.amname = 'strata'
		CROSS JOIN LATERAL @extschema@.chunk_compression_stats(c.oid::regclass) s
		WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't'
		  AND (pg_has_role(c.relowner, 'USAGE') OR pg_has_role('pg_monitor', 'MEMBER'))),
	total AS (
		SELECT p.relation, count(*) AS tables, count(*) FILTER (WHERE p.is_compressed) AS compressed,
			   count(*) FILTER (WHERE p.is_compressed AND p.before IS NULL) AS unmeasured,
			   coalesce(sum(coalesce(p.before, p.now)), 0) AS before, coalesce(sum(p.now), 0) AS now
		FROM part p GROUP BY GROUPING SETS ((p.relation), ()))
	SELECT t.relation, t.tables, t.compressed, t.unmeasured, t.before::bigint, t.now::bigint, (t.before - t.now)::bigint,
		   round(100 * (t.before - t.now) / nullif(t.before, 0), 1),
		   round(_strata.storage_price(t.before - t.now, price_per_gb_month, copies), 2),
		   round(12 * _strata.storage_price(t.before - t.now, price_per_gb_month, copies), 2)
	FROM total t
	ORDER BY t.relation IS NULL, t.before - t.now DESC, t.relation::text;
END;
COMMENT ON FUNCTION strata.savings_report(numeric, integer) IS
'what compression saves, of your tables and hypertables, in bytes on disk and in money, of all tables for members of pg_monitor, at a price for a GB and month and so many copies (replicas, backups); the last row, whose relation is NULL, is the sum';

GRANT SELECT ON strata.relation_sizes TO PUBLIC;
