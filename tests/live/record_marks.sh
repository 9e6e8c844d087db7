# SPDX-License-Identifier: GPL-2.0-only
# Markers of `lrutape mark` and SIGUSR1 are on the tape, at their time; a quiet tape is not far behind.
. "$TOP/tests/live/record.bash"

start_record -o marks.lrt --all --events oom:mark_victim
wait_until 20 is_tracing || fail "no tracing"
"$LRUTAPE" mark cache resized to 4G || fail "mark: exit status $?"
before=$(awk '{ print $1 }' /proc/uptime)
kill -s USR1 "$recorder"
sleep 0.2
# Nothing else happens: what is on disk 12 s later?
wait_until 13 bash -c '"$1" dump --event ftrace:print marks.lrt 2>/dev/null | grep -q USR1' - "$LRUTAPE" ||
	fail "the markers are not on the disk after 13 s"
cp marks.lrt quiet.lrt
kill -s INT "$recorder"
end_record
((status == 0)) || fail "exit status $status"
"$LRUTAPE" dump --event ftrace:print quiet.lrt >text 2>said2 || fail "the tape is not readable while it is written"
grep -q 'print: buf=cache resized to 4G$' text || fail "mark is not on the tape: $(cat text)"
grep -q "print: buf=SIGUSR1 from process $$\$" text || fail "SIGUSR1 is not on the tape: $(cat text)"
verified marks.lrt
[[ $("$LRUTAPE" dump --event ftrace:print marks.lrt | wc -l) == 2 ]] || fail "not two markers"
"$LRUTAPE" info --json marks.lrt | grep -q '"event":"print","filter":"","nr_events":2' || fail "info counts them otherwise"

"$LRUTAPE" mark nobody listens 2>said
status=$?
# Other recordings may run on this machine: then it is no failure.
((status == 0)) || said 'no recording runs' || fail "mark without a recording: exit status $status"
