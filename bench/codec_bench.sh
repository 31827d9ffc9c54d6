#!/usr/bin/env bash
# bench/codec_bench.sh
#	  Builds and runs codec_bench; prints a markdown table.
#
#	  bench/codec_bench.sh [-b rows] [-n values] [-c column] [-r passes] [-a] [data directory]
#
#	  Without a directory: ../shared/data beside the checkout if it is there, else
#	  made-up columns.  CC, CFLAGS and STRATA_BENCH_BUILD (where objects go) may be
#	  set.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=${STRATA_BENCH_BUILD:-$root/test/unit/build/bench}
cc=${CC:-cc}
flags=${CFLAGS:--O3}

mkdir -p "$build"
for source in "$root"/src/codec/*.c "$root"/src/codec/*/*.c; do
    object=$build/$(basename "$source" .c).o
    # -D and headers change rarely; a header newer than the object rebuilds it
    if [ ! -e "$object" ] || [ -n "$(find "$source" "$root"/src/codec -name '*.h' -newer "$object" -print -quit)" ] ||
        [ "$source" -nt "$object" ]; then
        "$cc" -std=gnu11 $flags -I"$root/src" -DUSE_LZ4 -DUSE_ZSTD -c "$source" -o "$object"
    fi
done
"$cc" -std=gnu11 -O2 -Wall -Wextra -I"$root/src" -I"$root" "$root/bench/codec_bench.c" "$root/test/unit/jsonb_make.c" "$build"/*.o \
    -o "$build/codec_bench" -llz4 -lzstd -lm

data=
for argument in "$@"; do
    [ ! -d "$argument" ] || data=$argument
done
if [ -z "$data" ] && [ -d "$root/../shared/data" ]; then
    set -- "$@" "$root/../shared/data"
fi
exec "$build/codec_bench" "$@"
