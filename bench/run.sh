#!/usr/bin/env bash
# bench/run.sh
#	  make bench: heap, strata, DuckDB and more, or two builds of strata; see bench/README.md.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

bash "$ROOT/tools/install_deps.sh"
RUN=$(run_dir)
export STRATA_CLUSTER=bench
export STRATA_CONF="shared_preload_libraries = '${PRELOAD:-pg_stat_statements, strata}'
compute_query_id = auto
shared_buffers = 1GB
maintenance_work_mem = 256MB
max_wal_size = 8GB
autovacuum = off
${BENCH_CONF:-}"

# The client library, DuckDB and whatever else is compared come into a virtual
# environment of the checkout.
[ -z "${ESTIMATES:-}" ] || PEERS=
PEERS=${PEERS-duckdb}
python=$RUN/bench-venv/bin/python
packages="numpy psycopg[binary]" modules="numpy, psycopg"
case " $PEERS " in *\ duckdb\ *) packages+=" duckdb" modules+=", duckdb" ;; esac
case " $PEERS " in *\ clickhouse\ *) packages+=" chdb" modules+=", chdb" ;; esac
[ -x "$python" ] || python3 -m venv "$RUN/bench-venv" || die "no virtual environment: python3-venv is missing"
"$python" -c "import $modules" 2>/dev/null || "$python" -m pip install -q $packages >&2 ||
    say "could not install all of $packages: what is missing is not compared"

# start TREE: a new server of the checkout or tree there.  The tables' owner is
# bench, who is no superuser.
start() {
    local server=$1/tools/server
    "$server" wipe
    "$server" start 2>/dev/null || { "$server" log 30; die "the private server of $1 did not start"; }
    "$server" psql -q -c 'CREATE ROLE bench LOGIN' -c 'GRANT pg_checkpoint, pg_read_all_settings TO bench' \
        -c "ALTER DATABASE $DB OWNER TO bench" -c 'CREATE EXTENSION pg_stat_statements'
}
dsn() { "$1/tools/server" dsn | sed 's/user=[^ ]*/user=bench/'; }

work=$RUN/bench-data
trees=("$ROOT")
if [ -n "${BASE:-}" ]; then
    base=$(git -C "$ROOT" rev-parse --short=10 "$BASE^{commit}")
    trees+=("$RUN/base/$base")
    [ -f "${trees[1]}/Makefile" ] || { mkdir -p "${trees[1]}"; git -C "$ROOT" archive "$base" | tar -x -C "${trees[1]}"; }
    unset STRATA_RUN
fi
trap 'for tree in "${trees[@]}"; do "$tree/tools/server" stop immediate; done; rm -rf "$work"' EXIT
for tree in "${trees[@]}"; do start "$tree"; done
mkdir -p "$work"
${CC:-cc} -O2 -o "$RUN/bench-generate" "$ROOT/bench/generate.c"
"$python" "$ROOT/bench/run.py" --dsn "$(dsn "$ROOT")" --server "$ROOT/tools/server" --generate "$RUN/bench-generate" --work "$work" \
    ${BASE:+--base-dsn "$(dsn "${trees[1]}")" --base-server "${trees[1]}/tools/server" --base-label "$base"} \
    --shape "${SHAPE:-field}" --sets "${SETS:-tsbs analyst}" --peers "$PEERS" \
    --rows "${ROWS:-1000000}" --hosts "${HOSTS:-0}" --hours "${HOURS:-0}" --rounds "${ROUNDS:-5}" \
    ${COLD:+--cold} ${ESTIMATES:+--estimates} ${ONLY:+--only "$ONLY"} ${LOADS:+--load-turns "$LOADS"} ${LOAD_ROWS:+--load-rows "$LOAD_ROWS"} \
    --results "$ROOT/bench/results" --label "$(git -C "$ROOT" describe --always --dirty 2>/dev/null || echo unknown)"
