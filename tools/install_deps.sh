#!/usr/bin/env bash
# tools/install_deps.sh
#	  Installs what building and testing need and is not there yet (Debian,
#	  Ubuntu): the only place that lists packages.  As root it calls apt-get, as
#	  another user sudo; where neither is possible it says what to install and
#	  fails.  PG_MAJOR picks the server version: by default that of pg_config, or
#	  the distribution's; with PG_CONFIG naming another server, no server package
#	  is asked for.  LINT=1: also what make lint needs.
set -euo pipefail

# As root, or by sudo where it need not ask or can: told apart before stdin is none.
sudo=none
if [ "$(id -u)" = 0 ]; then
    sudo=
elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    sudo=sudo
fi
as_root() {
    if [ "$sudo" = none ]; then
        echo "error: packages are missing and this user cannot install them; as root run" >&2
        echo "    apt-get install --no-install-recommends${missing:- postgresql}" >&2
        exit 1
    fi
    $sudo "$@"
}

# The server that is here, or that the distribution has.
default_major() {
    local metapackage='s/^ *Depends: postgresql-([0-9]+)$/\1/p' major
    major=$(pg_config --version 2>/dev/null | sed -nE 's/^PostgreSQL ([0-9]+).*/\1/p')
    [ -n "$major" ] || major=$(apt-cache depends postgresql 2>/dev/null | sed -nE "$metapackage")
    [ -n "$major" ] || { as_root apt-get update -q </dev/null >&2; major=$(apt-cache depends postgresql | sed -nE "$metapackage"); }
    [ -n "$major" ] || { echo "error: no PostgreSQL in the distribution; set PG_MAJOR" >&2; exit 1; }
    echo "$major"
}

if [ -z "${PG_MAJOR:-}" ]; then
    if command -v apt-get >/dev/null; then PG_MAJOR=$(default_major); else PG_MAJOR=15; fi
fi
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

echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
{
    as_root apt-get update -q
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
        --no-install-recommends $missing
} </dev/null >&2

for package in $missing; do
    installed "$package" || { echo "error: package $package is still missing" >&2; exit 1; }
done
