# SPDX-License-Identifier: GPL-2.0-only
# Policies times memory sizes over two tapes, into one database; an existing one is replaced.
cd "$TEST_TMP" || exit 1
for rounds in 5 20; do
	awk -v rounds=$rounds -f "$TOP/tests/golden/cli/input/story.awk" >story.txt
	"$LRUTAPE" import --from ftrace-text --release 6.18.44 --assume memory_limit=1M -o $rounds.lrt story.txt >/dev/null
done
run() {
	echo "\$ lrutape $*"
	"$LRUTAPE" "$@" 2>&1
	echo "[status $?]"
}
run replay -o results.db 20.lrt
run sql results.db "SELECT policy, release, memory_pages, accesses FROM v_run ORDER BY run_id"
run replay --policy classic --policy classic+large_folio_lru_cache --memory 512K,75%,1M --interval 5 -o results.db 5.lrt 20.lrt
ls
run sql results.db "SELECT tape, policy, memory_pages, accesses FROM v_run ORDER BY run_id"
run sql --csv results.db "SELECT run_id, name, value FROM v_counter_total WHERE name IN
	('hits', 'misses', 'pgsteal_file', 'resident_max') AND run_id > 6 ORDER BY run_id, name"
run sql results.db agreement
