# bench/server.sh
#	  A private server of a benchmark's own; sourced, behind tools/lib.sh.
#
#	  start_bench_server NAME CONF: a new one with these settings, and the
#	  extension.  Sets SERVER, and work, a folder for files that both sides read;
#	  server and folder go when the script ends.  sql runs psql on it.

sql() { psql -XqAt -v ON_ERROR_STOP=1 "$@"; }

start_bench_server() {
    export STRATA_CLUSTER=bench STRATA_CONF="$2
${BENCH_CONF:-}"
    SERVER=$ROOT/tools/server
    "$SERVER" wipe
    "$SERVER" start 2>/dev/null || { "$SERVER" log 30; die "the private server did not start"; }
    work=$(run_dir)/$1
    trap '"$SERVER" stop immediate; rm -rf "$work"' EXIT
    mkdir -p "$work"
    chmod 777 "$work"
    eval "$("$SERVER" env)"
    sql -c 'SET client_min_messages = error' -c 'CREATE EXTENSION IF NOT EXISTS strata'
}
