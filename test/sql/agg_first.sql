-- The first row of each group in any order: the same with the switch on and off, and as of a heap; ties are among columns that are not shown.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET max_parallel_workers_per_gather = 0;
CREATE COLLATION af_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE af (gone int, ts timestamptz NOT NULL, k text, f float8, f4 float4, i int, s smallint, b bigint, d date, t text COLLATE "C",
	c text COLLATE af_ci, n numeric, u uuid, flag bool, arr int[], same int, id int);
SELECT count(*) FROM create_hypertable('af', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE af DROP COLUMN gone;
ALTER TABLE af SET (strata.segmentby = 'k', strata.orderby = 'ts DESC, i');
CREATE TABLE af_h (LIKE af);
CREATE TABLE af_dim AS SELECT 'k' || g AS k, 'team ' || g % 3 AS team, g AS size FROM generate_series(0, 6) AS g UNION ALL VALUES ('k2', 'team x', 1), (NULL, 'none', 2);
CREATE FUNCTION af_rows(lo int, hi int, step int) RETURNS SETOF af_h LANGUAGE sql AS $$
	SELECT timestamptz '2020-01-01Z' + g * interval '20 seconds', nullif('k' || g % 7, 'k3'),
		CASE g % 97 WHEN 3 THEN NULL WHEN 5 THEN 'NaN' WHEN 7 THEN '-0' WHEN 8 THEN 0 WHEN 11 THEN 'inf' WHEN 13 THEN '-inf' ELSE hashint4(g) / 1e3 END,
		CASE WHEN g % 1000 = 7 THEN 'NaN'::float4 ELSE (hashint4(g) % 50)::float4 / 8 END,
		CASE WHEN g % 1013 = 5 THEN -2147483648 WHEN g % 1013 = 6 THEN 2147483647 ELSE hashint4(g + 1) % 60 END,
		CASE WHEN g % 11 <> 0 THEN g % 30 END, CASE WHEN g % 1511 = 1 THEN -9223372036854775808 WHEN g % 1511 = 2 THEN 9223372036854775807
			WHEN g % 17 <> 0 THEN hashint4(g + 2)::bigint * 4000000000 END,
		CASE g % 1999 WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' ELSE date '2020-01-01' + hashint4(g + 3) % 10000 END,
		CASE WHEN g % 19 > 0 THEN repeat(md5((g % 900)::text), g % 4) END, CASE WHEN g % 2 = 0 THEN 'abc' ELSE 'ABC' END || g % 5,
		round((hashint4(g + 4) % 20) / 7.0, g % 4), md5(g::text)::uuid, g % 3 = 0, CASE WHEN g % 23 > 0 THEN ARRAY[g % 9, g % 17] END, 4, g
	FROM generate_series(lo, hi, step) AS g $$;
INSERT INTO af_h SELECT * FROM af_rows(0, 7199, 1);
INSERT INTO af SELECT * FROM af_h;
SELECT count(compress_chunk(c)) FROM show_chunks('af') AS c;
ANALYZE af, af_h, af_dim;
CREATE FUNCTION af_answer(query text, way text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	IF way IN ('enable_first_rows', 'enable_early_stop', 'enable_join_aggregation', 'enable_row_grouping') THEN
		PERFORM set_config('strata.' || way, 'off', true);
	ELSIF way = 'work_mem' THEN
		PERFORM set_config('work_mem', '64kB', true), set_config('hash_mem_multiplier', '1', true), set_config('strata.agg_least_groups', '16', true);
	ELSIF way = 'heap' THEN
		query := regexp_replace(query, '\maf\M', 'af_h', 'g');
	END IF;
	EXECUTE 'SELECT string_agg(x::text, '';'' ORDER BY x::text COLLATE "C") FROM (' || query || ') AS x' INTO answer;
	PERFORM set_config(name, reset_val, true) FROM pg_settings WHERE name IN ('strata.enable_early_stop', 'strata.enable_join_aggregation',
		'strata.enable_row_grouping', 'work_mem', 'hash_mem_multiplier', 'strata.agg_least_groups');
	PERFORM set_config('strata.enable_first_rows', 'on', true);
	RETURN coalesce(answer, '-');
END $$;
CREATE FUNCTION af_differ() RETURNS TABLE (query text, ways text) LANGUAGE plpgsql AS $$
DECLARE
	expected text;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		-- ranks of all types, up and down, nulls at either end, with ties that id decides
		'SELECT DISTINCT ON (k) k, f, id FROM af ORDER BY k, f, id',
		'SELECT DISTINCT ON (k) k, f, id FROM af ORDER BY k, f DESC, id DESC',
		'SELECT DISTINCT ON (k) k, f, id FROM af ORDER BY k, f NULLS FIRST, id',
		'SELECT DISTINCT ON (k) k, f, id FROM af ORDER BY k DESC, f DESC NULLS LAST, id',
		'SELECT DISTINCT ON (k) k, f, id FROM af WHERE f <= 0 ORDER BY k, f DESC NULLS LAST, id',
		'SELECT DISTINCT ON (k) k, f4, id, t FROM af ORDER BY k, f4 DESC, id',
		'SELECT DISTINCT ON (k) k, i, id, t FROM af ORDER BY k, i, ts DESC',
		'SELECT DISTINCT ON (k) * FROM af ORDER BY k, i DESC, ts',
		'SELECT DISTINCT ON (s) s, k, b, id FROM af ORDER BY s, b, id',
		'SELECT DISTINCT ON (s) s, k, b, id FROM af ORDER BY s, b DESC, id',
		'SELECT DISTINCT ON (s) s, k, b, id FROM af ORDER BY s, b DESC NULLS LAST, id',
		'SELECT DISTINCT ON (s) s, b FROM af ORDER BY s, b',
		'SELECT DISTINCT ON (s) s, b FROM af ORDER BY s, b DESC NULLS LAST',
		'SELECT DISTINCT ON (s, k) s, k, d, id FROM af ORDER BY k, s, d, id DESC',
		'SELECT DISTINCT ON (s, k) s, k, d, id FROM af ORDER BY k, s, d DESC, id',
		'SELECT DISTINCT ON (flag) flag, t, id FROM af ORDER BY flag, t, id',
		'SELECT DISTINCT ON (flag) flag, t, id FROM af ORDER BY flag, t DESC NULLS LAST, id',
		'SELECT DISTINCT ON (flag) flag, c, n, id FROM af ORDER BY flag, c, n, id',
		'SELECT DISTINCT ON (flag, s) flag, n, id FROM af ORDER BY flag, s, n DESC, id',
		'SELECT DISTINCT ON (flag) flag, arr, u FROM af ORDER BY flag, arr, u',
		'SELECT DISTINCT ON (k) k, same, id FROM af ORDER BY k, same, same IS NULL, id',
		'SELECT DISTINCT ON (k) k, id FROM af ORDER BY k, same, flag, i, s, ts',
		'SELECT DISTINCT ON (k) k, ts FROM af ORDER BY k, ts DESC',
		'SELECT DISTINCT ON (k) k, ts, t FROM af ORDER BY k, ts',
		-- keys whose equal values differ, and that are computed
		'SELECT DISTINCT ON (c) c, ts FROM af ORDER BY c, ts',
		'SELECT DISTINCT ON (c) c, i, ts FROM af ORDER BY c, i DESC, ts',
		'SELECT DISTINCT ON (n) n, id FROM af ORDER BY n, id',
		'SELECT DISTINCT ON (n) n, n + 1 AS m, id FROM af ORDER BY n DESC, id DESC',
		'SELECT DISTINCT ON (f) f, id FROM af ORDER BY f, id',
		'SELECT DISTINCT ON (f) f, 1 / nullif(f, 0) AS q, ts FROM af WHERE id % 7 < 3 ORDER BY f, ts DESC',
		'SELECT DISTINCT ON (date_trunc(''hour'', ts)) date_trunc(''hour'', ts) AS hour, f, id FROM af ORDER BY date_trunc(''hour'', ts), f DESC, id',
		'SELECT DISTINCT ON (time_bucket(''30 minutes'', ts), k) time_bucket(''30 minutes'', ts) AS t, k, i, id FROM af ORDER BY 1, 2, 3, 4',
		'SELECT DISTINCT ON (lower(c), s % 4) lower(c), s % 4 AS r, i, id FROM af ORDER BY 1, 2, 3, 4',
		'SELECT DISTINCT ON (n * 2) n * 2 AS twice, n, id FROM af ORDER BY n * 2, id',
		-- ranks that are computed, or errors that no row raises
		'SELECT DISTINCT ON (k) k, id FROM af ORDER BY k, abs(s), id',
		'SELECT DISTINCT ON (k) k, id FROM af ORDER BY k, f * 2 DESC, length(t), id',
		'SELECT DISTINCT ON (k) k, id FROM af ORDER BY k, upper(t) DESC NULLS LAST, id',
		'SELECT DISTINCT ON (k) k, id, 10 / (s - 100) AS x FROM af ORDER BY k, s, id',
		'SELECT DISTINCT ON (k) k, id FROM af ORDER BY k, CASE WHEN flag THEN i END, id',
		-- nothing says which, and there is one; and columns of the row only
		'SELECT DISTINCT ON (id) id, t, n FROM af',
		'SELECT DISTINCT ON (id) id, t, n FROM af ORDER BY id',
		'SELECT DISTINCT ON (id) t FROM af ORDER BY id, i',
		'SELECT DISTINCT ON (k, s) i FROM af ORDER BY k, s, i',
		'SELECT DISTINCT ON (k) k FROM af ORDER BY k, f',
		'SELECT DISTINCT ON (n) n FROM af ORDER BY n, id',
		-- conditions, limits
		'SELECT DISTINCT ON (k) k, f, id FROM af WHERE ts >= ''2020-01-01 11:00Z'' AND flag ORDER BY k, f DESC NULLS LAST, id LIMIT 3',
		'SELECT DISTINCT ON (s) s, f, id FROM af WHERE i > 20 ORDER BY s DESC, f, id OFFSET 5',
		'SELECT DISTINCT ON (k) k, f FROM af WHERE f > 1e9 ORDER BY k, f, id',
		'SELECT k, (SELECT f FROM (SELECT DISTINCT ON (a.s) s, f FROM af AS a WHERE a.k = x.k ORDER BY a.s, a.f, a.id) AS y ORDER BY s LIMIT 1) FROM af_dim AS x',
		'SELECT count(*), sum(id) FROM (SELECT DISTINCT ON (k, s) id FROM af ORDER BY k, s, f, id) AS x',
		-- above joins
		'SELECT DISTINCT ON (a.k) a.k, ts, f, team FROM af AS a JOIN af_dim AS x USING (k) WHERE team = ''team 1'' ORDER BY a.k, ts DESC',
		'SELECT DISTINCT ON (a.k) a.k, f, id, team FROM af AS a JOIN af_dim AS x ON a.k = x.k ORDER BY a.k, f, id, team',
		'SELECT DISTINCT ON (a.k) a.k, f, id, team FROM af AS a JOIN af_dim AS x ON a.k = x.k ORDER BY a.k, team, f DESC NULLS LAST, size, id',
		'SELECT DISTINCT ON (team) team, f, id FROM af AS a JOIN af_dim AS x ON a.k = x.k ORDER BY team, f NULLS FIRST, id',
		'SELECT DISTINCT ON (team, flag) team, flag, n, id FROM af AS a JOIN af_dim AS x ON a.k = x.k AND a.s > x.size ORDER BY team, flag, size, n, id',
		'SELECT DISTINCT ON (team) team, a.s + size AS sum, id FROM af AS a JOIN af_dim AS x ON a.k = x.k ORDER BY team, s, size, id',
		'SELECT DISTINCT ON (team) team, id FROM af AS a JOIN af_dim AS x ON a.k = x.k ORDER BY team, a.s + size, id',
		'SELECT DISTINCT ON (team) team, id FROM af AS a JOIN af_dim AS x ON a.k = x.k ORDER BY team, 10 / (a.s - 100), id',
		'SELECT DISTINCT ON (a.k) a.k, ts, team FROM af AS a LEFT JOIN af_dim AS x ON a.k = x.k AND team <> ''team 2'' ORDER BY a.k, ts DESC, team',
		'SELECT DISTINCT ON (x.k) x.k, ts, team FROM af_dim AS x LEFT JOIN af AS a ON a.k = x.k AND a.flag ORDER BY x.k, ts, team',
		'SELECT DISTINCT ON (a.k) a.k, ts FROM af AS a WHERE EXISTS (SELECT 1 FROM af_dim AS x WHERE x.k = a.k AND team = ''team 0'') ORDER BY a.k, ts',
		'SELECT DISTINCT ON (a.k) a.k, ts FROM af AS a WHERE NOT EXISTS (SELECT 1 FROM af_dim AS x WHERE x.k = a.k AND team = ''team 0'') ORDER BY a.k, ts',
		'SELECT DISTINCT ON (a.k) a.k, i, id FROM af AS a WHERE k IN (SELECT k FROM af_dim WHERE size < 4) ORDER BY a.k, i, id',
		'SELECT DISTINCT ON (a.c) a.c, id, team FROM af AS a JOIN af_dim AS x ON a.k = x.k ORDER BY a.c, id, team',
		'SELECT DISTINCT ON (date_trunc(''hour'', ts), team) date_trunc(''hour'', ts) AS hour, team, f, id FROM af AS a JOIN af_dim AS x ON a.k = x.k ORDER BY 1, 2, 3, 4',
		'SELECT DISTINCT team FROM af AS a JOIN af_dim AS x ON a.k = x.k WHERE i > 30',
		'SELECT DISTINCT team, a.s FROM af AS a JOIN af_dim AS x ON a.k = x.k',
		'SELECT DISTINCT team, a.c FROM af AS a JOIN af_dim AS x ON a.k = x.k WHERE id % 10 < 2',
		'SELECT DISTINCT ON (a.k) a.k, a.id, b.id AS other FROM af AS a JOIN af AS b ON a.k = b.k AND b.id < 20 WHERE a.flag ORDER BY a.k, a.f, a.id, b.id DESC'
	] LOOP
		expected := af_answer(query, 'heap');
		SELECT string_agg(way, ', ') INTO ways FROM unnest(ARRAY['on', 'enable_first_rows', 'enable_early_stop', 'enable_join_aggregation', 'enable_row_grouping', 'work_mem']) AS way
			WHERE af_answer(query, way) IS DISTINCT FROM expected;
		IF ways IS NOT NULL THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM af_differ();
-- beside a row store, entries of batches, and chunks without batches
WITH late AS (INSERT INTO af_h SELECT (jsonb_populate_record(r, jsonb_build_object('id', id + 100000, 'ts', ts + interval '7 seconds'))).* FROM af_rows(3, 7199, 20) AS r RETURNING *)
	INSERT INTO af SELECT * FROM late;
DELETE FROM af WHERE id % 50 = 7;
DELETE FROM af_h WHERE id % 50 = 7;
UPDATE af SET f = -f, t = 'changed' WHERE id % 50 = 8;
UPDATE af_h SET f = -f, t = 'changed' WHERE id % 50 = 8;
SELECT * FROM af_differ();
CREATE INDEX ON af (k, ts DESC);
INSERT INTO af SELECT * FROM af_rows(9000, 9100, 1);
INSERT INTO af_h SELECT * FROM af_rows(9000, 9100, 1);
ANALYZE af, af_h;
SELECT * FROM af_differ();
-- cursors, rescans, errors of ranks
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT DISTINCT ON (k) k, f, id FROM af ORDER BY k, f, id;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH ALL FROM c;
COMMIT;
SELECT x.k, y.* FROM af_dim AS x CROSS JOIN LATERAL (SELECT DISTINCT ON (flag) flag, i, id FROM af WHERE af.k = x.k AND af.s < x.size ORDER BY flag, i, id) AS y WHERE size > 4 ORDER BY 1, 2;
SELECT DISTINCT ON (k) k, id FROM af ORDER BY k, 1 / (s - 7);
PREPARE worst(int) AS SELECT DISTINCT ON (k) k, i % $1 AS r, id FROM af ORDER BY k, i % $1, id;
SET plan_cache_mode = force_generic_plan;
EXECUTE worst(7);
EXECUTE worst(11);
EXECUTE worst(0);
DROP FUNCTION af_rows, af_answer, af_differ;
DROP TABLE af, af_h, af_dim;
DROP COLLATION af_ci;
