#!/usr/bin/env bash
# tools/test.sh
#	  Runs the kinds of tests named as arguments (unit regress isolation tap
#	  props concurrent damage) on a private server and ends with the line "N passed, N failed".
#
#	  T="name name" picks tests by name.  The SQL tests run twice (once with ONCE=1): as they are,
#	  and with every strata.enable_* switch off, against the same expected output
#	  (except *_plan.sql, which show what the switches change).  So do the isolation
#	  specs, and those with the line "# Same on heap." once more on heap tables.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -gt 0 ] || die "usage: tools/test.sh unit|regress|isolation|tap|props|concurrent|damage ..."
RUN=$(run_dir)
OUT=$RUN/test
export STRATA_CLUSTER=test
STRATA_DATA=$(data_dir)
export STRATA_DATA
passed=0
failed=()

bash "$ROOT/tools/install_deps.sh"
mkdir -p "$OUT"
# One run at a time in one checkout: they would share the server.
exec 8>"$RUN/test.lock"
flock -n 8 || { say "waiting for another test run to end"; flock 8; }

pass() { passed=$((passed + 1)); printf 'ok    %s\n' "$*"; }
fail() { failed+=("$*"); printf 'FAIL  %s\n' "$*"; }
picked() { [ -z "${T:-}" ] || [[ " $T " == *" $1 "* ]]; }

server_up=
server() {
    [ -z "$server_up" ] || return 0
    "$ROOT/tools/server" wipe 8>&-
    "$ROOT/tools/server" start 8>&- 2>/dev/null || { "$ROOT/tools/server" log 30; die "the test server did not start"; }
    eval "$("$ROOT/tools/server" env)"
    unset PGDATABASE
    PGXS_TEST=$(dirname "$("$("$ROOT/tools/server" pg_config)" --pgxs)")/../test
    server_up=1
}
trap '[ -z "$server_up" ] || "$ROOT/tools/server" stop immediate' EXIT

# Reads "name<TAB>ok|FAILED" lines out of what pg_regress printed; the format
# changed in PostgreSQL 16.
regress_results() {
    sed -nE -e 's/^(test|    ) +([A-Za-z0-9_-]+) +\.\.\. +(ok|FAILED|failed).*/\2\t\3/p' \
        -e 's/^ok [0-9]+ +[-+] ([A-Za-z0-9_-]+) .*/\1\tok/p' \
        -e 's/^not ok [0-9]+ +[-+] ([A-Za-z0-9_-]+) .*/\1\tFAILED/p' "$1"
}

# run_regress LABEL PROGRAM TEST...: one pass of pg_regress or its isolation twin.
# STAGE names a folder of tests and expected files that stand in for those of test/.
run_regress() {
    local label=$1 program=$2 dir=$OUT/$1 name result status=0 seen=0
    shift 2
    rm -rf "$dir"
    mkdir -p "$dir"
    [ -z "${STAGE:-}" ] || cp -r "$STAGE/." "$dir"
    "$program" --inputdir="$ROOT/test" --outputdir="$dir" --bindir="$(dirname "$(command -v psql)")" \
        --host="$PGHOST" --port="$PGPORT" --user="$PGUSER" --dbname="strata_${label%%-*}" \
        --load-extension=strata "$@" >"$dir/run.log" 2>&1 8>&- || status=$?
    while IFS=$'\t' read -r name result; do
        seen=$((seen + 1))
        if [ "$result" = ok ]; then pass "$label $name"; else fail "$label $name"; fi
    done < <(regress_results "$dir/run.log")
    if [ "$seen" != $# ]; then
        fail "$label: $# tests to run, $seen reported"
        tail -n 20 "$dir/run.log"
    fi
    if [ "$status" != 0 ] && [ -s "$dir/regression.diffs" ]; then
        head -n 300 "$dir/regression.diffs"
        say "all differences: $dir/regression.diffs"
    fi
}

# Names of the tests in test/$1/*.$2; each must have its expected output.
list_tests() {
    local file name
    for file in "$ROOT/test/$1"/*."$2"; do
        [ -e "$file" ] || continue
        name=$(basename "$file" ".$2")
        picked "$name" && echo "$name"
    done
    return 0
}

switches_off() {
    psql -X -d strata_dev -Atc "SELECT string_agg(format('-c %s=off', name), ' ')
        FROM pg_settings WHERE name LIKE 'strata.enable\_%' AND vartype = 'bool'"
}

run_all_regress() {
    local tests switches all
    mapfile -t all < <(list_tests sql sql)
    [ ${#all[@]} -gt 0 ] || { say "no tests in test/sql to run"; return; }
    server
    run_regress regress "$PGXS_TEST/regress/pg_regress" "${all[@]}"
    switches=$(switches_off)
    mapfile -t tests < <(printf '%s\n' "${all[@]}" | grep -v '_plan$')
    if [ -n "$switches" ] && [ ${#tests[@]} -gt 0 ] && [ -z "${ONCE:-}" ]; then
        say "again with $switches"
        PGOPTIONS=$switches run_regress regress-switched-off "$PGXS_TEST/regress/pg_regress" "${tests[@]}"
    fi
}

# The heap twin of a spec, or of its expected file: heap tables, and whatever compresses
# or decompresses takes the lock that it takes, and does nothing.
heap_twin() {
    sed -E -e 's/USING strata/USING heap/' -e 's/ALTER TABLE [a-z0-9_]+ SET \(strata\.[^)]*\);//' \
        -e "s/(de)?compress_chunk\('([a-z0-9_]+)'[^)]*\)/strata_twin('\2') AS \1compress_chunk/g" \
        -e "s/SELECT \* FROM strata\.verify\('[a-z0-9_]+'\)/SELECT 0 AS batch, '' AS column_name, '' AS problem WHERE false/" \
        "$1"
}
twin_setup='setup { CREATE OR REPLACE FUNCTION strata_twin(rel regclass) RETURNS regclass LANGUAGE plpgsql AS $$
    BEGIN EXECUTE format($f$LOCK TABLE %s IN EXCLUSIVE MODE$f$, rel); RETURN rel; END $$; }'

run_all_isolation() {
    local tests same switches name program stage=$OUT/heap-twins
    mapfile -t tests < <(list_tests specs spec)
    [ ${#tests[@]} -gt 0 ] || { say "no tests in test/specs to run"; return; }
    server
    program=$PGXS_TEST/isolation/pg_isolation_regress
    run_regress isolation "$program" "${tests[@]}"
    switches=$(switches_off)
    if [ -n "$switches" ]; then
        say "again with $switches"
        PGOPTIONS=$switches run_regress isolation-switched-off "$program" "${tests[@]}"
    fi
    rm -rf "$stage"
    mkdir -p "$stage/specs" "$stage/expected"
    same=()
    for name in "${tests[@]}"; do
        grep -qx '# Same on heap\.' "$ROOT/test/specs/$name.spec" || continue
        same+=("$name")
        { echo "$twin_setup"; heap_twin "$ROOT/test/specs/$name.spec"; } >"$stage/specs/$name.spec"
        heap_twin "$ROOT/test/expected/$name.out" >"$stage/expected/$name.out"
    done
    if [ ${#same[@]} -gt 0 ]; then
        say "again on heap tables: nobody may see a difference"
        STAGE=$stage run_regress isolation-heap "$program" "${same[@]}"
    fi
}

run_all_unit() {
    local log=$OUT/unit.log count
    [ -f "$ROOT/test/unit/Makefile" ] || { say "no unit tests: test/unit/Makefile is not there"; return; }
    if make -C "$ROOT/test/unit" check >"$log" 2>&1 8>&-; then
        count=$(grep -cE '^ok\b' "$log" || true)
        [ "$count" -gt 0 ] || count=1
        passed=$((passed + count))
        printf 'ok    unit (%s)\n' "$count"
    else
        tail -n 60 "$log"
        count=$(grep -cE '^ok\b' "$log" || true)
        passed=$((passed + count))
        fail "unit (log: $log)"
    fi
}

# The TAP tests make clusters of their own, so they run as the user who may;
# a copy of test/ stands where that user can read it.
run_all_tap() {
    local file name stage=$OUT/stage tests=()
    for file in "$ROOT"/test/t/*.pl; do
        [ -e "$file" ] || continue
        name=$(basename "$file" .pl)
        if picked "$name"; then tests+=("$name"); fi
    done
    [ ${#tests[@]} -gt 0 ] || { say "no tests in test/t to run"; return; }
    server
    rm -rf "$stage"
    mkdir -p "$stage"
    cp -r "$ROOT/test" "$stage/test"
    [ -z "$(server_user)" ] || chown -R "$(server_user)" "$stage"
    for name in "${tests[@]}"; do
        if (cd "$stage" && as_server env -u PGHOST -u PGPORT -u PGUSER -u PGDATABASE PATH="$PATH" \
            TESTDIR="$stage" TESTDATADIR="$stage/tmp_check" TESTLOGDIR="$stage/tmp_check/log" \
            STRATA_PYTHON="$(python_with_psycopg2)" \
            PG_REGRESS="$PGXS_TEST/regress/pg_regress" STRATA_DATA="$STRATA_DATA" \
            prove -I "$PGXS_TEST/perl" -I "$stage/test/t" --timer "test/t/$name.pl") \
            >"$OUT/tap-$name.log" 2>&1 8>&-; then
            pass "tap $name ($(sed -nE 's/^Files=.*Tests=([0-9]+), +([0-9]+).*/\1 checks, \2 s/p' "$OUT/tap-$name.log"))"
        else
            tail -n 60 "$OUT/tap-$name.log"
            fail "tap $name (log: $OUT/tap-$name.log, servers' logs: $stage/tmp_check/log)"
        fi
    done
}

run_props() {
    server
    if "$(python_with_psycopg2)" "$ROOT/test/props/differential.py" --dsn "$("$ROOT/tools/server" dsn)" \
        ${SEED:+--seed "$SEED"} ${STEPS:+--steps "$STEPS"} ${TABLES:+--tables "$TABLES"} --out "$OUT" 8>&-; then
        pass "props"
    else
        fail "props"
    fi
}

run_concurrent() {
    server
    if "$(python_with_psycopg2)" "$ROOT/test/props/concurrent.py" --dsn "$("$ROOT/tools/server" dsn)" \
        ${SEED:+--seed "$SEED"} --runs "${RUNS:-300}" 8>&-; then
        pass "concurrent"
    else
        fail "concurrent"
    fi
}

run_damage() {
    server
    if "$(python_with_psycopg2)" "$ROOT/test/damage/damage.py" --dsn "$("$ROOT/tools/server" dsn)" \
        ${SEED:+--seed "$SEED"} ${STEPS:+--rounds "$STEPS"} 8>&-; then
        pass "damage"
    else
        fail "damage"
    fi
}

for kind in "$@"; do
    case $kind in
        unit) run_all_unit ;;
        regress) run_all_regress ;;
        isolation) run_all_isolation ;;
        tap) run_all_tap ;;
        props) run_props ;;
        concurrent) run_concurrent ;;
        damage) run_damage ;;
        *) die "no such kind of test: $kind" ;;
    esac
done

[ $((passed + ${#failed[@]})) -gt 0 ] || fail "nothing was run"
if [ ${#failed[@]} -gt 0 ]; then
    printf '\nfailed:\n'
    printf '    %s\n' "${failed[@]}"
fi
printf '%s passed, %s failed\n' "$passed" "${#failed[@]}"
[ ${#failed[@]} = 0 ]
