# SPDX-License-Identifier: GPL-2.0-only
# With 64 KiB for each CPU events are lost. All are accounted for: those on the tape and those counted as
# lost are together what the kernel produced, to the event.
. "$TOP/tests/bench/record.bash"

for run in 1 2 3; do
	"$LRUTAPE" record -o lossy.lrt --buffer-size 64K --events pages -- \
		"$BIN/anon_churn" --huge-kib 0 --threads 2 --loops 40 >printed 2>said || { cat said; exit 1; }
	recorded=0 lost=0 produced=0
	# The kernel's: what was read, overwritten, dropped, and what is left unread.
	for name in $("$LRUTAPE" dump --blobs lossy.lrt | awk '$1 == "end" && $NF ~ /^lrutape\/per_cpu\// { print $NF }'); do
		read -r now over < <("$LRUTAPE" dump --blob "$name" --moment end lossy.lrt | awk -F': *' '
			/^(entries|overrun|commit overrun|dropped events|read events)$/ { next }
			$1 == "entries" || $1 == "overrun" || $1 == "dropped events" || $1 == "read events" { n += $2 }
			$1 == "overrun" { over = $2 }
			END { printf "%d %d\n", n, over }')
		before=$("$LRUTAPE" dump --blob "$name" --moment start lossy.lrt | awk -F': *' '
			$1 == "entries" || $1 == "overrun" || $1 == "dropped events" || $1 == "read events" { n += $2 }
			END { printf "%d\n", n }')
		produced=$((produced + now - before))
		lost=$((lost + over))
	done
	# Ours: events on the tape (less those we made ourselves), what was left out, losses.
	counted=$(json nr_events lossy.lrt)
	text=$("$LRUTAPE" dump --blob lrutape/recorder --moment end lossy.lrt)
	recorded=$(awk -v n="$counted" '$1 == "cpu" { for (i = 3; i < NF; i += 2) { if ($i == "unknown_type" || $i == "own") n += $(i + 1); if ($i == "added") n -= $(i + 1) } } END { printf "%d", n }' <<<"$text")
	told=$(awk '$1 == "cpu" { for (i = 3; i < NF; i += 2) if ($i == "overrun") n += $(i + 1) } END { printf "%d", n }' <<<"$text")
	located=$(json nr_lost lossy.lrt)
	places=$(awk '$1 == "cpu" { for (i = 3; i < NF; i += 2) if ($i == "losses") n += $(i + 1) } END { printf "%d", n }' <<<"$text")
	unknown=$(json nr_losses_unknown lossy.lrt)
	echo "  run $run: $recorded recorded, $told lost in $places places ($located located with a count, $unknown places without)"
	bar "events lost with 64 KiB" "$told" '>=' 1
	bar "recorded + lost, the kernel produced $produced" "$((recorded + told))" = "$produced"
done
exit $missed
