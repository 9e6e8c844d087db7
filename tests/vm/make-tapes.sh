#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Make the bundled tapes of Debian's kernels again: vm-SERIES-MODE-pread.lrt, with MODE classic (lru_gen
# off) and mglru (on). 40,000 random 4 KiB preads of a file of 48 MiB under a limit of 16 MiB, cold,
# with the default events; guest-record.sh has the commands. Two recordings are never the same to the
# byte: run this when the format or the default events change, and look at what golden rows move.
# vm-SERIES-mglru-global.lrt: reclaim from everybody, in a guest that is small enough.
# vm-6.12-mglru-anon.lrt: mapped memory with swap under MGLRU, without page-table walks.
# And vm-SERIES-mglru-bursts-CLASS.lrt: guest-mglru.sh's workloads, with lru_gen_full read every 100 ms.
# usage: tests/vm/make-tapes.sh [DIRECTORY]      BIN names the programs; default tests/golden/tapes/v1
set -eu

TOP=$(cd "$(dirname "$0")/../.." && pwd)
BIN=${BIN:-$TOP/build/release/bin}
directory=${1:-$TOP/tests/golden/tapes/v1}
. "$TOP/tests/vm/tools.bash"

fail() { echo "make-tapes: $*" >&2; exit 1; }

reason=$(why_no_vm | head -n 1)
[[ -z $reason ]] || fail "$reason"
work=$(mktemp -d "${TMPDIR:-/tmp}/lrutape-make-tapes.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

classes="pread sequential two"
for series in 6.1 6.12; do
	kernel=$("$TOP/tests/vm/get-kernel.sh" $series)
	"$TOP/tests/vm/run.sh" "$kernel" "$work/$series" "guest-record.sh tapes" "$TOP"/tests/vm/guest-*.sh \
		"$BIN"/lrutape-record "$BIN"/static/* || { cat "$work/$series/said"; fail "$series: no recording"; }
	"$TOP/tests/vm/run.sh" "$kernel" "$work/$series-mglru" "guest-mglru.sh $classes" "$TOP"/tests/vm/guest-*.sh \
		"$BIN"/lrutape-record "$BIN"/static/* || { cat "$work/$series-mglru/said"; fail "$series: no recording"; }
	for mode in classic mglru; do
		tape=$work/$series/$mode-pread.lrt
		grep -q "/$mode-pread.lrt: no events lost\$" "$work/$series/said" ||
			fail "$series: $mode: events were lost: try again on a machine that is less busy"
		"$BIN/lrutape" verify "$tape" >/dev/null
		(($(stat -c %s "$tape") <= 600 << 10)) || fail "$series: $mode: above 600 KiB"
	done
done
for series in 6.1 6.12; do
	memory=160
	[[ $series == 6.1 ]] && memory=144
	LRUTAPE_VM_MEMORY=$memory LRUTAPE_VM_DATA=1G "$TOP/tests/vm/run.sh" "$("$TOP/tests/vm/get-kernel.sh" $series)" \
		"$work/$series-global" "guest-mglru.sh global" "$TOP"/tests/vm/guest-*.sh "$BIN"/lrutape-record \
		"$BIN"/static/* || { cat "$work/$series-global/said"; fail "$series: global: no recording"; }
	cp "$work/$series-global/global.lrt" "$work/vm-$series-mglru-global.lrt"
done
LRUTAPE_VM_DATA=1G "$TOP/tests/vm/run.sh" "$("$TOP/tests/vm/get-kernel.sh" 6.12)" "$work/anon" \
	"guest-mglru.sh anon_small" "$TOP"/tests/vm/guest-*.sh "$BIN"/lrutape-record "$BIN"/static/* ||
	{ cat "$work/anon/said"; fail "6.12: anon: no recording"; }
grep -q '/anon_small.lrt: no events lost$' "$work/anon/said" || fail "6.12: anon: events were lost"
# Beside them vm-6.12-classic-kswapd.lrt: no limit, in a guest whose memory is small.
LRUTAPE_VM_MEMORY=128 "$TOP/tests/vm/run.sh" "$("$TOP/tests/vm/get-kernel.sh" 6.12)" "$work/kswapd" \
	"guest-classes.sh kswapd" "$TOP"/tests/vm/guest-classes.sh "$BIN"/lrutape-record "$BIN"/static/* ||
	{ cat "$work/kswapd/said"; fail "kswapd: no recording"; }
grep -q '/kswapd.lrt: no events lost$' "$work/kswapd/said" || fail "kswapd: events were lost"
# And vm-6.12-classic-touches.lrt: mapped pages and anonymous memory with swap; vm-6.12-classic-asked.lrt:
# memory.reclaim of a group without limit.
LRUTAPE_VM_MEMORY=512 LRUTAPE_VM_DATA=1G "$TOP/tests/vm/run.sh" "$("$TOP/tests/vm/get-kernel.sh" 6.12)" "$work/touches" \
	"guest-classes.sh touches asked" "$TOP"/tests/vm/guest-classes.sh "$BIN"/lrutape-record "$BIN"/static/* ||
	{ cat "$work/touches/said"; fail "touches: no recording"; }
# And vm-SERIES-classic-told.lrt: a program's own text, with a probe on folio_referenced().
for series in 6.1 6.12; do
	LRUTAPE_VM_MEMORY=512 LRUTAPE_VM_DATA=1G "$TOP/tests/vm/run.sh" "$("$TOP/tests/vm/get-kernel.sh" $series)" "$work/told" \
		"guest-classes.sh told" "$TOP"/tests/vm/guest-classes.sh "$BIN"/lrutape-record "$BIN"/static/* ||
		{ cat "$work/told/said"; fail "$series: told: no recording"; }
	mv "$work/told/told.lrt" "$work/vm-$series-classic-told.lrt"
done
mkdir -p "$directory"
cp "$work"/vm-*-classic-told.lrt "$directory"
cp "$work/anon/anon_small.lrt" "$directory/vm-6.12-mglru-anon.lrt"
cp "$work/touches/touches.lrt" "$directory/vm-6.12-classic-touches.lrt"
cp "$work/touches/asked.lrt" "$directory/vm-6.12-classic-asked.lrt"
cp "$work/kswapd/kswapd.lrt" "$directory/vm-6.12-classic-kswapd.lrt"
for series in 6.1 6.12; do
	for class in $classes; do
		cp "$work/$series-mglru/$class.lrt" "$directory/vm-$series-mglru-bursts-$class.lrt"
	done
	cp "$work/vm-$series-mglru-global.lrt" "$directory"
	for mode in classic mglru; do
		cp "$work/$series/$mode-pread.lrt" "$directory/vm-$series-$mode-pread.lrt"
		ls -l "$directory/vm-$series-$mode-pread.lrt"
	done
done
