# SPDX-License-Identifier: GPL-2.0-only
# How large tapes get and what the recorder spends on an event, beside zstd -3 over the raw ring buffer pages
# of the same events, taken by a second trace instance at the same time.
. "$TOP/tests/bench/record.bash"

raw=/sys/kernel/tracing/instances/lrutape-$$
readers=()
# shellcheck disable=SC2317
end_raw() {
	[[ -d $raw ]] && echo 0 >"$raw/tracing_on"
	kill "${readers[@]}" 2>/dev/null
	wait "${readers[@]}" 2>/dev/null
	for _ in {1..50}; do [[ ! -d $raw ]] || rmdir "$raw" 2>/dev/null && break; sleep 0.1; done
	end
}

measure() { # title bar record-options -- command
	local title=$1 asked=$2 tape=$title.lrt cpu nr_events bytes raw_bytes zstd_bytes events_raw
	shift 2
	# A first recording names the events, the second one is measured beside the raw pages.
	"$LRUTAPE" record -o names.lrt "$@" >/dev/null 2>said || { cat said; exit 1; }
	trap end_raw EXIT
	make_instance "$raw" names.lrt 131072
	echo 1 >"$raw/tracing_on"
	"$LRUTAPE" record -o "$tape" "$@" >/dev/null 2>said || { cat said; exit 1; }
	echo 0 >"$raw/tracing_on"
	# Read when all is over, so that the pages are full ones; a reader waits at the end until it is stopped.
	readers=()
	for cpu in "$raw"/per_cpu/cpu*; do
		cat "$cpu/trace_pipe_raw" >"${cpu##*/}.raw" 2>/dev/null &
		readers+=($!)
	done
	for _ in {1..300}; do
		sleep 0.1
		cat "$raw"/per_cpu/cpu*/stats | grep -q '^entries: [1-9]' || break
	done
	kill "${readers[@]}" 2>/dev/null
	wait "${readers[@]}" 2>/dev/null
	events_raw=$(cat "$raw"/per_cpu/cpu*/stats | awk '/^read events/ { n += $NF } END { print n }')
	rmdir "$raw"
	read -r _ raw_bytes _ zstd_bytes < <("$BIN/zstd_bytes" cpu*.raw)
	rm -f cpu*.raw
	nr_events=$(json nr_events "$tape")
	bytes=$(json bytes_per_event "$tape")
	echo "  $title: $nr_events events; raw pages of $events_raw events:" \
		"$(awk -v a="$raw_bytes" -v b="$zstd_bytes" -v n="$events_raw" 'BEGIN { printf "%.1f bytes an event, zstd -3: %.2f", a / n, b / n }')"
	grep -E 'LOST' said | sed 's/^lrutape: /  /'
	bar "$title: bytes an event" "$bytes" '<=' "$asked"
	echo "  $title: the tape has" \
		"$(awk -v a="$bytes" -v b="$zstd_bytes" -v n="$events_raw" 'BEGIN { printf "%.1f %%", 100 * a / (b / n) }')" \
		"of the bytes of zstd -3 over raw pages"
	bar "$title: recorder, ns of CPU an event" \
		"$(awk -v a="$(json recorder_cpu_ns "$tape")" -v n="$nr_events" 'BEGIN { printf "%.0f", a / n }')" '<=' 200
}

"$BIN/random_read" --file data --prepare >/dev/null || exit 1
measure preads 5.0 --memory 64M -- "$BIN/random_read" --file data --reads 200000
if [[ -f /sys/kernel/mm/transparent_hugepage/hugepages-16kB/enabled ]]; then
	measure mthp 1.5 -- "$BIN/anon_churn" --thp-16k --threads 20 --loops 100
else
	echo "  mTHP: not measured: this kernel has no 16 kB folios"
fi
exit $missed
