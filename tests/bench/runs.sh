# SPDX-License-Identifier: GPL-2.0-only
# Eight runs in one pass over a tape against one run, both with the recorded policy checked beside: CPU time, in turns.
set -e
work=$(mktemp -d "${TMPDIR:-/var/tmp}/lrutape-runs.XXXXXX")
trap 'rm -rf "$work"' EXIT
tape=$TOP/tests/golden/tapes/v1/pread-6.18.lrt
TIMEFORMAT='%U %S'
seconds() { # arguments of replay
	{ time "$LRUTAPE" replay "$@" -o "$work/runs.db" "$tape" 2>/dev/null; } 2>&1
}
for _ in 1 2 3 4 5 6 7 8 9; do
	echo "$(seconds --policy lru_gen --memory 50%) $(seconds --policy classic --policy lru_gen --memory 25%,50%,75%,100%)"
done | awk '{ one[NR] = $1 + $2; eight[NR] = $3 + $4; ratio[NR] = eight[NR] / one[NR] }
	function middle(x,   i, j, t) {
		for (i = 2; i <= NR; i++) for (j = i; j > 1 && x[j] < x[j - 1]; j--) { t = x[j]; x[j] = x[j - 1]; x[j - 1] = t }
		return x[int((NR + 1) / 2)]
	}
	END {
		printf "one run      %.3f s\neight runs   %.3f s\nratio        %.2f (asked: at most 4)\n", middle(one), middle(eight), middle(ratio)
	}'
