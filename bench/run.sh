#!/usr/bin/env bash
# bench/run.sh
#	  make bench: heap against strata on a private server; see bench/README.md.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

bash "$ROOT/tools/install_deps.sh"
export STRATA_CLUSTER=bench
export STRATA_CONF="shared_buffers = 1GB
maintenance_work_mem = 256MB
max_wal_size = 8GB
autovacuum = off
${BENCH_CONF:-}"
SERVER=$ROOT/tools/server
"$SERVER" wipe
"$SERVER" start 2>/dev/null || { "$SERVER" log 30; die "the private server did not start"; }
trap '"$SERVER" stop immediate' EXIT
data=$(data_dir)
[ -z "${HOSTS:-}${HOURS:-}" ] || data=
"$(python_with_psycopg2)" "$ROOT/bench/run.py" --dsn "$("$SERVER" dsn)" --data "$data" \
    --hosts "${HOSTS:-40}" --hours "${HOURS:-24}" --rounds "${ROUNDS:-5}" --results "$ROOT/bench/results" \
    --label "$(git -C "$ROOT" describe --always --dirty 2>/dev/null || echo unknown)"
