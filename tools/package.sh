#!/usr/bin/env bash
# tools/package.sh
#	  Builds the Debian packages for the PostgreSQL that a suite has, on a bare
#	  system of it; holds lintian against them; and has autopkgtest install them on
#	  another bare system and try them (debian/tests).  Then runs the Dockerfile's
#	  steps there, and starts what came of them.  As root, in chroots under
#	  .run/package, made once.  Packages are left in .run/package/SUITE/built.
#
#	  tools/package.sh [bookworm trixie]   or   make test-packages SUITES=
#	  STEPS="build test docker"            these of them
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$ROOT/tools/chroot.sh"

[ $# -gt 0 ] || set -- bookworm trixie
STEPS=${STEPS:-build test docker}
VERSION=$(sed -n 's/^EXTVERSION = //p' "$ROOT/Makefile")
passed=0 failed=0
pass() { passed=$((passed + 1)); echo "ok    $*"; }
fail() { failed=$((failed + 1)); echo "FAIL  $*"; }

# A new root $2 for suite $1, from a bare one that is kept; CHROOT is it.
new_root() {
    chroot_make "$BASE/bare" "$1" "${MIRROR:-$(apt_mirror Debian)}" main
    rm -f "$CHROOT/etc/postgresql-common/createcluster.conf" "$CHROOT/etc/dpkg/dpkg.cfg.d/strata"
    rm -rf --one-file-system "${2:?}"
    cp -a "$CHROOT" "$2"
    CHROOT=$2
}

# step NAME COMMAND...: its output in a log; what it says is shown when it fails.
step() {
    local name=$1
    shift
    if "$@" >"$BASE/$name.log" 2>&1 </dev/null; then
        pass "$suite $name"
    else
        tail -n 40 "$BASE/$name.log"
        fail "$suite $name (log: $BASE/$name.log)"
        return 1
    fi
}

# The packages are built as an ordinary user, as build machines do.
build() {
    new_root "$suite" "$BASE/build-root"
    mkdir -p "$CHROOT/build"
    git -C "$ROOT" archive --prefix="pg-strata-$VERSION/" --format=tar.gz \
        -o "$CHROOT/build/pg-strata_$VERSION.orig.tar.gz" HEAD
    tar -C "$CHROOT/build" -xf "$CHROOT/build/pg-strata_$VERSION.orig.tar.gz"
    step install in_root sh -ec 'apt-get update -q
        apt-get install -q -y --no-install-recommends build-essential devscripts lintian debhelper fakeroot \
            postgresql-server-dev-all postgresql-all liblz4-dev libzstd-dev
        useradd -m builder; chown -R builder /build' || return
    step build in_root runuser -u builder -- sh -ec "cd /build/pg-strata-$VERSION && pg_buildext updatecontrol && dpkg-buildpackage -us -uc -j2" || return
    step lintian in_root runuser -u builder -- sh -ec 'cd /build && lintian --version && lintian --fail-on error --pedantic ./*.changes' || true
    rm -rf "$BASE/built"
    mkdir -p "$BASE/built"
    find "$CHROOT/build" -maxdepth 1 -type f -exec cp -t "$BASE/built" {} +
    rm -rf --one-file-system "$CHROOT"
}

# No package of PostgreSQL is there before: autopkgtest brings what the packages depend on.
try() {
    ls "$BASE"/built/*.deb >/dev/null || { fail "$suite: no packages are built"; return; }
    new_root "$suite" "$BASE/test-root"
    mkdir -p "$CHROOT/built"
    cp "$BASE"/built/* "$CHROOT/built/"
    step autopkgtest-install in_root sh -ec 'apt-get update -q; apt-get install -q -y --no-install-recommends autopkgtest' || return
    step autopkgtest in_root sh -ec 'cd /built && autopkgtest --no-built-binaries ./*.deb ./*.dsc -- null' || true
    grep -aE '^(installed|ok |FAIL|===)' "$BASE/autopkgtest.log" || true
    rm -rf --one-file-system "$CHROOT"
}

# What the official image has that the Dockerfile counts on, of Debian's packages.
image() {
    new_root "$suite" "$STAGES/$1"
    in_root sh -ec "apt-get update -q; apt-get install -q -y --no-install-recommends postgresql-common
        sed -ri 's/#?(create_main_cluster) .*/\1 = false/' /etc/postgresql-common/createcluster.conf
        apt-get install -q -y --no-install-recommends postgresql-${2#postgres:}
        mv /usr/share/postgresql/${2#postgres:}/postgresql.conf.sample /usr/share/postgresql/
        ln -s ../postgresql.conf.sample /usr/share/postgresql/${2#postgres:}/
        mkdir /docker-entrypoint-initdb.d" </dev/null
}
in_stage() { CHROOT=$STAGES/$1 in_root sh -ec "$2" </dev/null; }

docker_steps() {
    local major steps
    case $suite in bookworm) major=15 ;; trixie) major=17 ;; *) major=18 ;; esac
    STAGES=$BASE/stages CONTEXT=$BASE/context
    rm -rf --one-file-system "$STAGES" "$CONTEXT"
    mkdir -p "$STAGES" "$CONTEXT"
    git -C "$ROOT" archive HEAD | tar -C "$CONTEXT" -xf -
    steps=$(python3 "$ROOT/tools/dockerfile.py" "$ROOT/Dockerfile" PG_MAJOR=$major) || return
    eval "$steps"
    # as the image's entry point: a cluster, what is in the directory for it, and a server
    cat >"$STAGES/final/try" <<TRY
set -euo pipefail
PATH=/usr/lib/postgresql/$major/bin:\$PATH
cd /tmp
initdb -D /tmp/data -A trust >/dev/null
pg_ctl -D /tmp/data -o "-k /tmp -c listen_addresses=" -w -l /tmp/log start >/dev/null
export PGHOST=/tmp
for file in /docker-entrypoint-initdb.d/*.sql; do psql -X -v ON_ERROR_STOP=1 -f "\$file"; done
psql -X -v ON_ERROR_STOP=1 -Atc "CREATE TABLE t (a int, b int) USING strata" -c "INSERT INTO t SELECT i, i FROM generate_series(1, 10000) i" \
    -c "SELECT compress_chunk('t')" -c "SELECT count(*), sum(b), (SELECT count(*) FROM strata.verify('t')) FROM t" | tee /tmp/answer
pg_ctl -D /tmp/data -w stop >/dev/null
grep -qx '10000|50005000|0' /tmp/answer
TRY
    CHROOT=$STAGES/final in_root runuser -u postgres -- bash /try
}

for suite; do
    BASE=$(run_dir)/package/$suite
    mkdir -p "$BASE"
    for part in $STEPS; do
        case $part in
            build) build || true ;;
            test) try || true ;;
            docker)
                step docker docker_steps || true
                rm -rf --one-file-system "$BASE/stages" "$BASE/context"
                ;;
            *) die "no such step: $part" ;;
        esac
    done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
