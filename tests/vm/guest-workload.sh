# SPDX-License-Identifier: GPL-2.0-only
# In the guest: a bit of each kind of event. Reads that do not fit, with readahead and without, written
# pages, memory that comes and goes (in folios of 16 kB where the kernel has them), forks.
# shellcheck shell=dash
set -e
random_read --file "$DATA/file" --file-size 48M --reads 10000 --threads 2
cat "$DATA/file" >/dev/null
dd if=/dev/zero of="$DATA/written" bs=64k count=64 2>/dev/null
rm "$DATA/written"
thp=--thp-16k
[ -e /sys/kernel/mm/transparent_hugepage/hugepages-16kB ] || thp=--huge-kib=0
anon_churn --threads 2 --size 4 --loops 2 $thp
