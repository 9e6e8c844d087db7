# SPDX-License-Identifier: GPL-2.0-only
# A signal while the source still writes: nothing half-written stays.
cd "$TEST_TMP" || exit 1
mkfifo pipe
for signal in INT TERM HUP; do
	# A shell makes background jobs deaf to SIGINT; env does not.
	env --default-signal=INT "$LRUTAPE" import --from ftrace-text -o a.lrt - <pipe >out 2>&1 &
	importer=$!
	exec 9>pipe
	cat "$TOP/tests/golden/cli/input/ftrace_6.18.txt" >&9
	for i in $(seq 200); do
		ls a.lrt.unfinished-* >unfinished 2>/dev/null && break
		sleep 0.05
	done
	wc -l <unfinished
	kill -"$signal" "$importer"
	wait "$importer"
	echo "SIG$signal: status $?"
	exec 9>&-
	ls
done
