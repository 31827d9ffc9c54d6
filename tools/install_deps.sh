#!/usr/bin/env bash
# tools/install_deps.sh
#	  Installs what building and testing need and is not there yet (Debian,
#	  Ubuntu): the only place that lists packages.  As root it calls apt-get, as
#	  another user sudo; where neither is possible it says what to install and
#	  fails.  PG_MAJOR picks the server version (default 15); with PG_CONFIG
#	  naming another server, no server package is asked for.  LINT=1: also what
#	  make lint needs.
set -euo pipefail

PG_MAJOR=${PG_MAJOR:-15}
PACKAGES="gcc make libc6-dev binutils perl liblz4-dev libzstd-dev zstd
	python3 python3-venv python3-psycopg2 libipc-run-perl util-linux diffutils"
[ -z "${LINT:-}" ] || PACKAGES="$PACKAGES pg-bsd-indent"
SERVER_PACKAGES="postgresql-$PG_MAJOR postgresql-server-dev-$PG_MAJOR"

case ${PG_CONFIG:-pg_config} in
    pg_config) PACKAGES="$PACKAGES $SERVER_PACKAGES" ;;
    *) "$PG_CONFIG" --version >/dev/null ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    missing=
    for command in gcc make perl prove zstd python3 "${PG_CONFIG:-pg_config}"; do
        command -v "$command" >/dev/null || missing="$missing $command"
    done
    [ -z "$missing" ] && exit 0
    echo "error: not found:$missing" >&2
    echo "install what stands for these Debian packages:" $PACKAGES >&2
    exit 1
fi

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=
for package in $PACKAGES; do
    installed "$package" || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
        sudo=sudo
    else
        echo "error: packages are missing and this user cannot install them; as root run" >&2
        echo "    apt-get install --no-install-recommends$missing" >&2
        exit 1
    fi
fi

echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
{
    $sudo apt-get update -q
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
        --no-install-recommends $missing
} </dev/null >&2

for package in $missing; do
    installed "$package" || { echo "error: package $package is still missing" >&2; exit 1; }
done
