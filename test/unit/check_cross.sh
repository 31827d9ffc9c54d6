#!/usr/bin/env bash
# test/unit/check_cross.sh
#	  Runs what `make check-cross` built for another CPU, by the emulator RUN; the
#	  last line is "N passed, N failed".
#
#	  DIGEST, COLUMNS    what this machine's build says with --digest, and the
#	                     directory of columns that its golden_make made
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
: "${DIGEST:?}" "${COLUMNS:?}"
passed=0
failed=0

result() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
        echo "ok    $2"
    else
        failed=$((failed + 1))
        echo "FAIL  $2"
    fi
}

for program in rel/unit bare/unit rel/unit_page; do
    log=build/${program//\//-}.log
    status=0
    $RUN build/$program >"$log" 2>&1 || status=$?
    grep -E '^(FAIL|  )' "$log" | head -n 40
    grep -q '^ok ' "$log" && [ $status = 0 ]
    result $? "$program: $(tail -n 1 "$log")"
done

[ "$($RUN build/rel/unit --digest)" = "$DIGEST" ] && [ "$($RUN build/bare/unit --digest)" = "$DIGEST" ]
result $? "the same bytes of all codecs as on this machine"

rm -rf build/columns
mkdir -p build/columns/v1 build/columns/reject
$RUN build/rel/golden_make build/columns >/dev/null && diff -rq "$COLUMNS" build/columns
result $? "the same $(find "$COLUMNS" -name '*.col' | wc -l) columns"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
