# SPDX-License-Identifier: GPL-2.0-only
# Segments are whole tapes; a ring keeps the newest of them; no event is lost between two, or on both.
. "$TOP/tests/live/record.bash"

segments() { # name
	ls "$1".[0-9][0-9][0-9] 2>/dev/null
}

nr_of() { # tape event
	"$LRUTAPE" info --json "$1" | grep -o "\"event\":\"$2\",\"filter\":\"[^\"]*\",\"nr_events\":[0-9]*" | sed 's/.*://'
}

churn=("$BIN/anon_churn" --huge-kib 0 --threads 2 --loops 20)
cat >work <<'END'
for ((i = 0; i < $1; i++)); do "${@:2}" >/dev/null; done
END

for attempt in 1 2; do
	rm -f cut.lrt.*
	record -o cut.lrt --rotate 1M --events pages --buffer-size 4M -- bash work 8 "${churn[@]}"
	((status == 0)) || fail "exit status $status"
	said 'no events lost' && break
	((attempt == 2)) && fail "events lost, twice"
	echo "tried again: events were lost"
done
cat said
at_least "segments" "$(segments cut.lrt | wc -l)" 3
last=0 nr_allocs=0 nr_frees=0
for tape in $(segments cut.lrt); do
	verified "$tape"
	"$LRUTAPE" info "$tape" >info 2>&1
	grep -q 'complete$' info || fail "$tape is not complete: $(head -1 info)"
	for name in lrutape/release lrutape/tasks lrutape/cgroups /proc/vmstat; do
		"$LRUTAPE" dump --blob $name --moment start "$tape" >/dev/null || fail "$tape: no $name"
	done
	"$LRUTAPE" dump --blob /proc/vmstat --moment end "$tape" >/dev/null || fail "$tape: no counters of its end"
	nr_allocs=$((nr_allocs + $(nr_of "$tape" mm_page_alloc)))
	nr_frees=$((nr_frees + $(nr_of "$tape" mm_page_free)))
done
# 8 runs of 2 threads, 20 loops and 4096 pages, each allocated and freed: all of them are there.
at_least "allocations on all segments" $nr_allocs $((8 * 2 * 20 * 4096))
at_least "frees on all segments" $nr_frees $((8 * 2 * 20 * 4096))
# Per CPU, each segment goes on where the one before ended.
for tape in $(segments cut.lrt); do
	"$LRUTAPE" dump --event mm_page_free "$tape" | awk '{ c = ""; for (i = 1; i < NF; i++) if ($i ~ /^\[[0-9]+\]$/) { c = $i; t = $(i + 1) + 0; break }
		if (!(c in first)) first[c] = t; last[c] = t }
		END { for (c in first) print c, first[c], last[c] }' | sort >times
	[[ -f before ]] && ! join before times | awk '$4 < $3 { exit 1 }' && fail "$tape begins before the end of the one before"
	cp times before
done

# A ring of 8 MiB: what is on disk stays below, numbers go on, the newest are there.
rm -f ring.lrt.*
start_record -o ring.lrt --ring 8M --events pages --buffer-size 1M -- bash work 30 "${churn[@]}"
most=0
while kill -0 "$recorder" 2>/dev/null; do
	now=$(cat ring.lrt.* 2>/dev/null | wc -c)
	((now > most)) && most=$now
	sleep 0.1
done
end_record
((status == 0)) || fail "ring: exit status $status"
cat said
((most <= 8 << 20)) || fail "the ring had $most bytes on disk"
[[ -e ring.lrt.000 ]] && fail "the oldest segment is still there: nothing was thrown away"
at_least "bytes kept" "$(cat ring.lrt.* | wc -c)" $((2 << 20))
for tape in $(segments ring.lrt); do
	verified "$tape"
	newest=$tape
done
# The next recorder goes on behind it and counts what is there.
record -o ring.lrt --ring 8M -- true
((status == 0)) || fail "second ring: exit status $status"
[[ -e ring.lrt.$(printf %03d $((10#${newest##*.} + 1))) ]] || fail "numbering did not go on behind $newest"

# --max-size stops the recording, not the command.
record -o max.lrt --max-size 1M --events pages -- bash -c 'bash work 6 "$@"; echo ran to its end' - "${churn[@]}"
((status == 0)) || fail "max-size: exit status $status"
said 'recording stopped, the command runs on' || fail "it does not tell that it stopped"
grep -q 'ran to its end' printed || fail "the command did not run to its end"
verified max.lrt
size=$(stat -c %s max.lrt)
((size >= 1 << 20 && size < 8 << 20)) || fail "$size bytes with --max-size 1M"
"$LRUTAPE" info max.lrt | grep -q 'complete$' || fail "max.lrt is not complete"

# By time.
record -o time.lrt --rotate 1s -- sleep 2.7
((status == 0)) || fail "rotate by time: exit status $status"
at_least "segments by time" "$(segments time.lrt | wc -l)" 3
