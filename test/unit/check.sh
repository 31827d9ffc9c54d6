#!/usr/bin/env bash
# test/unit/check.sh
#	  Runs what the Makefile built; called by `make check`.  The last line is
#	  "N passed, N failed".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
passed=0
failed=0

# Test programs print their own lines; only their counts are added up.
run_unit() {
    local name=$1 log
    log=$(mktemp)
    echo "-- $name"
    if ! "$2" >"$log" 2>&1 && ! tail -n 1 "$log" | grep -q ' failed$'; then
        echo "FAIL  $name ended early"
        failed=$((failed + 1))
        tail -n 30 "$log"
    fi
    grep -E '^(ok|FAIL|  )' "$log"
    passed=$((passed + $(grep -c '^ok ' "$log")))
    failed=$((failed + $(grep -c '^FAIL ' "$log")))
    rm -f "$log"
}

result() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
        echo "ok    $2"
    else
        failed=$((failed + 1))
        echo "FAIL  $2"
    fi
}

run_unit "with sanitizers" build/san/unit
run_unit "as released" build/rel/unit
run_unit "without LZ4 and zstd" build/bare/unit
run_unit "pages, with sanitizers" build/san/unit_page
run_unit "pages, as released" build/rel/unit_page

echo "-- builds agree"
digest=$(build/san/unit --digest)
[ -n "$digest" ] && [ "$digest" = "$(build/rel/unit --digest)" ] && [ "$digest" = "$(build/bare/unit --digest)" ]
result $? "all builds write the same bytes"

echo "-- fuzz corpus"
for target in $TARGETS; do
    log=$(build/san/fuzz_"$target" ../fuzz/corpus/"$target" 2>&1)
    status=$?
    [ $status = 0 ] || echo "$log" | head -n 40
    result $status "fuzz corpus $target"
done

echo "-- reference decoder"
if command -v "$PYTHON" >/dev/null; then
    "$PYTHON" ../../tools/reference_decoder.py --check ../golden/v*/*.col
    result $? "reference decoder reads the golden columns"
else
    echo "skip: no python3"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
