# SPDX-License-Identifier: GPL-2.0-only
# A signal stops a replay: nothing is left beside FILE.db, which is as it was.
cd "$TEST_TMP" || exit 1
"$LRUTAPE" replay -o old.db "$TOP/tests/golden/tapes/v1/mixed.lrt" 2>/dev/null
cp old.db before.db
for signal in TERM HUP; do
	"$LRUTAPE" replay --perturb 255 --memory 25%,50%,100% -o old.db "$TOP/tests/golden/tapes/v1/pread-6.18.lrt" &
	replay=$!
	until [[ -e old.db.tmp-$replay ]]; do
		kill -0 $replay 2>/dev/null || break
		sleep 0.02
	done
	kill -$signal $replay
	wait $replay
	echo "$signal: status $?"
	ls
done
cmp before.db old.db && echo "the old one stands"
