#!/usr/bin/env bash
# tools/upgrade_versions.sh
#	  pg_upgrade between two versions of PostgreSQL that hold compressed hypertables,
#	  continuous aggregates, batch indexes and all that test/t/120_upgrade.pl makes:
#	  tools/upgrade_versions.sh 15 17.  Ends with "N passed, N failed".  As root.
#
#	  The test runs in the new version's chroot (tools/test_version.sh).  The old
#	  server is laid into it from its own chroot, or from this machine where PG_CONFIG
#	  is of that version, or it is 16 (tools/postgres16.sh): its directories, and those
#	  libraries that have another name in the new system.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$ROOT/tools/chroot.sh"

OLD=${1:-} NEW=${2:-}
[[ $OLD =~ ^1[5-8]$ && $NEW =~ ^1[5-8]$ && $OLD -lt $NEW ]] || die "usage: tools/upgrade_versions.sh OLD NEW (as in 15 17)"
RUN=$(run_dir)
new_root=$RUN/version/$NEW/root
here=$(local_pg_config "$OLD")

say "building for $OLD and $NEW"
TARGETS=all bash "$ROOT/tools/test_version.sh" "$OLD" >&2
PG_CONFIG=pg_config-of-the-chroot TARGETS=all bash "$ROOT/tools/test_version.sh" "$NEW" >&2

# The old server's files, with the extension, in an archive.
stage=$RUN/version/$NEW/old
rm -rf "$stage"
mkdir -p "$stage"
if [ -n "$here" ]; then
    old_root=/ checkout=$RUN/version/$OLD/here
else
    old_root=$RUN/version/$OLD/root checkout=/strata
fi
in_old() { if [ -n "$here" ]; then "$@"; else chroot "$old_root" "$@"; fi; }
config=${here:-/usr/lib/postgresql/$OLD/bin/pg_config}
[ -x "$old_root/$config" ] || die "PostgreSQL $OLD has no program \"$config\""
old_bin=$(in_old "$config" --bindir) old_lib=$(in_old "$config" --pkglibdir) old_share=$(in_old "$config" --sharedir)
in_old rm -rf /tmp/strata-staged
in_old make -C "$checkout" -s WERROR=1 PG_CONFIG="$config" DESTDIR=/tmp/strata-staged install
tar -C "$old_root" -cf - "${old_bin#/}" "${old_lib#/}" "${old_share#/}" | tar -C "$new_root" -xf -
tar -C "$old_root/tmp/strata-staged" -cf - . | tar -C "$new_root" -xf - --no-same-owner --no-overwrite-dir
in_old rm -rf /tmp/strata-staged

# Libraries that the new system does not have by this name.  ldd fails for a script among the programs.
known=$(chroot "$new_root" ldconfig -p)
in_old sh -c "ldd $old_bin/* $old_lib/*.so 2>/dev/null || true" |
    sed -nE 's/^\s+\S+ => (\/\S+) .*/\1/p' | sort -u | while read -r library; do
    grep -q "^\s*$(basename "$library") " <<<"$known" || cp -L "$old_root/$library" "$new_root/usr/local/lib/"
done
chroot "$new_root" ldconfig

TARGETS=test-tap T=120_upgrade STRATA_OLD_INSTALL=$(dirname "$old_bin") \
    PG_CONFIG=pg_config-of-the-chroot bash "$ROOT/tools/test_version.sh" "$NEW"
