# SPDX-License-Identifier: GPL-2.0-only
# In a guest with 512 MiB: one recording for each class of workload named, with the classic LRU.
#   random      reads that do not fit under a limit
#   sequential  passes over a file, with readahead
#   two_groups  two limited groups with two readers each
#   protected   below one limit, a group with memory.low beside one without
#   high        a group with memory.high and no limit
#   reclaim     a group without either, from which somebody outside takes memory: memory.reclaim
#   asked       the same, shorter and with one thing after the other: the bundled tape
#   mapped      random touches of a mapped file and of anonymous memory, with swap
#   global      no limit anywhere: kswapd and direct reclaim make the room
#   kswapd      the same in a guest of 128 MiB: the bundled tape
#   touches     the class mapped, small: the bundled tape
#   probe       the class mapped, with --probe-referenced
#   text        touches of a program's own text and data, more than it may have, with --probe-referenced
#   untold      the same without: what the probe is for
#   told        the class text, small: the bundled tape; and what becomes of probes when their recorder is killed
# usage: guest-classes.sh CLASS...      leaves CLASS.lrt each
# shellcheck shell=dash
set -e
readers=
file=$DATA/file
groups=/sys/fs/cgroup

fresh() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	echo 3 >/proc/sys/vm/drop_caches
}

# The readers of a group: each argument is one's file.
read_in() { # group reads file...
	local group=$1 reads=$2 seed=11
	shift 2
	for name in "$@"; do
		seed=$((seed + 1))
		sh -c 'echo $$ >"$1/cgroup.procs"; exec random_read --keep --file "$2" --file-size "$3" --reads "$4" --seed "$5"' \
			- "$group" "$DATA/$name" 96M "$reads" $seed &
		readers="$readers $!"
	done
}

# Record a group that was made before, with what is set there, while a function reads in it.
record_group() { # class function
	lrutape-record record -o "$OUT/$1.lrt" --cgroup "/$1" &
	recorder=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ -s "$OUT/$1.lrt" ] && break
		sleep 1
	done
	sleep 1
	$2
	kill -TERM $recorder
	wait $recorder
}

two_groups() {
	read_in $groups/two_groups/a 40000 a a
	read_in $groups/two_groups/b 40000 b b
	wait_for_readers
}

protected() {
	read_in $groups/protected/a 60000 a
	read_in $groups/protected/b 60000 b
	wait_for_readers
}

high() {
	read_in $groups/high 80000 a
	wait_for_readers
}

reclaim() {
	read_in $groups/reclaim 80000 a
	for reader in $readers; do
		while kill -0 "$reader" 2>/dev/null; do
			sleep 1
			echo 6M >$groups/reclaim/memory.reclaim
		done
	done 2>/dev/null
	wait_for_readers
}

# As many pages of a mapped file as of anonymous memory, with swap.
touches() { # class limit pages touches [option of the recorder]...
	local class=$1 limit=$2 pages=$3 touches=$4
	shift 4
	dd if=/dev/zero of="$DATA/swap" bs=1M count=128 2>/dev/null
	chmod 600 "$DATA/swap"
	mkswap "$DATA/swap" >/dev/null
	swapon "$DATA/swap"
	lrutape-record record -o "$OUT/$class.lrt" --memory "$limit" "$@" -- logged_touch --file "$DATA/a" \
		--file-pages "$pages" --anon-pages "$pages" --touches "$touches" --log "$DATA/touches"
	mv "$DATA/touches" "$OUT/$class.lrt.touches"
	swapoff "$DATA/swap"
	rm "$DATA/swap"
}

# No anonymous memory: what turns over is the program itself.
text() { # class limit pages touches [option of the recorder]...
	local class=$1 limit=$2 pages=$3 touches=$4
	shift 4
	lrutape-record record -o "$OUT/$class.lrt" --memory "$limit" "$@" -- logged_touch --text \
		--file "$DATA/a" --file-pages "$pages" --touches "$touches" --log "$DATA/touches"
	mv "$DATA/touches" "$OUT/$class.lrt.touches"
}

probes() { # what is to be there
	grep lrutape_ /sys/kernel/tracing/kprobe_events >/tmp/probes || :
	[ "$(wc -l </tmp/probes)" -gt 0 ] && [ "$1" = some ] && return
	[ "$(wc -l </tmp/probes)" = 0 ] && [ "$1" = none ] && return
	echo "probes: $1 should be there, and these are:"
	cat /tmp/probes
	return 1
}

# Probes outlive a recorder that is killed, and no other end; the next recorder removes them.
leave_probes() {
	for signal in KILL TERM; do
		lrutape-record record -o /tmp/left.lrt --probe-referenced --all &
		recorder=$!
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			[ -s /tmp/left.lrt ] && break
			sleep 1
		done
		probes some
		kill -$signal $recorder
		wait $recorder || :
		if [ $signal = KILL ]; then probes some; else probes none; fi
		rm /tmp/left.lrt
	done
}

asked() {
	for bytes in 3M 2M 4M; do
		read_in $groups/asked 7000 a
		wait_for_readers
		echo $bytes >$groups/asked/memory.reclaim
	done
}

wait_for_readers() {
	for reader in $readers; do wait "$reader"; done
	readers=
}

if [ -e /sys/kernel/mm/lru_gen/enabled ]; then
	echo n >/sys/kernel/mm/lru_gen/enabled
fi
echo +memory >$groups/cgroup.subtree_control
for class in "$@"; do
	if [ "$class" = kswapd ]; then
		random_read --file "$DATA/small" --file-size 160M --prepare
	else
		random_read --file "$file" --file-size 640M --prepare
		random_read --file "$DATA/a" --file-size 96M --prepare
		random_read --file "$DATA/b" --file-size 96M --prepare
	fi
	fresh
	case $class in
	random)
		lrutape-record record -o "$OUT/random.lrt" --memory 32M -- \
			random_read --file "$DATA/a" --file-size 96M --reads 80000
		;;
	sequential)
		lrutape-record record -o "$OUT/sequential.lrt" --memory 32M -- \
			mixed_io --file "$DATA/a" --passes 3
		;;
	two_groups)
		mkdir $groups/two_groups
		echo +memory >$groups/two_groups/cgroup.subtree_control
		for group in a b; do
			mkdir $groups/two_groups/$group
			echo 24M >$groups/two_groups/$group/memory.max
		done
		record_group two_groups two_groups
		rmdir $groups/two_groups/a $groups/two_groups/b $groups/two_groups
		;;
	protected)
		mkdir $groups/protected
		echo +memory >$groups/protected/cgroup.subtree_control
		echo 64M >$groups/protected/memory.max
		mkdir $groups/protected/a $groups/protected/b
		echo 40M >$groups/protected/a/memory.low
		record_group protected protected
		rmdir $groups/protected/a $groups/protected/b $groups/protected
		;;
	high)
		mkdir $groups/high
		echo 32M >$groups/high/memory.high
		record_group high high
		rmdir $groups/high
		;;
	reclaim)
		mkdir $groups/reclaim
		record_group reclaim reclaim
		rmdir $groups/reclaim
		;;
	mapped) touches mapped 32M 6144 120000 ;;
	touches) touches touches 8M 1536 24000 ;;
	probe) touches probe 32M 6144 120000 --probe-referenced ;;
	text) text text 12M 4096 12000 --probe-referenced ;;
	told)
		echo 'p:ours/folio folio_referenced' >>/sys/kernel/tracing/kprobe_events
		leave_probes
		text told 5M 1536 3000 --probe-referenced
		probes none
		# Others' probes stay.
		grep -q p:ours/folio /sys/kernel/tracing/kprobe_events
		echo '-:ours/folio' >>/sys/kernel/tracing/kprobe_events
		;;
	untold) text untold 12M 4096 12000 ;;
	asked)
		mkdir $groups/asked
		record_group asked asked
		rmdir $groups/asked
		;;
	global)
		lrutape-record record -o "$OUT/global.lrt" --warm -- \
			random_read --file "$file" --file-size 640M --reads 600000
		;;
	kswapd)
		lrutape-record record -o "$OUT/kswapd.lrt" --buffer-size 2M -- \
			random_read --file "$DATA/small" --file-size 160M --reads 40000 --hot-percent 60
		;;
	esac
	echo "class $class recorded"
done
