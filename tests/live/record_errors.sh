# SPDX-License-Identifier: GPL-2.0-only
# What can go wrong around a recording gets its message with a remedy, and leaves nothing.
. "$TOP/tests/live/record.bash"

expect() { # status pattern: of the last recording
	((status == $1)) || fail "exit status $status, expected $1"
	said "$2" || fail "no such message: $2"
	echo "ok: $(grep -- "$2" said)"
}

no_tape() {
	[[ -e $1 ]] && fail "$1 is left behind"
	return 0
}

record -o a.lrt --events pagemap:mm_lru_insertoin -- true
expect 1 'mm_lru_insertoin: this kernel has no such event; near: pagemap:mm_lru_insertion'
no_tape a.lrt

record -o a.lrt --events '+kmem:mm_page_free if colour == 7' -- true
expect 1 'the kernel refuses "colour == 7": Invalid argument (Field not found)'
no_tape a.lrt

record -o no/such/directory/a.lrt -- true
expect 1 'no/such/directory/a.lrt: No such file or directory'

echo '#!/no/such/interpreter' >script
chmod +x script
record -o a.lrt -- ./script
expect 1 'script: cannot run this command'
no_tape a.lrt

record -o a.lrt -- "$TEST_TMP"
expect 1 'cannot run this command: Permission denied'
no_tape a.lrt

record -o a.lrt --buffer-size 1000000G -- true
expect 1 'choose a smaller --buffer-size'
no_tape a.lrt

record -o a.lrt -- bash -c 'exit 7'
((status == 7)) || fail "exit status $status, the command's was 7"
verified a.lrt
record -o a.lrt -- bash -c 'kill -KILL $$'
((status == 137)) || fail "exit status $status, the command was killed"
verified a.lrt
rm a.lrt

# Everything below needs more of this machine than recording does.

if setpriv --reuid=65534 --clear-groups "$LRUTAPE" --version >/dev/null 2>&1; then
	setpriv --reuid=65534 --clear-groups "$LRUTAPE" record -o /tmp/lrutape-none.lrt -- true >printed 2>said
	status=$?
	expect 1 'recording needs root'
	no_tape /tmp/lrutape-none.lrt
else
	echo "not tried: recording as another user (setpriv, or $LRUTAPE is not readable for others)"
fi

if unshare -m true 2>/dev/null; then
	unshare -m bash -c 'umount -a -t tracefs; exec "$0" record -o a.lrt -- true' "$LRUTAPE" >printed 2>said
	status=$?
	expect 1 'no tracefs is mounted'
	no_tape a.lrt

	# A disk of 1 MiB that fills: recording stops, the command does not, the tape is readable so far.
	unshare -m bash -c '
		mount -t tmpfs -o size=1m lrutape-test /mnt || exit 99
		"$0" record -o /mnt/full.lrt -- bash -c "\"$1\" --huge-kib 0 --loops 30; echo ran to its end"
		status=$?
		cp /mnt/full.lrt full.lrt
		exit $status' "$LRUTAPE" "$BIN/anon_churn" >printed 2>said
	status=$?
	expect 1 'full.lrt: No space left on device'
	said 'recording stopped, the command runs on' || fail "it does not tell that the command runs on"
	grep -q 'ran to its end' printed || fail "the command did not run to its end"
	"$LRUTAPE" dump full.lrt >text 2>said || fail "the tape of a full disk is not readable"
	at_least "events before the disk was full" "$(wc -l <text)" 10000
else
	echo "not tried: no tracefs, disk full (no mount namespaces here)"
fi

if [[ -n $(memcg_mount) ]]; then
	record -o a.lrt --memory 1M -- "$BIN/anon_churn" --threads 1 --loops 1
	expect 137 'the memory limit of 1024K killed 1 task of the command: raise --memory'
	verified a.lrt
	# The shell outlives the task that was killed and hides it.
	record -o a.lrt --memory 4M -- bash -c '"$1" --threads 1 --loops 1; exit 0' - "$BIN/anon_churn"
	expect 1 'the memory limit of 4096K killed'

	# A process that the command leaves behind keeps its group until it ends.
	"$LRUTAPE" record -o a.lrt --memory 64M -- bash -c 'sleep 60 & echo $! >left.pid' >printed 2>said
	status=$?
	expect 0 'still in it: 1 process of the command'
	kill -9 "$(<left.pid)"
	sleep 0.2
	record -o a.lrt -- true
	expect 0 'which is gone: removed'
else
	echo "not tried: memory limits (no memory cgroup is mounted)"
fi
