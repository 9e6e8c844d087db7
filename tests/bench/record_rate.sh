# SPDX-License-Identifier: GPL-2.0-only
# A million events a second for a minute, recorded on the two cores that make them, and none lost.
# SECONDS_EACH, CPUS (a taskset list) and NICE, where others use the machine, change it.
. "$TOP/tests/bench/record.bash"

seconds=${SECONDS_EACH:-60}
nice -n "${NICE:-0}" taskset -c "${CPUS:-0,1}" "$LRUTAPE" record -o rate.lrt --buffer-size 32M --events pages \
	--duration "$seconds" -- "$BIN/anon_churn" --huge-kib 0 --threads 2 --loops 1048576 >printed 2>said ||
	{ cat said; exit 1; }
text=$("$LRUTAPE" dump --blob lrutape/recorder --moment end rate.lrt)
grep -E 'recorder:|LOST|lost|events of' said | sed 's/^lrutape: /  /'
bar "events a second, over $seconds s" "$(value events_per_second "$text")" '>=' 1000000
bar "events lost, by the kernel's count" \
	"$(awk '$1 == "cpu" { for (i = 3; i < NF; i += 2) if ($i == "overrun") n += $(i + 1) } END { printf "%d", n }' <<<"$text")" = 0
exit $missed
