# SPDX-License-Identifier: GPL-2.0-only
# Sourced by the tests of `anonymize`. A copy must be decided and counted like its original, in all but names.

status=0
fail() {
	echo "FAILED: $*"
	status=1
}

# All that `check` and `replay` make of a tape, without names and pfns: memcgs by their order on the tape.
# The sides of a mismatch name pfns.
results_of() { # tape
	"$LRUTAPE" check --json "$1" | sed -E 's/"(tape|kernel_release|memcg|command_memcg|predicted|recorded)": "[^"]*"/"\1"/g; s/"memcg_id": [0-9]*/"memcg_id"/'
	# Filters that name devices are left out of the copy.
	"$LRUTAPE" info --json "$1" | grep -o '"fidelity".*' | sed -E 's/"filter":"([^"\\]|\\.)*"/"filter"/g'
	rm -f of.db
	"$LRUTAPE" replay -o of.db --policy classic "$1" 2>/dev/null | sed 's/.* over //; s/ of [^ ]*$//'
	local query
	for query in "decision, decided, equal, first_mismatch_ns FROM agreement" \
		"run_id, name, value FROM counter" "run_id, timestamp_ns, name, value FROM counter_at" \
		"run_id, batch, cause, drains, folios FROM drain" "run_id, rule, count FROM inferred" \
		"run_id, site, holds, folios FROM lock_hold" "limit_bytes FROM memcg" \
		"policy, memory_pages, accesses, stimuli, inferred FROM run" \
		"first_ns, last_ns, nr_events, nr_lost, nr_losses_unknown, nr_overrun FROM tape"; do
		"$LRUTAPE" sql --csv of.db "SELECT ${query%% FROM*} FROM ${query##*FROM }" | sort
	done
}

same_results() { # tape copy
	results_of "$1" >results.1
	results_of "$2" >results.2
	diff results.1 results.2 >results.diff || { fail "$2: other results than $1"; head -n 20 results.diff; }
	[ "$(wc -l <results.1)" -gt 40 ] || fail "$1: no results to compare"
}

# Words that only the original may hold: names of tasks that are no kernel threads, names and parts of paths
# of files and cgroups, and inodes. Names of four letters and less may be anything; so may those of the folders
# that the programs under test lie in. (Thread ids are few: one may come again by chance.)
secrets_of() { # tape
	{
		"$LRUTAPE" dump "$1" --blob lrutape/tasks 2>/dev/null | sed -E 's/^[0-9]+ [0-9]+ [0-9]+ //'
		"$LRUTAPE" dump "$1" --blob lrutape/cgroups 2>/dev/null | sed 's/^[0-9]* //' | tr / '\n'
		"$LRUTAPE" dump "$1" --blob lrutape/command 2>/dev/null | tr ' ' '\n' | grep /
		"$LRUTAPE" dump "$1" | grep -oE '(path|filename|comm)=.*' |
			sed -E 's/ [a-z_]+=[^ ]*$//; s/ (pid|old_pid|dst_id|comm)=/\n/g; s/^[a-z_]+=//' | tr / '\n'
		"$LRUTAPE" dump "$1" | grep -oE '\b(i_ino|ino|dst_id)=[0-9]{4,}'
	} | grep -vE '^.{0,4}$|^[0-9.]*$' | grep -vxF "$(tr / '\n' <<<"$BIN/lrutape")" |
		grep -vE '^(kworker|kswapd|kdamond|khugepaged|kthreadd|migration/|ksoftirqd/|cpuhp/|rcu_|irq/|jbd2/|ksmd|kcompactd|oom_reaper|kdevtmpfs|khungtaskd|xfsaild|swapper/|(writeback|release|cgroup)$)' |
		sort -u
}

# All text that is on a tape: its events, and the names and contents of its snapshots.
text_of() { # tape
	local moment name
	"$LRUTAPE" dump "$1"
	"$LRUTAPE" dump "$1" --blobs >blobs
	cat blobs
	# Files of single numbers are many, and their names are in the list.
	grep -v '/transparent_hugepage/\|/proc/sys/vm/\|/memory\.\|/queue/\|/per_cpu/' blobs | while read -r moment _ _ name; do
		echo
		"$LRUTAPE" dump "$1" --moment "$moment" --blob "$name"
	done
	"$LRUTAPE" info --json "$1"
}

no_secret_of() { # tape copy
	secrets_of "$1" >secrets
	text_of "$2" >text
	{
		tr ' \t"' '\n' <text
		tr ' \t",/=' '\n' <text
		cat text
	} | sort -u >words
	comm -12 secrets words >found
	[ ! -s found ] || { fail "$2 holds what is of $1:"; head found; }
	# The search itself is tried on the original, which holds them all.
	"$LRUTAPE" dump "$1" | tr ' \t"' '\n' | sort -u | comm -12 secrets - | grep -q '_ino=' || fail "$1: no inodes to look for"
}

all_of() { # tape copy
	"$LRUTAPE" verify "$2" >verified || fail "$2 does not verify"
	same_results "$1" "$2"
	no_secret_of "$1" "$2"
}
