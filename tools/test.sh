#!/usr/bin/env bash
# tools/test.sh
#	  Runs the kinds of tests named as arguments (unit regress isolation tap
#	  props concurrent damage model) on private servers and ends with the line "N passed, N failed".
#
#	  T="name name" picks tests by name ("unit" and "model" are names, too).  The SQL tests run three times (once with ONCE=1): as they
#	  are, with every strata.enable_* switch off (except *_plan.sql, which show what the switches
#	  change), and as a role that is no superuser and owns the database (except those that say
#	  "-- needs superuser: why"), against the same expected output.  Isolation specs run with
#	  the switches on and off, and those with the line "# Same on heap." once more on heap tables.
#
#	  The work is done in LANES (2) lanes at a time, each with a server of its own, which take what
#	  is next from one queue.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -gt 0 ] || die "usage: tools/test.sh unit|regress|isolation|tap|props|concurrent|damage|model ..."
RUN=$(run_dir)
OUT=$RUN/test
LANES=${LANES:-2}

bash "$ROOT/tools/install_deps.sh"
mkdir -p "$OUT"
STRATA_DATA=$(data_dir)
export STRATA_DATA
# One run at a time in one checkout: they would share the servers.
exec 8>"$RUN/test.lock"
flock -n 8 || { say "waiting for another test run to end"; flock 8; }

# What is printed comes from several lanes: a line, or a block of lines, at a time.
print_whole() { (flock 6; cat) 6>"$OUT/print.lock"; }
result() { printf '%s\n' "$*" | tee -a "$OUT/results" | print_whole; }
pass() { result "ok    $*"; }
fail() { result "FAIL  $*"; }
tell() { say "$@" 2>&1 | print_whole; }
picked() { [ -z "${T:-}" ] || [[ " $T " == *" $1 "* ]]; }

lane_cluster() { [ "$1" = 1 ] && echo test || echo "test$1"; }

# Start the servers of all lanes, one after the other: each start installs anew.
servers_up=0
servers() {
    local lane
    for ((lane = 1; lane <= LANES; lane++)); do
        export STRATA_CLUSTER
        STRATA_CLUSTER=$(lane_cluster "$lane")
        "$ROOT/tools/server" wipe 8>&-
        servers_up=$lane
        "$ROOT/tools/server" start 8>&- 2>/dev/null || { "$ROOT/tools/server" log 30; die "a test server did not start"; }
    done
    PGXS_TEST=$(dirname "$("$("$ROOT/tools/server" pg_config)" --pgxs)")/../test
    # a server from elsewhere may come without the modules of its version
    TAP_MODULES=$PGXS_TEST/perl
    [ -d "$TAP_MODULES/PostgreSQL" ] ||
        TAP_MODULES=$(find /usr/lib/postgresql/*/lib/pgxs/src/test -maxdepth 1 -name perl 2>/dev/null | sort -V | tail -n 1)
}
lanes=()
servers_down() {
    local lane
    [ ${#lanes[@]} = 0 ] || kill "${lanes[@]}" 2>/dev/null || true
    for ((lane = 1; lane <= servers_up; lane++)); do
        STRATA_CLUSTER=$(lane_cluster "$lane") "$ROOT/tools/server" stop immediate
    done
}
trap servers_down EXIT

# A lane does what is next in the queue, until that is empty.
queue=()
add() { queue+=("$*"); }
next() {
    (
        flock 5
        read -r n <"$OUT/next"
        echo $((n + 1)) >"$OUT/next"
        echo "$n"
    ) 5>"$OUT/next.lock"
}
lane() {
    local n
    export STRATA_CLUSTER
    STRATA_CLUSTER=$(lane_cluster "$1")
    if [ "$servers_up" != 0 ]; then
        eval "$("$ROOT/tools/server" env)"
        unset PGDATABASE
    fi
    while n=$(next) && [ "$n" -lt ${#queue[@]} ]; do
        ${queue[n]}
    done
}

# Reads "name<TAB>ok|FAILED" lines out of what pg_regress printed; the format
# changed in PostgreSQL 16.
regress_results() {
    sed -nE -e 's/^(test|    ) +([A-Za-z0-9_-]+) +\.\.\. +(ok|FAILED|failed).*/\2\t\3/p' \
        -e 's/^ok [0-9]+ +[-+] ([A-Za-z0-9_-]+) .*/\1\tok/p' \
        -e 's/^not ok [0-9]+ +[-+] ([A-Za-z0-9_-]+) .*/\1\tFAILED/p' "$1"
}

# run_regress LABEL PROGRAM TEST...: one pass of pg_regress or its isolation twin.
# STAGE names a folder of tests and expected files that stand in for those of test/,
# ORDINARY a database that is there, and the role of that name that owns it.
run_regress() {
    local label=$1 program=$2 dir=$OUT/$1 name result status=0 seen=0
    local as=(--user="$PGUSER" --dbname="strata_${label%%-*}" --load-extension=strata)
    shift 2
    rm -rf "$dir"
    mkdir -p "$dir"
    [ -z "${STAGE:-}" ] || cp -r "$STAGE/." "$dir"
    [ -z "${ORDINARY:-}" ] || as=(--user="$ORDINARY" --dbname="$ORDINARY" --use-existing)
    "$program" --inputdir="$ROOT/test" --outputdir="$dir" --bindir="$(dirname "$(command -v psql)")" \
        --host="$PGHOST" --port="$PGPORT" "${as[@]}" "$@" >"$dir/run.log" 2>&1 8>&- || status=$?
    while IFS=$'\t' read -r name result; do
        seen=$((seen + 1))
        if [ "$result" = ok ]; then pass "$label $name"; else fail "$label $name"; fi
    done < <(regress_results "$dir/run.log")
    if [ "$seen" != $# ]; then
        fail "$label: $# tests to run, $seen reported"
        tail -n 20 "$dir/run.log" | print_whole
    fi
    if [ "$status" != 0 ] && [ -s "$dir/regression.diffs" ]; then
        { head -n 300 "$dir/regression.diffs"; say "all differences: $dir/regression.diffs"; } 2>&1 | print_whole
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

# Why a test cannot run as a role that is no superuser; tools/check_tests.py knows the line, too.
superuser_reason() { sed -nE '1,5s/^-- needs superuser: +(.*)/\1/p' "$ROOT/test/sql/$1.sql"; }

regress_pass() {
    local how=$1 program=$PGXS_TEST/regress/pg_regress tests all name left=()
    mapfile -t all < <(list_tests sql sql)
    case $how in
        plain) run_regress regress "$program" "${all[@]}" ;;
        switched-off)
            mapfile -t tests < <(printf '%s\n' "${all[@]}" | grep -v '_plan$')
            [ ${#tests[@]} -gt 0 ] || return 0
            PGOPTIONS=$(switches_off) run_regress regress-switched-off "$program" "${tests[@]}"
            ;;
        ordinary)
            tests=()
            for name in "${all[@]}"; do
                if [ -n "$(superuser_reason "$name")" ]; then left+=("$name"); else tests+=("$name"); fi
            done
            if [ ${#left[@]} -gt 0 ]; then
                for name in "${left[@]}"; do
                    say "regress-ordinary leaves out $name: $(superuser_reason "$name")"
                done 2>&1 | print_whole
            fi
            [ ${#tests[@]} -gt 0 ] || return 0
            psql -X -d postgres -q -v ON_ERROR_STOP=1 -f "$ROOT/tools/ordinary.sql" >"$OUT/ordinary.log" 2>&1 ||
                { print_whole <"$OUT/ordinary.log"; fail "regress-ordinary: no database"; return 0; }
            ORDINARY=strata_ordinary run_regress regress-ordinary "$program" "${tests[@]}"
            ;;
    esac
}

add_regress() {
    [ -n "$(list_tests sql sql)" ] || { say "no tests in test/sql to run"; return; }
    add regress_pass plain
    [ -z "${ONCE:-}" ] || return 0
    add regress_pass switched-off
    add regress_pass ordinary
}

# The heap twin of a spec, or of its expected file: heap tables, and whatever compresses
# or decompresses takes the lock that it takes, and does nothing.
heap_twin() {
    sed -E -e 's/USING strata/USING heap/' -e 's/ALTER TABLE [a-z0-9_]+ SET \(strata\.[^)]*\); ?//' \
        -e "s/(de)?compress_chunk\('([a-z0-9_]+)'[^)]*\)/strata_twin('\2') AS \1compress_chunk/g" \
        -e "s/SELECT \* FROM strata\.verify\('[a-z0-9_]+'\)/SELECT 0 AS batch, '' AS column_name, '' AS problem WHERE false/" \
        "$1"
}
twin_setup='setup { CREATE OR REPLACE FUNCTION strata_twin(rel regclass) RETURNS regclass LANGUAGE plpgsql AS $$
    BEGIN EXECUTE format($f$LOCK TABLE %s IN EXCLUSIVE MODE$f$, rel); RETURN rel; END $$; }'

isolation_pass() {
    local how=$1 program=$PGXS_TEST/isolation/pg_isolation_regress tests name same=() stage=$OUT/heap-twins
    mapfile -t tests < <(list_tests specs spec)
    case $how in
        plain) run_regress isolation "$program" "${tests[@]}" ;;
        switched-off) PGOPTIONS=$(switches_off) run_regress isolation-switched-off "$program" "${tests[@]}" ;;
        heap)
            rm -rf "$stage"
            mkdir -p "$stage/specs" "$stage/expected"
            for name in "${tests[@]}"; do
                grep -qx '# Same on heap\.' "$ROOT/test/specs/$name.spec" || continue
                same+=("$name")
                { echo "$twin_setup"; heap_twin "$ROOT/test/specs/$name.spec"; } >"$stage/specs/$name.spec"
                heap_twin "$ROOT/test/expected/$name.out" >"$stage/expected/$name.out"
            done
            [ ${#same[@]} -gt 0 ] || return 0
            STAGE=$stage run_regress isolation-heap "$program" "${same[@]}"
            ;;
    esac
}

add_isolation() {
    local how
    [ -n "$(list_tests specs spec)" ] || { say "no tests in test/specs to run"; return; }
    for how in plain switched-off heap; do add isolation_pass "$how"; done
}

run_unit() {
    local log=$OUT/unit.log status=0 count
    make -C "$ROOT/test/unit" check >"$log" 2>&1 8>&- || status=$?
    count=$(grep -cE '^ok\b' "$log" || true)
    if [ "$status" = 0 ]; then
        [ "$count" -gt 0 ] || count=1
        pass "unit ($count)"
        count=$((count - 1))
    else
        tail -n 60 "$log" | print_whole
        fail "unit (log: $log)"
    fi
    for ((; count > 0; count--)); do echo "ok    unit"; done >>"$OUT/results"
}

# The TAP tests make clusters of their own, so they run as the user who may;
# a copy of test/ stands where that user can read it.
add_tap() {
    local file name stage=$OUT/stage tests=()
    for file in "$ROOT"/test/t/*.pl; do
        [ -e "$file" ] || continue
        name=$(basename "$file" .pl)
        if picked "$name"; then tests+=("$name"); fi
    done
    [ ${#tests[@]} -gt 0 ] || { say "no tests in test/t to run"; return; }
    rm -rf "$stage"
    mkdir -p "$stage"
    cp -r "$ROOT/test" "$ROOT/monitoring" "$ROOT/docs" "$ROOT/tools" "$ROOT/README.md" "$stage"
    [ -z "$(server_user)" ] || chown -R "$(server_user)" "$stage"
    for name in "${tests[@]}"; do add run_tap "$name"; done
}

run_tap() {
    local name=$1 stage=$OUT/stage log=$OUT/tap-$1.log
    if (cd "$stage" && as_server env -u PGHOST -u PGPORT -u PGUSER -u PGDATABASE PATH="$PATH" \
        TESTDIR="$stage" TESTDATADIR="$stage/tmp_check" TESTLOGDIR="$stage/tmp_check/log" \
        STRATA_PYTHON="$(python_with_psycopg2)" \
        PG_REGRESS="$PGXS_TEST/regress/pg_regress" STRATA_DATA="$STRATA_DATA" \
        prove -I "$TAP_MODULES" -I "$stage/test/t" --timer "test/t/$name.pl") \
        >"$log" 2>&1 8>&-; then
        pass "tap $name ($(sed -nE 's/^Files=.*Tests=([0-9]+), +([0-9]+).*/\1 checks, \2 s/p' "$log"))"
    else
        tail -n 60 "$log" | print_whole
        fail "tap $name (log: $log, servers' logs: $stage/tmp_check/log)"
    fi
}

run_props() {
    if "$(python_with_psycopg2)" "$ROOT/test/props/differential.py" --dsn "$("$ROOT/tools/server" dsn)" \
        ${AM:+--am "$AM"} ${SEED:+--seed "$SEED"} ${STEPS:+--steps "$STEPS"} ${TABLES:+--tables "$TABLES"} --out "$OUT" 8>&-; then
        pass "props"
    else
        fail "props"
    fi
}

run_concurrent() {
    if "$(python_with_psycopg2)" "$ROOT/test/props/concurrent.py" --dsn "$("$ROOT/tools/server" dsn)" \
        ${SEED:+--seed "$SEED"} --runs "${RUNS:-300}" 8>&-; then
        pass "concurrent"
    else
        fail "concurrent"
    fi
}

run_damage() {
    if "$(python_with_psycopg2)" "$ROOT/test/damage/damage.py" --dsn "$("$ROOT/tools/server" dsn)" \
        ${SEED:+--seed "$SEED"} ${STEPS:+--rounds "$STEPS"} 8>&-; then
        pass "damage"
    else
        fail "damage"
    fi
}

run_model() {
    local model
    for model in track rollup convert; do
        if "$(python_with_psycopg2)" "$ROOT/test/props/${model}_model.py" --dsn "$("$ROOT/tools/server" dsn)" \
            ${SEED:+--seed "$SEED"} --seconds "${SECONDS_EACH:-30}" 8>&-; then
            pass "$model model"
        else
            fail "$model model"
        fi
    done
}

for kind in "$@"; do
    case $kind in
        regress | isolation | tap) "add_$kind" ;;
        unit | model)    # beside other kinds, T picks these by their own name
            if [ $# = 1 ] || picked "$kind"; then add "run_$kind"; fi
            ;;
        props | concurrent | damage) add "run_$kind" ;;
        *) die "no such kind of test: $kind" ;;
    esac
done

: >"$OUT/results"
echo 0 >"$OUT/next"
[ ${#queue[@]} -ge "$LANES" ] || LANES=${#queue[@]}
# Beside statements whose output is expected no job and no autovacuum starts by itself,
# no worker makes chunks ahead, and
# compress_chunk() does not say how many bytes there are now: machines differ.
case " $* " in *" regress "* | *" isolation "*) export STRATA_CONF="strata.max_job_workers = 0
strata.chunks_ahead = 0
strata.report_compression = off
strata.index_pages = 0
autovacuum = off
${STRATA_CONF:-}" ;; esac
[ "$*" = unit ] || [ ${#queue[@]} = 0 ] || servers
for ((n = 1; n <= LANES; n++)); do
    lane "$n" &
    lanes+=($!)
done
for n in "${lanes[@]}"; do
    wait "$n" || fail "a lane of tests ended early"
done
lanes=()

[ -s "$OUT/results" ] || fail "nothing was run"
passed=$(grep -c '^ok ' "$OUT/results" || true)
failed=$(grep -c '^FAIL ' "$OUT/results" || true)
if [ "$failed" != 0 ]; then
    printf '\nfailed:\n'
    sed -n 's/^FAIL  /    /p' "$OUT/results"
fi
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
