# SPDX-License-Identifier: GPL-2.0-only
# Sourced by what runs virtual machines: what that needs, and where it comes from.
# shellcheck shell=bash

# Why no virtual machine can be run here; empty if one can. Installs what is missing.
why_no_vm() {
	local tool missing=
	[[ $(uname -m) == x86_64 ]] || { echo "the kernels are for x86_64"; return; }
	missing_tools() {
		missing=
		for tool in qemu-system-x86_64 busybox cpio modprobe depmod mkfs.ext4 xz python3; do
			PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null || missing="$missing $tool"
		done
	}
	missing_tools
	if [[ -n $missing && -z ${LRUTAPE_NO_DEPS:-} ]]; then
		"$TOP/scripts/deps" vm >&2
		missing_tools
	fi
	[[ -z $missing ]] || { echo "not here:$missing: run \`make deps DEPS_GROUP=vm\`"; return; }
	# Debian also has a busybox that is linked with libc, which a guest without one cannot run.
	! ldd "$(command -v busybox)" >/dev/null 2>&1 || echo "busybox is not static: install busybox-static"
	[[ -x $BIN/lrutape-record ]] || echo "no $BIN/lrutape-record: run \`make static\`"
}

PATH=$PATH:/usr/sbin:/sbin

# ---- What a test of virtual machines counts and prints.

passed=0
failed=0
skipped=0

work_folder() { # name: $work, gone when the script ends
	work=$(mktemp -d "${TMPDIR:-/tmp}/$1.XXXXXX") || exit 1
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

report() { # ok|FAILED|skipped name remark
	case $1 in
	ok) passed=$((passed + 1)) ;;
	FAILED) failed=$((failed + 1)) ;;
	skipped) skipped=$((skipped + 1)) ;;
	esac
	if [[ $1 == skipped ]]; then
		echo "skipped  $2: $3"
	else
		printf '%-8s %s (%s)\n' "$1" "$2" "$3"
	fi
}
