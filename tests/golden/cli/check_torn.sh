# SPDX-License-Identifier: GPL-2.0-only
# A tape cut anywhere: used up to the tear, or refused; two CPUs, so that a frame may stand whole.
cd "$TEST_TMP" || exit 1
awk -v rounds=2 -f "$TOP/tests/golden/cli/input/story.awk" >story.txt
"$LRUTAPE" import --from ftrace-text --release 6.18.44 --assume memory_limit=256K -o whole.lrt story.txt >/dev/null
size=$(wc -c <whole.lrt)
for ((cut = 37; cut < size; cut += 97)); do
	head -c $cut whole.lrt >cut.lrt
	"$LRUTAPE" check cut.lrt >out 2>&1
	echo "status $?: $(sed -E -e 's/(at )?byte [0-9]+/byte N/g' -e 's/[0-9]+ bytes/N bytes/' out |
		grep -E '^lrutape:|insertion_list' | tr -s ' ' | tr '\n' ';')"
done | sort -u
# A flipped byte in the middle of the events is an error with its place.
cp whole.lrt damaged.lrt
printf '\125\125\125\125' | dd of=damaged.lrt bs=1 seek=$((size / 2)) conv=notrunc status=none
"$LRUTAPE" check damaged.lrt 2>&1 | sed -E 's/byte [0-9]+/byte N/'
echo "[status ${PIPESTATUS[0]}]"
