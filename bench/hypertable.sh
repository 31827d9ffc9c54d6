#!/usr/bin/env bash
# bench/hypertable.sh
#	  make bench-hypertable: a hypertable beside partitions of heap made by hand,
#	  in turns on one private server, so that a busy machine is busy for both.
#
#	  COPY of TSBS's CPU data (HOSTS=100 HOURS=48) into chunks of 4 hours that are
#	  missing, and into heap partitions that are there; LOADERS=8 sessions that need
#	  CHUNKS=200 new chunks each, all at once; planning of a query for one chunk of
#	  ten, and of all these; drop_chunks of 1,000.  ROUNDS=3 of each COPY.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"
. "$ROOT/bench/server.sh"

bash "$ROOT/tools/install_deps.sh"
RUN=$(run_dir)
HOSTS=${HOSTS:-100} HOURS=${HOURS:-48} LOADERS=${LOADERS:-8} CHUNKS=${CHUNKS:-200} ROUNDS=${ROUNDS:-3}
start_bench_server bench-hypertable "shared_buffers = 512MB
max_wal_size = 4GB
max_locks_per_transaction = 512
autovacuum = off"
seconds() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(seconds)" 'BEGIN { printf "%.2f", b - a }'; }

# --- COPY ---------------------------------------------------------------
${CC:-cc} -O2 -o "$RUN/bench-generate" "$ROOT/bench/generate.c"
"$RUN/bench-generate" "$HOSTS" "$HOURS" >"$work/cpu.csv"
columns="time timestamptz NOT NULL, hostname text"
for i in $(seq "$(($(head -1 "$work/cpu.csv" | tr -cd , | wc -c) - 1))"); do columns+=", m$i float8"; done
# Elapsed seconds and the server process's own CPU seconds.
copy() {
    sql -v file="$work/cpu.csv" <<SQL
SELECT pg_backend_pid() AS pid \\gset
\\setenv PID :pid
SELECT extract(epoch FROM clock_timestamp()) AS start \\gset
\\copy $1 FROM '$work/cpu.csv' (FORMAT csv, HEADER)
SELECT '$1', round(extract(epoch FROM clock_timestamp()) - :start, 2);
\\! awk '{ print "cpu", (\$14 + \$15) / 100 }' /proc/\$PID/stat
SQL
}
echo "COPY of $(($(wc -l <"$work/cpu.csv") - 1)) rows, $HOSTS hosts: seconds, CPU seconds of the backend"
for round in $(seq "$ROUNDS"); do
    for table in heap hyper; do
        sql -c 'SET client_min_messages = error' -c "DROP TABLE IF EXISTS $table" -c "CHECKPOINT"
        if [ $table = heap ]; then
            sql -c "CREATE TABLE heap ($columns) PARTITION BY RANGE (time)" -c "CREATE INDEX ON heap (hostname, time)" -c "
                DO \$\$ BEGIN FOR i IN 0 .. $HOURS / 4 LOOP EXECUTE format('CREATE TABLE heap_%s PARTITION OF heap FOR VALUES FROM (%L) TO (%L)', i,
                    timestamptz '2016-01-01 00:00Z' + i * interval '4 hours', timestamptz '2016-01-01 04:00Z' + i * interval '4 hours'); END LOOP; END \$\$"
        else
            sql -c "CREATE TABLE hyper ($columns)" -c "CREATE INDEX ON hyper (hostname, time)" \
                -c "SELECT created FROM create_hypertable('hyper', 'time', chunk_time_interval => interval '4 hours', create_default_indexes => false)" >/dev/null
        fi
        copy $table | paste -sd' '
    done
done
[ "$(sql -c 'SELECT count(*) FROM (TABLE heap EXCEPT ALL TABLE hyper) x')" = 0 ] || die "the tables differ"

# --- loaders ------------------------------------------------------------
sql -c 'CREATE TABLE byhand (t int NOT NULL, v int) PARTITION BY RANGE (t)' -c 'CREATE INDEX ON byhand (t)' \
    -c 'CREATE TABLE ondemand (t int NOT NULL, v int)' -c 'CREATE INDEX ON ondemand (t)' \
    -c "SELECT created FROM create_hypertable('ondemand', 't', chunk_time_interval => 10, create_default_indexes => false)" >/dev/null
for i in $(seq "$LOADERS"); do
    # each in its own part of time, and all in one that they share
    for c in $(seq "$CHUNKS"); do
        lo=$(((i * CHUNKS + c) * 10))
        echo "CREATE TABLE byhand_$lo (LIKE byhand INCLUDING DEFAULTS); ALTER TABLE byhand ATTACH PARTITION byhand_$lo FOR VALUES FROM ($lo) TO ($lo + 10);"
        echo "INSERT INTO byhand VALUES ($lo, $i);"
    done >"$work/byhand$i.sql"
    for c in $(seq "$CHUNKS"); do echo "INSERT INTO ondemand VALUES ($(((i * CHUNKS + c) * 10)), $i);"; done >"$work/ondemand$i.sql"
done
for table in byhand ondemand; do
    start=$(seconds)
    for i in $(seq "$LOADERS"); do sql -f "$work/$table$i.sql" >"$work/$table$i.log" 2>&1 & done
    wait
    echo "$LOADERS loaders x $CHUNKS new chunks, $table: $(since "$start") s," \
        "rows $(sql -c "SELECT count(*) FROM $table"), chunks $(sql -c "SELECT count(*) FROM pg_inherits WHERE inhparent = '$table'::regclass")," \
        "errors $(cat "$work/$table"*.log | grep -c ERROR || true), deadlocks $(sql -c "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")"
done

# --- planning -----------------------------------------------------------
sql -c 'CREATE TABLE few (t int NOT NULL, v int)' -c "SELECT created FROM create_hypertable('few', 't', chunk_time_interval => 10)" \
    -c 'INSERT INTO few SELECT g * 10, 1 FROM generate_series(1, 10) g' >/dev/null
for table in few byhand ondemand; do
    query="EXPLAIN (ANALYZE, SUMMARY) SELECT * FROM $table WHERE t = 55"
    echo "planning for one chunk of $(sql -c "SELECT count(*) FROM pg_inherits WHERE inhparent = '$table'::regclass") ($table), warm:" \
        "$(for i in 1 2 3 4 5 6; do echo "$query;"; done | sql | grep Planning | tail -3 | awk '{ printf "%s ms ", $3 }')"
done

# --- drop_chunks --------------------------------------------------------
start=$(seconds)
dropped=$(sql -c "SELECT count(*) FROM drop_chunks('ondemand', older_than => ($CHUNKS + 1001) * 10)")
echo "drop_chunks of $dropped: $(since "$start") s"
