# SPDX-License-Identifier: GPL-2.0-only
# The static recorder in a root that holds nothing else: it records there, and reads what it recorded.
. "$TOP/tests/live/record.bash"

recorder_file=$BIN/lrutape-record
nr_reads=20000
[[ -x $recorder_file ]] || skip "no lrutape-record: \`make static\` needs libtracefs.a, libtraceevent.a, libzstd.a"
[[ $(stat -f -c %T .) == tmpfs ]] && skip "$PWD is tmpfs, which has no page cache events: set TMPDIR"
[[ -n $(memcg_mount) ]] || skip "no memory cgroup is mounted"

bytes=$(stat -c %s "$recorder_file")
((bytes < 4 << 20)) || fail "lrutape-record has $bytes bytes, expected less than 4 MiB"

mkdir -p root/proc root/sys
cp "$recorder_file" "$BIN/static/random_read" root/
./root/random_read --file root/data --file-size 48M --prepare || fail "random_read --prepare"

# The mounts live in a namespace of their own, and end with it.
inside() {
	unshare --mount --propagation private bash -c '
		mount --rbind /proc root/proc && mount --rbind /sys root/sys || exit 99
		exec chroot root "$@"' inside "$@"
}

for attempt in 1 2; do
	inside /lrutape-record record -o /reads.lrt --memory 16M -- \
		/random_read --file /data --file-size 48M --reads $nr_reads >printed 2>said || fail "exit status $?"
	said 'no events lost' && break
	((attempt == 2)) && fail "events lost in both attempts"
	echo "tried again: this machine was so busy that events were lost"
done
cat said printed

inside /lrutape-record verify /reads.lrt || fail "verify in the chroot: exit status $?"
inside /lrutape-record info /reads.lrt >info.static || fail "info in the chroot: exit status $?"
inside /lrutape-record dump /reads.lrt >dump.static || fail "dump in the chroot: exit status $?"
"$LRUTAPE" dump root/reads.lrt >dump.shared
cmp dump.static dump.shared || fail "lrutape-record and lrutape dump different events"
nr_got=$(grep -w "i_ino=$(stat -c %i root/data)" dump.shared | grep -c ' mm_filemap_get_pages: ')
((nr_got == nr_reads)) || fail "$nr_got reads seen of $nr_reads"

# What stays at home is named, and is no crash.
inside /lrutape-record replay /reads.lrt 2>said && fail "lrutape-record replays"
said 'replay: not in lrutape-record' || fail "the message does not name the command"
rm root/reads.lrt
