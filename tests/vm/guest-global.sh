# SPDX-License-Identifier: GPL-2.0-only
# In the guest, whose memory is small: record reads that do not fit, with no limit anywhere, so that
# kswapd and direct reclaim make the room.
# shellcheck shell=dash
set -e
file=$DATA/file
echo n >/sys/kernel/mm/lru_gen/enabled
random_read --file "$file" --file-size "${1:-640M}" --prepare
sync
echo 3 >/proc/sys/vm/drop_caches
sleep 1
echo 3 >/proc/sys/vm/drop_caches
grep -E "^nr_(in)?active|^nr_unevic|^nr_mlock" /proc/vmstat
grep MemFree /proc/meminfo
lrutape-record record -o "$OUT/global.lrt" --warm -- \
	random_read --file "$file" --file-size "${1:-640M}" --reads "${2:-250000}"
