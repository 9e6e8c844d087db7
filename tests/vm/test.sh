#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Debian's kernels 6.1 and 6.12, classic LRU and MGLRU: the static recorder records there, and its tape
# holds exactly the events that the kernel prints of the same ring buffer. And what `lrutape check` predicts of
# MGLRU's decisions there, by class of workload, with a floor.
# usage: tests/vm/test.sh [SERIES...]      BIN names the programs; default 6.1 6.12
set -u

TOP=$(cd "$(dirname "$0")/../.." && pwd)
BIN=${BIN:-$TOP/build/release/bin}
export LC_ALL=C TZ=UTC
. "$TOP/tests/vm/tools.bash"

work_folder lrutape-test-vm

# What was compared, and what is wrong with a tape, on stdout.
compare() { # out mode series
	local tape=$1/$2.lrt enabled wrong=0
	enabled=$("$BIN/lrutape" dump --blob /sys/kernel/mm/lru_gen/enabled "$tape")
	case $2,$enabled in
	classic,0x0000 | mglru,0x000[1-9a-f]) ;;
	*) wrong=1; echo "    lru_gen was $enabled" ;;
	esac
	[[ $("$BIN/lrutape" dump --blob lrutape/release "$tape") == "$3"[.-]* ]] ||
		{ wrong=1; echo "    the tape is not of $3"; }
	grep -q "/$2.lrt: no events lost\$" "$1/said" || { wrong=1; echo "    the recorder lost events"; }
	"$BIN/lrutape" verify "$tape" >"$work/verify" 2>&1 || { wrong=1; sed 's/^/    /' "$work/verify"; }
	"$TOP/tests/vm/compare-text.py" "$BIN/lrutape" "$1/$2" || wrong=1
	return $wrong
}

test_kernel() { # series
	local series=$1 kernel status=0 start=$SECONDS out=$work/$1 mode
	kernel=$("$TOP/tests/vm/get-kernel.sh" "$series" 2>"$work/said") || status=$?
	if ((status)); then
		report "$( ((status == 77)) && echo skipped || echo FAILED )" "tests/vm/$series" "$(tail -n 1 "$work/said")"
		return
	fi
	"$TOP/tests/vm/run.sh" "$kernel" "$out" "guest-record.sh text" "$TOP"/tests/vm/guest-*.sh \
		"$BIN"/lrutape-record "$BIN"/static/* >"$work/said" 2>&1 || status=$?
	if ((status)); then
		report FAILED "tests/vm/$series" "the guest ended with $status, $((SECONDS - start)) s"
		cat "$work/said" "$out/said" 2>/dev/null | tail -n 30 | sed 's/^/    | /'
		return
	fi
	report ok "tests/vm/$series boots and records" "${kernel##*/}, $((SECONDS - start)) s"
	for mode in classic mglru; do
		status=0
		compare "$out" $mode "$series" >"$work/said" 2>&1 || status=1
		report "$( ((status)) && echo FAILED || echo ok )" "tests/vm/$series $mode as the kernel prints it" \
			"$(sed -n 's/^    \([0-9]* events of [0-9]* kinds\): .*/\1/p' "$work/said")"
		cat "$work/said"
	done
	# The comparison sees one digit of one event: a pfn in the middle of the text.
	sed -i "$(($(wc -l <"$out/classic.txt") / 2)),\$ { /pfn=0x/ { s/pfn=0x/pfn=0x1/; :rest; n; b rest } }" "$out/classic.txt"
	"$TOP/tests/vm/compare-text.py" "$BIN/lrutape" "$out/classic" >"$work/said" 2>&1
	status=$?
	grep -q '; 1 differences$' "$work/said" || status=0
	report "$( ((status)) && echo ok || echo FAILED )" "tests/vm/$series a changed digit is seen" \
		"$(head -n 1 "$work/said" | sed 's/^ *//')"
}

# The group's share of equal decisions by kind, "KIND equal decided percent".
shares() { # tape
	"$TOP/tests/vm/mglru-shares.py" "$BIN/lrutape" "$1"
}

# Floors have room for noise, and for what no tape shows: look-ups of metadata that have no event, and whether a
# write ended before or after its folio was put back. A tape of few snapshots has some 60 figures: one such
# folio is in one or two of each snapshot from its eviction on. `make bars-vm` has the strict figures.
# Reclaim from everybody needs a small guest. 6.1 has no events of isolations, so that there a victim may be
# taken for that of another task's scan.
test_mglru() { # series class...
	local memory series=$1 kernel out=$work/$1-mglru class kind equal decided percent floor try said
	kernel=$("$TOP/tests/vm/get-kernel.sh" "$series" 2>/dev/null) || return 0 # told already
	shift
	for class in "$@"; do
		memory=1024
		[[ $class == global ]] && memory=160
		for try in 1 2; do
			LRUTAPE_VM_MEMORY=$memory LRUTAPE_VM_DATA=1G \
				"$TOP/tests/vm/run.sh" "$kernel" "$out" "guest-mglru.sh $class" "$TOP"/tests/vm/guest-*.sh \
				"$BIN"/lrutape-record "$BIN"/static/* >"$work/said" 2>&1 || {
				report FAILED "tests/vm/$series MGLRU, $class" "no recording"
				tail -n 20 "$work/said" | sed 's/^/    | /'
				continue 2
			}
			said=$(shares "$out/$class.lrt" | while read -r kind equal decided percent; do
				floor=98
				[[ $class == global ]] && floor=95
				[[ $class,$kind == global,isolations ]] && floor=90
				[[ $kind == snapshots ]] && floor=90
				[[ $class == anon ]] && floor=85
				[[ $class == anon && $kind == snapshots ]] && floor=60
				[[ $class,$series == global,6.1 ]] && floor=85
				[[ $class,$kind == global,snapshots ]] && floor=60
				printf '%s %s of %s, ' "$kind" "$equal" "$decided"
				awk "BEGIN { exit !($percent < $floor) }" && printf 'BELOW %s, ' "$floor"
			done)
			[[ $said == *victims* && $said != *BELOW* ]] && break
			((try == 1)) && echo "    $class: ${said%, }: once more, the machine may have been busy"
		done
		if [[ $said == *victims* && $said != *BELOW* ]]; then
			report ok "tests/vm/$series MGLRU, $class" "${said%, }"
		else
			report FAILED "tests/vm/$series MGLRU, $class" "${said%, }"
		fi
	done
}

reason=$(why_no_vm | head -n 1)
(($#)) || set -- 6.1 6.12
for series in "$@"; do
	if [[ -n $reason ]]; then
		report skipped "tests/vm/$series" "$reason"
	else
		test_kernel "$series"
		# 6.1 has no events of isolations, nor of faults: nobody can follow mapped memory there.
		test_mglru "$series" pread sequential two global $([[ $series == 6.1 ]] || echo anon)
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
