#!/usr/bin/env bash
# tools/check_exports.sh
#	  Every symbol that leaves an object file starts with strata_, or is one
#	  PostgreSQL itself looks for; checked in the objects, so that no name can
#	  clash inside strata.so either, and in the library; and the library lacks
#	  none of its own.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cd "$ROOT"
allowed='^(strata_.*|_PG_init|Pg_magic_func|pg_finfo_strata_.*)$'
library=strata.so
[ -f "$library" ] || die "$library is not there; run make first"

bad=$(find src -name '*.o' -exec nm -A -g --defined-only {} + | awk '{print $NF, $1}' |
    awk -v allowed="$allowed" '$1 !~ allowed {print}')
bad+=$(nm -D -g --defined-only "$library" | awk -v allowed="$allowed" '$NF !~ allowed {print "\n" $NF, "in the library"}')
if [ -n "$bad" ]; then
    say "names that do not start with strata_ (make them static or rename them):"
    say "$bad"
    exit 1
fi
missing=$(nm -D -g --undefined-only "$library" | awk '$NF ~ /^strata_/ {print $NF}')
[ -z "$missing" ] || die "$library needs functions that are nowhere:" $missing
[[ $'\n'$(nm -D -g --defined-only "$library" | awk '{print $NF}')$'\n' == *$'\n'_PG_init$'\n'* ]] || die "_PG_init is not exported by $library"
