# SPDX-License-Identifier: GPL-2.0-only
# What recording costs the recorded: CPU time of the workload without, with the kernel's tracing alone (the
# same events in an instance that nobody reads), and recorded; turn by turn. The least of each is taken:
# what others do on the machine only adds. The recorder's own CPU time is told by record_size.
# RUNS changes the number of turns.
. "$TOP/tests/bench/record.bash"

runs=${RUNS:-9}
bare=/sys/kernel/tracing/instances/lrutape-$$
# shellcheck disable=SC2317
end_bare() {
	[[ ! -d $bare ]] || echo 0 >"$bare/tracing_on"
	[[ ! -d $bare ]] || rmdir "$bare"
	end
}
trap end_bare EXIT
"$LRUTAPE" record -o names.lrt -- true 2>/dev/null || exit 1

least() {
	printf '%s\n' "$@" | sort -g | head -n 1
}

# The command's cpu_seconds: alone, under the bare instance, recorded.
alone() {
	value cpu_seconds "$("$@")"
}

# An event that is enabled in an instance costs some 75 ns even if that is off: so the instance goes after it.
traced() {
	make_instance "$bare" names.lrt 16384
	echo 1 >"$bare/tracing_on"
	value cpu_seconds "$("$@")"
	echo 0 >"$bare/tracing_on"
	rmdir "$bare"
}

recorded() {
	value cpu_seconds "$("$LRUTAPE" record -o cost.lrt -- "$@" 2>said)"
}

# Sets without, kernel, with.
take_turns() {
	local a=() b=() c=()
	for ((i = 0; i < runs; i++)); do
		a+=("$(alone "$@")")
		b+=("$(traced "$@")")
		c+=("$(recorded "$@")")
	done
	without=$(least "${a[@]}") kernel=$(least "${b[@]}") with=$(least "${c[@]}")
	echo "  s of CPU: $without without ($(spread "${a[@]}")), $kernel with the kernel's tracing alone" \
		"($(spread "${b[@]}")), $with recorded ($(spread "${c[@]}"))"
}

"$BIN/random_read" --file cached --file-size 32M --prepare >/dev/null || exit 1
cat cached >/dev/null
reads=1000000
take_turns "$BIN/random_read" --file cached --file-size 32M --keep --reads $reads
per_read() {
	awk -v a="$1" -v b="$without" -v n=$reads 'BEGIN { printf "%.1f", (a - b) * 1e9 / n }'
}
echo "  cached 4 KiB preads, ns more for an event: $(per_read "$kernel") of it the kernel's tracing alone"
bar "cached 4 KiB preads, ns more for an event" "$(per_read "$with")" '<=' 170

make_group 64 || { echo "  misses: not measured: no memory cgroup is mounted"; exit $missed; }
percent() {
	awk -v a="$1" -v b="$without" 'BEGIN { printf "%.1f", 100 * (a / b - 1) }'
}
in_group=(bash -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' - "$group")

"$BIN/random_read" --file data --file-size 192M --prepare >/dev/null || exit 1
take_turns "${in_group[@]}" "$BIN/random_read" --file data --file-size 192M --hot-percent 50 --reads 100000
echo "  preads from a disk, $(($(nr_of cost.lrt mm_filemap_add_to_page_cache) / 1000)) % miss, percent more CPU:" \
	"$(percent "$kernel") of it the kernel's tracing alone"
bar "miss-heavy preads, percent more CPU, the default set" "$(percent "$with")" '<=' 30

# The worst case: a miss that costs no I/O at all, in a hole of a sparse file.
truncate -s 512M sparse
take_turns "${in_group[@]}" "$BIN/random_read" --file sparse --file-size 512M --threads 2 --reads 150000
echo "  preads from a hole, $(($(nr_of cost.lrt mm_filemap_add_to_page_cache) / 3000)) % miss, percent more CPU:" \
	"$(percent "$with"), $(percent "$kernel") of it the kernel's tracing alone"
exit $missed
