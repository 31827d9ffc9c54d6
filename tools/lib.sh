# tools/lib.sh
#	  What every script here shares: where things are, and who runs the server.
#	  Sourced, never run.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
PG_CONFIG=${PG_CONFIG:-pg_config}
DB=strata_dev

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# The server refuses to run as root; then it runs as this user.
# Empty when we are an ordinary user and run it ourselves.
server_user() {
    [ "$(id -u)" = 0 ] || return 0
    local user=${STRATA_USER:-postgres}
    if ! id -u "$user" >/dev/null 2>&1; then
        useradd --system --no-create-home --shell /bin/sh "$user" >&2 ||
            die "could not create the user \"$user\" to run the server as"
    fi
    echo "$user"
}

# as_server COMMAND...: run it as the user the server runs as.
as_server() {
    local user
    user=$(server_user)
    if [ -z "$user" ]; then
        "$@"
    else
        runuser -u "$user" -- "$@"
    fi
}

# Where private servers and test output live: ./.run, or a directory in /tmp
# when the user the server runs as cannot enter this checkout.
run_dir() {
    local dir
    if [ -n "${STRATA_RUN:-}" ]; then
        dir=$STRATA_RUN
    elif (cd / && as_server test -x "$ROOT"); then
        dir=$ROOT/.run
    else
        dir=/tmp/strata-$(id -u)-$(printf '%s' "$ROOT" | cksum | cut -d' ' -f1)
    fi
    mkdir -p "$dir"
    (cd "$dir" && pwd -P)
}

# The dataset folder: beside the checkout, else a small sample made here.
data_dir() {
    local dir=${STRATA_DATA:-$ROOT/../shared/data}
    if [ ! -f "$dir/schema.sql" ]; then
        dir=$(run_dir)/sample
        [ -f "$dir/schema.sql" ] || python3 "$ROOT/tools/gen_sample.py" "$dir"
    fi
    (cd "$dir" && pwd -P)
}

# A python3 that can talk to the server.
python_with_psycopg2() {
    local python
    for python in ${STRATA_PYTHON:-} python3 /usr/bin/python3; do
        if command -v "$python" >/dev/null && "$python" -c 'import psycopg2' 2>/dev/null; then
            command -v "$python"
            return
        fi
    done
    die "no python3 with psycopg2; run tools/install_deps.sh"
}

# quiet LOG COMMAND...: output goes to LOG, and is shown only on failure.
quiet() {
    local log=$1
    shift
    if ! "$@" >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        die "failed: $* (log: $log)"
    fi
}

# A Python that can make virtual environments.
python_with_venv() {
    local python
    for python in ${STRATA_PYTHON:-} python3 /usr/bin/python3; do
        if command -v "$python" >/dev/null &&
            "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            command -v "$python"
            return
        fi
    done
    die "no python3 of 3.10 or newer that has venv and ensurepip; run tools/install_deps.sh (package python3-venv), or name one in STRATA_PYTHON"
}

# python_venv NAME PACKAGE==VERSION...: a virtual environment under .run with these
# packages of PyPI, made once; its path.  No root is needed.
python_venv() {
    local name=$1 venv python
    shift
    venv=$(run_dir)/venv-$name
    exec 9>"$venv.lock"
    flock 9
    if [ "$(cat "$venv/packages" 2>/dev/null)" != "$*" ]; then
        python=$(python_with_venv)
        rm -rf "$venv"
        say "installing $* into $venv"
        { "$python" -m venv "$venv" && "$venv/bin/python" -m pip install -q --only-binary :all: "$@"; } >"$venv.log" 2>&1 || {
            tail -n 20 "$venv.log" >&2
            die "cannot be installed: $* (log: $venv.log). PyPI is asked, or what pip's settings name instead (PIP_INDEX_URL, PIP_FIND_LINKS); STRATA_PYTHON names another Python"
        }
        echo "$*" >"$venv/packages"
    fi
    exec 9>&-
    echo "$venv"
}
