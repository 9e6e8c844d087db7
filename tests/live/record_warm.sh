# SPDX-License-Identifier: GPL-2.0-only
# --warm lists the pages on LRU lists, as many as the kernel counts; --warm-file those of a file.
. "$TOP/tests/live/record.bash"

[[ -r /proc/kpageflags ]] || skip "no /proc/kpageflags"
[[ $(stat -f -c %T .) == tmpfs ]] && skip "$PWD is tmpfs, whose pages are not cached pages: set TMPDIR"
head -c 4M /dev/urandom >file
dd if=file of=/dev/null bs=4K 2>/dev/null
sync file

record -o warm.lrt --warm --warm-file file --warm-file /bin/sh -- true
((status == 0)) || fail "exit status $status"
verified warm.lrt
"$LRUTAPE" dump --blob lrutape/warm_files warm.lrt >files || fail "no warm files"
cat files
ino=$(stat -c %i file)
grep -q "^file [0-9]* $ino 1024 file\$" files || fail "the file is not listed"
[[ $(sed -n "/^file [0-9]* $ino /,/^file .*sh\$/p" files | grep -c '^cached 0 1023$') == 1 ]] ||
	fail "not all its pages are cached, or listed"
# What events say of this device agrees.
dev=$(sed -n "s/^file \([0-9]*\) $ino .*/\1/p" files)
record -o reads.lrt -- dd if=file of=none.out bs=4K
"$LRUTAPE" dump --event mm_filemap_get_pages reads.lrt | grep -q "i_ino=$ino s_dev=$dev " || {
	"$LRUTAPE" dump reads.lrt | grep -q mm_filemap_get_pages && fail "events have another device for it than $dev"
	echo "not tried: the device in events (no get_pages on this kernel)"
}

# The machine goes on while it is listed: within 10 % and 32 MiB, and once more if others were busy.
is_near() { # listed counted
	local slack=$(($2 / 10 + 8192))
	(($1 > $2 - slack && $1 < $2 + slack))
}
for attempt in 1 2; do
	"$BIN/warm_pages" warm.lrt >pages || fail "warm_pages: exit status $?"
	cat pages
	read -r _ listed _ anon _ file _ counted_anon _ counted_file <pages
	is_near "$anon" "$counted_anon" && is_near "$file" "$counted_file" && break
	((attempt == 2)) && fail "anon $anon, file $file pages listed, the kernel counts $counted_anon, $counted_file"
	echo "tried again: memory came or went while it was listed"
	record -o warm.lrt --warm -- true
done
((listed > 0)) || fail "nothing is listed"
"$LRUTAPE" info --json warm.lrt | grep -q '"start":"listed"' || fail "info does not tell of the warm start"

record -o none.lrt --warm-file no-such-file -- true
((status == 1)) && said 'no-such-file: No such file' || fail "a file that is not there: exit status $status"
[[ ! -e none.lrt ]] || fail "none.lrt is left"
