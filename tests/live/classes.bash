# SPDX-License-Identifier: GPL-2.0-only
# Sourced: small workloads, one per class, recorded and held against the core. $BIN has the programs; the
# working directory takes the files. Nothing here asks whether recording is possible.

. "$TOP/tests/live/workload/sqlite_load.bash"

class_files() {
	"$BIN/random_read" --file data --file-size 192M --prepare >/dev/null &&
		"$BIN/random_read" --file data.a --file-size 96M --prepare >/dev/null &&
		"$BIN/random_read" --file data.b --file-size 96M --prepare >/dev/null
}

# Some 9,000 files of the machine's own, in a tree of their own, of which nothing is in memory and no
# eviction is remembered: the kernel counts a refault for shadows older than the tape, which has no sign
# of them.
class_tree() {
	[[ -d tree ]] || { mkdir tree && cp -r /usr/include /usr/share/perl tree; } || return
	"$BIN/uncache" tree
}

# This project's sources and a compiler of its own, so that its pages are no other group's.
class_compiler() {
	[[ -d compiler ]] || {
		mkdir compiler &&
			cp "$(gcc -print-prog-name=cc1)" "$(command -v as)" compiler &&
			cp -rL "$TOP/replay" "$TOP/schema" compiler
	} || return
	"$BIN/uncache" compiler
}

# What the compiler's file needs, and so much besides that its data, its output and the sources displace some of
# it again and again, MiB. With 3 MiB more its pages come back in two or three windows; with 3 MiB less it
# turns its own text over, and nothing tells which of the pages an active list's look found young.
class_compiler_limit() {
	echo $(($(stat -c %s compiler/cc1) / 1048576 + 12))
}

# What a class needs besides class_files(), made anew for each recording.
class_prepare() { # class
	case $1 in
	grep) class_tree ;;
	git_grep)
		class_tree &&
			{ [[ -d tree/.git ]] || git -C tree init -q; } &&
			git -C tree add -A 2>/dev/null &&
			git -C tree -c user.name=x -c user.email=x@x commit -q --allow-empty -m tree &&
			"$BIN/uncache" tree
		;;
	compile) class_compiler ;;
	anon_swap | mapped | mapped_flushed | swap_limit) "$BIN/uncache" data ;;
	taken_from | advice) "$BIN/uncache" data.a ;;
	sqlite) sqlite_load_prepare load.sqlite load.sql && "$BIN/uncache" load.sqlite ;;
	esac
}

# Two limited groups with two readers each, one on each of two CPUs. They are there before the recording and
# after it, so that their statistics are on the tape.
class_two_groups() { # command...
	local group recorder status readers=() i n=0
	group=$(memcg_mount)/lrutape-two-$BASHPID
	for i in a b; do
		mkdir -p "$group/$i" || return
		if [[ -e $group/$i/memory.limit_in_bytes ]]; then
			echo 40M >"$group/$i/memory.limit_in_bytes"
		else
			echo +memory >"$group/cgroup.subtree_control"
			echo 40M >"$group/$i/memory.max"
		fi
	done
	"$@" --cgroup "$group" &
	recorder=$!
	sleep 1.5
	for i in a b a b; do
		(
			echo "$BASHPID" >"$group/$i/cgroup.procs"
			exec taskset -c $((n / 2 % $(nproc))) "$BIN/random_read" --file "data.$i" --file-size 96M \
				--reads 60000 --seed $((RANDOM + 1)) >/dev/null
		) &
		readers[n++]=$!
	done
	wait "${readers[@]}"
	sleep 2.5 # statistics are flushed every two seconds
	kill -INT "$recorder"
	wait "$recorder"
	status=$?
	rmdir "$group/a" "$group/b" "$group"
	return $status
}

# A reader in a group without limit, which somebody outside empties again and again: force_empty of v1,
# memory.reclaim of v2.
class_taken_from() {
	local mount group reader
	mount=$(memcg_mount)
	group=$mount/lrutape-taken-$BASHPID
	mkdir "$group" || return
	(
		echo "$BASHPID" >"$group/cgroup.procs"
		exec "$BIN/random_read" --file data.a --file-size 96M --reads 90000 >/dev/null
	) &
	reader=$!
	while kill -0 "$reader" 2>/dev/null; do
		sleep 0.2
		if [[ -e $group/memory.force_empty ]]; then
			echo 0 >"$group/memory.force_empty"
		else
			echo 4M >"$group/memory.reclaim"
		fi
	done 2>/dev/null
	wait
	rmdir "$group"
}

# Random reads, while kcompactd moves what there is on the machine, twice. A shell of its own, for its trap.
class_moved() ( # command...
	proactive=/proc/sys/vm/compaction_proactiveness
	[[ -w $proactive ]] || { echo "no $proactive" >&2; exit 1; }
	old=$(<$proactive)
	trap 'echo "$old" >"$proactive"' EXIT
	trap 'exit 130' INT TERM HUP
	for n in 1 2; do
		sleep 0.7
		echo 100 >$proactive
	done &
	"$@"
	status=$?
	wait
	exit $status
)

advice_kinds="cold pageout free lock lockall dontneed cut shmem splice split"

# A limited group for each kind of advice, one after the other.
class_advice() {
	local mount group kind pages status=0
	mount=$(memcg_mount)
	group=$mount/lrutape-advice-$BASHPID
	for kind in $advice_kinds; do
		mkdir -p "$group/$kind" || return
		if [[ -e $group/$kind/memory.limit_in_bytes ]]; then
			echo 32M >"$group/$kind/memory.limit_in_bytes"
		else
			echo +memory >"$group/cgroup.subtree_control"
			echo 32M >"$group/$kind/memory.max"
		fi
		pages=6144
		[[ $kind == split ]] && pages=9216 # large folios go where little else is left
		(
			echo "$BASHPID" >"$group/$kind/cgroup.procs"
			exec "$BIN/advise" "$kind" --file data.a --file-pages 8192 --memory-pages "$pages" --ops 20000
		) || status=1
		"$BIN/uncache" data.a # or it would be charged to this kind for ever
		rmdir "$group/$kind"
	done
	rmdir "$group"
	return $status
}

# Runs a command with a swap file, where nothing else is swapped to; the file is gone afterwards.
class_with_swap() ( # command...; a shell of its own, for its trap
	[[ $(wc -l </proc/swaps) == 1 ]] || { echo "something is swapped to already" >&2; exit 1; }
	trap 'swapoff swapfile 2>/dev/null; rm -f swapfile' EXIT
	trap 'exit 130' INT TERM HUP
	dd if=/dev/zero of=swapfile bs=1M count=256 status=none && chmod 600 swapfile && mkswap -q swapfile &&
		swapon swapfile || exit
	"$@"
)

class_record() { # class tape; some classes take $CLASS_MEMORY as their limit, if it is set
	local flush='' record=("$LRUTAPE" record -o "$2")
	class_prepare "$1" >/dev/null || return
	case $1 in
	random_reads) "${record[@]}" --memory "${CLASS_MEMORY:-64M}" -- "$BIN/random_read" --file data --reads 150000 ;;
	moved) class_moved "${record[@]}" --memory 64M -- "$BIN/random_read" --file data --reads 150000 ;;
	two_groups)
		class_two_groups "${record[@]}"
		;;
	taken_from)
		export BIN
		"${record[@]}" -- bash -c "$(declare -f memcg_mount class_taken_from); class_taken_from"
		;;
	sequential) "${record[@]}" --memory 64M -- "$BIN/mixed_io" --file data --passes 3 ;;
	reads_and_writes)
		"${record[@]}" --memory 64M -- "$BIN/mixed_io" --file data --ops 100000 --write-percent 20
		;;
	grep)
		"${record[@]}" --memory 48M -- bash -c \
			'for n in 1 2; do grep -rqs "no such words in there" tree; done; :'
		;;
	git_grep)
		"${record[@]}" --memory 48M -- bash -c \
			'cd tree; for n in 1 2 3; do git grep -q "no such words in there"; done; :'
		;;
	anon_swap)
		class_with_swap "${record[@]}" --memory "${CLASS_MEMORY:-64M}" -- bash -c \
			"'$BIN/mixed_io' --file data --ops 60000 & '$BIN/logged_touch' --anon-pages 20480 --touches 300000; wait"
		;;
	swap_limit)
		class_with_swap "${record[@]}" --memory 64M --swap 5M -- bash -c \
			"'$BIN/logged_touch' --anon-pages 17900 --touches 400000 & sleep 0.3; '$BIN/mixed_io' --file data --ops 60000; wait"
		;;
	mapped | mapped_flushed)
		[[ ! -d /sys/kernel/tracing/events/tlb/tlb_flush ]] || record+=(--events +tlb:tlb_flush) # for class_verdicts()
		[[ $1 == mapped ]] || flush=--flush-tlb
		class_with_swap "${record[@]}" --memory "${CLASS_MEMORY:-64M}" -- "$BIN/logged_touch" --file data --file-pages 12288 \
			--anon-pages 12288 --touches 250000 --neighbour $flush --log "$2.touches"
		;;
	advice)
		export BIN advice_kinds
		class_with_swap "${record[@]}" -- \
			bash -c "$(declare -f memcg_mount class_advice); class_advice"
		;;
	compile)
		"${record[@]}" --memory "$(class_compiler_limit)M" -- bash -c \
			'cd compiler
			for n in 1 2; do
				for file in $(printf "%s\n" replay/*/*.c | head -n 45); do
					gcc -B. -I. -w -O1 -g -D_GNU_SOURCE -c -o object.o "$file"
				done
			done; :'
		;;
	sqlite) "${record[@]}" --memory 32M -- bash -c 'sqlite3 load.sqlite <load.sql' ;;
	esac >/dev/null 2>"$TEST_TMP/said"
}

# "decision equal decided share" over the memcgs that the tape is about, or over one of them. Other
# recordings may run beside.
class_shares() { # tape, or what check --json has said of it; [name of the memcg]
	{ [[ $1 == *.json ]] && cat "$1" || "$LRUTAPE" check --json "$1" 2>/dev/null; } | python3 -c '
import collections, json, sys
checked = json.load(sys.stdin)
name = "".join(sys.argv[1:])
about = checked["command_memcg"]
groups = ("/lrutape-two-", "/lrutape-taken-", "/lrutape-advice-")
if any(row["memcg"].startswith(groups) for row in checked["decisions"]):
    about = groups
equal, decided = collections.Counter(), collections.Counter()
for row in checked["decisions"]:
    if row["memcg"].startswith(about) and row["memcg"].endswith("/" + name if name else ""):
        equal[row["decision"]] += row["equal"]
        decided[row["decision"]] += row["decided"]
for name, nr in decided.items():
    print(name, equal[name], nr, "%.3f" % (100 * equal[name] / nr))' ${2:+"$2"}
}

# "kind word right told share hidden" of what check says of page tables, against the workload's own log.
class_verdicts() { # tape
	"$LRUTAPE" check --verdicts verdicts.csv "$1" >/dev/null 2>&1 &&
		"$LRUTAPE" dump --event tlb_flush "$1" >flushes &&
		"$TOP/tests/live/tools/verdict_truth.py" verdicts.csv "$1.touches" flushes
	rm -f verdicts.csv flushes
}
