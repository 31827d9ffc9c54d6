#!/usr/bin/env bash
# bench/indexes.sh
#	  Batch indexes beside heap's: look-ups, lists, joins, upserts, bytes a row,
#	  time to build, and what they add to compress_chunk.  Prints tables for bench/RESULTS.md.
#
#	  ROWS=10000000 bash bench/indexes.sh; tables are a thousandth as many
#	  batches.  Times are the least of several, ms; buffers of one run.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"
. "$ROOT/bench/server.sh"

ROWS=${ROWS:-1000000}
start_bench_server indexes "shared_buffers = 2GB
max_wal_size = 8GB
checkpoint_timeout = 1h
maintenance_work_mem = 256MB
autovacuum = off
max_parallel_workers_per_gather = 0
jit = off"

cat >"$work/setup.sql" <<SQL
SET client_min_messages = warning;
CREATE FUNCTION best(q text, n int, batch_index text DEFAULT 'on') RETURNS numeric LANGUAGE plpgsql AS \$\$
DECLARE
	t timestamptz;
	b numeric := 1e9;
BEGIN
	PERFORM set_config('strata.enable_batch_index', batch_index, false);
	FOR i IN 1..n LOOP
		t := clock_timestamp();
		EXECUTE q;
		b := least(b, extract(epoch FROM clock_timestamp() - t) * 1000);
	END LOOP;
	PERFORM set_config('strata.enable_batch_index', 'on', false);
	RETURN round(b, 3);
END \$\$;
CREATE FUNCTION buffers(q text) RETURNS bigint LANGUAGE plpgsql AS \$\$
DECLARE
	j json;
BEGIN
	EXECUTE q;
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || q INTO j;
	RETURN (j -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (j -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
END \$\$;
CREATE FUNCTION url(g bigint) RETURNS text LANGUAGE sql IMMUTABLE AS \$\$ SELECT 'https://example.org/orders/' || g * 7919 % 1000003 || '/' || g \$\$;
CREATE TABLE h (ts timestamptz NOT NULL, dev int, trace uuid, num bigint, url text, mail text, state text, v float8);
INSERT INTO h SELECT '2026-01-01'::timestamptz + g * interval '100 ms', g % 100, md5(g::text)::uuid, g * 7919 * 104729 % 10000000019, url(g), 'User' || g * 7919 % 1000003 || '@Example.org',
	CASE WHEN g / 50000 % 20 = 0 AND g % 100 = 0 THEN 'failed' ELSE 'done' END, g % 1000 / 8.0 FROM generate_series(1::bigint, $ROWS) AS g;
CREATE TABLE s (LIKE h) USING strata WITH (strata.segmentby = 'dev', strata.orderby = 'ts');
INSERT INTO s TABLE h;
VACUUM (ANALYZE) h;
SQL
sql -f "$work/setup.sql"

# what an index adds to compress_chunk: CPU of the server's process, in turns
sql -c 'CREATE TABLE cpu (what text, ms float8)'
for ((turn = 0; turn < 5; turn++)); do
    for column in none trace num url; do
        sql <<SQL
SET client_min_messages = warning;
CREATE TABLE c (LIKE h) USING strata WITH (strata.segmentby = 'dev', strata.orderby = 'ts');
SELECT format('CREATE INDEX ON c (%I)', '$column') WHERE '$column' <> 'none' \gexec
INSERT INTO c SELECT * FROM h LIMIT $ROWS / 10;
SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1) AS before \gset
SELECT compress_chunk('c') \g /dev/null
INSERT INTO cpu SELECT '$column', (split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 - :before) / 1e6;
DROP TABLE c;
SQL
    done
done
sql -c "SELECT format('compress_chunk of a tenth of the rows, index on %s: CPU %s to %s ms', what, round(min(ms)), round(max(ms))) FROM cpu GROUP BY what ORDER BY min(ms)"
now() { date +%s%N; }
timed() { local t; t=$(now); sql -c "$2" >/dev/null; echo "$1: $(( ($(now) - t) / 1000000 )) ms"; }
timed 'compress_chunk without an index' "SELECT compress_chunk('s')"
sql -c 'VACUUM ANALYZE s'
for column in trace num url; do
    timed "CREATE INDEX on heap, $column" "CREATE INDEX h_$column ON h ($column)"
    timed "CREATE INDEX on batches, $column" "CREATE INDEX s_$column ON s ($column)"
    sql -c "SELECT 'bytes a row: heap ' || round(pg_relation_size('h_$column') / $ROWS.0, 1) || ', batches of all so far ' || round((SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname LIKE 'batch\\_index\\_%' AND relkind = 'r') / $ROWS.0, 2)"
done
timed 'CREATE INDEX on heap, lower(mail)' 'CREATE INDEX h_mail ON h (lower(mail))'
timed 'CREATE INDEX on batches, lower(mail)' 'CREATE INDEX s_mail ON s (lower(mail))'
timed 'CREATE INDEX on heap, mail of failed ones' "CREATE INDEX h_failed ON h (mail) WHERE state = 'failed'"
timed 'CREATE INDEX on batches, mail of failed ones' "CREATE INDEX s_failed ON s (mail) WHERE state = 'failed'"
sql -c 'ANALYZE h' -c 'ANALYZE s' -c 'CHECKPOINT'
cat >"$work/queries.sql" <<SQL
\\pset format aligned
\\pset tuples_only off
SET client_min_messages = warning;
SELECT what, best(replace(q, 'TABLE_', 's'), 15) AS batch_index, buffers(replace(q, 'TABLE_', 's')) AS buffers, best(replace(q, 'TABLE_', 's'), 2, 'off') AS off, best(replace(q, 'TABLE_', 'h'), 15) AS heap, buffers(replace(q, 'TABLE_', 'h')) AS heap_buffers
FROM (VALUES
	('one uuid', \$\$SELECT sum(v) FROM TABLE_ WHERE trace = md5('777')::uuid\$\$),
	('one bigint', \$\$SELECT sum(v) FROM TABLE_ WHERE num = 777::bigint * 7919 * 104729 % 10000000019\$\$),
	('one text', \$\$SELECT sum(v) FROM TABLE_ WHERE url = url(777)\$\$),
	('lower(mail)', \$\$SELECT sum(v) FROM TABLE_ WHERE lower(mail) = 'user77@example.org'\$\$),
	('a mail of failed ones', \$\$SELECT sum(v) FROM TABLE_ WHERE state = 'failed' AND mail = 'User777@Example.org'\$\$),
	('all failed ones', \$\$SELECT sum(v) FROM TABLE_ WHERE state = 'failed'\$\$),
	('IN of 100 uuids', \$\$SELECT sum(v) FROM TABLE_ WHERE trace = ANY (ARRAY(SELECT md5((g * 7919)::text)::uuid FROM generate_series(1, 100) AS g))\$\$),
	('IN (SELECT) of 1,000', \$\$SELECT sum(v) FROM TABLE_ WHERE trace IN (SELECT md5((g * 919)::text)::uuid FROM generate_series(1, 1000) AS g)\$\$),
	('nested loop of 1,000', \$\$SELECT sum(v) FROM (SELECT md5((g * 919)::text)::uuid AS k FROM generate_series(1, 1000) AS g OFFSET 0) AS o, LATERAL (SELECT v FROM TABLE_ AS x WHERE x.trace = o.k OFFSET 0) AS i\$\$)) AS w (what, q);
SQL
sql -f "$work/queries.sql"

# upserts by a key without the segment: 10,000 old rows, in a transaction that is rolled back
sql -c 'CREATE UNIQUE INDEX h_key ON h (trace, ts)' -c 'CREATE UNIQUE INDEX s_key ON s (trace, ts)' -c 'DROP INDEX h_trace' -c 'DROP INDEX s_trace'
for table in h s h s; do
    for n in 1 1000 10000; do
        t=$(now)
        sql -c "BEGIN; INSERT INTO $table SELECT '2026-01-01'::timestamptz + k * interval '100 ms', k % 100, md5(k::text)::uuid, 1, '', '', '', 7 FROM (SELECT g * 7919::bigint * 31 % $ROWS + 1 AS k FROM generate_series(1, $n) AS g) AS x ON CONFLICT (trace, ts) DO UPDATE SET v = excluded.v; ROLLBACK;" >/dev/null
        echo "upsert of $n in a new session, $table: $(( ($(now) - t) / 1000000 )) ms"
    done
done
