#!/usr/bin/env bash
# tools/pgisolation.sh
#	  Runs PostgreSQL's own isolation suite with default_table_access_method =
#	  strata on a private server, and compares what each spec printed with what it
#	  prints on heap, and the differences with those reviewed
#	  (test/pgisolation/README.md).  Ends with "N passed, N failed".
#
#	  PGSRC=/path/to/postgresql-source   its tree; else as in tools/pgsuite.sh
#	  TORTURE=1    all tables are compressed before the sessions begin
#	  AM=heap      the run on heap that the others are compared with (made once)
#	  SETTINGS="strata.enable_scan=off ..."   other settings for all sessions
#	  T="name ..." these specs only
#	  SHOW=1       show the differences, also those of specs that pass
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$ROOT/tools/pgsource.sh"

bash "$ROOT/tools/install_deps.sh"
RUN=$(run_dir)
export STRATA_CLUSTER=${STRATA_CLUSTER:-pgisolation}
SERVER=$ROOT/tools/server
AM=${AM:-strata}
MODE=$AM
[ -z "${TORTURE:-}" ] || MODE=torture
[ "$AM" = strata ] || [ -z "${TORTURE:-}" ] || MODE=${AM}_torture
OUT=$RUN/pgisolation/$MODE
HEAP=$RUN/pgisolation/heap/results

PGSRC=${PGSRC:-$(fetch_source)}
SUITE=$PGSRC/src/test/isolation
[ -f "$SUITE/isolation_schedule" ] || die "\"$PGSRC\" is not a PostgreSQL source tree"
# The schedule, and two that it leaves out for servers without prepared transactions.
mapfile -t specs < <(sed -n 's/^test: *//p' "$SUITE/isolation_schedule" | tr ' ' '\n'; printf '%s\n' prepared-transactions prepared-transactions-cic)
[ -z "${T:-}" ] || read -ra specs <<<"$T"

# What heap prints on this server is expected too; run that once.
BASELINE=$(source_version; "$PG_CONFIG" --version)
if [ "$MODE" != heap ] && [ "$BASELINE" != "$(cat "$RUN/pgisolation/heap.of" 2>/dev/null)" ]; then
    say "first on heap, to see what differs without strata"
    PGSRC=$PGSRC AM=heap TORTURE='' SETTINGS='' T='' bash "$ROOT/tools/pgisolation.sh" >"$RUN/pgisolation-heap.log" 2>&1 ||
        die "the heap run failed: $RUN/pgisolation-heap.log"
    echo "$BASELINE" >"$RUN/pgisolation/heap.of"
fi

start_suite_server
say "source: $(source_version), $("$CONFIG" --version)"

rm -rf "$OUT"
mkdir -p "$OUT/specs"
torture=off
[ "$AM" = strata ] || [ -z "${TORTURE:-}" ] || torture=on
if [ -n "${TORTURE:-}" ] && [ "$AM" = strata ]; then
    # One more setup block, the last: every permutation begins with compressed tables, small
    # as they are.  pg_isolation_regress prefers a spec of the output directory.
    cat >"$OUT/block" <<'SQL'
setup
{
    SET strata.torture = on;
    DO $$
    DECLARE rel regclass;
    BEGIN
        FOR rel IN SELECT c.oid FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'strata' AND c.relkind = 'r'
        LOOP
            PERFORM compress_chunk(rel);
        END LOOP;
    END $$;
    RESET strata.torture;
}

SQL
    for spec in "${specs[@]}"; do
        awk -v block="$OUT/block" '/^(session|teardown)/ && !done { while ((getline line <block) > 0) print line; done = 1 } { print }' \
            "$SUITE/specs/$spec.spec" >"$OUT/specs/$spec.spec"
    done
fi
[ -z "$(server_user)" ] || chown -R "$(server_user)" "$OUT"

psql -X -q -v ON_ERROR_STOP=1 -d postgres <<SQL
CREATE DATABASE isolation_regression TEMPLATE template0;
ALTER DATABASE isolation_regression SET lc_messages TO 'C';
\c isolation_regression
SET client_min_messages = warning;
CREATE EXTENSION strata;
ALTER DATABASE isolation_regression SET default_table_access_method TO '$AM';
ALTER DATABASE isolation_regression SET strata.background_vacuum TO off;
ALTER DATABASE isolation_regression SET strata.torture TO $torture;
$(settings_sql isolation_regression)
SQL

# A step that waits where it would not on heap is cancelled, and shows as a difference.
status=0
as_server env PATH="$PATH" PGISOLATIONTIMEOUT=15 "$(dirname "$("$CONFIG" --pgxs)")/../test/isolation/pg_isolation_regress" --use-existing \
    --dbname=isolation_regression --inputdir="$SUITE" --outputdir="$OUT" --bindir="$("$CONFIG" --bindir)" \
    --host="$PGHOST" --port="$PGPORT" --user="$PGUSER" "${specs[@]}" >"$OUT/run.log" 2>&1 || status=$?
say "suite ended with status $status; log: $OUT/run.log"

finish_suite_run
python3 "$ROOT/test/pgisolation/compare.py" --results "$OUT/results" --heap "$HEAP" --expected "$SUITE/expected" \
    --allowed "$ROOT/test/pgisolation/$allowed" --crashes "$crashes" ${SHOW:+--show} "${specs[@]}"
