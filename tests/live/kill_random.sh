# SPDX-License-Identifier: GPL-2.0-only
# kill -9 of the recorder at 20 random moments: every tape that is there opens, and the next `record` cleans
# up what was left behind. KILLS and SEED change it.
. "$TOP/tests/live/record.bash"

seed=${SEED:-$RANDOM}
RANDOM=$seed
echo "SEED=$seed"
mount=$(memcg_mount)
memory=()
[[ -n $mount ]] && memory=(--memory 256M)
opened=0 absent=0 with_events=0 left=0
# Ends with its recorder: process 1 is the parent of one whose recorder is gone already. And in any case.
cat >work <<'END'
for ((i = 0; i < 200 && $1 != 1; i++)); do
	kill -0 "$1" 2>/dev/null || exit 0
	"$2" --huge-kib 0 --threads 1 --loops 1 --size 8 >/dev/null
done
END

for ((i = 0; i < ${KILLS:-20}; i++)); do
	# Anywhere from before its first file to a second into the recording; a small ring makes for many turns.
	options=()
	((i % 4 == 3)) && options=(--rotate 1M --events pages)
	start_record -o "t$i.lrt" "${memory[@]}" "${options[@]}" -- bash -c 'exec bash work $PPID "$1"' - "$BIN/anon_churn"
	sleep "$(printf '0.%03d' $((RANDOM % 1000)))"
	kill -9 "$recorder"
	wait "$recorder" 2>/dev/null
	[[ -d $instances/lrutape-$recorder ]] && left=$((left + 1))
	killed+=("$recorder")
	for tape in "t$i.lrt" "t$i.lrt".[0-9]*; do
		[[ -e $tape ]] || continue
		if [[ ! -s $tape ]]; then
			absent=$((absent + 1)) # killed between making the file and its first frame
			continue
		fi
		"$LRUTAPE" info "$tape" >info 2>said || fail "$tape does not open: $(cat said)"
		"$LRUTAPE" dump "$tape" >text 2>said || fail "$tape does not dump: $(cat said)"
		opened=$((opened + 1))
		[[ -s text ]] && with_events=$((with_events + 1))
		rm -f "$tape"
	done
done
echo "opened $opened, $with_events of them with events, $absent without a byte; $left instances were left"
((opened >= ${KILLS:-20} / 2)) || fail "only $opened tapes were there to open"
((left > 0)) || fail "no instance was left behind: nothing is tested"
# The commands end by themselves once their recorder is gone.
sleep 0.5
# A group goes when its last task is gone; give it some tries.
for attempt in 1 2 3 4 5; do
	record -o last.lrt -- true
	((status == 0)) || fail "exit status $status after it all"
	remains=
	for pid in "${killed[@]}"; do
		[[ -e $instances/lrutape-$pid ]] && fail "instance lrutape-$pid is still there"
		[[ -n $mount && -e $mount/lrutape-$pid ]] && remains+=" lrutape-$pid"
	done
	[[ -z $remains ]] && break
	sleep 0.5
done
[[ -z $remains ]] || fail "groups are still there:$remains"
exit 0
