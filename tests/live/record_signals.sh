# SPDX-License-Identifier: GPL-2.0-only
# A signal goes to the command, the tape is finished, and nothing is left behind.
. "$TOP/tests/live/record.bash"

memory=()
[[ -n $(memcg_mount) ]] && memory=(--memory 64M)

for signal in INT TERM HUP; do
	start_record -o $signal.lrt "${memory[@]}" -- "$BIN/anon_churn" --threads 1 --loops 1000000 --size 1
	wait_until 20 is_tracing || fail "$signal: no tracing after 20 s"
	sleep 0.3
	kill -s $signal "$recorder"
	end_record
	((status == 128 + $(kill -l $signal))) || fail "$signal: exit status $status"
	pgrep -P "$recorder" >/dev/null && fail "$signal: the command is left running"
	verified $signal.lrt
	at_least "$signal: insertions" "$(count $signal.lrt mm_lru_insertion)" 100
done

# A command that does not listen: the second signal ends the recording and leaves it alone.
start_record -o deaf.lrt -- bash -c 'trap "" INT; echo $$ >deaf.pid; sleep 30 & wait; sleep 30'
wait_until 20 test -s deaf.pid || fail "the deaf command does not start"
deaf=$(<deaf.pid)
kill -s INT "$recorder"
sleep 0.5
is_tracing || fail "the first signal ended the recording of a command that still runs"
kill -s INT "$recorder"
end_record
((status == 130)) || fail "second signal: exit status $status"
said "process $deaf is left running" || fail "it does not tell that the command runs on"
kill -0 "$deaf" || fail "the command was ended by the second signal"
kill -9 "$deaf"
verified deaf.lrt

# The whole machine: the first signal ends it.
start_record -o all.lrt --duration 600
wait_until 20 is_tracing || fail "no tracing after 20 s"
kill -s TERM "$recorder"
end_record
((status == 0)) || fail "whole machine: exit status $status"
verified all.lrt
