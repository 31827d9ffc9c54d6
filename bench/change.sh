#!/usr/bin/env bash
# bench/change.sh
#	  make bench-change: what changes of compressed rows cost, heap beside strata,
#	  in turns on one private server.
#
#	  A table with a primary key that is not its segment, ROWS=1000000, all rows
#	  compressed: one row updated or deleted (milliseconds and bytes of WAL of a
#	  transaction, medians of 200), UPDATE of 100,000 rows, upsert of 10,000 (and
#	  the most memory a backend had for it), and INSERT and COPY of new rows.
#	  Then a live hypertable of 400 hosts, a row of each every 40 seconds of a
#	  day, 5 of 100 in the row store: DELETE and UPDATE of ranges, upserts in the
#	  order of time, ON CONFLICT DO NOTHING, SELECT FOR UPDATE.
#	  ROUNDS=3 of what is measured in whole seconds; the least is shown.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"
. "$ROOT/bench/server.sh"

bash "$ROOT/tools/install_deps.sh"
ROWS=${ROWS:-1000000} ROUNDS=${ROUNDS:-3}
start_bench_server bench-change "shared_buffers = 512MB
max_wal_size = 8GB
autovacuum = off
full_page_writes = off"

sql <<SQL
CREATE TABLE heap (id bigint PRIMARY KEY, device int NOT NULL, ts timestamptz NOT NULL, v float8, n int, note text);
CREATE TABLE strata (LIKE heap, PRIMARY KEY (id)) USING strata WITH (strata.segmentby = 'device', strata.orderby = 'ts');
INSERT INTO heap SELECT i, i % 100, '2026-01-01'::timestamptz + i / 100 * interval '10 s', round((random() * 100)::numeric, 2), 0, 'note ' || i % 50
  FROM generate_series(1, $ROWS) i;
INSERT INTO strata SELECT * FROM heap;
SELECT compress_chunk('strata') \gset
-- milliseconds and bytes of WAL of a statement in a transaction of its own, 200 times
CREATE PROCEDURE single(statement text) LANGUAGE plpgsql AS \$\$
DECLARE
    ms float8[] := '{}';
    wal numeric[] := '{}';
    at timestamptz;
    lsn pg_lsn;
    key bigint;
BEGIN
    FOR i IN 1 .. 200 LOOP
        key := 1 + (i * 7919 * 31) % $ROWS;
        lsn := pg_current_wal_insert_lsn();
        at := clock_timestamp();
        EXECUTE statement USING key;
        COMMIT;
        ms := ms || extract(epoch FROM clock_timestamp() - at) * 1000;
        wal := wal || pg_wal_lsn_diff(pg_current_wal_insert_lsn(), lsn);
    END LOOP;
    RAISE NOTICE '% ms, % bytes of WAL', (SELECT round((percentile_cont(0.5) WITHIN GROUP (ORDER BY x))::numeric, 3) FROM unnest(ms) x),
        (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM unnest(wal) x);
END \$\$;
VACUUM ANALYZE;
CHECKPOINT;
SQL

echo "one row of $ROWS, medians of 200 transactions (synchronous_commit off, full_page_writes off)"
for what in "UPDATE @ SET n = n + 1 WHERE id = \$1" "DELETE FROM @ WHERE id = \$1"; do
    for table in heap strata; do
        printf '  %-45s' "${what//@/$table}"
        sql -c "SET synchronous_commit = off" -c "CALL single('${what//@/$table}')" 2>&1 | sed -n 's/^NOTICE: *//p'
    done
done

tables="heap strata"
# The least seconds of ROUNDS, each on tables as they were, and the backend's most memory (kB, without shared buffers it touched).
timed() {
    local statement=$1 table least=
    for table in $tables; do
        least=
        for _ in $(seq "$ROUNDS"); do
            sql -c CHECKPOINT
            result=$(sql <<SQL
SELECT pg_backend_pid() AS pid \\gset
\\setenv PID :pid
BEGIN;
SELECT extract(epoch FROM clock_timestamp()) AS start \\gset
${statement//@/$table}
SELECT round(extract(epoch FROM clock_timestamp()) - :start, 3);
\\! awk '/RssAnon/ { print \$2 }' /proc/\$PID/status
ROLLBACK;
SQL
            )
            least=$(printf '%s\n%s' "${least:-999 0}" "$(echo $result)" | sort -g | head -1)
        done
        printf '  %-60s %8s s  %8s kB\n' "${statement//@/$table}" $least
    done
}
last=$((ROWS + 100000))
sql -c "COPY (SELECT i, i % 100, '2026-02-01'::timestamptz + i * interval '1 s', i % 1000 / 10.0, 0, 'note ' || i % 50 FROM generate_series($ROWS + 1, $last) i) TO '$work/new.csv' (FORMAT csv)"
echo "statements, least of $ROUNDS; kB: memory of the backend's own at the end"
timed "UPDATE @ SET n = n + 1 WHERE id % 10 = 3;"
timed "INSERT INTO @ SELECT i * 97 % $ROWS + 1, 1, '2026-01-01', 1, 1, 'x' FROM generate_series(1, 10000) i ON CONFLICT (id) DO UPDATE SET n = @.n + 1;"
timed "INSERT INTO @ SELECT i, i % 100, '2026-02-01', 1, 0, 'new' FROM generate_series($ROWS + 1, $last) i;"
timed "\\copy @ FROM '$work/new.csv' (FORMAT csv)"

sql <<'SQL'
CREATE TABLE live_heap (time timestamptz NOT NULL, hostname text NOT NULL, usage_user float8, usage_system float8, n int, PRIMARY KEY (hostname, time))
    PARTITION BY RANGE (time);
CREATE TABLE live_heap_1 PARTITION OF live_heap FOR VALUES FROM ('2026-01-01') TO ('2026-01-01 12:00');
CREATE TABLE live_heap_2 PARTITION OF live_heap FOR VALUES FROM ('2026-01-01 12:00') TO ('2026-01-02');
CREATE INDEX ON live_heap (time);
CREATE TABLE live (LIKE live_heap, PRIMARY KEY (hostname, time));
SELECT count(*) FROM create_hypertable('live', 'time', chunk_time_interval => interval '12 hours') \gset
ALTER TABLE live SET (strata.segmentby = 'hostname', strata.orderby = 'time');
INSERT INTO live_heap SELECT t, 'host_' || x, floor(random() * 100), floor(random() * 100), 0
  FROM generate_series('2026-01-01'::timestamptz, '2026-01-01 23:59:59', '40 s') t, generate_series(1, 400) x;
CREATE VIEW late AS SELECT *, (extract(epoch FROM time)::bigint / 40 + substr(hostname, 6)::int) % 20 = 0 AS is_late FROM live_heap;
INSERT INTO live SELECT time, hostname, usage_user, usage_system, n FROM late WHERE NOT is_late;
SELECT count(compress_chunk(c)) FROM show_chunks('live') c \gset
INSERT INTO live SELECT time, hostname, usage_user, usage_system, n FROM late WHERE is_late;
VACUUM ANALYZE live_heap;
VACUUM ANALYZE live;
SQL
echo "a live hypertable, 864,000 rows"
tables="live_heap live"
hours="time >= '2026-01-01 02:00' AND time < '2026-01-01 05:00'"
new="SELECT t, 'host_' || x, 1, 1, 1 FROM generate_series('2026-01-01 06:00'::timestamptz, '2026-01-01 08:46', '40 s') t, generate_series(1, 400) x ON CONFLICT (hostname, time)"
timed "DELETE FROM @ WHERE $hours;"
timed "DELETE FROM @ WHERE usage_user < 10;"
timed "DELETE FROM @ WHERE hostname = 'host_7';"
timed "INSERT INTO @ $new DO NOTHING;"
timed "DO \$\$BEGIN PERFORM FROM @ WHERE hostname LIKE 'host_1_' AND $hours FOR UPDATE; END\$\$;"
timed "UPDATE @ SET n = n + 1 WHERE hostname LIKE 'host_2_' AND $hours;"
timed "INSERT INTO @ $new DO UPDATE SET n = excluded.n;"
