# SPDX-License-Identifier: GPL-2.0-only
# With a buffer that is too small, losses are told loudly, located on the tape and counted.
. "$TOP/tests/live/record.bash"

events=+kmem:mm_page_alloc,+kmem:mm_page_free
for attempt in 1 2; do
	record -o lossy.lrt --buffer-size 64K --events $events -- "$BIN/anon_churn" --huge-kib 0 --loops 5
	((status == 0)) || fail "exit status $status: losses are told, but are no failure"
	said 'EVENTS LOST on CPU [0-9]*: [1-9][0-9]* in [1-9][0-9]* places' && break
	((attempt == 2)) && fail "nothing lost with 64 KiB, twice"
	echo "tried again: nothing was lost with 64 KiB"
done
cat said
said 'no events lost' && fail "it says that nothing was lost as well"
said 'buffer-size' || fail "no remedy is told"
verified lossy.lrt

# Each loss has its place between two events, and as many of them as the recorder said.
nr_places=$(sed -n 's/.*EVENTS LOST on CPU.* in \([0-9]*\) places.*/\1/p' said | awk '{ n += $1 } END { print n + 0 }')
nr_located=$("$LRUTAPE" dump lossy.lrt | grep -ci 'lost')
((nr_located == nr_places)) || fail "$nr_located losses on the tape, the recorder told of $nr_places"
# The kernel's own total is on the tape too.
"$LRUTAPE" info lossy.lrt | grep -q '[1-9][0-9]* EVENTS OVERWRITTEN' || fail "info does not tell the overrun"
