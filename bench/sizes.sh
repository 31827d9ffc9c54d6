#!/usr/bin/env bash
# bench/sizes.sh
#	  Bytes of every dataset at every codec level, and how far
#	  estimate_compression() is off.  Prints markdown.
#
#	  LEVELS="hot balanced archive" picks levels, DATASETS="name name" datasets.
#	  With OTHERS=python (an interpreter that has duckdb, pyarrow and chdb) the
#	  same rows, in the same order, are kept by DuckDB, Parquet with zstd and
#	  ClickHouse too (bench/sizes_others.py).
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

DATA=$(data_dir)
export STRATA_CLUSTER=sizes
SERVER=$ROOT/tools/server
WORK=$(run_dir)/sizes
LEVELS=${LEVELS:-hot balanced archive}

"$SERVER" wipe
"$SERVER" start >&2 || die "the private server did not start"
trap '"$SERVER" stop immediate' EXIT
eval "$("$SERVER" env)"
mkdir -p "$WORK"

sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
mb() { awk -v b="$1" 'BEGIN { printf "%.2f", b / 1e6 }'; }

printf '| dataset | rows | heap + index MB |'
for level in $LEVELS; do printf ' %s MB | estimated | columns off by at most | compress M rows/s |' "$level"; done
printf ' others MB (DuckDB, Parquet+zstd, ClickHouse LZ4, ClickHouse ZSTD) |\n'
sql -f "$DATA/schema.sql"
while IFS='|' read -r name segmentby orderby index; do
    case $name in ''|'#'*) continue ;; esac
    [ -f "$DATA/$name.csv.zst" ] || continue
    if [ -n "${DATASETS:-}" ] && [[ " $DATASETS " != *" $name "* ]]; then continue; fi
    sql -c "ALTER TABLE $name RENAME TO ${name}_heap"
    zstd -dc "$DATA/$name.csv.zst" | sql -c "COPY ${name}_heap FROM STDIN (FORMAT csv, HEADER)"
    sql -c "CREATE INDEX ON ${name}_heap ($index)" -c "VACUUM ANALYZE ${name}_heap"
    printf '| %s | %s | %s |' "$name" "$(sql -c "SELECT count(*) FROM ${name}_heap")" \
        "$(mb "$(sql -c "SELECT pg_total_relation_size('${name}_heap')")")"
    for level in $LEVELS; do
        sql <<END
CREATE TABLE $name (LIKE ${name}_heap) USING strata WITH (strata.segmentby = '$segmentby', strata.orderby = '$orderby', strata.codec_level = '$level');
INSERT INTO $name SELECT * FROM ${name}_heap;
CREATE TABLE estimated AS SELECT * FROM estimate_compression('$name');
END
        start=$(date +%s%3N)
        sql -c "SET client_min_messages = error" -c "SELECT compress_chunk('$name')" >/dev/null
        end=$(date +%s%3N)
        sql -c "VACUUM $name"
        # columns of at least a hundredth of all: the others do not matter
        printf ' %s | %s %% | %s %% | %s |' \
            "$(mb "$(sql -c "SELECT pg_total_relation_size('$name') + pg_total_relation_size(strata.batch_relation('$name'))")")" \
            "$(sql -c "SELECT round(100.0 * bytes / pg_total_relation_size(strata.batch_relation('$name')) - 100, 1) FROM estimated WHERE column_name IS NULL")" \
            "$(sql -c "SELECT max(abs(round(100.0 * e.bytes / r.bytes - 100, 1))) FROM estimated e
                JOIN (SELECT column_name, sum(bytes) AS bytes FROM strata.batch_columns('$name') GROUP BY 1) r USING (column_name)
                WHERE r.bytes > 0.01 * (SELECT sum(bytes) FROM strata.batch_columns('$name'))")" \
            "$(sql -c "SELECT round(count(*) / 1000.0 / $((end - start)), 2) FROM $name")"
        sql -c "DROP TABLE $name, estimated"
    done
    if [ -n "${OTHERS:-}" ]; then
        order=$segmentby${segmentby:+, }$orderby
        sql -c "COPY (SELECT * FROM ${name}_heap ORDER BY $order) TO STDOUT (FORMAT csv, HEADER)" >"$WORK/$name.csv"
        sql -c "SELECT attname || ' ' || format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = '${name}_heap'::regclass AND attnum > 0" >"$WORK/$name.columns"
        printf ' %s |' "$("$OTHERS" "$ROOT/bench/sizes_others.py" "$WORK/$name" "$order")"
        rm -rf "$WORK/${name:?}".*
    fi
    printf '\n'
    sql -c "DROP TABLE ${name}_heap"
done <"$ROOT/tools/datasets.txt"
