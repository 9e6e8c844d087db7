# SPDX-License-Identifier: GPL-2.0-only
# What import refuses, how it says so, and that nothing half-written stays.
cd "$TEST_TMP" || exit 1
cp "$TOP/tests/golden/cli/input/ftrace_6.18.txt" good.txt
run() {
	echo "\$ lrutape import $*"
	"$LRUTAPE" import "$@" 2>&1 | sed 's/, [0-9]* bytes.*//'
	echo "[status ${PIPESTATUS[0]}]"
}
run
run --from ftrace-text -o a.lrt
run --from ftrace-text good.txt
run --from ftrace-text -o a.lrt good.txt good.txt
run --from perf -o a.lrt good.txt
run --from ftrace-text -o a.lrt nosuch.txt
run --from ftrace-text -o a.lrt .
run --from ftrace-text -o nosuch/a.lrt good.txt
run --from ftrace-text -o /dev/null good.txt
run --from ftrace-text -o good.txt good.txt
run --from ftrace-text --assume limit=64M -o a.lrt good.txt
run --from ftrace-text --assume memory_limit=64X -o a.lrt good.txt
run --from ftrace-text --assume swappiness=201 -o a.lrt good.txt
run --from ftrace-text --assume swappiness=0 --assume swappiness=1 -o a.lrt good.txt
run --from ftrace-text --assume file_dev=254 -o a.lrt good.txt
run --from ftrace-text --page-size 5000 -o a.lrt good.txt
run --from ftrace-text --release eighteen -o a.lrt good.txt
echo "Dear list, where is my memory?" >letter.txt
run --from ftrace-text -o a.lrt letter.txt
: >empty.txt
run --from ftrace-text -o a.lrt empty.txt
cat good.txt good.txt >twice.txt
run --from ftrace-text -o a.lrt twice.txt
for i in 1 2 3 4 5 6 7 8 9; do cat "$TOP/tests/golden/cli/input/ftrace_6.18.txt"; done | gzip -1 | head -c 3000 >torn.txt
run --from ftrace-text -o a.lrt torn.txt | sed 's/byte [0-9]*, in line [0-9]*/byte N, in line N/'
ls
run --keep --from ftrace-text -o kept.lrt torn.txt |
	sed -e 's/byte [0-9]*, in line [0-9]*/byte N, in line N/' -e 's/^kept.lrt: [0-9]* events of [0-9]* kinds.*/kept.lrt: N events/' |
	grep -v '^  '
ls *.lrt*
rm kept.lrt
# A disk that is full while the tape is written: a limit on the size of files stands for it.
awk 'BEGIN { for (i = 0; i < 20000; i++) print x = (x * 16807 + 12345) % 2147483647 }' >long.txt
(
	trap '' XFSZ
	ulimit -f 4
	run --from pages -o a.lrt long.txt | sed "s, at byte [0-9]*,,"
)
ls *.lrt* 2>/dev/null || echo "no tape"
