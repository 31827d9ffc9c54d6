#!/usr/bin/env bash
# bench/ship.sh
#	  A compressed hypertable to another database: export_batches and
#	  import_batches beside COPY and pg_dump, seconds and bytes.  Prints markdown.
#
#	  ROWS=1000000 rows of TSBS's cpu data, made here; what arrives is in batches
#	  in the end; the best of RUNS=2.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"
. "$ROOT/bench/server.sh"

bash "$ROOT/tools/install_deps.sh"
ROWS=${ROWS:-1000000} RUNS=${RUNS:-2}
start_bench_server ship "shared_buffers = 512MB
max_wal_size = 8GB
autovacuum = off
fsync = off"
BIN=$("$("$ROOT/tools/server" pg_config)" --bindir)
TABLE="ts timestamptz NOT NULL, host text, c1 float8, c2 float8, c3 float8, c4 float8, c5 float8, c6 float8, c7 float8, c8 float8, c9 float8, c10 float8"
OPTIONS="ALTER TABLE m SET (strata.segmentby = 'host', strata.orderby = 'ts DESC')"
values=$(printf ', greatest(0, least(100, (50 + 40 * sin(i / (50.0 + %s)) + random() * 6)::int))::float8' 1 2 3 4 5 6 7 8 9 10)
sql -c 'SELECT setseed(0.5)' -c "CREATE TABLE m ($TABLE)" -c "SELECT create_hypertable('m', 'ts', chunk_time_interval => interval '12 hours')" -c "$OPTIONS" \
    -c "INSERT INTO m SELECT '2026-01-01'::timestamptz + i / 40 * interval '10 s', 'host_' || i % 40 $values FROM generate_series(0, $ROWS - 1) i" \
    -c "SELECT count(compress_chunk(c)) FROM show_chunks('m') c" -c 'VACUUM' >/dev/null 2>&1

seconds() { awk -v a="$1" -v b="$(date +%s%N)" 'BEGIN { printf "%.1f", (b - a) / 1e9 }'; }
other() { PGDATABASE=other sql "$@"; }
new_other() {
    sql -c 'SET client_min_messages = error' -c 'DROP DATABASE IF EXISTS other' -c 'CREATE DATABASE other'
    other -c 'CREATE EXTENSION strata'
    [ -n "${1:-}" ] || other -c "CREATE TABLE m ($TABLE)" -c "SELECT create_hypertable('m', 'ts', chunk_time_interval => interval '12 hours')" -c "$OPTIONS" >/dev/null
}
compress_other() { other -c "SET client_min_messages = error" -c "SELECT count(compress_chunk(c, if_not_compressed => true)) FROM show_chunks('m') c" >/dev/null; }
hash() { sql -c "SELECT count(*), sum(hashtextextended(m::text, 0)::numeric) FROM m"; }
# name, command that sends into a file, command that receives
way() {
    local name=$1 send=$2 receive=$3 made_by_dump=${4:-} out in best_out=9999 best_in=9999
    for ((i = 0; i < RUNS; i++)); do
        new_other "$made_by_dump"
        start=$(date +%s%N)
        $send
        out=$(seconds "$start")
        start=$(date +%s%N)
        $receive
        in=$(seconds "$start")
        [ "$(PGDATABASE=other hash)" = "$(hash)" ] || die "$name: other rows"
        best_out=$(awk -v a="$out" -v b="$best_out" 'BEGIN { print a < b ? a : b }')
        best_in=$(awk -v a="$in" -v b="$best_in" 'BEGIN { print a < b ? a : b }')
    done
    awk -v n="$name" -v b="$(stat -c %s "$work/file")" -v o="$best_out" -v i="$best_in" 'BEGIN { printf "| %s | %.1f | %s | %s |\n", n, b / 1e6, o, i }'
}
copy_out() { sql -c '\copy (SELECT * FROM m) TO '"'$work/file'"; }
copy_in() { other -c '\copy m FROM '"'$work/file'"; compress_other; }
copy_in_direct() { other -c 'ALTER TABLE m SET (strata.direct_load = on)'; copy_in; }
binary_out() { sql -c '\copy (SELECT * FROM m) TO '"'$work/file' (FORMAT binary)"; }
binary_in() { other -c '\copy m FROM '"'$work/file' (FORMAT binary)"; compress_other; }
dump_out() { "$BIN/pg_dump" -Fp -f "$work/file" -t m -t 'm_*'; }
dump_in() { other -f "$work/file" >/dev/null 2>&1; compress_other; }
custom_out() { "$BIN/pg_dump" -Fc -f "$work/file" -t m -t 'm_*'; }
custom_in() { "$BIN/pg_restore" -d other "$work/file" >/dev/null 2>&1; compress_other; }
export_out() { sql -c '\copy (SELECT * FROM strata.export_batches('"'m'"')) TO '"'$work/file' (FORMAT binary)"; }
import_in() {
    other -c 'CREATE TABLE inbox (export uuid, seq bigint, kind text, rows int, unit bytea)' -c 'ALTER TABLE inbox ALTER unit SET STORAGE EXTERNAL' \
        -c '\copy inbox FROM '"'$work/file' (FORMAT binary)" -c "CALL strata.import_batches('m', 'inbox')" >/dev/null
}
echo "| $ROWS rows | MB | seconds out | seconds in, to batches |"
echo '|---|---|---|---|'
way 'COPY, text' copy_out copy_in
way 'COPY, text, direct load' copy_out copy_in_direct
way 'COPY, binary' binary_out binary_in
way 'pg_dump -Fp' dump_out dump_in dump
way 'pg_dump -Fc' custom_out custom_in dump
way 'export_batches, import_batches' export_out import_in
