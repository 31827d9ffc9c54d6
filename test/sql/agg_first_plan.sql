-- Which queries find the first row of each group without sorting; answers: agg_first.sql.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.enable_first_rows = on;
SET strata.enable_join_aggregation = on;
SET strata.batch_rows = 500;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE afp (ts timestamptz NOT NULL, k text, zone int, v int, f float8, num numeric);
SELECT count(*) FROM create_hypertable('afp', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE afp SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
INSERT INTO afp SELECT timestamptz '2020-01-01Z' + g * interval '10 seconds', 'k' || g % 21, g % 5, g, g % 1000 / 8.0, g % 3 FROM generate_series(0, 17279) AS g;
SELECT count(compress_chunk(c)) FROM show_chunks('afp') AS c;
INSERT INTO afp SELECT timestamptz '2020-01-01Z' + g * interval '3 minutes', 'k' || g % 23, g % 6, -g, 1, 1 FROM generate_series(0, 860) AS g;
CREATE TABLE afd AS SELECT 'k' || g AS k, 'region ' || g % 3 AS region, g AS size FROM generate_series(0, 18) AS g;
ANALYZE afp, afd;
CREATE FUNCTION afp_way(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	way text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'StrataAgg|First Row By|Early Stop|Unique|Hash Join|Nested Loop' THEN
			way := way || CASE WHEN way <> '' THEN '; ' ELSE '' END || regexp_replace(line, '^[ >-]*', '');
		END IF;
	END LOOP;
	RETURN way;
END $$;
SELECT query, afp_way(query) FROM unnest(ARRAY[
	'SELECT DISTINCT ON (k) k, ts FROM afp ORDER BY k, ts DESC',
	'SELECT DISTINCT ON (k) k, v FROM afp ORDER BY k, v DESC, ts',
	'SELECT DISTINCT ON (k) k, v FROM afp ORDER BY k, f NULLS FIRST',
	'SELECT DISTINCT ON (num) num, f FROM afp ORDER BY num, abs(v) DESC NULLS LAST, k COLLATE "C"',
	'SELECT DISTINCT ON (date_trunc(''hour'', ts)) k, v FROM afp ORDER BY date_trunc(''hour'', ts), v',
	'SELECT DISTINCT ON (k) k, random() FROM afp ORDER BY k, v',
	'SELECT DISTINCT ON (k) k, v, random() AS r FROM afp ORDER BY k, r',
	-- before a join
	'SELECT DISTINCT ON (k) k, v, region FROM afp JOIN afd USING (k) ORDER BY k, ts DESC',
	'SELECT DISTINCT ON (k) k, v, region FROM afp JOIN afd USING (k) WHERE region = ''region 1'' ORDER BY k, ts DESC',
	'SELECT DISTINCT ON (region) v, region FROM afp JOIN afd USING (k) ORDER BY region, f DESC, size, v',
	'SELECT DISTINCT region, zone FROM afp JOIN afd USING (k)',
	'SELECT region, max(v) FROM afp JOIN afd USING (k) WHERE size = 3 GROUP BY 1',
	-- groups as many as rows; errors for rows that are joined to nothing; equal values that differ
	'SELECT DISTINCT ON (ts) ts, region FROM afp JOIN afd USING (k) ORDER BY ts, v',
	'SELECT DISTINCT ON (k) k, region FROM afp JOIN afd USING (k) ORDER BY k, 10 / zone',
	'SELECT DISTINCT ON (num) num, region FROM afp JOIN afd USING (k) ORDER BY num, v']) AS query;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (k) k, v, f FROM afp WHERE ts >= '2020-01-02 18:00Z' ORDER BY k, f DESC, ts;
SET strata.enable_first_rows = off;
SELECT afp_way('SELECT DISTINCT ON (k) k, v FROM afp ORDER BY k, v DESC, ts');
SELECT afp_way('SELECT DISTINCT ON (k) k, v, region FROM afp JOIN afd USING (k) ORDER BY k, ts DESC');
DROP TABLE afp, afd;
DROP FUNCTION afp_way;
