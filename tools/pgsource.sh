# tools/pgsource.sh
#	  What tools/pgsuite.sh and tools/pgisolation.sh share.
#
#	  Where PostgreSQL's own tests come from, when PGSRC does not say: Debian's
#	  source package of the installed server, under .run/pgsrc.  Sourced after
#	  lib.sh, which says RUN.

# Debian keeps the source of some versions only: take the newest that is there.
fetch_source() {
    local major version dir sources
    dir=$(run_dir)/pgsrc
    major=$("$PG_CONFIG" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/')
    if [ ! -d "$dir/src/test/regress" ]; then
        [ "$(id -u)" = 0 ] || die "PGSRC=/path/to/postgresql-source is needed (only root can fetch Debian's)"
        rm -rf "$dir"
        mkdir -p "$dir/archive" "$dir/lists/partial"
        # the archives that apt takes packages from, asked for sources: deb-src need not be enabled
        apt-get indextargets --format 'deb-src $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u >"$dir/sources.list"
        sources=(-o "Dir::Etc::SourceList=$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$dir/lists"
            -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
        apt-get update -q "${sources[@]}" >&2 || true
        for version in $(apt-cache "${sources[@]}" showsrc "postgresql-$major" | sed -n 's/^Version: //p' | sort -Vru); do
            say "fetching the source of postgresql-$major $version"
            (cd "$dir/archive" && apt-get "${sources[@]}" source -qq --download-only "postgresql-$major=$version" >&2) && break
        done
        ls "$dir"/archive/*.orig.tar.* >/dev/null 2>&1 || die "could not fetch the source of postgresql-$major; give PGSRC="
        # by Python, which knows bzip2 where tar lacks the program for it
        { python3 -m tarfile -e "$dir"/archive/*.orig.tar.* "$dir/unpacked" && mv "$dir"/unpacked/*/* "$dir"; } >&2 || die "could not unpack the source of postgresql-$major"
        # The suite's scripts go with the psql of their own version (15.19
        # changed what it does after a COPY that fails).
        (cd "$dir/archive" && apt-get download -qq "postgresql-client-$major=$version" >&2 &&
            dpkg -x postgresql-client-*.deb "$dir/client")
    fi
    echo "$dir"
}

# The version that PGSRC is of.
source_version() { sed -n "s/^PACKAGE_VERSION='\(.*\)'/\1/p" "$PGSRC/configure"; }

# A new private server (SERVER, STRATA_CLUSTER), stopped at exit; sets CONFIG and libpq's variables.
start_suite_server() {
    "$SERVER" wipe
    "$SERVER" start 2>/dev/null || { "$SERVER" log 30; die "the private server did not start"; }
    trap '"$SERVER" stop immediate' EXIT
    eval "$("$SERVER" env)"
    unset PGDATABASE
    CONFIG=$("$SERVER" pg_config)
}

# ALTER DATABASE $1 for each of SETTINGS.
settings_sql() {
    local setting
    for setting in ${SETTINGS:-}; do echo "ALTER DATABASE $1 SET ${setting%%=*} TO '${setting#*=}';"; done
}

# After a run: counts crashes, ends a baseline run, says which list of allowed differences counts.
finish_suite_run() {
    crashes=$("$SERVER" log 1000000 | grep -cE 'was terminated by signal|TRAP:|PANIC:' || true)
    if [ "$MODE" = heap ]; then
        say "the baseline is in $OUT/results"
        [ "$crashes" = 0 ] || die "the server's log tells of $crashes crashes"
        exit 0
    fi
    allowed=allowed.txt
    [ -z "${TORTURE:-}" ] || allowed=allowed_torture.txt
    [ "$AM" = strata ] || allowed=allowed_$AM.txt
}
