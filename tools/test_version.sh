#!/usr/bin/env bash
# tools/test_version.sh
#	  Builds and tests this checkout against another major version of PostgreSQL:
#	  tools/test_version.sh 17, or make test-version V=17.  In a chroot of the
#	  distribution that has it (as root, on Debian or Ubuntu); or, where PG_CONFIG is
#	  one of that version, on this machine; so is 16, put together of packages
#	  (tools/postgres16.sh), where this machine's apt knows no Ubuntu.
#
#	  The chroot stands under .run/version/ (1.5 GB) and is made once; the
#	  checkout, with what is not committed, is copied into it each time (or beside
#	  it), so its objects and those made here do not mix.
#
#	  TARGETS="all test"   what make is to do there
#	  T=, SEED=, STEPS=, TORTURE=, ASSERT= ...   go to make, as without a chroot
#	  PGSRC=               PostgreSQL's source, for its own suites: copied into the chroot
#	  SUITE=, MIRROR=      another distribution than the table below has, another archive
#	  NO_CHECK=1           do not check the signature of Ubuntu's archive (16)
#	  SHELL_IN=1           a shell in the chroot instead
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$ROOT/tools/chroot.sh"

MAJOR=${1:-}
distribution=Debian components=main
case $MAJOR in
    15) suite=bookworm ;;
    16) suite=noble distribution=Ubuntu components=main,universe ;;
    17) suite=trixie ;;
    18) suite=forky ;;
    *) die "usage: tools/test_version.sh 15|16|17|18 (or make test-version V=17)" ;;
esac
SUITE=${SUITE:-$suite}

# The run directory may be entered by the server's user, whatever stands above it.
BASE=$(run_dir)/version/$MAJOR
options=()
for name in T SEED RUNS STEPS MINUTES TABLES TORTURE ASSERT SETTINGS SHOW ONCE LANES SECONDS_EACH STRATA_OLD_INSTALL; do
    [ -z "${!name:-}" ] || options+=("$name=${!name}")
done

# On this machine: a copy, whose own run directory is in it.
here=$(local_pg_config "$MAJOR")
if [ -n "$here" ]; then
    PG_CONFIG=$here
    mkdir -p "$BASE"
    exec 7>"$BASE/lock"
    flock -n 7 || die "another run of version $MAJOR is under way in \"$BASE\""
    copy_checkout "$BASE/here"
    exec env "${options[@]}" ${PGSRC:+PGSRC="$PGSRC"} STRATA_DATA="$(data_dir)" \
        make -C "$BASE/here" -s WERROR=1 PG_CONFIG="$PG_CONFIG" ${TARGETS:-all test} </dev/null
fi

[ -n "${MIRROR:-}" ] || MIRROR=$(apt_mirror $distribution)
chroot_make "$BASE" "$SUITE" "$MIRROR" "$components"
CHROOT_ENV=(PG_MAJOR="$MAJOR" "${options[@]}")
copy_checkout "$CHROOT/strata"
if [ -n "${PGSRC:-}" ]; then
    rm -rf "$CHROOT/pgsrc"
    cp -a "$PGSRC" "$CHROOT/pgsrc"
    CHROOT_ENV+=(PGSRC=/pgsrc)
fi
in_root bash /strata/tools/install_deps.sh </dev/null
in_root apt-get clean
[ -z "${SHELL_IN:-}" ] || { in_root bash; exit; }

in_root make -C /strata -s WERROR=1 PG_CONFIG="/usr/lib/postgresql/$MAJOR/bin/pg_config" ${TARGETS:-all test} </dev/null
