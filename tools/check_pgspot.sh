#!/usr/bin/env bash
# tools/check_pgspot.sh
#	  Runs pgspot, a linter of extension scripts, over ours (docs/adr/018): see
#	  check_pgspot.py.  It comes from PyPI, in the versions named here, into a
#	  virtual environment under .run that is made once; no root is needed.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PGSPOT=0.9.4
PGLAST=7.21    # the parser it is used with

venv=$(run_dir)/pgspot-$PGSPOT-$PGLAST

ready() { "$venv/bin/python" -c 'import pgspot, pglast' 2>/dev/null; }

# A Python that can make the environment.
python_with_venv() {
    local python
    for python in ${STRATA_PYTHON:-} python3 /usr/bin/python3; do
        if command -v "$python" >/dev/null &&
            "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            command -v "$python"
            return
        fi
    done
    die "pgspot cannot be installed: no python3 of 3.10 or newer that has venv and ensurepip; run tools/install_deps.sh (package python3-venv), or name one in STRATA_PYTHON"
}

make_venv() {
    local python
    python=$(python_with_venv) || exit 1
    rm -rf "$venv"
    say "installing pgspot $PGSPOT into $venv"
    "$python" -m venv "$venv" >"$venv.log" 2>&1 &&
        "$venv/bin/python" -m pip install -q --no-deps --only-binary :all: \
            "pgspot==$PGSPOT" "pglast==$PGLAST" >>"$venv.log" 2>&1 &&
        ready && return
    tail -n 20 "$venv.log" >&2
    die "pgspot $PGSPOT cannot be installed (log: $venv.log): it takes PyPI, or what pip's settings name instead (PIP_INDEX_URL, PIP_FIND_LINKS), and a wheel of pglast $PGLAST for $("$python" -V); STRATA_PYTHON names another Python. Then make lint again"
}

if ! ready; then
    exec 9>"$venv.lock"
    flock 9
    ready || make_venv
    exec 9>&-
fi
exec "$venv/bin/python" "$ROOT/tools/check_pgspot.py"
