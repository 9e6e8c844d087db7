# SPDX-License-Identifier: GPL-2.0-only
# What check refuses, what it only notes, and how it says so.
cd "$TEST_TMP" || exit 1
awk -f "$TOP/tests/golden/cli/input/story.awk" >story.txt
import() { "$LRUTAPE" import --from ftrace-text "$@" story.txt >/dev/null; }
import --release 6.18.44 --assume memory_limit=256K -o good.lrt
run() {
	echo "\$ lrutape check $*"
	# Of the names told, the nearest one; the others change with the catalogue.
	"$LRUTAPE" check "$@" 2>&1 | sed 's/\(nearest: [a-z_]*\), .*/\1, .../'
	echo "[status ${PIPESTATUS[0]}]"
}
run --help
run
run good.lrt good.lrt
run --frobnicate good.lrt 2>&1 | tail -n 2
run --explain many good.lrt
run --explain -1 good.lrt
run nosuch.lrt
run .
run story.txt
: >empty.lrt
run empty.lrt
run --policy clasic good.lrt
run --policy classic+large_folio_cache good.lrt
run --policy opt good.lrt
run --policy classic@4.9 good.lrt
run --policy classic+large_folio_lru_cache=99 good.lrt
import --release 5.10.0 --assume memory_limit=256K -o old.lrt
run old.lrt | head -n 4
import --assume memory_limit=256K -o nameless.lrt
run nameless.lrt | head -n 4
echo '$ lrutape check good.lrt >/dev/full'
"$LRUTAPE" check good.lrt 2>&1 >/dev/full
echo "[status $?]"
