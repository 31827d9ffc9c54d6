#!/usr/bin/env bash
# tools/release.sh
#	  What a release needs beside its commit (docs/releasing.md).
#
#	  tools/release.sh check     the version is the same everywhere, and what was
#	                             released is as it was; part of make lint
#	  tools/release.sh freeze    keep the install scripts and the golden files' checksums
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cd "$ROOT"
VERSION=$(sed -n 's/^EXTVERSION = //p' Makefile)
released=test/released
status=0
wrong() { echo "$*"; status=1; }

# The one version that each file names, found by a pattern.
same_version() {
    local file=$1 pattern=$2 found
    found=$(sed -nE "s/$pattern/\1/p" "$file" | sort -u)
    [ "$found" = "$VERSION" ] || wrong "$file: the version is \"${found//$'\n'/ }\", not $VERSION"
}

# Where the install script of extension $1 and the scripts that lead to it are.
install_script() { [ "$1" = strata ] && echo "strata--$VERSION.sql" || echo "sql/compat/$1--$VERSION.sql"; }
upgrades() { [ "$1" = strata ] && echo sql || echo sql/compat; }

check() {
    local script extension version
    same_version strata.control "^default_version = '(.*)'"
    same_version strata_timescale_compat.control "^default_version = '(.*)'"
    same_version META.json '^ +"version": "([0-9.]+)",?$'
    sed -n 1p debian/changelog >"$(run_dir)/changelog"
    same_version "$(run_dir)/changelog" '^pg-strata \((.*)-[0-9]+\) .*'
    grep -m1 '^## ' CHANGELOG.md >"$(run_dir)/changelog"
    same_version "$(run_dir)/changelog" '^## ([0-9.]+) .*'
    [ -f "sql/compat/strata_timescale_compat--$VERSION.sql" ] || wrong "sql/compat: no script of version $VERSION"

    # one way from each released version to this one, and no golden file has changed
    for script in "$released"/*--*.sql; do
        [ -e "$script" ] || continue
        version=$(basename "$script" .sql)
        extension=${version%%--*} version=${version#*--}
        if [ "$version" != "$VERSION" ]; then
            ls "$(upgrades "$extension")/$extension--$version"--*.sql >/dev/null 2>&1 ||
                wrong "$(upgrades "$extension"): no script that leads from $extension $version on"
        elif [ -f "$(install_script "$extension")" ]; then
            cmp -s "$script" "$(install_script "$extension")" ||
                wrong "$extension $version is released, its install script differs from $script: a change needs a new version"
        fi
    done
    [ ! -f "$released/golden.sha256" ] || (cd test/golden && sha256sum --quiet -c "../released/golden.sha256") ||
        wrong "test/golden: released bytes have changed"
}

freeze() {
    local extension
    make -s "strata--$VERSION.sql"
    mkdir -p "$released"
    for extension in strata strata_timescale_compat; do cp "$(install_script "$extension")" "$released"; done
    (cd test/golden && find . -type f | LC_ALL=C sort | xargs sha256sum) >"$released/golden.sha256"
    say "frozen: install scripts of $VERSION and $(wc -l <"$released/golden.sha256") golden files"
}

case ${1:-} in
    check) check; exit $status ;;
    freeze) check; [ $status = 0 ] || die "not before that is mended"; freeze ;;
    *) die "usage: tools/release.sh check|freeze" ;;
esac
