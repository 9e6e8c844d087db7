# SPDX-License-Identifier: GPL-2.0-only
# A tape of swap that names no anonymous page: what a run of it is worth is said before anybody believes it.
cd "$TEST_TMP" || exit 1
for tape in vm-6.12-classic-touches pread-6.18; do
	cp "$TOP/tests/golden/tapes/v1/$tape.lrt" .
	echo "\$ lrutape replay -o run.db $tape.lrt"
	"$LRUTAPE" replay -o run.db "$tape.lrt" 2>&1
done
