# SPDX-License-Identifier: GPL-2.0-only
# A torn tape is used up to the tear; a damaged one is not used, and no database stays.
cd "$TEST_TMP" || exit 1
awk -v rounds=200 -f "$TOP/tests/golden/cli/input/story.awk" >story.txt
"$LRUTAPE" import --from ftrace-text --release 6.18.44 --assume memory_limit=1M -o good.lrt story.txt >/dev/null
run() {
	echo "\$ lrutape replay $*"
	"$LRUTAPE" replay "$@" 2>&1 | sed 's/at byte [0-9]*/at byte N/'
	echo "[status ${PIPESTATUS[0]}]"
}
size=$(wc -c <good.lrt)
head -c $((size - 200)) good.lrt >torn.lrt
run -o torn.db torn.lrt
cp good.lrt damaged.lrt
printf '\125\125\125\125' | dd of=damaged.lrt bs=1 seek=$((size / 2)) conv=notrunc status=none
run -o damaged.db damaged.lrt
ls *.db*
