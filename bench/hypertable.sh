#!/usr/bin/env bash
# bench/hypertable.sh
#	  make bench-hypertable: a hypertable beside partitions made by hand, in turns
#	  on one private server, so that a busy machine is busy for both.
#
#	  PARTS="copy loaders planning drop jobs" picks some:
#	  copy: TSBS's CPU data (HOSTS=40 HOURS=72) ROUNDS=5 times into heap partitions
#	  and strata partitions that are there, into a hypertable on such heap partitions,
#	  and into one whose chunks of 4 hours are missing; medians, and medians of the
#	  ratios to heap.
#	  loaders: LOADERS=8 sessions that need CHUNKS=200 new chunks each, all at once.
#	  planning: a query for one chunk of 10, 1,000 and 10,000 (SIZES), in a new
#	  session, in a warm one, prepared, and limited by now().
#	  drop: drop_chunks of 1,000.
#	  jobs: JOBS=1000: CPU of all processes of jobs over IDLE=60 seconds while none
#	  is due; how late a due job starts, beside the same with one job; 1,000 at once.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"
. "$ROOT/bench/server.sh"

bash "$ROOT/tools/install_deps.sh"
RUN=$(run_dir)
HOSTS=${HOSTS:-40} HOURS=${HOURS:-72} LOADERS=${LOADERS:-8} CHUNKS=${CHUNKS:-200} ROUNDS=${ROUNDS:-5}
SIZES=${SIZES:-10 1000 10000} JOBS=${JOBS:-1000} IDLE=${IDLE:-60}
wanted() { [[ " ${PARTS:-copy loaders planning drop jobs} " == *" $1 "* ]]; }
start_bench_server bench-hypertable "shared_buffers = 512MB
max_wal_size = 4GB
max_locks_per_transaction = 512
autovacuum = off"
seconds() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(seconds)" 'BEGIN { printf "%.2f", b - a }'; }

# --- COPY ---------------------------------------------------------------
# Elapsed seconds and the server process's own CPU seconds.
copy() {
    sql -v file="$work/cpu.csv" <<SQL
SELECT pg_backend_pid() AS pid \gset
\setenv PID :pid
SELECT extract(epoch FROM clock_timestamp()) AS start \gset
\copy $1 FROM '$work/cpu.csv' (FORMAT csv, HEADER)
SELECT '$1', round(extract(epoch FROM clock_timestamp()) - :start, 2);
\! awk '{ print "cpu", (\$14 + \$15) / 100 }' /proc/\$PID/stat
SQL
}
# A table partitioned by hand, NAME METHOD.
by_hand() {
    sql -c "CREATE TABLE $1 ($columns) PARTITION BY RANGE (time)" -c "CREATE INDEX ON $1 (hostname, time)" -c "
        DO \$\$ BEGIN FOR i IN 0 .. ($HOURS - 1) / 4 LOOP EXECUTE format('CREATE TABLE $1_%s PARTITION OF $1 FOR VALUES FROM (%L) TO (%L) USING $2', i,
            timestamptz '2016-01-01 00:00Z' + i * interval '4 hours', timestamptz '2016-01-01 04:00Z' + i * interval '4 hours'); END LOOP; END \$\$"
}
hypertable() {
    sql -c "SELECT created FROM create_hypertable('$1', 'time', chunk_time_interval => interval '4 hours', create_default_indexes => false)" >/dev/null
}
make_target() {
    case $1 in
        heap | strata) by_hand "$1" "$1" ;;
        adopted) by_hand adopted heap && hypertable adopted ;;
        hyper) sql -c "CREATE TABLE hyper ($columns)" -c "CREATE INDEX ON hyper (hostname, time)" && hypertable hyper ;;
    esac
}
if wanted copy; then
    ${CC:-cc} -O2 -o "$RUN/bench-generate" "$ROOT/bench/generate.c"
    "$RUN/bench-generate" "$HOSTS" "$HOURS" >"$work/cpu.csv"
    columns="time timestamptz NOT NULL, hostname text"
    for i in $(seq "$(($(head -1 "$work/cpu.csv" | tr -cd , | wc -c) - 1))"); do columns+=", m$i float8"; done
    echo "COPY of $(($(wc -l <"$work/cpu.csv") - 1)) rows, $HOSTS hosts: seconds, CPU seconds of the backend"
    for round in $(seq 0 "$ROUNDS"); do
        for table in heap hyper strata adopted; do
            sql -c 'SET client_min_messages = error' -c "DROP TABLE IF EXISTS $table"
            make_target "$table"
            sql -c CHECKPOINT
            # the first round warms caches
            line="$round $(copy "$table" | paste -sd' ' | tr '|' ' ')"
            [ "$round" = 0 ] || echo "$line" | tee -a "$work/copy.txt"
        done
        [ "$round" = "$ROUNDS" ] || continue
        for table in hyper strata adopted; do
            [ "$(sql -c "SELECT count(*) FROM (TABLE heap EXCEPT ALL TABLE $table) x")" = 0 ] || die "the tables differ"
        done
    done
    python3 - "$work/copy.txt" <<'PY'
import collections, statistics, sys
seconds, cpu = collections.defaultdict(dict), collections.defaultdict(dict)
for line in open(sys.argv[1]):
    turn, table, wall, _, used = line.split()
    seconds[table][turn], cpu[table][turn] = float(wall), float(used)
for table in seconds:
    print(f"{table}: median {statistics.median(seconds[table].values()):.2f} s, CPU {statistics.median(cpu[table].values()):.2f} s, rate of heap's: "
          f"{statistics.median(seconds['heap'][t] / seconds[table][t] for t in seconds['heap']):.2f}, by CPU {statistics.median(cpu['heap'][t] / cpu[table][t] for t in cpu['heap']):.2f}")
PY
fi

# --- loaders ------------------------------------------------------------
# byhand makes its own partitions; own and shared have chunks made, each loader in a
# part of time of its own, or all in the same.
if wanted loaders; then
    sql -c 'CREATE TABLE byhand (t int NOT NULL, v int) PARTITION BY RANGE (t)' -c 'CREATE INDEX ON byhand (t)'
    for table in own shared; do
        sql -c "CREATE TABLE $table (t int NOT NULL, v int)" -c "CREATE INDEX ON $table (t)" \
            -c "SELECT created FROM create_hypertable('$table', 't', chunk_time_interval => 10, create_default_indexes => false)" >/dev/null
    done
    for i in $(seq "$LOADERS"); do
        for c in $(seq "$CHUNKS"); do
            lo=$(((i * CHUNKS + c) * 10))
            echo "CREATE TABLE byhand_$lo (LIKE byhand INCLUDING DEFAULTS); ALTER TABLE byhand ATTACH PARTITION byhand_$lo FOR VALUES FROM ($lo) TO ($lo + 10);"
            echo "INSERT INTO byhand VALUES ($lo, $i);"
        done >"$work/byhand$i.sql"
        for c in $(seq "$CHUNKS"); do echo "INSERT INTO own VALUES ($(((i * CHUNKS + c) * 10)), $i);"; done >"$work/own$i.sql"
        for c in $(seq "$CHUNKS"); do echo "INSERT INTO shared VALUES ($((c * 10)), $i);"; done >"$work/shared$i.sql"
    done
    for table in byhand own shared; do
        start=$(seconds)
        for i in $(seq "$LOADERS"); do sql -f "$work/$table$i.sql" >"$work/$table$i.log" 2>&1 & done
        wait
        echo "$LOADERS loaders x $CHUNKS new chunks, $table: $(since "$start") s," \
            "rows $(sql -c "SELECT count(*) FROM $table"), chunks $(sql -c "SELECT count(*) FROM pg_inherits WHERE inhparent = '$table'::regclass")," \
            "errors $(cat "$work/$table"*.log | grep -c ERROR || true), deadlocks $(sql -c "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")"
    done
fi

# --- planning -----------------------------------------------------------
# Chunks of an hour up to now.
make_sized() {
    local i
    sql -c "CREATE TABLE heap$1 (time timestamptz NOT NULL, v float8) PARTITION BY RANGE (time)" -c "CREATE INDEX ON heap$1 (time DESC)" \
        -c "CREATE TABLE times$1 AS SELECT date_trunc('hour', now()) - g * interval '1 hour' AS time, g FROM generate_series(0, $1 - 1) g"
    sql >/dev/null <<SQL
SELECT format('CREATE TABLE heap$1_%s PARTITION OF heap$1 FOR VALUES FROM (%L) TO (%L)', g, time, time + interval '1 hour') FROM times$1 \gexec
SQL
    sql -c "INSERT INTO heap$1 SELECT time, g FROM times$1" >/dev/null
    sql -c "CREATE TABLE hyper$1 (time timestamptz NOT NULL, v float8)" \
        -c "SELECT created FROM create_hypertable('hyper$1', 'time', chunk_time_interval => interval '1 hour')" >/dev/null
    # few chunks to a statement: it keeps what it knew of all partitions after each one
    for i in $(seq 0 100 "$1"); do echo "INSERT INTO hyper$1 SELECT time, g FROM times$1 WHERE g >= $i AND g < $i + 100;"; done | sql
}
planning_time() { sed -nE 's/^ *Planning Time: ([0-9.]+) ms/\1/p'; }
median() { sort -n | awk '{ v[NR] = $1 } END { printf "%.3f", v[int((NR + 1) / 2)] }'; }
# The query once in each of five new sessions; then 20 times in one.
plan() {
    local i
    printf '  %s: first %s ms, warm %s ms\n' "$1" \
        "$(for i in 1 2 3 4 5; do sql -c "EXPLAIN (SUMMARY) $2" | planning_time; done | median)" \
        "$(for i in $(seq 21); do echo "EXPLAIN (SUMMARY) $2;"; done | sql | planning_time | tail -20 | median)"
}
prepared() {
    local i
    printf '  %s, prepared, generic plan: planning %s ms, all of EXECUTE %s ms\n' "$1" \
        "$({ echo "SET plan_cache_mode = force_generic_plan; PREPARE q(timestamptz) AS $2;"; for i in $(seq 21); do echo "EXPLAIN (SUMMARY) EXECUTE q('$3');"; done; } | sql | planning_time | tail -20 | median)" \
        "$({ echo "\\timing on"; echo "SET plan_cache_mode = force_generic_plan; PREPARE q(timestamptz) AS $2;"; for i in $(seq 21); do echo "EXECUTE q('$3');"; done; } | sql | sed -nE 's/^Time: ([0-9.]+) ms.*/\1/p' | tail -20 | median)"
}
if wanted planning; then
    for n in $SIZES; do
        make_sized "$n"
        middle=$(sql -c "SELECT time + interval '5 minutes' FROM times$n WHERE g = $n / 2")
        for table in heap hyper; do
            echo "planning, $table, $n chunks"
            plan 'one chunk' "SELECT * FROM $table$n WHERE time = '$middle'"
            plan 'now() - 30 minutes' "SELECT * FROM $table$n WHERE time > now() - interval '30 minutes'"
            plan 'latest row' "SELECT * FROM $table$n ORDER BY time DESC LIMIT 1"
            prepared 'one chunk' "SELECT * FROM $table$n WHERE time = \$1" "$middle"
        done
    done
fi

# --- drop_chunks --------------------------------------------------------
if wanted drop; then
    sql -c 'CREATE TABLE doomed (t int NOT NULL, v int)' \
        -c "SELECT created FROM create_hypertable('doomed', 't', chunk_time_interval => 10)" -c 'INSERT INTO doomed SELECT g * 10, 1 FROM generate_series(1, 1500) g' >/dev/null
    sql -c 'CREATE TABLE doomed2 (t int NOT NULL, v int) PARTITION BY RANGE (t)' -c 'CREATE INDEX ON doomed2 (t)'
    for i in $(seq 1500); do echo "CREATE TABLE doomed2_$i PARTITION OF doomed2 FOR VALUES FROM ($((i * 10))) TO ($((i * 10 + 10)));"; done | sql
    start=$(seconds)
    dropped=$(sql -c "SELECT count(*) FROM drop_chunks('doomed', older_than => 10010)")
    echo "drop_chunks of $dropped of 1500: $(since "$start") s"
    start=$(seconds)
    sql -c "DROP TABLE $(seq 1000 | sed 's/^/doomed2_/' | paste -sd,)"
    echo "DROP TABLE of 1000 of 1500 heap partitions: $(since "$start") s"
fi

# --- jobs ---------------------------------------------------------------
# CPU ticks of the postmaster, of its children that have ended, and of the launcher.
job_ticks() {
    local postmaster launcher
    postmaster=$(head -1 "$(sql -c 'SHOW data_directory')/postmaster.pid")
    launcher=$(sql -c "SELECT pid FROM pg_stat_activity WHERE backend_type = 'strata launcher'")
    echo $(($(awk '{ print $14 + $15 + $16 + $17 }' "/proc/$postmaster/stat") + $(awk '{ print $14 + $15 }' "/proc/$launcher/stat")))
}
# Milliseconds from next_start to the start of the run, ten times.
job_latency() {
    local i
    for i in $(seq 10); do
        sql -c "SELECT next_start FROM alter_job($1, next_start => clock_timestamp() + interval '1.5 s')" >"$work/due"
        sleep 3
        sql -c "SELECT round(extract(epoch FROM last_run_started_at - '$(cat "$work/due")') * 1000, 1) FROM strata.job_stats WHERE job_id = $1"
    done | sort -n | awk '{ v[NR] = $1 } END { printf "median %s ms, most %s ms", v[5], v[NR] }'
}
if wanted jobs; then
    sql -c "CREATE TABLE ran (id int)" -c "CREATE PROCEDURE note(job_id int, config jsonb) LANGUAGE sql AS 'INSERT INTO ran VALUES (job_id)'"
    one=$(sql -c "SELECT add_job('note', '1 day', initial_start => now() + interval '1 day')")
    echo "a due job starts late by: $(job_latency "$one"), of 3 jobs"
    sql -c "SELECT count(add_job('note', '1 day', initial_start => now() + interval '1 day' + g * interval '1 minute')) FROM generate_series(2, $JOBS) g" >/dev/null
    sleep 2
    before=$(job_ticks)
    sleep "$IDLE"
    echo "CPU of the scheduler in $IDLE idle seconds, $JOBS jobs: $((($(job_ticks) - before) * 10)) ms"
    echo "a due job starts late by: $(job_latency "$one"), of $((JOBS + 2)) jobs"
    sql -c 'TRUNCATE ran'
    sql -c "SELECT count(*) FROM strata.jobs j, alter_job(j.job_id, next_start => clock_timestamp()) WHERE j.proc_name = 'note'" >/dev/null
    start=$(seconds)
    while [ "$(sql -c 'SELECT count(DISTINCT id) FROM ran')" -lt "$JOBS" ]; do sleep 0.2; done
    echo "$JOBS jobs due at once: $(since "$start") s, $(sql -c 'SHOW strata.max_job_workers') at a time"
fi
