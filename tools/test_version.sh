#!/usr/bin/env bash
# tools/test_version.sh
#	  Builds and tests this checkout against another major version of PostgreSQL,
#	  in a chroot of the distribution that has it: tools/test_version.sh 17, or
#	  make test-version V=17.  As root, on Debian or Ubuntu.
#
#	  The chroot stands under .run/version/ (1.5 GB) and is made once; the
#	  checkout, with what is not committed, is copied into it each time, so its
#	  objects and those made here do not mix.
#
#	  TARGETS="all test"   what make is to do there
#	  NO_CHECK=1           do not check the signature of Ubuntu's archive (16)
#	  T=, SEED=, STEPS=, TORTURE=, ASSERT= ...   go to make, as without a chroot
#	  SUITE=, MIRROR=      another distribution than the table below has
#	  SHELL_IN=1           a shell in the chroot instead
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

MAJOR=${1:-}
components=main
case $MAJOR in
    15) suite=bookworm mirror=http://deb.debian.org/debian ;;
    16) suite=noble mirror=http://archive.ubuntu.com/ubuntu components=main,universe ;;
    17) suite=trixie mirror=http://deb.debian.org/debian ;;
    18) suite=forky mirror=http://deb.debian.org/debian ;;
    *) die "usage: tools/test_version.sh 15|16|17|18 (or make test-version V=17)" ;;
esac
SUITE=${SUITE:-$suite}
MIRROR=${MIRROR:-$mirror}

[ "$(id -u)" = 0 ] || die "a chroot needs root"
for command in debootstrap unshare chroot; do
    command -v "$command" >/dev/null || die "$command is needed: apt-get install debootstrap util-linux"
done

# The root may be entered by the server's user, whatever stands above it.
BASE=$(run_dir)/version/$MAJOR
CHROOT=$BASE/root
mkdir -p "$BASE"
exec 7>"$BASE/lock"
flock -n 7 || die "another run of version $MAJOR is under way in \"$BASE\""

# Debian's scripts serve later suites that this debootstrap has not heard of;
# Ubuntu's archive is signed with keys that Debian does not have.
make_root() {
    local script=/usr/share/debootstrap/scripts/$SUITE check=()
    [ ! -e "$CHROOT/etc/strata-complete" ] || return 0
    case $MIRROR in
        *ubuntu*)
            [ -e "$script" ] || script=/usr/share/debootstrap/scripts/gutsy
            if [ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ]; then
                check=(--keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg)
            else
                [ -n "${NO_CHECK:-}" ] || die "the key of Ubuntu's archive is not here: install ubuntu-keyring, or pass NO_CHECK=1"
                check=(--no-check-gpg)
            fi
            ;;
        *) [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid ;;
    esac
    say "making a $SUITE in $CHROOT, once"
    rm -rf --one-file-system "$CHROOT"
    quiet "$BASE/debootstrap.log" debootstrap --variant=minbase --components="$components" "${check[@]}" \
        "$SUITE" "$CHROOT" "$MIRROR" "$script"
    finish_root
}

# No services, no cluster of the distribution's, no manuals; sources for test-pgsuite.
finish_root() {
    printf '#!/bin/sh\nexit 101\n' >"$CHROOT/usr/sbin/policy-rc.d"
    chmod +x "$CHROOT/usr/sbin/policy-rc.d"
    mkdir -p "$CHROOT/etc/postgresql-common"
    echo 'create_main_cluster = false' >"$CHROOT/etc/postgresql-common/createcluster.conf"
    printf 'path-exclude=%s\n' '/usr/share/doc/*' '/usr/share/man/*' '/usr/share/locale/*' \
        >"$CHROOT/etc/dpkg/dpkg.cfg.d/strata"
    printf '%s %s %s %s\n' deb "$MIRROR" "$SUITE" "${components//,/ }" deb-src "$MIRROR" "$SUITE" "${components//,/ }" \
        >"$CHROOT/etc/apt/sources.list"
    rm -f "$CHROOT"/etc/apt/sources.list.d/*
    # snapshots of mirrors outlive the date on their lists
    echo 'Acquire::Check-Valid-Until "false";' >"$CHROOT/etc/apt/apt.conf.d/strata"
    touch "$CHROOT/etc/strata-complete"
}

# in_root COMMAND...: with processes and mounts of its own, which end with it.
in_root() {
    unshare --mount --pid --fork --kill-child bash -euc '
        root=$1
        shift
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        exec chroot "$root" "$@"' bash "$CHROOT" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        LANG=C.UTF-8 TERM="${TERM:-dumb}" DEBIAN_FRONTEND=noninteractive PG_MAJOR="$MAJOR" "$@" 7>&-
}

# What git knows or would add; objects stay, so that make builds only what changed.
copy_checkout() {
    local copy=$CHROOT/strata
    mkdir -p "$copy"
    find "$copy" -type f ! -path "$copy/.run/*" \
        ! -name '*.o' ! -name '*.d' ! -name .build-flags ! -name strata.so -delete
    (cd "$ROOT" && git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
        [ ! -e "$file" ] || printf '%s\0' "$file"
    done | tar --null -T - -cf -) | tar -xf - -C "$copy" --no-same-owner
}

make_root
copy_checkout
in_root bash /strata/tools/install_deps.sh </dev/null
in_root apt-get clean
[ -z "${SHELL_IN:-}" ] || { in_root bash; exit; }

options=()
for name in T SEED RUNS STEPS MINUTES TABLES TORTURE ASSERT SETTINGS SHOW; do
    [ -z "${!name:-}" ] || options+=("$name=${!name}")
done
in_root make -C /strata -s WERROR=1 PG_CONFIG="/usr/lib/postgresql/$MAJOR/bin/pg_config" "${options[@]}" \
    ${TARGETS:-all test} </dev/null
