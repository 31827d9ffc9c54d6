#!/usr/bin/env bash
# tools/demo.sh
#	  What pg_strata does, on real data, in a few minutes: installs what is
#	  missing, builds, starts a private server, keeps each dataset in a heap and in
#	  a strata table, compresses, proves that both answer alike, and prints sizes
#	  and times.  Fails when anything differs.
#
#	  DATASETS="name name" picks some; STRATA_DATA names another data folder.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

bash "$ROOT/tools/install_deps.sh"
RUN=$(run_dir)
DATA=$(data_dir)
export STRATA_CLUSTER=demo
SERVER=$ROOT/tools/server

[ "$DATA" != "$RUN/sample" ] || say "../shared/data is not there: using the small made-up sample of tools/gen_sample.py"
"$SERVER" wipe
"$SERVER" start 2>/dev/null || { "$SERVER" log 30; die "the private server did not start"; }
trap '"$SERVER" stop immediate' EXIT
eval "$("$SERVER" env)"

sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
value() { sql -c "$1"; }
quote() { printf '%s' "$1" | sed "s/'/''/g"; }
now_ms() { date +%s%3N; }
mb() { awk -v b="$1" 'BEGIN { printf "%.1f MB", b / 1048576 }'; }

# Best of three runs of a query, in milliseconds, by the server's own clock.
time_query() {
    { echo '\timing on'; echo '\o /dev/null'; for _ in 1 2 3; do echo "$1;"; done; } |
        psql -X -q -v ON_ERROR_STOP=1 | awk '/^Time:/ { if (!n++ || $2 < best) best = $2 } END { printf "%.1f", best }'
}

# table<TAB>title<TAB>query with T for the table
queries() {
    cat <<'Q'
tsbs_cpu40	one host, one hour, max by minute	SELECT date_trunc('minute', time) AS minute, max(usage_user) FROM T WHERE hostname = 'host_3' AND time >= '2016-01-01 03:00Z' AND time < '2016-01-01 04:00Z' GROUP BY 1 ORDER BY 1
tsbs_cpu40	latest reading of a host	SELECT time, usage_user FROM T WHERE hostname = 'host_7' ORDER BY time DESC LIMIT 1
tsbs_cpu40	average of one column, whole table	SELECT count(*), avg(usage_user) FROM T
tsbs_cpu40	rare values	SELECT count(*) FROM T WHERE usage_user > 99 AND usage_system < 1
beijing_air	daily mean of a station and month	SELECT date_trunc('day', ts) AS day, avg(pm25) FROM T WHERE station = 'Tiantan' AND ts >= '2013-05-01' AND ts < '2013-06-01' GROUP BY 1 ORDER BY 1
flights	delays by carrier	SELECT carrier, count(*), avg(dep_delay) FROM T GROUP BY carrier ORDER BY carrier
nab_metrics	values by series	SELECT series, min(value), max(value) FROM T GROUP BY series ORDER BY series
wiki_edits	edits of an hour	SELECT count(*), sum(added) FROM T WHERE ts >= '2015-09-12 05:00Z' AND ts < '2015-09-12 06:00Z'
Q
}

tables=0 all_rows=0 all_heap=0 all_strata=0
loaded=" "

sql -f "$DATA/schema.sql"
printf '\n%-18s %9s %12s %12s %7s %16s\n' dataset rows 'heap+index' strata saved 'compress rows/s'
while IFS='|' read -r name segmentby orderby index; do
    case $name in ''|'#'*) continue ;; esac
    [ -f "$DATA/$name.csv.zst" ] || continue
    if [ -n "${DATASETS:-}" ] && [[ " $DATASETS " != *" $name "* ]]; then continue; fi

    sql <<EOF
ALTER TABLE $name RENAME TO ${name}_heap;
CREATE TABLE $name (LIKE ${name}_heap) USING strata;
ALTER TABLE $name SET (${segmentby:+strata.segmentby = '$(quote "$segmentby")', }strata.orderby = '$(quote "$orderby")');
EOF
    zstd -dc "$DATA/$name.csv.zst" | sql -c "COPY ${name}_heap FROM STDIN (FORMAT csv, HEADER)"
    zstd -dc "$DATA/$name.csv.zst" | sql -c "COPY $name FROM STDIN (FORMAT csv, HEADER)"
    sql -c "CREATE INDEX ON ${name}_heap ($index)" -c "VACUUM ANALYZE ${name}_heap"

    start=$(now_ms)
    sql -c "SELECT compress_chunk('$name')" >/dev/null
    elapsed=$(($(now_ms) - start))
    sql -c "VACUUM ANALYZE $name"

    rows=$(value "SELECT count(*) FROM $name")
    [ "$(value "SELECT strata.batch_relation('$name') IS NOT NULL")" = t ] || die "$name: nothing was compressed"
    # bit for bit by the text of the rows (-0, numeric scale), then as SQL sees them
    bits="SELECT sum(hashtextextended(t::text, 0)::numeric) FROM"
    [ "$(value "$bits $name AS t")" = "$(value "$bits ${name}_heap AS t")" ] ||
        die "NOT EQUAL: the rows of $name and ${name}_heap differ in some bit"
    different=$(value "SELECT count(*) FROM ((TABLE $name EXCEPT ALL TABLE ${name}_heap)
        UNION ALL (TABLE ${name}_heap EXCEPT ALL TABLE $name)) AS d")
    heap_rows=$(value "SELECT count(*) FROM ${name}_heap")
    [ "$different" = 0 ] && [ "$rows" = "$heap_rows" ] ||
        die "NOT EQUAL: $name has $rows rows, ${name}_heap $heap_rows; $different rows differ"
    damage=$(value "SELECT count(*) FROM strata.verify('$name')")
    [ "$damage" = 0 ] || die "strata.verify('$name') found $damage problems"

    heap=$(value "SELECT pg_total_relation_size('${name}_heap')")
    strata=$(value "SELECT pg_total_relation_size('$name') + pg_total_relation_size(strata.batch_relation('$name'))")
    printf '%-18s %9s %12s %12s %6.1f%% %16s\n' "$name" "$rows" "$(mb "$heap")" "$(mb "$strata")" \
        "$(awk -v h="$heap" -v s="$strata" 'BEGIN { print 100 - 100 * s / h }')" \
        "$((rows * 1000 / (elapsed > 0 ? elapsed : 1)))"
    tables=$((tables + 1)) all_rows=$((all_rows + rows)) all_heap=$((all_heap + heap)) all_strata=$((all_strata + strata))
    loaded="$loaded$name "
done <"$ROOT/tools/datasets.txt"
[ "$tables" -gt 0 ] || die "no dataset was loaded from $DATA"

printf '\n%-18s %-36s %10s %11s\n' dataset query 'heap ms' 'strata ms'
while IFS=$'\t' read -r name title query; do
    [[ $loaded == *" $name "* ]] || continue
    on_heap=${query//FROM T/FROM ${name}_heap}
    on_strata=${query//FROM T/FROM $name}
    [ "$(value "$on_heap" | md5sum)" = "$(value "$on_strata" | md5sum)" ] ||
        die "NOT EQUAL: heap and strata answer differently: $on_strata"
    printf '%-18s %-36s %10s %11s\n' "$name" "$title" "$(time_query "$on_heap")" "$(time_query "$on_strata")"
    # what the plan says it did not have to read
    value "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $on_strata" |
        sed -nE 's/^ *(Batches: total=.*)/    \1/p' 
done < <(queries)

printf '\ndemo: %s tables, %s rows, %s bytes -> %s bytes (%s%% saved), all equal\n' \
    "$tables" "$all_rows" "$all_heap" "$all_strata" \
    "$(awk -v h="$all_heap" -v s="$all_strata" 'BEGIN { printf "%.1f", 100 - 100 * s / h }')"
