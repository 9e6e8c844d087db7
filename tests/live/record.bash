# SPDX-License-Identifier: GPL-2.0-only
# Sourced by the live tests of `record`. Other recordings may run on this machine at the same time: what
# is checked for leftovers is what bears the pid of the recorder under test.

instances=/sys/kernel/tracing/instances

skip() {
	echo "$*"
	exit 77
}

fail() {
	echo "FAILED: $*"
	if [[ -s $TEST_TMP/said ]]; then
		echo "the recorder said:"
		cat "$TEST_TMP/said"
	fi
	exit 1
}

why_no_tracing() {
	((EUID == 0)) || { echo "recording needs root"; return; }
	[[ -d $instances ]] || echo "no tracefs at /sys/kernel/tracing"
}

# Directory of the memory controller's hierarchy, empty if there is none.
memcg_mount() {
	local mount
	mount=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/self/mounts)
	if [[ -z $mount ]]; then
		mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
		grep -qw memory "$mount/cgroup.controllers" 2>/dev/null || mount=
	fi
	echo "$mount"
}

# Starts `record`; sets recorder to its pid. What it says goes to $TEST_TMP/said, what the command prints
# to $TEST_TMP/printed. A shell makes background jobs ignore SIGINT; env gives it back.
start_record() {
	env --default-signal=INT "$LRUTAPE" record "$@" >"$TEST_TMP/printed" 2>"$TEST_TMP/said" &
	recorder=$!
}

# Waits for it; sets status. Nothing that bears its pid may be left.
end_record() {
	wait "$recorder"
	status=$?
	local left
	for left in "$instances/lrutape-$recorder" "$(memcg_mount)/lrutape-$recorder"; do
		[[ -e $left ]] && fail "$left is left behind"
	done
	return 0
}

record() {
	start_record "$@"
	end_record
}

wait_until() { # seconds command...: polls, fails in time
	local tries=$(($1 * 20))
	shift
	while ! "$@"; do
		((tries-- > 0)) || return 1
		sleep 0.05
	done
}

is_tracing() {
	[[ $(cat "$instances/lrutape-$recorder/tracing_on" 2>/dev/null) == 1 ]]
}

said() {
	grep -q -- "$1" "$TEST_TMP/said"
}

verified() { # tape
	"$LRUTAPE" verify "$1" >"$TEST_TMP/verify" 2>&1 || {
		cat "$TEST_TMP/verify"
		fail "$1 does not verify"
	}
}

count() { # tape event: how many of them
	"$LRUTAPE" dump "$1" | grep -c -- " $2: "
}

at_least() { # what number bound
	(($2 >= $3)) || fail "$1: $2, expected at least $3"
	echo "$1: $2"
}

reason=$(why_no_tracing)
[[ -z $reason ]] || skip "$reason"
cd "$TEST_TMP" || exit 1
