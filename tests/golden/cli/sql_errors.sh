# SPDX-License-Identifier: GPL-2.0-only
# what sql refuses, and how it says so. The database is never changed.
sample=$BIN/tests/unit/replay/test_results_sample
[ -x "$sample" ] || { echo "the sample maker is not built"; exit 77; }
cd "$TEST_TMP" && "$sample" sample.db || exit 1
cksum <sample.db >before
run() {
	echo "\$ lrutape sql $*"
	"$LRUTAPE" sql "$@" >out 2>&1
	local status=$?
	# Where in the query: only sqlite 3.38 and later say so.
	sed 's/, at ".*of the query)//' out
	echo "[status $status]"
}
run sample.db "SELECT nosuchcolumn FROM run"
run sample.db "SELEKT 1"
run sample.db "SELECT 1; SELECT 2"
run sample.db "  -- only a comment"
run sample.db "DELETE FROM run"
run sample.db "VACUUM INTO 'copy.db'"
run sample.db "ATTACH 'other.db' AS other"
run sample.db "PRAGMA user_version = 7"
run sample.db nosuchquestion
run sample.db SELECT 1
run sample.db --csv --json
run nosuch.db runs
run
cksum <sample.db | cmp - before && ls *.db
