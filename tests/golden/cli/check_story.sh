# SPDX-License-Identifier: GPL-2.0-only
# A small story equal in all its decisions, and the same with one verdict recorded differently.
cd "$TEST_TMP" || exit 1
tell() { # tape awk-options...
	local tape=$1
	shift
	awk "$@" -f "$TOP/tests/golden/cli/input/story.awk" >story.txt
	"$LRUTAPE" import --from ftrace-text --release 6.18.44 --assume memory_limit=256K -o "$tape" story.txt >/dev/null
}
run() {
	echo "\$ lrutape check $*"
	"$LRUTAPE" check "$@" 2>&1
	echo "[status $?]"
}
tell equal.lrt
tell survivor.lrt -v altered=victim
tell missing.lrt -v altered=activation
run equal.lrt
run --json equal.lrt
run --explain 1 survivor.lrt
run --json survivor.lrt
run --explain 10 missing.lrt
# The same in a database: what, why, and one by one.
run -o missing.db missing.lrt >/dev/null
for question in agreement disagreement mismatches; do
	echo "\$ lrutape sql missing.db $question"
	"$LRUTAPE" sql missing.db "$question"
done
"$LRUTAPE" sql missing.db "SELECT checked_policy, checked_rules, recorded_policy FROM v_tape"
"$LRUTAPE" sql missing.db "SELECT what, cause, count FROM v_undecided"
# Single pages only: the patch decides the same.
run --policy classic+large_folio_lru_cache equal.lrt
