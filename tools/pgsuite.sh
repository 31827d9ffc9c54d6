#!/usr/bin/env bash
# tools/pgsuite.sh
#	  Runs PostgreSQL's own regression suite with default_table_access_method =
#	  strata on a private server, and compares what each test printed with what it
#	  prints on heap, and the differences with those reviewed
#	  (test/pgsuite/README.md).  Ends with "N passed, N failed".
#
#	  PGSRC=/path/to/postgresql-source   its tree; else Debian's source package is
#	                                     fetched (as root) into .run/pgsrc
#	  TORTURE=1    compress after every statement that writes
#	  AM=heap      the run on heap that the others are compared with (made once)
#	  SHOW=RESULT,ERROR   classes of differences to show, also of tests that pass
#	  SETTINGS="strata.enable_scan=off ..."   other settings for all sessions
#	  SCHEDULE=    another schedule of src/test/regress
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$ROOT/tools/pgsource.sh"

bash "$ROOT/tools/install_deps.sh"
RUN=$(run_dir)
export STRATA_CLUSTER=${STRATA_CLUSTER:-pgsuite}
SERVER=$ROOT/tools/server
AM=${AM:-strata}
MODE=$AM
[ -z "${TORTURE:-}" ] || MODE=torture
[ "$AM" = strata ] || [ -z "${TORTURE:-}" ] || MODE=${AM}_torture
OUT=$RUN/pgsuite/$MODE
HEAP=$RUN/pgsuite/heap/results

PGSRC=${PGSRC:-$(fetch_source)}
REGRESS=$PGSRC/src/test/regress
[ -f "$REGRESS/parallel_schedule" ] || die "\"$PGSRC\" is not a PostgreSQL source tree"

# What heap prints on this server is expected too; run that once.
BASELINE=$(source_version; "$PG_CONFIG" --version)
if [ "$MODE" != heap ] && [ "$BASELINE" != "$(cat "$RUN/pgsuite/heap.of" 2>/dev/null)" ]; then
    say "first on heap, to see what differs without strata"
    PGSRC=$PGSRC AM=heap TORTURE='' SETTINGS='' bash "$ROOT/tools/pgsuite.sh" >"$RUN/pgsuite-heap.log" 2>&1 || true
    [ -d "$HEAP" ] || die "the heap run failed: $RUN/pgsuite-heap.log"
    echo "$BASELINE" >"$RUN/pgsuite/heap.of"
fi

export STRATA_CONF="max_prepared_transactions = 2
log_temp_files = 128kB
fsync = off"
start_suite_server

PSQL_DIR=$(dirname "$(find "$PGSRC/client" -path '*/bin/psql' 2>/dev/null | head -n 1)")
[ -x "$PSQL_DIR/psql" ] || PSQL_DIR=$("$CONFIG" --bindir)
say "source: $(source_version), $("$PSQL_DIR/psql" --version), $("$CONFIG" --version)"

# The suite's own C functions, and two of contrib it uses.
rm -rf "$OUT"
mkdir -p "$OUT/lib" "$OUT/testtablespace"
[ -z "$(server_user)" ] || chown -R "$(server_user)" "$OUT"
gcc -O1 -w -fPIC -shared -I"$("$CONFIG" --includedir-server)" -I"$REGRESS" -o "$OUT/lib/regress.so" "$REGRESS/regress.c"
for module in autoinc refint; do
    cp "$("$CONFIG" --pkglibdir)/$module.so" "$OUT/lib/" || die "contrib's $module.so is missing"
done

# Compression locks out other writers to the end of a transaction, for ever
# when that is a prepared one: in torture mode such a test fails in time.
torture=off timeout=0
[ -z "${TORTURE:-}" ] || { torture=on timeout=10s; }
psql -X -q -v ON_ERROR_STOP=1 -d postgres <<EOF
CREATE DATABASE regression TEMPLATE template0;
ALTER DATABASE regression SET lc_messages TO 'C';
ALTER DATABASE regression SET lc_monetary TO 'C';
ALTER DATABASE regression SET lc_numeric TO 'C';
ALTER DATABASE regression SET lc_time TO 'C';
ALTER DATABASE regression SET bytea_output TO 'hex';
ALTER DATABASE regression SET timezone_abbreviations TO 'Default';
\c regression
CREATE EXTENSION strata;
ALTER DATABASE regression SET default_table_access_method TO '$AM';
ALTER DATABASE regression SET strata.torture TO $torture;
ALTER DATABASE regression SET lock_timeout TO '$timeout';
$(settings_sql regression)
EOF

status=0
as_server "$(dirname "$("$CONFIG" --pgxs)")/../test/regress/pg_regress" --use-existing --dbname=regression \
    --inputdir="$REGRESS" --outputdir="$OUT" --dlpath="$OUT/lib" --bindir="$PSQL_DIR" \
    --host="$PGHOST" --port="$PGPORT" --user="$PGUSER" --max-concurrent-tests=20 \
    --schedule="$REGRESS/${SCHEDULE:-parallel_schedule}" >"$OUT/run.log" 2>&1 || status=$?
say "suite ended with status $status; log: $OUT/run.log"

finish_suite_run
python3 "$ROOT/test/pgsuite/compare.py" --log "$OUT/run.log" --results "$OUT/results" --heap "$HEAP" \
    --allowed "$ROOT/test/pgsuite/$allowed" --crashes "$crashes" ${SHOW:+--show "$SHOW"}
