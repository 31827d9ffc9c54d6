#!/usr/bin/env bash
# bench/value_parts.sh
#	  Parts of large values and members of documents: heap, strata, and strata
#	  with strata.enable_value_parts off, in one run.  Prints markdown.
#
#	  TEXTS=10000 texts of 59 kB, HUGE=100 of HUGE_BYTES=38000000, DOCUMENTS=50000
#	  documents of 2 kB with 40 keys; the best of RUNS=3.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

export STRATA_CLUSTER=value_parts
SERVER=$ROOT/tools/server
TEXTS=${TEXTS:-10000} HUGE=${HUGE:-100} HUGE_BYTES=${HUGE_BYTES:-38000000} DOCUMENTS=${DOCUMENTS:-50000} RUNS=${RUNS:-3}
"$SERVER" wipe
"$SERVER" start >&2 || die "the private server did not start"
trap '"$SERVER" stop immediate' EXIT
eval "$("$SERVER" env)"
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# table: name, columns, how its rows are made
table() {
    sql -c "CREATE TABLE $1_heap ($2)" -c "INSERT INTO $1_heap $3" -c "CREATE TABLE $1 (LIKE $1_heap) USING strata" \
        -c "ALTER TABLE $1 SET (strata.orderby = 'id')" -c "INSERT INTO $1 SELECT * FROM $1_heap" \
        -c "SELECT count(*) FROM compress_chunk('$1')" -c "VACUUM ANALYZE $1_heap" -c "VACUUM ANALYZE $1" >/dev/null
    sql -c "SELECT format('%s: heap %s MB, strata %s MB', '$1', round(pg_total_relation_size('$1_heap') / 1e6, 1),
        round((pg_total_relation_size('$1') + pg_total_relation_size(strata.batch_relation('$1'))) / 1e6, 1))" >&2
}
best() {
    local setting=$1 query=$2
    { echo "SET strata.enable_value_parts = $setting; SET max_parallel_workers_per_gather = 0;"
      echo '\o /dev/null'
      echo '\timing on'
      for ((i = 0; i < RUNS; i++)); do echo "$query;"; done; } | psql -XAq | awk '/^Time:/ { if (!n++ || $2 < b) b = $2 } END { printf "%.1f", b }'
}
row() {
    local table=$1 query=$2 heap on off
    heap=$(best on "${query//FROM $table/FROM ${table}_heap}")
    on=$(best on "$query")
    off=$(best off "$query")
    awk -v q="$query" -v h="$heap" -v n="$on" -v o="$off" 'BEGIN { printf "| %s | %s | %s | %s | %.1f |\n", q, h, o, n, h / n }'
}

WORDS="SELECT i AS id, left(string_agg(md5((i * 400 + j / 4)::text) || ' lorem ipsum ', ''), 59000) AS body FROM generate_series(1, $TEXTS) i, generate_series(1, 1320) j GROUP BY i"
table texts "id int, body text" "$WORDS"
table huge "id int, body text" "SELECT i, repeat(md5(i::text) || ' lorem ipsum ' || i, $HUGE_BYTES / 48) FROM generate_series(1, $HUGE) i"
table docs "id int, doc jsonb" "SELECT i, (SELECT jsonb_object_agg('key_' || j, CASE j % 4 WHEN 0 THEN to_jsonb(i % (j * 7)) WHEN 1 THEN to_jsonb('value ' || i % (j + 10) || ' of ' || j) WHEN 2 THEN to_jsonb(md5((i * j)::text)) ELSE to_jsonb(repeat('text ' || i % 50, 6)) END) FROM generate_series(1, 40) j) FROM generate_series(1, $DOCUMENTS) i"
echo "| query | heap ms | strata, whole values | strata, parts | heap / parts |"
echo "|---|---|---|---|---|"
for t in texts huge; do
    row $t "SELECT substr(body, 1, 20) FROM $t"
    row $t "SELECT sum(length(body)) FROM $t"
    row $t "SELECT sum(octet_length(body)) FROM $t"
    row $t "SELECT count(*) FROM $t WHERE body LIKE '0%'"
    row $t "SELECT left(body, 1), count(*) FROM $t GROUP BY 1"
    row $t "SELECT count(*) FROM $t WHERE position('lorem' IN body) > 0"
    row $t "SELECT count(*) FROM $t WHERE position('nowhere' IN body) > 0"
done
row docs "SELECT count(*) FROM docs WHERE doc->>'key_5' = 'value 3 of 5'"
row docs "SELECT doc->>'key_5' FROM docs"
row docs "SELECT doc->>'key_5', count(*) FROM docs GROUP BY 1"
row docs "SELECT sum((doc->>'key_4')::numeric) FROM docs"
row docs "SELECT id FROM docs WHERE (doc->>'key_8')::int = 7"
