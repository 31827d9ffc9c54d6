#!/usr/bin/env bash
# bench/estimates.sh
#	  How far estimate_compression() is off, column by column, on every dataset.
#	  Prints markdown, the worst column of a dataset first; columns of less than a
#	  thousandth of the whole are left out.
#
#	  LEVELS="balanced archive" picks levels, DATASETS="name name" datasets. Exits
#	  with 1 when a column of at least a hundredth is off by more than 10 %.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

DATA=$(data_dir)
export STRATA_CLUSTER=estimates
SERVER=$ROOT/tools/server
LEVELS=${LEVELS:-balanced}
worst=0

"$SERVER" wipe
"$SERVER" start >&2 || die "the private server did not start"
trap '"$SERVER" stop immediate' EXIT
eval "$("$SERVER" env)"

sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

printf '| dataset | level | column | real bytes | estimated | off by | of all |\n|---|---|---|---|---|---|---|\n'
sql -f "$DATA/schema.sql"
while IFS='|' read -r name segmentby orderby _; do
    case $name in ''|'#'*) continue ;; esac
    [ -f "$DATA/$name.csv.zst" ] || continue
    if [ -n "${DATASETS:-}" ] && [[ " $DATASETS " != *" $name "* ]]; then continue; fi
    sql -c "ALTER TABLE $name RENAME TO ${name}_heap"
    zstd -dc "$DATA/$name.csv.zst" | sql -c "COPY ${name}_heap FROM STDIN (FORMAT csv, HEADER)"
    for level in $LEVELS; do
        # the estimate is made as a user would: of the heap, before anything is decided
        sql <<END
CREATE TABLE $name (LIKE ${name}_heap) USING strata WITH (strata.segmentby = '$segmentby', strata.orderby = '$orderby', strata.codec_level = '$level');
INSERT INTO $name SELECT * FROM ${name}_heap;
CREATE TABLE estimated AS SELECT * FROM estimate_compression('$name');
SET client_min_messages = error;
SELECT compress_chunk('$name') \gset
CREATE TABLE errors AS
    SELECT e.column_name, r.bytes AS real, e.bytes AS estimated, 100.0 * e.bytes / r.bytes - 100 AS off,
           100.0 * r.bytes / sum(r.bytes) OVER () AS share
    FROM estimated e JOIN (SELECT column_name, sum(bytes) AS bytes FROM strata.batch_columns('$name') GROUP BY 1) r USING (column_name)
    WHERE r.bytes > 0;
END
        sql -F ' | ' -c "SELECT '| $name', '$level', column_name, real, estimated, to_char(off, 'SG990.0') || ' %', to_char(share, 'FM990.0') || ' % |'
            FROM errors WHERE share > 0.1 ORDER BY abs(off) DESC"
        sql -F ' | ' -c "SELECT '| $name', '$level', '*all, with headers, indexes and TOAST*', real, bytes,
                to_char(100.0 * bytes / real - 100, 'SG990.0') || ' %', '100 % |'
            FROM estimated, (SELECT pg_total_relation_size(strata.batch_relation('$name')) AS real) r WHERE column_name IS NULL"
        [ "$(sql -c "SELECT count(*) FROM errors WHERE share > 1 AND abs(off) > 10")" = 0 ] || worst=1
        sql -c "DROP TABLE $name, estimated, errors"
    done
    sql -c "DROP TABLE ${name}_heap"
done <"$ROOT/tools/datasets.txt"
exit $worst
