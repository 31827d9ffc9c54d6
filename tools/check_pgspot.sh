#!/usr/bin/env bash
# tools/check_pgspot.sh
#	  Runs pgspot, a linter of extension scripts, over ours (docs/adr/018): see
#	  check_pgspot.py.  It comes from PyPI, with the parser it is used with.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

venv=$(python_venv pgspot pgspot==0.9.4 pglast==7.21)
exec "$venv/bin/python" "$ROOT/tools/check_pgspot.py"
