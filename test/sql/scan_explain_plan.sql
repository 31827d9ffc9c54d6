-- EXPLAIN of many chunks is for people; VERBOSE and other formats have everything
SET enable_bitmapscan = off;
SET enable_indexscan = off;
SET timezone = 'UTC';
SET strata.report_compression = off;
CREATE TABLE m (ts timestamptz NOT NULL, host text NOT NULL, v double precision);
SELECT create_hypertable('m', by_range('ts', interval '12 hours')) IS NOT NULL AS made;
ALTER TABLE m SET (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO m SELECT '2024-01-01 00:00+00'::timestamptz + i * interval '1 minute', 'h' || j, (i * j) % 100
	FROM generate_series(0, 6 * 720 - 1) i, generate_series(1, 3) j;
SELECT count(compress_chunk(c)) FROM show_chunks('m') c;
-- 5 % come late, to four of six chunks
INSERT INTO m SELECT '2024-01-01 00:00:01+00'::timestamptz + i * interval '20 minutes', 'h' || j, i % 100
	FROM generate_series(0, 143) i, generate_series(1, 3) j;
ANALYZE m;
CREATE FUNCTION plan(query text, options text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF %s) %s', options, query) LOOP
		RETURN NEXT regexp_replace(regexp_replace(line, '\.00', '', 'g'), 'Memory: \d+ kB', 'Memory: N kB');
	END LOOP;
END $$;
SELECT plan('SELECT count(v), sum(v) FROM m WHERE host = ''h1'' AND v > 97 AND v < 100');
SELECT plan('SELECT ts, v FROM m WHERE host = ''h1'' AND v > 97 AND v < 100');
-- conditions that differ are said of each
SELECT plan('SELECT ts, v FROM m WHERE ts < ''2024-01-01 13:00+00'' AND v = 7 UNION ALL SELECT ts, v FROM m WHERE ts < ''2024-01-01 13:00+00'' AND v = 8');
-- twice the same EXPLAIN is twice the same text, of cached plans too
SET plan_cache_mode = force_generic_plan;
PREPARE q(text) AS SELECT ts, v FROM m WHERE host = $1 AND v = 98;
SELECT array_agg(p) AS once FROM plan('EXECUTE q(''h1'')') p \gset
SELECT array_agg(p) = :'once'::text[] AS same, array_length(:'once'::text[], 1) AS lines FROM plan('EXECUTE q(''h1'')') p;
DEALLOCATE q;
RESET plan_cache_mode;
-- chunks that are not come to
SELECT plan('SELECT ts, host, v FROM m WHERE v >= 0 LIMIT 2');
-- everything
SELECT p FROM plan('SELECT count(v), sum(v) FROM m WHERE host = ''h1'' AND v > 97 AND v < 100', ', VERBOSE') p
	WHERE p !~ 'Output:|Query Identifier';
SELECT (SELECT count(*) FROM plan('SELECT count(v) FROM m WHERE v > 97', ', FORMAT json') p,
	LATERAL regexp_matches(p, '"(Batches Pruned by Segment|Rows From Row Store|Vectorized Filter|Batch Filter)"', 'g')) AS properties;
-- rows of a row store of some pages are filtered as columns, those that may raise an error one by one
INSERT INTO m SELECT '2024-01-01 00:00:02+00'::timestamptz + i * interval '1 second', 'late', i % 100 FROM generate_series(1, 5000) i;
SELECT cond, (SELECT sum((regexp_match(p, 'Rows Read As Columns: (\d+)'))[1]::int) FROM plan('SELECT * FROM m WHERE ' || cond, ', VERBOSE') p) AS as_columns,
	(SELECT count(*) FROM m WHERE host = 'late' AND v = 0) AS rows FROM unnest(ARRAY['host = ''late'' AND v = 0', 'host = ''late'' AND 1 / (v + 1)::int = 1']) AS cond;
DROP TABLE m;
DROP FUNCTION plan;
