-- Scans that begin anew a thousand times keep no memory of the times before.
SET client_min_messages = error;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
CREATE TABLE mg (id int, d text, x text, p point, ts timestamptz) USING strata WITH (strata.segmentby = 'd', strata.orderby = 'id');
INSERT INTO mg SELECT i, 'd' || i % 3, 'x' || i, point(i, i % 7), '2026-01-01'::timestamptz + i * interval '1 s' FROM generate_series(1, 3000) i;
SELECT count(compress_chunk('mg')) FROM (SELECT) s;
INSERT INTO mg SELECT i, 'd' || i % 3, 'x' || i, point(i, i % 7), '2026-01-01'::timestamptz + i * interval '1 s' FROM generate_series(3001, 3060) i;
CREATE INDEX ON mg USING gist (p);
CREATE INDEX ON mg (x);
CREATE TABLE pr AS SELECT i AS id, 'd' || i % 3 AS d FROM generate_series(1, 900) i;
ANALYZE mg;
ANALYZE pr;
-- What the contexts of a query hold after 200 of its rows, and how much more after 800.
CREATE FUNCTION grows(query text) RETURNS TABLE (context text, bytes bigint) LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
BEGIN
	CREATE TEMP TABLE before (name text, bytes bigint) ON COMMIT DROP;
	CREATE TEMP TABLE after (name text, bytes bigint) ON COMMIT DROP;
	OPEN c FOR EXECUTE query;
	MOVE 200 IN c;
	INSERT INTO before SELECT name, sum(used_bytes) FROM pg_backend_memory_contexts WHERE name ~ '^(Strata|strata|Executor)' GROUP BY 1;
	MOVE 600 IN c;
	INSERT INTO after SELECT name, sum(used_bytes) FROM pg_backend_memory_contexts WHERE name ~ '^(Strata|strata|Executor)' GROUP BY 1;
	CLOSE c;
	RETURN QUERY SELECT a.name, a.bytes - b.bytes FROM after a JOIN before b USING (name) WHERE a.bytes - b.bytes > 4000;
	DROP TABLE before, after;
END $$;
CREATE TABLE queries (query text);
INSERT INTO queries VALUES ('SELECT pr.id, (SELECT x FROM mg WHERE mg.d = pr.d ORDER BY id LIMIT 1) FROM pr'),
	('SELECT pr.id, (SELECT x FROM mg WHERE mg.d = pr.d ORDER BY id DESC LIMIT 1) FROM pr'),
	('SELECT pr.id, (SELECT id FROM mg WHERE mg.d = pr.d ORDER BY x LIMIT 1 OFFSET 2) FROM pr'),
	('SELECT pr.id, (SELECT id FROM mg WHERE mg.id > pr.id ORDER BY p <-> point(pr.id, 0) LIMIT 1) FROM pr'),
	('SELECT pr.id, (SELECT id FROM mg WHERE mg.id = pr.id OR mg.x = pr.d) FROM pr'),
	('SELECT pr.id, (SELECT count(*) FROM mg WHERE mg.id < pr.id AND mg.id > pr.id - 20) FROM pr'),
	('SELECT pr.id, (SELECT max(x) FROM mg WHERE mg.d = pr.d AND id > 2500) FROM pr'),
	('SELECT pr.id, (SELECT string_agg(d, '','') FROM (SELECT d, count(*) FROM mg WHERE mg.id > pr.id + 2000 GROUP BY d ORDER BY d) s) FROM pr'),
	('SELECT pr.id, (SELECT d FROM (SELECT DISTINCT ON (d) d, ts FROM mg ORDER BY d, ts DESC) s WHERE s.d = pr.d) FROM pr'),
	('SELECT pr.id, (SELECT id FROM mg WHERE mg.ts > timestamptz ''2026-01-01'' + pr.id * interval ''1 s'' ORDER BY ts LIMIT 1) FROM pr');
SELECT query, g.* FROM queries, grows(query) g;
SET strata.enable_top_n = off;
SELECT query, g.* FROM queries, grows(query) g;
DROP FUNCTION grows;
DROP TABLE mg, pr, queries;

-- what is known of texts by their numbers grows with what comes: nothing for partitions of one batch each
CREATE TABLE sm (ts int NOT NULL, h int NOT NULL, a text, b text) PARTITION BY LIST (h);
DO $$
BEGIN
	FOR i IN 0 .. 19 LOOP
		EXECUTE format('CREATE TABLE sm_%s PARTITION OF sm FOR VALUES IN (%s) USING strata WITH (strata.orderby = ''ts'')', i, i);
	END LOOP;
END $$;
INSERT INTO sm SELECT i, i % 20, 'k' || i % 7, 'long text of more than sixteen ' || i % 9 FROM generate_series(0, 9999) i;
SELECT count(compress_chunk(format('sm_%s', i)::regclass)) FROM generate_series(0, 19) i;
BEGIN;
DECLARE c CURSOR FOR SELECT ts, reverse(b) FROM sm WHERE upper(a) <> 'K1' AND reverse(b) <> 'x';
MOVE ALL FROM c;
SELECT coalesce(sum(total_bytes), 0) < 20 * 60000 AS readers FROM pg_backend_memory_contexts WHERE name = 'strata batch reader';
SELECT coalesce(sum(total_bytes), 0) < 40 * 40000 AS memos FROM pg_backend_memory_contexts WHERE name = 'strata memo';
COMMIT;
DROP TABLE sm;

-- memory that a look into a hash table takes is given back, also where chunks share the table
CREATE TABLE sq (ts timestamptz NOT NULL, n numeric);
SELECT count(*) FROM create_hypertable('sq', 'ts', chunk_time_interval => interval '1 day');
INSERT INTO sq SELECT timestamptz '2020-01-01Z' + g * interval '10 seconds', g / 7.0 FROM generate_series(0, 17279) AS g;
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM sq WHERE n NOT IN (SELECT n + 1 FROM sq WHERE n < 3);
FETCH c;
SELECT sum(total_bytes) < 100000 AS few FROM pg_backend_memory_contexts WHERE name = 'Subplan HashTable Temp Context';
COMMIT;
DROP TABLE sq;
