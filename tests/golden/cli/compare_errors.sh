# SPDX-License-Identifier: GPL-2.0-only
# what compare refuses, and how it says so.
sample=$BIN/tests/unit/replay/test_results_sample
[ -x "$sample" ] || { echo "the sample maker is not built"; exit 77; }
cd "$TEST_TMP" && "$sample" sample.db || exit 1
run() {
	echo "\$ lrutape compare $*"
	"$LRUTAPE" compare "$@" 2>&1
	echo "[status $?]"
}
run sample.db 1 99
run sample.db classic clasic
run sample.db 1
run sample.db opt classic@6.18+large_folio_lru_cache=3 --memory 1G
run sample.db --memory 1x
run sample.db --csv --json
run sample.db --frobnicate 2>&1 | tail -n 2
run
run nosuch.db
echo "not a database, and long enough to hold a whole header of one, or so it is hoped" >text.db
run text.db
printf 'lrutape\n and then a tape' >a.lrt
run a.lrt
cp sample.db newer.db
printf '\0\0\0\2' | dd of=newer.db bs=1 seek=60 conv=notrunc status=none
run newer.db
head -c 9000 sample.db >torn.db
run torn.db
echo '$ lrutape compare sample.db >/dev/full'
"$LRUTAPE" compare sample.db 2>&1 >/dev/full
echo "[status $?]"
