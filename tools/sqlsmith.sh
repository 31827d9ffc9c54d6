#!/usr/bin/env bash
# tools/sqlsmith.sh
#	  Random statements by sqlsmith (the Debian package) against strata tables in
#	  every state (test/sqlsmith/setup.sql), while another session changes,
#	  compresses and decompresses them (churn.sql).  Everything runs niced.
#
#	  Fails when a backend crashes, when an internal error (SQLSTATE XX...) is met
#	  that PostgreSQL has not got by itself (test/sqlsmith/allowed.txt), or when
#	  strata.verify() finds fault with a table at the end.
#
#	  MINUTES=10   how long
#	  SEED=1       sqlsmith's seed; each of its runs, of some thousand queries, adds one
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ "${NICED:-}" ] || NICED=1 exec nice -n 19 bash "${BASH_SOURCE[0]}"
command -v sqlsmith >/dev/null || die "sqlsmith is needed: apt-get install sqlsmith"
bash "$ROOT/tools/install_deps.sh"
export STRATA_CLUSTER=sqlsmith
export STRATA_CONF="log_error_verbosity = verbose
log_min_error_statement = error
restart_after_crash = on"
SERVER=$ROOT/tools/server
OUT=$(run_dir)/sqlsmith
MINUTES=${MINUTES:-10}
seed=${SEED:-1}

"$SERVER" wipe
"$SERVER" start 2>/dev/null || { "$SERVER" log 30; die "the private server did not start"; }
trap 'kill "${churner:-}" 2>/dev/null || true; "$SERVER" stop immediate' EXIT
eval "$("$SERVER" env)"
rm -rf "$OUT"
mkdir -p "$OUT"

# Not a superuser: sqlsmith calls every function it may.
psql -X -q -d postgres -v ON_ERROR_STOP=1 -c "CREATE ROLE smith LOGIN" -c "CREATE DATABASE smith OWNER smith"
psql -X -q -d smith -v ON_ERROR_STOP=1 -c "CREATE EXTENSION strata" -c "GRANT CREATE ON SCHEMA public TO smith"
export PGUSER=smith PGDATABASE=smith
psql -X -q -v ON_ERROR_STOP=1 -f "$ROOT/test/sqlsmith/setup.sql" >/dev/null

while sleep 2; do
    psql -X -q -f "$ROOT/test/sqlsmith/churn.sql" >>"$OUT/churn.log" 2>&1 || true
done &
churner=$!

queries=0
end=$((SECONDS + MINUTES * 60))
while [ $SECONDS -lt $end ]; do
    # sqlsmith ends when its connection breaks: the next run goes on.
    timeout $((end - SECONDS)) sqlsmith --target="host=$PGHOST port=$PGPORT user=smith dbname=smith" --exclude-catalog \
        --seed="$seed" --max-queries=5000 --verbose >"$OUT/run.out" 2>"$OUT/run.err" || true
    count=$(sed -n 's/^queries: \([0-9]*\).*/\1/p' "$OUT/run.err" | tail -n 1)
    queries=$((queries + ${count:-0}))
    seed=$((seed + 1))
    [ "${count:-0}" -gt 0 ] || sleep 5
done
kill "$churner"
wait "$churner" 2>/dev/null || true

"$SERVER" log 100000000 >"$OUT/server.log"
# What PostgreSQL says of itself is known; the rest is ours.
grep -E ' (ERROR|FATAL|PANIC): +XX[0-9A-Z]{3}: ' "$OUT/server.log" | sed -E 's/.* (ERROR|FATAL|PANIC): +//' |
    grep -v -E -f <(grep -v '^#' "$ROOT/test/sqlsmith/allowed.txt") | sed -E 's/[0-9]{3,}/N/g' | sort | uniq -c | sort -rn >"$OUT/internal.txt" || true
crashes=$(grep -cE 'was terminated by signal|TRAP:|PANIC:' "$OUT/server.log" || true)
verify=$(psql -X -At <<'SQL'
SELECT c.oid::regclass, p.* FROM pg_class AS c, LATERAL strata.verify(c.oid) AS p
 WHERE c.relkind = 'r' AND c.relam = (SELECT oid FROM pg_am WHERE amname = 'strata')
SQL
) || verify="verify itself failed"

cat "$OUT/internal.txt"
[ -z "$verify" ] || printf '%s\n' "$verify"
say "log: $OUT/server.log; run time $MINUTES minutes, seeds ${SEED:-1} to $((seed - 1))"
printf '%s queries, %s errors, %s crashes, %s kinds of internal errors, %s problems found by verify\n' "$queries" \
    "$(grep -c ' ERROR: ' "$OUT/server.log" || true)" "$crashes" "$(wc -l <"$OUT/internal.txt")" "$(printf '%s' "$verify" | grep -c . || true)"
[ "$crashes" = 0 ] && [ ! -s "$OUT/internal.txt" ] && [ -z "$verify" ]
