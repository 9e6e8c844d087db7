#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# `make demo` and `make test` on a bare Debian to which only git and make were added, as a user of a
# fresh machine has it. Root, debootstrap and a few hundred MB below TMPDIR are needed. Tests what is
# committed. Mirror and proxy are those of this machine's apt.
# usage: tests/vm/chroot-test.sh [--live] [--keep]
#   --live   lets the chroot see tracefs and cgroups, so that it records on this kernel
#   --keep   leaves the chroot behind, for a look
#   SUITE=bookworm   another release of Debian
set -eu

TOP=$(cd "$(dirname "$0")/../.." && pwd)
suite=${SUITE:-bookworm}
live=
keep=
for option in "$@"; do
	case $option in
	--live) live=1 ;;
	--keep) keep=1 ;;
	*) sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2 ;;
	esac
done

fail() { echo "chroot-test: $*" >&2; exit 1; }
((EUID == 0)) || fail "needs root"
command -v debootstrap >/dev/null || fail "no debootstrap here: apt-get install debootstrap"

mirror=$(apt-get indextargets --format '$(SITE)' "Codename: $suite" "Label: Debian" 2>/dev/null | head -n 1)
[[ -n $mirror ]] || mirror=$(apt-get indextargets --format '$(RELEASE) $(SITE)' 2>/dev/null |
	awk -v suite="$suite" '$1 == suite && !seen { print $2; seen = 1 }')
[[ -n $mirror ]] || fail "apt here has no source for $suite: SUITE=name chooses another"
eval "$(apt-config shell proxy Acquire::http::Proxy)"
[[ -n ${proxy:-} ]] && export http_proxy=$proxy

root=$(mktemp -d "${TMPDIR:-/tmp}/lrutape-chroot.XXXXXX")
chmod 755 "$root"
mounts=()
undo() {
	local i
	for ((i = ${#mounts[@]} - 1; i >= 0; i--)); do
		umount -R "${mounts[i]}" || umount -R -l "${mounts[i]}"
	done
	if [[ -n $keep ]]; then
		echo "chroot-test: kept, unmounted: $root"
	elif ! grep -q " $root/" /proc/mounts; then
		rm -rf --one-file-system "$root"
	fi
}
trap undo EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

mount_in() { # path options...
	local path=$root$1
	shift
	mkdir -p "$path"
	mount "$@" "$path"
	mounts+=("$path")
}

inside() { # script
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} \
		${FORWARD:+$FORWARD} bash -c "$1"
}

start=$SECONDS
echo "chroot-test: debootstrap of $suite"
debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$root.log" 2>&1 || {
	tail -n 20 "$root.log" >&2
	fail "debootstrap failed"
}
rm -f "$root.log"
[[ -z ${http_proxy:-} ]] || echo "Acquire::http::Proxy \"$http_proxy\";" >"$root/etc/apt/apt.conf.d/90proxy"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
mount_in /proc -t proc proc
if [[ -n $live ]]; then
	mount_in /sys --rbind --make-rslave /sys
else
	mount_in /sys -t sysfs -o ro sysfs
fi
inside "apt-get update -qq && apt-get install -y -qq --no-install-recommends git make" >/dev/null 2>&1 ||
	fail "git and make could not be installed"
git clone --quiet --no-hardlinks "$TOP" "$root/root/lrutape"

echo "chroot-test: ready after $((SECONDS - start)) s; make demo"
status=0
inside "cd /root/lrutape && make demo" || { status=1; echo "chroot-test: make demo failed"; }
echo "chroot-test: make test"
inside "cd /root/lrutape && make test" || { status=1; echo "chroot-test: make test failed"; }
echo "chroot-test: $( ((status)) && echo failed || echo passed ) in $((SECONDS - start)) s"
exit $status
