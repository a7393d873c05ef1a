#!/usr/bin/env bash
# A Swift toolchain on a Debian machine that has none: trixie with `swiftlang` in a folder outside the repo.
#
#   scripts/swift-chroot.sh make                       makes it if it is not there (once, about three minutes)
#   scripts/swift-chroot.sh can                        says whether this machine could make it (exit 0 or 1)
#   scripts/swift-chroot.sh run [-b DIR]... -- CMD...  runs CMD in it; each DIR is seen under its own path
#
# Everything is mounted in a mount namespace of this process's own:
# when the command ends, however it ends, the mounts are gone, so the folder can always be removed with `rm -rf`.
# The folder is REJOIN_SWIFT_CACHE, by default ~/.cache/rejoin-swift; 3.3 GB.
set -euo pipefail

cache="${REJOIN_SWIFT_CACHE:-$HOME/.cache/rejoin-swift}"
root="$cache/trixie"
# Swift 6.0.3. Tried: sid's 6.2.3 does not link tests as packaged.
suite=trixie
packages=(swiftlang libc6-dev libstdc++-14-dev g++)

say() { echo "swift-chroot: $*" >&2; }

why_not() {
    [ "$(uname -s)" = Linux ] || { echo "not Linux"; return; }
    [ "$(id -u)" = 0 ] || { echo "not root"; return; }
    command -v unshare >/dev/null || { echo "no unshare (util-linux)"; return; }
    unshare --mount true 2>/dev/null || { echo "no mount namespaces allowed here"; return; }
    [ -e "$root/.made" ] && return
    command -v apt-get >/dev/null || { echo "no apt-get"; return; }
}

# The mirror that this machine's apt already uses for Debian itself.
mirror() {
    # shellcheck disable=SC2016 # apt's own placeholders
    apt-get indextargets --format '$(REPO_URI) $(COMPONENT) $(CREATED_BY)' |
        awk '$2 == "main" && $3 == "Packages" && $1 ~ /\/debian\/?$/ { print $1; exit }'
}

make_root() {
    [ -e "$root/.made" ] && return
    mkdir -p "$cache"
    exec 9>"$cache/lock"
    flock 9 # two runs at once make it once
    [ -e "$root/.made" ] && return
    local reason from
    reason="$(why_not)"
    [ -z "$reason" ] || { say "cannot make it: $reason"; exit 1; }
    say "making $root (once, about three minutes); log in $cache/make.log"
    if ! command -v debootstrap >/dev/null; then
        { apt-get update -q && apt-get install -y -q --no-install-recommends debootstrap; } >"$cache/make.log" 2>&1
    fi
    from="$(mirror)"
    [ -n "$from" ] || { say "apt has no Debian mirror configured"; exit 1; }
    # A half-made one is of no use: nothing is mounted in it, see above.
    rm -rf --one-file-system "$root"
    if ! unshare --mount --propagation private -- "$0" _make "$from" >>"$cache/make.log" 2>&1; then
        tail -20 "$cache/make.log" >&2
        say "could not make it"
        exit 1
    fi
    touch "$root/.made"
}

# In the namespace. `debootstrap` mounts /proc itself; that goes with the namespace too.
make_in_namespace() {
    local from="$1"
    debootstrap --variant=minbase "$suite" "$root" "$from"
    apt-config dump | grep -E '^Acquire::.*Proxy' >"$root/etc/apt/apt.conf.d/90host" || true
    # Fewer files to write and fewer to keep.
    printf 'path-exclude=/usr/share/%s/*\n' doc man locale info >"$root/etc/dpkg/dpkg.cfg.d/lean"
    mount_host
    chroot "$root" env DEBIAN_FRONTEND=noninteractive sh -c '
        apt-get update -q
        apt-get install -y -q --no-install-recommends -o Dpkg::Options::=--force-unsafe-io "$@"
        apt-get clean' sh "${packages[@]}"
    chroot "$root" swift --version
}

mount_host() {
    local dir
    for dir in /proc /dev /sys; do
        mountpoint -q "$root$dir" || mount --rbind "$dir" "$root$dir"
    done
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
}

run_in_namespace() {
    mount_host
    while [ "${1:-}" = -b ]; do
        mkdir -p "$root$2"
        mount --bind "$2" "$root$2"
        shift 2
    done
    [ "${1:-}" = -- ] && shift
    # shellcheck disable=SC2016 # expanded inside
    exec chroot "$root" sh -c 'cd "$1" && shift && exec "$@"' sh "$PWD" "$@"
}

case "${1:-}" in
make) make_root ;;
can)
    reason="$(why_not)"
    [ -z "$reason" ] || { echo "$reason"; exit 1; }
    ;;
run)
    shift
    make_root
    exec unshare --mount --propagation private -- "$0" _run "$@"
    ;;
_make) shift; make_in_namespace "$@" ;;
_run) shift; run_in_namespace "$@" ;;
*) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
