# SPDX-License-Identifier: GPL-2.0-only
# A disk that is full while the database is written: a limit on the size of files stands for it.
cd "$TEST_TMP" || exit 1
awk -f "$TOP/tests/golden/cli/input/story.awk" >story.txt
"$LRUTAPE" import --from ftrace-text --release 6.18.44 --assume memory_limit=256K -o good.lrt story.txt >/dev/null
(
	trap '' XFSZ
	ulimit -f 4
	"$LRUTAPE" replay -o full.db good.lrt 2>&1 | sed "s/tmp-[0-9]*/tmp-N/"
	echo "[status ${PIPESTATUS[0]}]"
)
ls
