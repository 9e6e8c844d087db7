# SPDX-License-Identifier: GPL-2.0-only
# A command that does not exist is told before anything is touched: no tape, no root needed.
if "$LRUTAPE" record --help 2>&1 | grep -q 'built without libtracefs'; then
	echo "built without libtracefs"
	exit 77
fi
cd "$TEST_TMP" || exit 1
echo kept >old.lrt
"$LRUTAPE" record -o new.lrt -- no-such-command-at-all 2>&1
echo "status $?"
"$LRUTAPE" record -o old.lrt -- ./no-such-file 2>&1
echo "status $?"
ls
cat old.lrt
