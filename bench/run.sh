#!/usr/bin/env bash
# bench/run.sh
#	  make bench: heap, strata, DuckDB and ClickHouse; see bench/README.md.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

bash "$ROOT/tools/install_deps.sh"
RUN=$(run_dir)
export STRATA_CLUSTER=bench
export STRATA_CONF="shared_buffers = 1GB
maintenance_work_mem = 256MB
max_wal_size = 8GB
autovacuum = off
${BENCH_CONF:-}"

# The peers come into a virtual environment of the checkout; without network,
# or with PEERS=0, the others are measured without them.
python=$RUN/bench-venv/bin/python
[ -z "${ESTIMATES:-}" ] || PEERS=0
if [ "${PEERS:-1}" = 1 ]; then
    [ -x "$python" ] || python3 -m venv "$RUN/bench-venv" || say "no virtual environment: python3-venv is missing"
    "$python" -c 'import duckdb, chdb, numpy, psycopg2' 2>/dev/null ||
        "$python" -m pip install -q duckdb chdb numpy psycopg2-binary >&2 ||
        say "could not install DuckDB and chdb: what is missing is not compared"
fi
"$python" -c 'import psycopg2' 2>/dev/null || python=$(python_with_psycopg2)

SERVER=$ROOT/tools/server
"$SERVER" wipe
"$SERVER" start 2>/dev/null || { "$SERVER" log 30; die "the private server did not start"; }
work=$RUN/bench-data
trap '"$SERVER" stop immediate; rm -rf "$work"' EXIT
mkdir -p "$work"
${CC:-cc} -O2 -o "$RUN/bench-generate" "$ROOT/bench/generate.c"
"$SERVER" psql -q -c 'CREATE EXTENSION IF NOT EXISTS strata' 2>/dev/null
"$python" "$ROOT/bench/run.py" --dsn "$("$SERVER" dsn)" --server "$SERVER" --generate "$RUN/bench-generate" --work "$work" \
    --rows "${ROWS:-1000000}" --hosts "${HOSTS:-0}" --hours "${HOURS:-0}" --rounds "${ROUNDS:-5}" \
    ${COLD:+--cold} ${ESTIMATES:+--estimates} ${ONLY:+--only "$ONLY"} ${LOADS:+--load-turns "$LOADS"} ${LOAD_ROWS:+--load-rows "$LOAD_ROWS"} \
    $([ "${PEERS:-1}" = 1 ] || echo --no-peers) --results "$ROOT/bench/results" \
    --label "$(git -C "$ROOT" describe --always --dirty 2>/dev/null || echo unknown)"
