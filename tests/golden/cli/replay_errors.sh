# SPDX-License-Identifier: GPL-2.0-only
# What replay refuses, how it says so, and that no half-written database stays.
cd "$TEST_TMP" || exit 1
awk -f "$TOP/tests/golden/cli/input/story.awk" >story.txt
import() { "$LRUTAPE" import --from ftrace-text "$@" story.txt >/dev/null; }
import --release 6.18.44 --assume memory_limit=256K -o good.lrt
import --release 6.18.44 -o nolimit.lrt
run() {
	echo "\$ lrutape replay $*"
	# Of the names told, the nearest one; the others change with the catalogue.
	"$LRUTAPE" replay "$@" 2>&1 | sed 's/\(nearest: [a-z_]*\), .*/\1, .../'
	echo "[status ${PIPESTATUS[0]}]"
}
run
run good.lrt
run -o r.db
run --frobnicate 2>&1 | tail -n 2
run -o r.db nosuch.lrt
run -o r.db story.txt
run -o r.db good.lrt nosuch.lrt
run -o nosuch/r.db good.lrt
run -o . good.lrt
run -o r.db --policy clasic good.lrt
run -o r.db --policy classic+large_folio_cache good.lrt
run -o r.db --policy classic@4.9 good.lrt
run -o r.db --policy classic+large_folio_lru_cache=x good.lrt
run -o r.db --policy '' good.lrt
run -o r.db --memory 64Q good.lrt
run -o r.db --memory 1K good.lrt
run -o r.db --memory '' good.lrt
run -o r.db --memory 1M,,2M good.lrt
run -o r.db --memory -1M good.lrt
run -o r.db --memory 99999999999G good.lrt
run -o r.db --interval 0 good.lrt
run -o r.db --interval x good.lrt
run -o r.db --memory 1M nolimit.lrt
run -o r.db --memory 50% nolimit.lrt
ls
# What is no database of ours stays as it is.
cp story.txt notes.db
run -o notes.db good.lrt
cmp story.txt notes.db && echo "notes.db is as it was"
run -o good.lrt good.lrt
# A failed run leaves the database that was there.
run -o r.db good.lrt
cp r.db before.db
run -o r.db good.lrt nosuch.lrt
cmp r.db before.db && echo "r.db is as it was"
ls
