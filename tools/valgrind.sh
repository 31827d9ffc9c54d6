#!/usr/bin/env bash
# tools/valgrind.sh
#	  Regression tests and random statements (test/props) on a server under
#	  valgrind, with Asserts.  Fails when valgrind has something to say of a
#	  backend, whoever's fault it is, or when a test fails.
#
#	  It is 20 to 50 times slower, so T picks short tests that between them reach
#	  every folder of src/; STEPS random statements follow.
#
#	  PG_CONFIG=   of a PostgreSQL made with CPPFLAGS=-DUSE_VALGRIND, by which
#	               valgrind knows of memory contexts; else one is built, once,
#	               under .run/valgrind from PGSRC or Debian's source
#	  PGSRC=/path/to/postgresql-source   for that, and for its valgrind.supp
#	  ORIGINS=yes    also where bytes that were never written come from (slower)
#	  T="name ..."   these tests of test/sql;  SEED=1 STEPS=150   as in test-props
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$ROOT/tools/pgsource.sh"

command -v valgrind >/dev/null || die "valgrind is needed: apt-get install valgrind"
bash "$ROOT/tools/install_deps.sh"
RUN=$(run_dir)/valgrind
PGSRC=${PGSRC:-$(fetch_source)}
SUPPRESSIONS=$PGSRC/src/tools/valgrind.supp
[ -f "$SUPPRESSIONS" ] || die "\"$PGSRC\" is not a PostgreSQL source tree"

knows_valgrind() { "$1" --cppflags 2>/dev/null | grep -q -- '-DUSE_VALGRIND'; }

# -O1 is what valgrind's authors advise: line numbers that are right, and no tricks
# that look like reads of what was never written.  Debian's patches put libraries into
# /usr/lib/postgresql unless the prefix names postgres; as root, the server's user
# installs, who could not write there.
build_postgres() {
    local build=$RUN/build prefix=$RUN/postgres
    [ ! -e "$prefix/complete" ] || return 0
    say "building PostgreSQL for valgrind, once"
    rm -rf "$build" "$prefix"
    mkdir -p "$build" "$prefix"
    [ -z "$(server_user)" ] || chown -R "$(server_user)" "$build" "$prefix"
    quiet "$RUN/build-postgres.log" as_server bash -euc '
        cd "$1"
        unset MAKELEVEL MAKEFLAGS MFLAGS # below make its headers are not made
        "$2/configure" --prefix="$3" --enable-cassert --enable-debug --with-icu --with-lz4 --with-zstd \
            --with-system-tzdata=/usr/share/zoneinfo CPPFLAGS=-DUSE_VALGRIND CFLAGS="-O1 -g -fno-omit-frame-pointer"
        make -s -j"$(nproc)"
        make -s install
        make -s -C contrib install
        make -s -C src/test/isolation install
        touch "$3/complete"' bash "$build" "$PGSRC" "$prefix"
    rm -rf "$build"
}

if ! knows_valgrind "$PG_CONFIG"; then
    build_postgres
    PG_CONFIG=$RUN/postgres/bin/pg_config
    knows_valgrind "$PG_CONFIG" || die "\"$PG_CONFIG\" is of a PostgreSQL without USE_VALGRIND"
fi
export PG_CONFIG STRATA_RUN=$RUN ASSERT=1

# Stands in for the server's program; each process has a log of its own.
LOGS=$RUN/logs
rm -rf "$LOGS"
mkdir -p "$LOGS"
[ -z "$(server_user)" ] || chown -R "$(server_user)" "$LOGS"
postgres=$(dirname "$("$ROOT/tools/server" pg_config)")/postgres
cat >"$RUN/postgres-in-valgrind" <<WRAPPER
#!/bin/sh
exec valgrind --quiet --leak-check=no --gen-suppressions=all --suppressions="$SUPPRESSIONS" --num-callers=25 --time-stamp=yes \\
    --track-origins=${ORIGINS:-no} --error-markers=VALGRIND-BEGIN,VALGRIND-END --log-file="$LOGS/%p.log" "$postgres" "\$@"
WRAPPER
chmod +x "$RUN/postgres-in-valgrind"
export STRATA_POSTGRES=$RUN/postgres-in-valgrind STRATA_WAIT=600

T=${T:-"store_entry store_fill store_merge store_sweep store_load_plan am_cursor am_sample catalog_codec gapfill_basic
        scan_backward scan_executor scan_segment_order agg_step_back time_aggregate
        hypertable_chunks hypertable_move_rows client_orm"}
status=0
T=$(echo $T) ONCE=1 LANES=1 bash "$ROOT/tools/test.sh" regress || status=1
if [ "${STEPS:-150}" -gt 0 ]; then
        LANES=1 T='' SEED=${SEED:-1} STEPS=${STEPS:-150} bash "$ROOT/tools/test.sh" props || status=1
fi

found=$(cat "$LOGS"/*.log | grep -c VALGRIND-BEGIN || true)
if [ "$found" != 0 ]; then
    grep -h -A 12 VALGRIND-BEGIN "$LOGS"/*.log | head -n 200 || true
    say "all of it: $LOGS"
fi
printf '%s processes under valgrind, %s errors found by it\n' "$(find "$LOGS" -name '*.log' | wc -l)" "$found"
[ "$status" = 0 ] && [ "$found" = 0 ]
