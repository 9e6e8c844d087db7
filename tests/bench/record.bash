# SPDX-License-Identifier: GPL-2.0-only
# Sourced by the benchmarks of `record`: a scratch directory, figures with their bars, medians. Without root
# or tracefs they say so and end well. Nothing of the machine's settings is changed; the group that some
# of them make is named lrutape-PID and removed.

work=$(mktemp -d "${TMPDIR:-/var/tmp}/lrutape-bench.XXXXXX")
group=
missed=0
# shellcheck disable=SC2317
end() {
	cd /
	rm -rf "$work"
	for _ in {1..50}; do
		[[ -z $group || ! -d $group ]] || rmdir "$group" 2>/dev/null && break
		sleep 0.1
	done
}
trap end EXIT
cd "$work" || exit 1

if ((EUID != 0)) || [[ ! -d /sys/kernel/tracing/instances ]]; then
	echo "  not measured: recording needs root and tracefs"
	exit 0
fi

# bar WHAT VALUE OP ASKED
bar() {
	local word=met
	awk -v a="$2" -v b="$4" -v op="$3" 'BEGIN {
		exit !(op == ">=" ? a + 0 >= b + 0 : op == "<=" ? a + 0 <= b + 0 : a == b) }' ||
		{ word=MISSED; missed=1; }
	printf '  %-58s %14s  (%s %s)  %s\n' "$1" "$2" "$3" "$4" "$word"
}

# median NUMBER...: the middle one
median() {
	printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

spread() {
	printf '%s\n' "$@" | sort -g | awk 'NR == 1 { a = $1 } { b = $1 } END { printf "%s to %s in %d runs", a, b, NR }'
}

# value KEY TEXT: the word behind a key
value() {
	awk -v key="$1" '{ for (i = 1; i < NF; i++) if ($i == key) { print $(i + 1); exit } }' <<<"$2"
}

# json KEY TAPE: a number of `lrutape info --json`
json() {
	"$LRUTAPE" info --json "$2" 2>/dev/null | grep -o "\"$1\":[0-9.]*" | head -n 1 | sed 's/.*://'
}

# nr_of TAPE EVENT: how many are on it
nr_of() {
	"$LRUTAPE" info --json "$1" | grep -o "\"event\":\"$2\",\"filter\":\"[^\"]*\",\"nr_events\":[0-9]*" |
		sed 's/.*://'
}

# make_instance DIRECTORY TAPE KIB: a trace instance, off, with the tape's events and filters
make_instance() {
	local system event filter
	mkdir "$1" || exit 1
	echo 0 >"$1/tracing_on"
	echo mono >"$1/trace_clock"
	echo "$3" >"$1/buffer_size_kb"
	"$LRUTAPE" info --json "$2" | grep -o '{"system":"[^}]*}' |
		sed 's/{"system":"\([^"]*\)","event":"\([^"]*\)","filter":"\([^"]*\)".*/\1 \2 \3/' |
		while read -r system event filter; do
			[[ -f $1/events/$system/$event/enable ]] || continue
			[[ -z $filter ]] || echo "$filter" >"$1/events/$system/$event/filter"
			echo 1 >"$1/events/$system/$event/enable"
		done
}

# Makes a memory cgroup of so many MiB; sets group (directory) and group_path (in the hierarchy).
make_group() {
	local mount limit=memory.limit_in_bytes
	mount=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/self/mounts)
	[[ -n $mount ]] || mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
	group_path=/lrutape-$$
	mkdir "$mount$group_path" || return 1
	group=$mount$group_path
	[[ -f $group/$limit ]] || limit=memory.max
	echo "$1M" >"$group/$limit"
}
