#!/usr/bin/env bash
# tools/lint.sh
#	  The checks a machine can make of the source tree; fails when one does.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cd "$ROOT"
status=0
for check in "python3 tools/check_layers.py" "python3 tools/check_files.py" "python3 tools/indent.py --check" \
    "python3 tools/check_sql.py" "python3 tools/check_invariants.py" \
    "python3 tools/check_tests.py" "python3 tools/check_docs.py" "bash tools/check_exports.sh" \
    "bash tools/release.sh check" "bash tools/check_pgspot.sh"; do
    if $check; then
        echo "ok    $check"
    else
        echo "FAIL  $check"
        status=1
    fi
done
exit $status
