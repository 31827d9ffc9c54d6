#!/usr/bin/env bash
# tools/docs.sh
#	  Builds the documents as a site, with a search, into .run/site: mkdocs with the
#	  theme Material, from PyPI, in the versions named here, in a virtual environment
#	  under .run.  A link or an anchor that leads nowhere is an error.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PACKAGES=(mkdocs==1.6.1 mkdocs-material==9.6.14)
venv=$(python_venv docs "${PACKAGES[@]}")
cd "$ROOT"
"$venv/bin/mkdocs" build --strict --quiet
say "open .run/site/index.html"
