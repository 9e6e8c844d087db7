# SPDX-License-Identifier: GPL-2.0-only
# In the guest: record reads that do not fit, under the classic LRU and under MGLRU.
# usage: guest-record.sh tapes     MODE-pread.lrt for each: the recorder's default events, to be kept
#        guest-record.sh text      MODE.lrt, beside the kernel's own text of the same ring buffer
# shellcheck shell=dash
set -e
what=$1
file=$DATA/file

lru_gen() { # classic|mglru
	case $1 in
	classic) echo n >/sys/kernel/mm/lru_gen/enabled ;;
	mglru) echo y >/sys/kernel/mm/lru_gen/enabled ;;
	esac
	echo "$1: lru_gen enabled $(cat /sys/kernel/mm/lru_gen/enabled)"
}

random_read --file "$file" --file-size 48M --prepare
for mode in classic mglru; do
	lru_gen $mode
	sync
	echo 3 >/proc/sys/vm/drop_caches
	case $what in
	tapes)
		lrutape-record record -o "$OUT/$mode-pread.lrt" --memory 16M -- \
			random_read --file "$file" --file-size 48M --reads 40000
		;;
	text)
		lrutape-record record -o "$OUT/$mode.lrt" --memory 16M --buffer-size 48M \
			--events '+kmem:mm_page_alloc,+kmem:mm_page_free,+kmem:mm_page_free_batched' -- \
			sh guest-with-text.sh "$OUT/$mode" \
			sh guest-workload.sh
		;;
	esac
done
