# SPDX-License-Identifier: GPL-2.0-only
# Free-running accuracy is a sum over memcgs, in which the machine's own count would be counted twice.
cd "$TEST_TMP" || exit 1
said() {
	"$LRUTAPE" compare asked.db | sed -n '/^Free-running/,/^How far/p' | sed '$d'
}
"$LRUTAPE" replay --policy classic --policy classic+folio_batch_15 -o asked.db "$TOP/tests/golden/tapes/v1/vm-6.12-classic-asked.lrt" 2>/dev/null || exit 1
said
echo "# with a row of the machine's, of all memcgs together"
sqlite3 asked.db "INSERT INTO accuracy SELECT run_id, 1, name, kernel + 1000, replay + 1000, 'vmstat'
	FROM accuracy WHERE name = 'pgsteal_direct'" || exit 1
said
