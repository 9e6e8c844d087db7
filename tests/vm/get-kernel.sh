#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetch and unpack, not install, the newest cloud kernel of a series from this machine's Debian sources;
# prints its directory: vmlinuz, config, System.map, lib/modules.
# usage: tests/vm/get-kernel.sh SERIES       as in 6.1 or 6.12
#   LRUTAPE_VM_CACHE=dir   where kernels stay (default ~/.cache/lrutape-vm, or below XDG_CACHE_HOME)
# Exit status 77, with the reason on stderr: there is no such kernel to be had here.
set -euo pipefail

series=${1:?usage: tests/vm/get-kernel.sh SERIES}
cache=${LRUTAPE_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lrutape-vm}

no_kernel() { echo "get-kernel: $*" >&2; exit 77; }

newest() { # names one a line: the highest version
	sort -V | tail -n 1
}

# Of 6.1: linux-image-6.1.0-57-cloud-amd64; of 6.12 in Debian 12: linux-image-6.12.117+deb12-cloud-amd64.
known() {
	apt-cache search --names-only "^linux-image-${series//./\\.}[.-].*cloud-amd64\$" |
		sed -n 's/^linux-image-\([^ ]*\) .*/\1/p' | grep -v -e unsigned -e dbg || :
}

if command -v apt-cache >/dev/null && command -v dpkg-deb >/dev/null; then
	version=$(known | newest)
	if [[ -z $version ]]; then
		if ((EUID == 0)); then
			apt-get -qq update >&2 || :
		fi
		version=$(known | newest)
	fi
else
	version=
fi
if [[ -z $version ]]; then
	# Without package lists, what was fetched before still serves.
	version=$(find "$cache" -mindepth 2 -maxdepth 2 -name .whole -path "$cache/${series}[.-]*" 2>/dev/null |
		sed 's,/.whole$,,; s,.*/,,' | newest)
	[[ -n $version ]] || no_kernel "apt here knows no linux-image-$series...-cloud-amd64"
fi

directory=$cache/$version
if [[ ! -e $directory/.whole ]]; then
	mkdir -p "$cache"
	work=$(mktemp -d "$cache/.new.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	chmod 755 "$work"
	cd "$work"
	apt-get -qq -o APT::Sandbox::User=root download "linux-image-$version" >&2 ||
		no_kernel "linux-image-$version cannot be fetched"
	dpkg-deb -x ./*.deb .
	rm ./*.deb
	[[ -e lib ]] || ln -s usr/lib lib
	mv "boot/vmlinuz-$version" vmlinuz
	mv "boot/config-$version" config
	mv "boot/System.map-$version" System.map
	depmod -b "$work" "$version"
	touch .whole
	rm -rf "$directory"
	mv "$work" "$directory"
fi
echo "$directory"
