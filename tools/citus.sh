#!/usr/bin/env bash
# tools/citus.sh
#	  Runs test/citus/citus.pl: strata tables distributed by Citus, one
#	  coordinator and two workers.  Ends with "N passed, N failed".
#
#	  CITUS_SRC=/path/to/citus   an unpacked release of Citus; it is copied, built
#	  and installed under .run/, for the server under test (PG_CONFIG), with what
#	  CITUS_CONFIGURE gives its configure (--without-libcurl, say).  Nothing
#	  is fetched, and nothing outside this checkout changes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -n "${CITUS_SRC:-}" ] || die "CITUS_SRC=/path/to/citus is missing: the directory of an unpacked release"
[ -x "$CITUS_SRC/configure" ] || die "\"$CITUS_SRC\" has no configure"
CITUS_SRC=$(cd "$CITUS_SRC" && pwd -P)
RUN=$(run_dir)
bash "$ROOT/tools/install_deps.sh"
"$ROOT/tools/server" install
CONFIG=$("$ROOT/tools/server" pg_config)

BUILT=$("$CONFIG" --version; echo "$CITUS_SRC")
if [ "$BUILT" != "$(cat "$RUN/citus.of" 2>/dev/null)" ] || ! [ -e "$("$CONFIG" --sharedir)/extension/citus.control" ]; then
    rm -rf "$RUN/citus"
    cp -a "$CITUS_SRC" "$RUN/citus"
    build() (cd "$RUN/citus" && ./configure ${CITUS_CONFIGURE:-} PG_CONFIG="$CONFIG" && make -j"$(nproc)" && make install)
    quiet "$RUN/citus-build.log" build
    echo "$BUILT" >"$RUN/citus.of"
fi

STAGE=$RUN/citus-test
LOG=$RUN/citus-test.log
PGXS_TEST=$(dirname "$("$CONFIG" --pgxs)")/../test
rm -rf "$STAGE"
mkdir -p "$STAGE"
cp -r "$ROOT/test" "$STAGE/test"
[ -z "$(server_user)" ] || chown -R "$(server_user)" "$STAGE"
if (cd "$STAGE" && as_server env -u PGHOST -u PGPORT -u PGUSER -u PGDATABASE PATH="$(dirname "$CONFIG"):$PATH" \
    TESTDIR="$STAGE" TESTDATADIR="$STAGE/tmp_check" TESTLOGDIR="$STAGE/tmp_check/log" \
    PG_REGRESS="$PGXS_TEST/regress/pg_regress" \
    prove -I "$PGXS_TEST/perl" -I "$STAGE/test/t" test/citus/citus.pl) >"$LOG" 2>&1; then
    sed -nE 's/^Files=.*Tests=([0-9]+),.*/citus: \1 checks/p' "$LOG"
    echo "1 passed, 0 failed"
else
    tail -n 60 "$LOG" >&2
    echo "0 passed, 1 failed"
    exit 1
fi
