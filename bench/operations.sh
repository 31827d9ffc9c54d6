#!/usr/bin/env bash
# bench/operations.sh
#	  make bench-operations: what a database administrator waits for and looks at,
#	  on one private server, as an owner who is no superuser.
#
#	  ROWS=20000000 rows (1000000 is quick), PARTS="space counts explain restore
#	  convert" picks some:
#	  space: bytes before and after compress_chunk() of 17 and of 1,000 chunks
#	  (CHUNKS) in one transaction, beside what REINDEX and VACUUM leave; on an idle
#	  server, beside an open snapshot, and while other queries have all worker
#	  processes, for HELD=15 seconds.
#	  counts: reltuples, n_live_tup and approximate_row_count() after VACUUM,
#	  autovacuum, ANALYZE and a restore.
#	  explain: lines of EXPLAIN for 70 chunks.
#	  restore: half of ROWS, dumped and restored with -j 2: bytes, seconds, peak.
#	  convert: ROWS rows of a heap table beside WRITERS=2 and READERS=1 clients of
#	  pgbench (RATE=100 transactions a second each, so that times are of the server),
#	  before it and while it runs; the server is killed KILLS=3 times (postmaster and
#	  all) and the call repeated.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"
. "$ROOT/bench/server.sh"

bash "$ROOT/tools/install_deps.sh"
ROWS=${ROWS:-20000000} CHUNKS=${CHUNKS:-17 1000} HELD=${HELD:-15}
WRITERS=${WRITERS:-2} READERS=${READERS:-1} RATE=${RATE:-100} KILLS=${KILLS:-3}
wanted() { [[ " ${PARTS:-space counts explain restore convert} " == *" $1 "* ]]; }
start_bench_server bench-operations "shared_buffers = 512MB
max_wal_size = 4GB
max_worker_processes = 8
max_parallel_workers = 8
max_locks_per_transaction = 512
autovacuum_naptime = 1s
fsync = on"
sql -c 'CREATE ROLE bench_owner LOGIN' -c 'GRANT CREATE ON SCHEMA public TO bench_owner' -c 'GRANT CREATE ON DATABASE '"$DB"' TO bench_owner'
owner() { PGOPTIONS='-c role=bench_owner -c client_min_messages=error' sql "$@"; }
seconds() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(seconds)" 'BEGIN { printf "%.1f", b - a }'; }
mb() { awk -v b="$1" 'BEGIN { printf "%.1f MB", b / 1e6 }'; }
# Everything on disk that belongs to a table and its partitions.
size() {
    sql -c "SELECT sum(pg_total_relation_size(relid) + coalesce(pg_total_relation_size(strata.batch_relation(relid)), 0))
        FROM pg_partition_tree('$1') WHERE isleaf"
}
queue_is_empty() { [ "$(sql -c 'SELECT count(*) FROM _strata.space_queue')" = 0 ]; }
# wait_for SECONDS COMMAND...
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || { say "waited in vain: $*"; return 1; }
        sleep 0.5
    done
}
# hypertable NAME DAYS ROWS: chunks of a day, 100 hosts, rows in order of time.
hypertable() {
    owner <<SQL
CREATE TABLE $1 (time timestamptz NOT NULL, host int NOT NULL, usage float8, temp float8);
SELECT FROM create_hypertable('$1', 'time', chunk_time_interval => interval '1 day', create_default_indexes => false);
ALTER TABLE $1 SET (strata.segmentby = 'host', strata.orderby = 'time');
CREATE INDEX ON $1 (host, time);
CREATE INDEX ON $1 (time);
INSERT INTO $1 SELECT '2020-01-01 00:00+00'::timestamptz + i * (interval '1 day' * $2 / $3), i % 100, (50 + 40 * sin(i / 5000.0))::int, round((20 + 5 * cos(i / 9000.0))::numeric, 1)
  FROM generate_series(0, $3 - 1) i;
SQL
}
compress_all_at_once() { owner -c "SELECT FROM show_chunks('$1') c, compress_chunk(c)"; }

# --- space --------------------------------------------------------------
# space CHUNKS HOW: idle, snapshot or slots.
space() {
    local before at_once held='' start rows=$((ROWS / 10))
    hypertable space "$1" "$rows"
    before=$(size space)
    rm -f "$work/go"
    case $2 in
        snapshot)
            { echo 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class;'; while [ ! -e "$work/go" ]; do sleep 0.2; done; echo 'COMMIT;'; } | sql >/dev/null &
            sleep 1 ;;
        slots)
            sql -c 'CREATE TABLE busy AS SELECT generate_series(1, 1000000) i' -c 'ALTER TABLE busy SET (parallel_workers = 4)' -c 'VACUUM ANALYZE busy'
            for _ in 1 2; do
                PGOPTIONS='-c max_parallel_workers_per_gather=4 -c parallel_setup_cost=0 -c parallel_leader_participation=off' \
                    sql -c "SELECT count(*) FROM busy WHERE i % 60000 <> 0 OR length(pg_sleep($HELD / 5.0)::text) = 0" >/dev/null &
            done
            sleep 1 ;;
    esac
    compress_all_at_once space
    at_once=$(size space)
    if [ "$2" != idle ]; then
        [ "$2" = slots ] && held="$(sql -c "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'") parallel workers, "
        sleep "$HELD"
        held="$held$(mb "$(size space)") after $HELD s, $(sql -c "SELECT count(*) FROM strata.problems WHERE problem ~ 'space'") lines in problems; "
        touch "$work/go"
        wait
    fi
    start=$(seconds)
    wait_for 600 queue_is_empty
    printf '| %s chunks, %s | %s | %s | %s%s after %s s |' "$1" "$2" "$(mb "$before")" "$(mb "$at_once")" "$held" "$(mb "$(size space)")" "$(since "$start")"
    echo "SELECT format('REINDEX TABLE %s', relid), format('VACUUM %s', relid) FROM pg_partition_tree('space') WHERE isleaf \\gexec" | sql >/dev/null
    printf ' %s | %s |\n' "$(mb "$(size space)")" "$(mb "$(sql -c "SELECT hypertable_size('space')")")"
    sql -c 'DROP TABLE space' -c 'SET client_min_messages = error; DROP TABLE IF EXISTS busy'
}
if wanted space; then
    echo "Space, $((ROWS / 10)) rows, compressed in one transaction:"
    echo '| | before | when compress_chunk returns | when the queue is empty | REINDEX, VACUUM | hypertable_size |'
    for chunks in $CHUNKS; do for how in idle snapshot slots; do space "$chunks" "$how"; done; done
fi

# --- counts -------------------------------------------------------------
counts() {
    printf '| %s | %s |\n' "$1" "$(sql ${2:+-d "$2"} -c "SELECT concat_ws(' | ', (SELECT count(*) FROM counts), sum(c.reltuples), sum(s.n_live_tup), approximate_row_count('counts'))
        FROM pg_partition_tree('counts') JOIN pg_class c ON c.oid = relid LEFT JOIN pg_stat_all_tables s USING (relid) WHERE isleaf")"
}
all_autovacuumed() { [ "$(sql -c "SELECT count(*) FROM pg_partition_tree('counts') JOIN pg_stat_all_tables s USING (relid) WHERE isleaf AND coalesce(last_autovacuum < '$inserted', true)")" = 0 ] &&
    [ "$(sql -c "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'")" = 0 ]; }
if wanted counts; then
    echo 'Counts:'
    echo '| | count(*) | reltuples | n_live_tup | approximate_row_count |'
    hypertable counts 10 $((ROWS / 20))
    compress_all_at_once counts
    counts 'compress_chunk'
    wait_for 300 queue_is_empty
    counts 'its space is given back'
    sql -c 'VACUUM counts'
    counts VACUUM
    sql -c 'ANALYZE counts'
    counts ANALYZE
    owner -c "INSERT INTO counts SELECT time + interval '1 s', host, usage, temp FROM counts WHERE host < 60"
    inserted=$(sql -c 'SELECT clock_timestamp()')
    wait_for 180 all_autovacuumed
    counts 'late rows, autovacuum'
    pg_dump -Fc -f "$work/counts.dump"
    sql -c 'CREATE DATABASE restored'
    pg_restore -d restored "$work/counts.dump"
    counts 'a restore' restored
    sql -d restored -c VACUUM
    counts 'a restore, VACUUM' restored
    sql -c 'DROP DATABASE restored' -c 'DROP TABLE counts'
fi

# --- explain ------------------------------------------------------------
lines() { printf '| %s | %s |\n' "$1" "$(sql -c "$2" | wc -l)"; }
if wanted explain; then
    echo 'Lines of EXPLAIN, 70 compressed chunks:'
    hypertable lines 70 $((ROWS / 20))
    compress_all_at_once lines
    sql -c 'VACUUM ANALYZE lines'
    rows="FROM lines WHERE host = 7 AND usage > 30"
    lines 'EXPLAIN of rows' "EXPLAIN SELECT * $rows"
    lines 'EXPLAIN ANALYZE of rows' "EXPLAIN ANALYZE SELECT * $rows"
    lines 'EXPLAIN (ANALYZE, VERBOSE) of rows' "EXPLAIN (ANALYZE, VERBOSE) SELECT * $rows"
    lines 'EXPLAIN ANALYZE of an aggregate' "EXPLAIN ANALYZE SELECT host, avg(usage) $rows GROUP BY host"
    lines 'EXPLAIN ANALYZE of the last five rows' "EXPLAIN ANALYZE SELECT * $rows ORDER BY time DESC LIMIT 5"
    sql -c 'DROP TABLE lines'
fi

# --- restore ------------------------------------------------------------
base() { sql -d postgres -c 'SHOW data_directory'; }
# Until $work/go is there: the most bytes that base/ has had, and what it has last.
watch_disk() {
    local now most=0
    while :; do
        now=$(du -sb "$1/base" 2>/dev/null | cut -f1)
        [ "$now" -gt "$most" ] && most=$now
        echo "$most $now" >"$work/disk"
        [ -e "$work/go" ] && break
        sleep 0.2
    done
}
if wanted restore; then
    hypertable restore 30 $((ROWS / 2))
    compress_all_at_once restore
    wait_for 300 queue_is_empty
    sql -c VACUUM
    echo "Restore of $((ROWS / 2)) rows, two indexes, 30 chunks; the hypertable takes $(mb "$(size restore)"):"
    start=$(seconds)
    pg_dump -Fd -j 2 -f "$work/dump"
    echo "  pg_dump -Fd -j 2: $(since "$start") s, $(mb "$(du -sb "$work/dump" | cut -f1)")"
    sql -c 'CREATE DATABASE restored' -c 'CHECKPOINT'
    rm -f "$work/go"
    first=$(du -sb "$(base)/base" | cut -f1)
    watch_disk "$(base)" &
    start=$(seconds)
    lsn=$(sql -c 'SELECT pg_current_wal_insert_lsn()')
    pg_restore -j 2 -d restored "$work/dump"
    echo "  pg_restore -j 2: $(since "$start") s, $(mb "$(sql -c "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$lsn')")") of WAL"
    wait_for 120 sql -d restored -c 'SELECT 1 / (count(*) = 0)::int FROM _strata.space_queue' >/dev/null
    touch "$work/go"
    wait
    read -r most last <"$work/disk"
    echo "  the database grew to $(mb $((last - first))), at its peak $(mb $((most - first)))"
    [ "$(sql -c 'SELECT count(*), sum(usage) FROM restore')" = "$(sql -d restored -c 'SELECT count(*), sum(usage) FROM restore')" ] || die 'the restored rows are others'
    sql -c 'DROP DATABASE restored' -c 'DROP TABLE restore'
    rm -rf "$work/dump"
fi

# --- convert ------------------------------------------------------------
# p50, p99 and most of pgbench's logs of a prefix, ms.  A client that lost its
# server says nothing of its last transaction.
latencies() {
    cat "$work/$1".* 2>/dev/null | awk '{ print $3 / 1000 }' | sort -g | awk '{ t[NR] = $1 } END {
        if (NR) printf "%d: p50 %.1f, p99 %.1f, most %.1f ms", NR, t[int((NR + 1) / 2)], t[int((NR * 99 + 99) / 100)], t[NR] }'
}
# clients PREFIX SCRIPT N: until $work/stop is there, server or not.
clients() {
    local n=0
    while [ ! -e "$work/stop" ]; do
        n=$((n + 1))
        PGOPTIONS='-c role=bench_owner -c client_min_messages=error' \
            pgbench -n -f "$work/$2" -c "$3" -R $((RATE * $3)) -T 3600 -l --log-prefix="$work/$1.$n" >>"$work/$1-out" 2>&1 &
        echo $! >"$work/$1-pid"
        wait $! || true
        sleep 0.3
    done
}
stop_clients() {
    touch "$work/stop"
    for who in "$@"; do kill "$(cat "$work/$who-pid")" 2>/dev/null || true; done
    wait
    rm -f "$work/stop"
}
answers() { sql -c 'SELECT 1' >/dev/null 2>&1; }
# The postmaster, and with it all its children, without a word.
kill_server() {
    local pid data
    data=$("$SERVER" env | sed -n "s/^export PGHOST='\([^']*\)'.*/\1/p")/data
    pid=$(head -1 "$data/postmaster.pid")
    kill -9 "$pid" $(ps -o pid= --ppid "$pid")
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    "$SERVER" start 2>/dev/null
    wait_for 120 answers
}
call="CALL strata.convert('m', 'time', '1 day', segmentby => 'host', orderby => 'time')"
convert() { PGOPTIONS='-c role=bench_owner -c client_min_messages=notice' psql -XqAt -c "$call" >>"$work/said" 2>&1; }
if wanted convert; then
    owner <<SQL
CREATE TABLE m (time timestamptz NOT NULL, host int NOT NULL, v float8);
INSERT INTO m SELECT now() - interval '70 days' + i * (interval '70 days' / $ROWS), i % 100, (50 + 40 * sin(i / 5000.0))::int FROM generate_series(0, $ROWS - 1) i;
CREATE UNIQUE INDEX ON m (host, time);
CREATE INDEX ON m (time);
ANALYZE m;
CREATE TABLE written (time timestamptz, host int, v float8);
SQL
    echo "convert() of $ROWS rows, $(mb "$(sql -c "SELECT pg_total_relation_size('m')")") with two indexes:"
    # live rows, and every third late
    cat >"$work/write.sql" <<'SQL'
\set late random(1, 3)
\set s random(1, 6000000)
\set h random(0, 99)
WITH w AS (INSERT INTO m SELECT CASE WHEN :late = 1 THEN date_trunc('second', now()) - :s * interval '1 s' + interval '0.123456 s' ELSE clock_timestamp() END, :h, -1
  ON CONFLICT DO NOTHING RETURNING *) INSERT INTO written SELECT * FROM w;
SQL
    cat >"$work/read.sql" <<'SQL'
\set h random(0, 99)
\set d random(1, 69)
SELECT avg(v) FROM m WHERE host = :h AND time >= now() - :d * interval '1 day' AND time < now() - :d * interval '1 day' + interval '1 hour';
SQL
    for when in before while; do
        clients "writers-$when" write.sql "$WRITERS" &
        clients "readers-$when" read.sql "$READERS" &
        if [ $when = before ]; then sleep 20; else
            sleep 1
            start=$(seconds)
            for kill in $(seq 1 "$KILLS"); do
                convert &
                # with a few parts copied, and more each time
                wait_for 600 eval '[ "$(sql -c "SELECT count(*) FROM _strata.divide WHERE part <> 0" 2>/dev/null || echo 0)" -ge '$((kill * 12))' ]'
                kill_server
                echo "  killed at $(since "$start") s, with $(sql -c 'SELECT count(*) FROM _strata.divide WHERE part <> 0') parts copied"
            done
            convert
            echo "  done at $(since "$start") s: $(grep -ho 'has become .*\|The longest lock.*' "$work/said" | tr '\n' ';')"
            sleep 5
        fi
        stop_clients "writers-$when" "readers-$when"
        echo "  $when, writers $(latencies "writers-$when")"
        echo "  $when, readers $(latencies "readers-$when")"
        say "$(grep -h 'ERROR\|error:' "$work/writers-$when-out" "$work/readers-$when-out" | sed 's/client [0-9]* //' | sort | uniq -c | sort -rn | head -5)"
    done
    sql <<SQL
SELECT '  rows of writers: ' || count(*) || ', in m only: ' || (SELECT count(*) FROM (SELECT time, host, v FROM m WHERE v = -1 EXCEPT ALL TABLE written) d)
  || ', lost: ' || (SELECT count(*) FROM (TABLE written EXCEPT ALL SELECT time, host, v FROM m WHERE v = -1) d) FROM written;
SELECT '  rows of before: ' || count(*) || ', chunks ' || (SELECT count(*) || ', compressed ' || count(strata.batch_relation(c)) FROM show_chunks('m') c) FROM m WHERE v <> -1;
SELECT '  problems found by verify(): ' || count(*) FROM strata.verify('m');
SQL
    wait_for 300 queue_is_empty
    echo "  $(mb "$(size m)") now"
fi
