# tools/chroot.sh
#	  Bare systems of Debian or Ubuntu in a chroot, for tools that try this checkout
#	  elsewhere.  Sourced after lib.sh.
#
#	  A root is made once, in a directory of its own, by debootstrap; the archive is
#	  the one this machine's apt takes packages from, unless MIRROR= names another.

# The Debian or Ubuntu ($1) archive of this machine's apt configuration.
apt_mirror() {
    local site
    site=$(apt-get indextargets --format '$(ORIGIN) $(SITE)' 'Created-By: Packages' 2>/dev/null |
        sed -nE "s/^$1 //Ip" | grep -v security | head -n 1)
    [ -n "$site" ] || die "apt's sources name no archive of $1: pass MIRROR="
    echo "$site"
}

# The pg_config of version $1 on this machine: PG_CONFIG, or for 16, which Debian has not, one
# that is put together; nothing where there is none.
local_pg_config() {
    if [[ $("$PG_CONFIG" --version 2>/dev/null) == "PostgreSQL $1."* ]]; then
        command -v "$PG_CONFIG"
    elif [ "$1" = 16 ] && [ -z "${MIRROR:-}" ] && ! (apt_mirror Ubuntu) >/dev/null 2>&1; then
        bash "$ROOT/tools/postgres16.sh"
    fi
}

# chroot_make BASE SUITE MIRROR COMPONENTS [PACKAGES]: the root BASE/root, locked for this process.
# Debian's scripts serve later suites that this debootstrap has not heard of;
# Ubuntu's archive is signed with keys that Debian does not have.
chroot_make() {
    local base=$1 suite=$2 mirror=$3 components=$4 packages=${5:-} check=() command
    local script=/usr/share/debootstrap/scripts/$suite
    [ "$(id -u)" = 0 ] || die "a chroot needs root"
    for command in debootstrap unshare chroot; do
        command -v "$command" >/dev/null || die "$command is needed: apt-get install debootstrap util-linux"
    done
    CHROOT=$base/root
    mkdir -p "$base"
    exec 7>"$base/lock"
    flock -n 7 || die "another run is under way in \"$base\""
    [ ! -e "$CHROOT/etc/strata-complete" ] || return 0
    case $mirror in
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
    say "making a $suite in $CHROOT, once"
    rm -rf --one-file-system "$CHROOT"
    quiet "$base/debootstrap.log" debootstrap --variant=minbase --components="$components" \
        ${packages:+--include="$packages"} "${check[@]}" "$suite" "$CHROOT" "$mirror" "$script"
    chroot_finish "$suite" "$mirror" "${components//,/ }"
}

# No services, no cluster of the distribution's, no manuals; sources for test-pgsuite.
chroot_finish() {
    printf '#!/bin/sh\nexit 101\n' >"$CHROOT/usr/sbin/policy-rc.d"
    chmod +x "$CHROOT/usr/sbin/policy-rc.d"
    mkdir -p "$CHROOT/etc/postgresql-common"
    echo 'create_main_cluster = false' >"$CHROOT/etc/postgresql-common/createcluster.conf"
    printf 'path-exclude=%s\n' '/usr/share/doc/*' '/usr/share/man/*' '/usr/share/locale/*' \
        >"$CHROOT/etc/dpkg/dpkg.cfg.d/strata"
    printf '%s %s %s %s\n' deb "$2" "$1" "$3" deb-src "$2" "$1" "$3" >"$CHROOT/etc/apt/sources.list"
    rm -f "$CHROOT"/etc/apt/sources.list.d/*
    # snapshots of mirrors outlive the date on their lists
    echo 'Acquire::Check-Valid-Until "false";' >"$CHROOT/etc/apt/apt.conf.d/strata"
    touch "$CHROOT/etc/strata-complete"
}

# in_root COMMAND...: with processes and mounts of its own, which end with it;
# CHROOT_ENV has variables for it.
CHROOT_ENV=()
in_root() {
    unshare --mount --pid --fork --kill-child bash -euc '
        root=$1
        shift
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        exec chroot "$root" "$@"' bash "$CHROOT" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        LANG=C.UTF-8 TERM="${TERM:-dumb}" DEBIAN_FRONTEND=noninteractive "${CHROOT_ENV[@]}" "$@" 7>&-
}

# Copies to directory $1 what git knows or would add; objects there stay, so that make builds
# only what changed: a file that is another than in the last copy is as new as this one, since
# the checkout may have got it while objects were made there of the file before.
copy_checkout() {
    local copy=$1 new=$1.new
    rm -rf "$new"
    mkdir -p "$copy" "$new"
    (cd "$ROOT" && git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
        [ ! -e "$file" ] || printf '%s\0' "$file"
    done | tar --null -T - -cf -) | tar -xmf - -C "$new" --no-same-owner
    (cd "$new" && find . -type f -print0 | while IFS= read -r -d '' file; do
        ! cmp -s "$file" "$copy/$file" || touch -r "$copy/$file" "$file"
    done)
    find "$copy" -type f ! -path "$copy/.run/*" \
        ! -name '*.o' ! -name '*.d' ! -name .build-flags ! -name strata.so -delete
    cp -a "$new/." "$copy"
    rm -rf "$new"
}
