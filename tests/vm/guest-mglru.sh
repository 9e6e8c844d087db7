# SPDX-License-Identifier: GPL-2.0-only
# In the guest: small workloads under MGLRU, one per class, with lru_gen_full read every 100 ms. Reads come
# in bursts, so that some of these readings meet nobody at work. Page-table walks are on: for reads by
# descriptor they change nothing but the group's own program. Class anon, mapped memory with swap, goes
# without, since what they see is on no tape.
# usage: guest-mglru.sh CLASS...    $OUT/CLASS.lrt for each
# shellcheck shell=dash
set -e
echo y >/sys/kernel/mm/lru_gen/enabled
echo "lru_gen enabled $(cat /sys/kernel/mm/lru_gen/enabled), $(uname -r)"

# MGLRU counts each look-up of metadata, which the default leaves out: of other work they are too many.
events=+block:block_touch_buffer
# Kernels before 6.10 have no event for a read: the system calls tell it.
[ -e /sys/kernel/tracing/events/filemap/mm_filemap_get_pages ] ||
	events=$events,+syscalls:sys_enter_pread64,+syscalls:sys_exit_pread64

bursts() { # FILE SIZE READS THREADS BURSTS
	seed=1
	while [ $seed -le "$5" ]; do
		random_read --keep --file "$1" --file-size "$2" --reads "$3" --threads "$4" --seed $seed >/dev/null
		sleep 0.4
		seed=$((seed + 1))
	done
}

# Two groups, each with its limit, two tasks and a file of its own.
two_groups() {
	group=/sys/fs/cgroup/two
	mkdir -p $group
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	echo +memory >$group/cgroup.subtree_control
	for i in a b; do
		mkdir -p $group/$i
		echo 12M >$group/$i/memory.max
		for task in 1 2; do
			(
				echo 0 >$group/$i/cgroup.procs
				seed=$task
				while [ $seed -le 6 ]; do
					random_read --keep --file "$DATA/$i" --file-size 32M --reads 2500 --seed $seed >/dev/null
					sleep 0.4
					seed=$((seed + 2))
				done
			) &
		done
	done
	wait
}

# Two groups without limits, each with a file nine tenths as large as memory: kswapd and direct reclaim make
# the room. No page is on the disk: reading a hole is quick.
global_groups() {
	pages=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB$/\1/p' /proc/meminfo) / 4))
	reads=$((pages * 3 / 4)) # a tape of a small guest stays small
	[ $pages -lt 60000 ] || reads=$((pages * 5 / 2))
	groups=/sys/fs/cgroup/all
	mkdir $groups
	echo +memory >$groups/cgroup.subtree_control
	for i in a b; do
		mkdir $groups/$i
		(
			echo 0 >$groups/$i/cgroup.procs
			exec random_read --keep --file "$DATA/$i" --file-size $((pages * 9 / 10 / 256))M \
				--reads $reads --hot-percent 50 --seed $((pages + $(printf %d "'$i")))
		) &
	done
	wait
}

if [ "${1:-}" = inside ]; then
	shift
	"$@"
	exit
fi
for class; do
	case $class in
	pread) random_read --file "$DATA/f" --file-size 48M --prepare ;;
	sequential) random_read --file "$DATA/f" --file-size 48M --prepare ;;
	two) for i in a b; do random_read --file "$DATA/$i" --file-size 32M --prepare; done ;;
	anon | anon_small) # the latter for a tape to be bundled
		mapped_touch --file "$DATA/m" --file-pages 4000 --prepare
		dd if=/dev/zero of="$DATA/swap" bs=1M count=64 2>/dev/null
		chmod 600 "$DATA/swap"
		mkswap "$DATA/swap" >/dev/null
		swapon "$DATA/swap"
		# Accesses that page-table walks see are on no tape.
		echo 5 >/sys/kernel/mm/lru_gen/enabled
		;;
	global)
		# Compaction moves folios, and has no event for it.
		echo 0 >/proc/sys/vm/watermark_boost_factor
		echo 0 >/proc/sys/vm/compaction_proactiveness
		echo 5 >/sys/kernel/mm/lru_gen/enabled
		echo +memory >/sys/fs/cgroup/cgroup.subtree_control
		for i in a b; do truncate -s 512M "$DATA/$i"; done
		;;
	esac
	sync
	echo 3 >/proc/sys/vm/drop_caches
	record="lrutape-record record -o $OUT/$class.lrt --snapshot-every 0.1 --events $events"
	# shellcheck disable=SC2086 # words
	case $class in
	pread) $record --memory 16M -- sh guest-mglru.sh inside bursts "$DATA/f" 48M 5000 1 6 ;;
	sequential) $record --memory 16M -- mixed_io --file "$DATA/f" --passes 2 ;;
	two)
		$record -- sh guest-mglru.sh inside two_groups
		rmdir /sys/fs/cgroup/two/a /sys/fs/cgroup/two/b /sys/fs/cgroup/two
		;;
	anon | anon_small)
		memory=16M anon=6000 file=4000 ops=40000
		[ $class = anon ] || { memory=8M anon=2500 file=2000 ops=13000; }
		$record --memory $memory -- mapped_touch --anon-pages $anon --file "$DATA/m" --file-pages $file \
			--ops $ops --delay-ns 0
		swapoff "$DATA/swap"
		echo y >/sys/kernel/mm/lru_gen/enabled
		;;
	global)
		$record -- sh guest-mglru.sh inside global_groups
		rmdir /sys/fs/cgroup/all/a /sys/fs/cgroup/all/b /sys/fs/cgroup/all
		;;
	esac
done
