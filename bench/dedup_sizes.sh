#!/usr/bin/env bash
# bench/dedup_sizes.sh
#	  Bytes of datasets as heap, as strata_dedup after COPY and after VACUUM
#	  FULL, and in strata's batches; log and time of COPY.  Prints markdown.
#
#	  DATASETS="name name" picks some; no indexes.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"
. "$ROOT/bench/server.sh"

bash "$ROOT/tools/install_deps.sh"
DATA=$(data_dir)
start_bench_server dedup-sizes "shared_buffers = 512MB
max_wal_size = 8GB
autovacuum = off"
DATASETS=${DATASETS:-covid_it_province covid_it_region wiki_edits flights nab_metrics beijing_air}

size() { sql -c "SELECT pg_table_size('$1') - pg_relation_size('$1', 'fsm') - pg_relation_size('$1', 'vm')"; }
# milliseconds, and bytes of the log, of COPY into a table
load() {
    sql -c CHECKPOINT
    sql <<END
SELECT pg_current_wal_insert_lsn() AS l, clock_timestamp() AS t \gset
COPY $1 FROM '$work/$name.copy';
SELECT round(extract(epoch FROM clock_timestamp() - :'t') * 1000) || ' ' || pg_current_wal_insert_lsn() - :'l';
END
}
sql -f "$DATA/schema.sql"
echo '| dataset | rows | heap MB | strata_dedup after COPY | after VACUUM FULL | batches | COPY: log | time |'
echo '|---|---|---|---|---|---|---|---|'
while IFS='|' read -r name segmentby orderby _; do
    [[ " $DATASETS " == *" $name "* ]] || continue
    sql -c "ALTER TABLE $name RENAME TO h"
    zstd -dc "$DATA/$name.csv.zst" | sql -c 'COPY h FROM STDIN (FORMAT csv, HEADER)'
    sql -c "COPY h TO '$work/$name.copy'"
    best_h=999999 best_d=999999
    for _ in 1 2 3; do
        sql -c 'SET client_min_messages = error' -c 'DROP TABLE IF EXISTS h2, d' -c 'CREATE TABLE h2 (LIKE h) USING heap' -c 'CREATE TABLE d (LIKE h) USING strata_dedup'
        read -r ms log_h <<<"$(load h2)"
        [ "$ms" -ge "$best_h" ] || best_h=$ms
        read -r ms log_d <<<"$(load d)"
        [ "$ms" -ge "$best_d" ] || best_d=$ms
    done
    heap=$(size h2)
    copied=$(size d)
    [ "$(sql -c 'SELECT count(*) FROM ((TABLE d EXCEPT ALL TABLE h) UNION ALL (TABLE h EXCEPT ALL TABLE d)) x')" = 0 ] || die "$name: other rows"
    sql -c 'VACUUM FULL d'
    full=$(size d)
    sql -c "CREATE TABLE s (LIKE h) USING strata WITH (strata.segmentby = '$segmentby', strata.orderby = '$orderby')" \
        -c 'INSERT INTO s TABLE h' -c "SELECT compress_chunk('s')" -c 'VACUUM s' >/dev/null 2>&1
    batches=$(sql -c "SELECT pg_total_relation_size('s') + pg_total_relation_size(strata.batch_relation('s'))")
    awk -v n="$name" -v r="$(sql -c 'SELECT count(*) FROM h')" -v h="$heap" -v c="$copied" -v f="$full" -v b="$batches" \
        -v lh="$log_h" -v ld="$log_d" -v th="$best_h" -v td="$best_d" \
        'BEGIN { printf "| %s | %d | %.1f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", n, r, h / 1e6, c / h, f / h, b / h, ld / lh, td / th }'
    sql -c 'DROP TABLE h, h2, d, s'
done <"$ROOT/tools/datasets.txt"
