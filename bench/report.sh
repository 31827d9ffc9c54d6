#!/usr/bin/env bash
# bench/report.sh
#	  Draws sizes and times: .run/report.html, a page of its own (bench/report.py).
#	  PICTURES=1 draws README.md's two pictures anew instead; RESULTS= names a run.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

venv=$(python_venv report matplotlib==3.10.3)
if [ -n "${PICTURES:-}" ]; then
    "$venv/bin/python" "$ROOT/bench/report.py" ${RESULTS:+"$RESULTS"} --pictures "$ROOT/docs/pictures"
else
    "$venv/bin/python" "$ROOT/bench/report.py" ${RESULTS:+"$RESULTS"} >"$(run_dir)/report.html"
    say "open $(run_dir)/report.html"
fi
