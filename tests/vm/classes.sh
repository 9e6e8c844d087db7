#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Debian's kernels 6.1 and 6.12 with the classic LRU in a guest of 512 MiB: small workloads, one per
# class, recorded there by the static recorder and held against the core, decision by decision. A floor
# each, with room for a busy machine; guest-classes.sh has the workloads. docs/fidelity.md shows what a quiet
# machine gives.
# usage: tests/vm/classes.sh [SERIES...]      BIN names the programs; default 6.1 6.12
#   LRUTAPE_VM_BARS=1     the bars of the core instead of floors, in one attempt (`make agreement-vm`)
#   LRUTAPE_VM_KEEP=dir   leave the tapes there, as SERIES-CLASS.lrt
set -u

TOP=$(cd "$(dirname "$0")/../.." && pwd)
BIN=${BIN:-$TOP/build/release/bin}
export LC_ALL=C TZ=UTC
. "$TOP/tests/vm/tools.bash"

# Percent of the decided that must be equal.
floors() { # series class
	if [[ -n ${LRUTAPE_VM_BARS:-} ]]; then
		bars "$2"
		return
	fi
	case $2 in
	random) echo "victim 99 refault_verdict 99 isolate_request 97 reclaim_stop 97" ;;
	# No refault is decided: the shrinker takes all shadows first, as the kernel's counter of 0 says.
	sequential) echo "victim 99 isolate_request 97 reclaim_stop 97" ;;
	two_groups) echo "victim 98 refault_verdict 98 isolate_request 95" ;;
	# Whose active list was scanned is told by numbers before 6.13.
	protected) echo "victim 75 refault_verdict 97 isolate_request 70" ;;
	high) echo "victim 98 refault_verdict 98 isolate_request 95" ;;
	reclaim) echo "victim 98 refault_verdict 98 isolate_request 95 reclaim_stop 95" ;;
	# What the lists hold is followed until they drift; requests hang on all that came before.
	mapped) echo "victim 95 refault_verdict 95 isolation 90 isolate_request $([[ $1 == 6.1 ]] && echo 50 || echo 80)" ;;
	# A program's own text, and a probe that tells what became of each folio of its active list.
	told) echo "victim 97 refault_verdict 97 isolation 97 isolate_request 95 page_tables 99" ;;
	# When kswapd is woken, and how far it gets beside others, hangs on what else runs.
	global) echo "victim 90 refault_verdict 90 isolate_request 55 reclaim_stop 50" ;;
	esac
}

bars() { # class
	case $1 in
	random) echo "victim 99.95 refault_verdict 99.9" ;;
	sequential) echo "victim 99" ;;
	two_groups) echo "victim 99.5 refault_verdict 99.5" ;;
	mapped) echo "isolation 99 refault_verdict 95" ;;
	told) echo "victim 99 refault_verdict 99 isolation 99 page_tables 99.9" ;;
	protected | high | reclaim) echo "victim 99 refault_verdict 99" ;;
	global) echo "victim 95 refault_verdict 95" ;;
	esac
}

# By how many percent the refaults of a run may be off.
free_floor() { # class
	if [[ -n ${LRUTAPE_VM_BARS:-} ]]; then
		[[ $1 == global ]] && echo 5 || echo 3
	else
		echo 15
	fi
}

work_folder lrutape-vm-classes

# "decision equal decided" over all memcgs of the tape.
shares() { # tape
	"$BIN/lrutape" check --json "$1" 2>/dev/null | tr -d ' "{}' | awk -F, '
		/^memcg:/ {
			delete v
			for (i = 1; i <= NF; i++) { split($i, kv, ":"); v[kv[1]] = kv[2] }
			if (!("decision" in v)) next # a drift
			decided[v["decision"]] += v["decided"]
			equal[v["decision"]] += v["equal"]
		}
		END { for (d in decided) print d, equal[d], decided[d] }'
}

# A run of its own on the tape with no limit anywhere: refaults against the machine's counter. 6.1 has no
# reads on its tapes, so that a run cannot know what was hit.
free_running() { # series class tape
	local off most
	most=$(free_floor "$2")
	[[ $1 != 6.1 ]] || return
	"$BIN/lrutape" replay -o "$work/run.db" "$3" 2>/dev/null
	off=$("$BIN/lrutape" sql --csv "$work/run.db" "SELECT difference_percent FROM v_accuracy
		WHERE name = 'workingset_refault_file' AND ('$2' = 'global' OR memcg = '/$2')" | tr -d '\r' | tail -n +2)
	[[ -n $off ]] || { echo "    free-running: no refaults to compare"; return; }
	printf 'refaults of a run %+.1f %%, ' "$off" >>"$work/figures"
	awk -v off="$off" -v most="$most" 'BEGIN { exit !(off > most || off < -most) }' &&
		echo "    refaults of a run: $off % off, $most are allowed"
}

# What check says of page tables, against the workload's own log of what it touched.
old_pages() { # tape
	local kind word right told share least=95
	[[ -z ${LRUTAPE_VM_BARS:-} ]] || least=99.9
	"$BIN/lrutape" check --verdicts "$work/verdicts.csv" "$1" >"$work/said" 2>&1 || { tail -n 1 "$work/said"; return; }
	while read -r kind word right told share _; do
		[[ $word == old ]] || continue
		printf '%s old %.2f %%, ' "$kind" "$share" >>"$work/figures"
		awk -v a="$share" -v b="$least" 'BEGIN { exit !(a < b) }' &&
			echo "    $kind pages found old: $right of $told are right, the floor is $least %"
	done < <("$TOP/tests/live/tools/verdict_truth.py" "$work/verdicts.csv" "$1.touches")
	[[ $(<"$work/figures") == *"file old"* ]] || echo "    no page was found old"
}

# What is below its floor, on stdout; what is not, in $work/figures.
below() { # series class tape
	local floor least
	shares "$3" >"$work/shares"
	: >"$work/figures"
	read -ra floor <<<"$(floors "$1" "$2")"
	for ((i = 0; i < ${#floor[@]}; i += 2)); do
		least=${floor[i + 1]}
		awk -v d="${floor[i]}" -v least="$least" -v figures="$work/figures" '
			$1 == d && $3 > 0 {
				seen = 1
				printf "%s %.2f %%, ", d, 100 * $2 / $3 >> figures
				if (100 * $2 < least * $3)
					printf "    %s: %d of %d equal, %.2f %%, the floor is %s\n", d, $2, $3, 100 * $2 / $3, least
			}
			END { if (!seen) printf "    %s: nothing was decided\n", d }' "$work/shares" ||
			echo "    awk could not compare"
	done
	[[ $2 != @(high|reclaim|global) ]] || free_running "$1" "$2" "$3"
	[[ $2 != mapped ]] || old_pages "$3"
}

record() { # series kernel classes... ; tapes in $work/SERIES
	local series=$1 kernel=$2
	shift 2
	LRUTAPE_VM_MEMORY=512 LRUTAPE_VM_DATA=1G "$TOP/tests/vm/run.sh" "$kernel" "$work/$series" \
		"guest-classes.sh $*" "$TOP"/tests/vm/guest-classes.sh "$BIN"/lrutape-record "$BIN"/static/* \
		>"$work/said" 2>&1
}

test_kernel() { # series
	local series=$1 kernel status=0 class classes again=() low
	kernel=$("$TOP/tests/vm/get-kernel.sh" "$series" 2>"$work/said") || status=$?
	if ((status)); then
		report "$( ((status == 77)) && echo skipped || echo FAILED )" "tests/vm/classes/$series" "$(tail -n 1 "$work/said")"
		return
	fi
	classes=(random sequential two_groups protected high reclaim mapped told global)
	# Two CPUs' events are merged by their times, and other work may sit on the guest's: one more try each.
	for attempt in 1 2; do
		# Under qemu's TCG a guest panics now and then.
		record "$series" "$kernel" "${classes[@]}" || {
			status=$?
			if ((attempt == 1)); then
				echo "tried again: tests/vm/classes/$series: the guest ended with status $status"
				continue
			fi
			report FAILED "tests/vm/classes/$series" "the guest ended with status $status"
			tail -n 20 "$work/said" | sed 's/^/    | /'
			return
		}
		again=()
		for class in "${classes[@]}"; do
			low=$(below "$series" "$class" "$work/$series/$class.lrt")
			if [[ -z $low ]]; then
				report ok "tests/vm/classes/$series/$class" "$(sed 's/, $//' "$work/figures")"
			elif ((attempt == 1)) && [[ -z ${LRUTAPE_VM_BARS:-} ]]; then
				again+=("$class")
				echo "tried again: tests/vm/classes/$series/$class"
				echo "$low"
			else
				report FAILED "tests/vm/classes/$series/$class" "$(sed 's/, $//' "$work/figures")"
				echo "$low"
			fi
			[[ -z ${LRUTAPE_VM_KEEP:-} ]] || cp "$work/$series/$class.lrt" "$LRUTAPE_VM_KEEP/$series-$class.lrt"
		done
		((${#again[@]})) || break
		classes=("${again[@]}")
	done
}

reason=$(why_no_vm | head -n 1)
(($#)) || set -- 6.1 6.12
for series in "$@"; do
	if [[ -n $reason ]]; then
		report skipped "tests/vm/classes/$series" "$reason"
	else
		test_kernel "$series"
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
