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
[ -z "${ESTIMATES:-}${INSTRUCTIONS:-}" ] || PEERS=
PEERS=${PEERS-duckdb}
python=$RUN/bench-venv/bin/python
packages="numpy psycopg[binary]" modules="numpy, psycopg"
case " $PEERS " in *\ duckdb\ *) packages+=" duckdb" modules+=", duckdb" ;; esac
case " $PEERS " in *\ clickhouse\ *) packages+=" chdb" modules+=", chdb" ;; esac
[ -x "$python" ] || "$(python_with_venv)" -m venv "$RUN/bench-venv"
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
    --shape "${SHAPE:-field}" --sets "${SETS:-tsbs analyst dashboard}" --peers "$PEERS" \
    --rows "${ROWS:-1000000}" --hosts "${HOSTS:-0}" --hours "${HOURS:-0}" --rounds "${ROUNDS:-5}" \
    ${COLD:+--cold} ${INSTRUCTIONS:+--script} ${ESTIMATES:+--estimates} ${ONLY:+--only "$ONLY"} ${LOADS:+--load-turns "$LOADS"} ${LOAD_ROWS:+--load-rows "$LOAD_ROWS"} \
    --results "$ROOT/bench/results" --label "$(git -C "$ROOT" describe --always --dirty 2>/dev/null || echo unknown)"

[ -n "${INSTRUCTIONS:-}" ] || exit 0
# count TREE SCHEMA: instructions of each statement of the script, from parsing
# to the last row, in a server of one session under callgrind.
count() {
    local server=$1/tools/server parts=$work/parts data statement
    data=$("$server" psql -qAtc 'SHOW data_directory')
    "$server" stop
    rm -rf "$parts"
    mkdir "$parts"
    chmod 777 "$parts"
    sed "s/on_strata/$2/" "$work/script.sql" >"$parts/script.sql"
    as_server valgrind --tool=callgrind --callgrind-out-file="$parts/out" --zero-before=pg_parse_query --dump-after=PortalRun \
        "$(dirname "$("$server" pg_config)")/postgres" --single -D "$data" "$DB" <"$parts/script.sql" >"$parts/log" 2>&1 ||
        { tail -n 30 "$parts/log" >&2; die "the server under valgrind failed"; }
    ! grep 'ERROR: ' "$parts/log" >&2 || die "a statement failed"
    for statement in $(seq "$(wc -l <"$parts/script.sql")"); do awk '/^summary:/ { print $2 }' "$parts/out.$statement"; done
}
command -v valgrind >/dev/null || die "valgrind is missing"
cd "$work"    # where the server's user may be
for tree in "${trees[@]}"; do
    count "$tree" on_strata >"count.$(basename "$tree")"
    "$tree/tools/server" start 2>/dev/null
done
count "$ROOT" on_heap >count.heap
say "instructions, thousands"
printf '| | heap | strata | heap/strata |%s\n|---|---:|---:|---:|%s\n' ${BASE:+" base | strata/base |"} ${BASE:+"---:|---:|"}
paste -d'|' script.names count.heap "count.$(basename "$ROOT")" ${BASE:+"count.$base"} | awk -F'|' '
    $1 != "" { printf "| %s | %.0f | %.0f | %.2f |", $1, $2 / 1000, $3 / 1000, $2 / $3; heap += log($2 / $3); number++ }
    $1 != "" && NF == 4 { printf " %.0f | %.3f |", $4 / 1000, $3 / $4; base += log($3 / $4) }
    $1 != "" { printf "\n" }
    END { printf "| geometric mean | | | %.2f |", exp(heap / number); if (base != 0) printf " | %.3f |", exp(base / number); printf "\n" }'
