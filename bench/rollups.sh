#!/usr/bin/env bash
# bench/rollups.sh
#	  make bench-rollups: what continuous aggregates cost who writes and who
#	  refreshes, and what they save who reads, on one private server.
#
#	  A hypertable of 31 days in chunks of 12 hours, HOSTS=400 hosts, a row of
#	  each every STEP='2 minutes', compressed, then one row in twenty late;
#	  averages, maxima and counts by hour and host.  Queries: least of ROUNDS=5,
#	  answered by the archive and (strata.enable_archive_rewrite off) by rows;
#	  writers: CPU and WAL of single-row transactions with and without.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"
. "$ROOT/bench/server.sh"

bash "$ROOT/tools/install_deps.sh"
HOSTS=${HOSTS:-400} STEP=${STEP:-2 minutes} ROUNDS=${ROUNDS:-5}
start_bench_server bench-rollups "shared_buffers = 1GB
max_wal_size = 8GB
autovacuum = off
shared_preload_libraries = 'strata,pg_stat_statements'
full_page_writes = off"

sql <<SQL
SET client_min_messages = warning;
CREATE TABLE cpu (time timestamptz NOT NULL, host int, usage float8, system float8, idle float8);
SELECT FROM create_hypertable('cpu', 'time', chunk_time_interval => interval '12 hours');
ALTER TABLE cpu SET (strata.segmentby = 'host', strata.orderby = 'time');
INSERT INTO cpu SELECT t, h, (random() * 100)::int, (random() * 100)::int, (random() * 100)::int
  FROM generate_series('2026-01-01'::timestamptz, '2026-01-31 23:59:59', '$STEP') t, generate_series(1, $HOSTS) h ORDER BY t, h;
SELECT FROM show_chunks('cpu') c, compress_chunk(c);
INSERT INTO cpu SELECT time + interval '1 s', host, usage, system, idle FROM cpu WHERE random() < 0.05;
VACUUM ANALYZE cpu;
CREATE MATERIALIZED VIEW cpu_hour WITH (strata.continuous) AS
  SELECT time_bucket('1 hour', time) AS bucket, host, avg(usage), max(usage), count(*) FROM cpu GROUP BY 1, 2 WITH NO DATA;
-- CPU and WAL of 2,000 transactions of one row
CREATE PROCEDURE single(what text) LANGUAGE plpgsql AS \$\$
DECLARE
    lsn pg_lsn := pg_current_wal_insert_lsn();
    at timestamptz := clock_timestamp();
BEGIN
    FOR i IN 1 .. 2000 LOOP
        INSERT INTO cpu VALUES ('2026-01-01'::timestamptz + (i * 7919 % 2600000) * interval '1 s', i % $HOSTS, 1, 1, 1);
        COMMIT;
    END LOOP;
    RAISE NOTICE '% us, % bytes of WAL a transaction: %', round(extract(epoch FROM clock_timestamp() - at) * 500)::int,
        (pg_wal_lsn_diff(pg_current_wal_insert_lsn(), lsn) / 2000)::int, what;
END \$\$;
SQL
timed() { { sql "${@:2}" | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | sort -g | head -1; } | sed "s/^/  $1: /; s/\$/ ms/"; }
echo "$(sql -c 'SELECT count(*) FROM cpu') rows"
sql -c 'SET synchronous_commit = off' -c "CALL single('first')" -c "CALL single('no archive is covered')" 2>&1 | sed -n 's/^NOTICE: */  /p'
timed "refresh of everything" -c '\timing on' -c "CALL refresh_continuous_aggregate('cpu_hour', NULL, NULL)"
echo "$(sql -c 'SELECT count(*) FROM cpu_hour_archive') rows in the archive, $(sql -c "SELECT hypertable_size('cpu_hour_archive') / 1024") kB"
sql -c "INSERT INTO cpu VALUES ('2026-01-15 05:05:05', 7, 1, 1, 1)"
timed "refresh after one late row" -c '\timing on' -c "CALL refresh_continuous_aggregate('cpu_hour', NULL, NULL)"
sql -c 'SET client_min_messages = warning' -c "SELECT FROM show_chunks('cpu_hour_archive') c, compress_chunk(c)" -c 'VACUUM ANALYZE cpu_hour_archive'
echo "archive compressed: $(sql -c "SELECT hypertable_size('cpu_hour_archive') / 1024") kB"
queries=(
    "SELECT * FROM cpu_hour WHERE host = 7 AND bucket >= '2026-01-02'"
    "SELECT time_bucket('1 hour', time), avg(usage) FROM cpu WHERE host = 7 AND time >= '2026-01-02' GROUP BY 1"
    "SELECT time_bucket('1 day', time), host, avg(usage), max(usage) FROM cpu GROUP BY 1, 2"
    "SELECT time_bucket('6 hours', time), max(usage) FROM cpu GROUP BY 1"
    "SELECT host, avg(usage) FROM cpu WHERE time >= '2026-01-10 03:03' AND time < '2026-01-30 07:07' GROUP BY 1"
    "SELECT count(*), max(usage) FROM cpu")
ask() {
    for query in "${queries[@]}"; do
        echo "$query"
        for switch in on off; do
            rounds=()
            for _ in $(seq "$ROUNDS"); do rounds+=(-c "$query"); done
            timed "$switch" -c "SET strata.enable_archive_rewrite = $switch" -c '\timing on' -c '\o /dev/null' "${rounds[@]}"
        done
    done
}
echo "all clean"
ask
sql -c "INSERT INTO cpu SELECT '2026-01-01'::timestamptz + i * interval '7 hours', i, 1, 1, 1 FROM generate_series(1, 64) i"
echo "64 buckets with a late row, of all days"
ask
sql -c 'SET synchronous_commit = off' -c "CALL single('of times that are covered')" 2>&1 | sed -n 's/^NOTICE: */  /p'

# tiers of three metrics every 10 seconds, beside the rows they are made of: batches, with their indexes
sql <<SQL
SET client_min_messages = error;
CREATE TABLE m (time timestamptz NOT NULL, host text, usage float8, mem float8, disk float8);
SELECT FROM create_hypertable('m', 'time', chunk_time_interval => interval '12 hours');
ALTER TABLE m SET (strata.segmentby = 'host', strata.orderby = 'time');
SELECT FROM setseed(0.5);
INSERT INTO m SELECT '2026-01-01'::timestamptz + i * interval '10 seconds', 'host_' || h, round((50 + 40 * sin(i / 500.0 + h) + random() * 5)::numeric, 2),
    round((60 + random() * 3)::numeric, 2), round((i / 1000.0 + h)::numeric, 2) FROM generate_series(0, 25919) i, generate_series(1, 40) h;
SELECT FROM show_chunks('m') c, compress_chunk(c);
CREATE MATERIALIZED VIEW tiers WITH (strata.continuous, strata.archives = '1 minute for 10 years, 1 hour for 20 years, 1 day') AS
  SELECT time_bucket('1 minute', time) AS b, host, avg(usage) AS u, avg(mem) AS m, avg(disk) AS d FROM m GROUP BY 1, 2;
SELECT FROM strata.archives a, show_chunks(a.hypertable) c, compress_chunk(c) WHERE level > 0;
SQL
echo "rows and tiers, kB of batches"
for table in m tiers_archive tiers_1_hour_archive tiers_1_day_archive; do
    echo "  $table: $(sql -c "SELECT sum(pg_total_relation_size(strata.batch_relation(c))) / 1024 FROM show_chunks('$table') c")"
done
