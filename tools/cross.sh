#!/usr/bin/env bash
# tools/cross.sh
#	  Builds the tests of codecs and pages for other CPUs, by Debian's cross
#	  compilers, and runs them in qemu: the golden files are read, and what is written
#	  is the same, byte for byte, as on this machine.  arm64, and s390x, whose bytes
#	  are the other way round.  As root, in a chroot (.run/cross, 2 GB) that is
#	  made once.
#
#	  tools/cross.sh [arm64 s390x]   or   make test-cross
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$ROOT/tools/chroot.sh"

[ $# -gt 0 ] || set -- arm64 s390x
SUITE=${SUITE:-bookworm}
[ -n "${MIRROR:-}" ] || MIRROR=$(apt_mirror Debian)
BASE=$(run_dir)/cross
chroot_make "$BASE" "$SUITE" "$MIRROR" main
copy_checkout "$CHROOT/strata"

in_root bash -s "$@" <<'IN_ROOT'
set -euo pipefail
PG_MAJOR=15
{
    for arch; do dpkg --add-architecture "$arch"; done
    apt-get update -q
    packages="gcc make libc6-dev liblz4-dev libzstd-dev qemu-user-static postgresql-server-dev-$PG_MAJOR"
    for arch; do packages="$packages crossbuild-essential-$arch liblz4-dev:$arch libzstd-dev:$arch"; done
    apt-get install -q -y --no-install-recommends $packages
    # headers of the server know the CPU; the package itself would bring a foreign compiler
    for arch; do
        [ -d "/headers/$arch/usr" ] || {
            mkdir -p "/headers/$arch"
            (cd "/headers/$arch" && apt-get download -q "postgresql-server-dev-$PG_MAJOR:$arch" && dpkg -x ./*.deb .)
        }
    done
} </dev/null >/cross-install.log 2>&1 || { tail -n 20 /cross-install.log; exit 1; }

# build_here ARCH: a copy of the checkout in which objects are of one CPU
copy_for() {
    mkdir -p "/build/$1/test" "/build/$1/src"
    cp -a /strata/src/. "/build/$1/src"
    cp -a /strata/test/unit /strata/test/golden /strata/test/fuzz "/build/$1/test"
}

copy_for native
make -C /build/native/test/unit -s build/rel/unit build/rel/golden_make
export DIGEST COLUMNS=/build/native/columns
DIGEST=$(cd /build/native/test/unit && build/rel/unit --digest)
rm -rf "$COLUMNS"
mkdir -p "$COLUMNS/v1" "$COLUMNS/reject"
/build/native/test/unit/build/rel/golden_make "$COLUMNS" >/dev/null

status=0 passed=0 failed=0
for arch; do
    case $arch in
        arm64) triplet=aarch64-linux-gnu qemu=qemu-aarch64-static ;;
        *) triplet=$arch-linux-gnu qemu=qemu-$arch-static ;;
    esac
    copy_for "$arch"
    headers=/headers/$arch/usr/include/postgresql
    printf '#!/bin/sh\n[ "$1" = --includedir-server ] && echo %s/%s/server\n' "$headers" "$PG_MAJOR" >/build/pg_config
    chmod +x /build/pg_config
    echo "-- $arch"
    make -C "/build/$arch/test/unit" -s check-cross CC="$triplet-gcc" PG_CONFIG=/build/pg_config \
        RUN="$qemu -L /usr/$triplet" >"/build/$arch.log" 2>&1 || status=1
    grep -vE '^[0-9]+ passed, ' "/build/$arch.log" || true
    passed=$((passed + $(grep -c '^ok ' "/build/$arch.log" || true)))
    failed=$((failed + $(grep -c '^FAIL ' "/build/$arch.log" || true)))
    grep -qE '^[0-9]+ passed, ' "/build/$arch.log" || failed=$((failed + 1))
done
echo "$passed passed, $failed failed"
exit $status
IN_ROOT
