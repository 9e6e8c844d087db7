# SPDX-License-Identifier: GPL-2.0-only
# What import says of a mailed trace: nothing that is not on the tape goes untold.
cd "$TEST_TMP" || exit 1
cp "$TOP/tests/golden/cli/input/ftrace_mailed.txt" mail.txt
"$LRUTAPE" import --from ftrace-text -o mail.lrt mail.txt 2>&1 | sed 's/, [0-9]* bytes.*//'
