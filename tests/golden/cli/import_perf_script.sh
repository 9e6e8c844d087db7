# SPDX-License-Identifier: GPL-2.0-only
# What perf script prints: with losses, call chains, thread groups, nanoseconds, and names that hold brackets.
cd "$TEST_TMP" || exit 1
"$LRUTAPE" import --from perf-script --release 6.18.44 -o perf.lrt "$TOP/tests/golden/cli/input/perf_script.txt" 2>&1 |
	sed "s/, [0-9]* bytes.*//; s|$TOP/||"
"$LRUTAPE" dump perf.lrt
"$LRUTAPE" dump perf.lrt --blob lrutape/source
"$LRUTAPE" dump perf.lrt --blob lrutape/tasks
# Text of the kernel is not taken for perf's, nor perf's for the kernel's.
"$LRUTAPE" import --from perf-script -o no.lrt "$TOP/tests/golden/cli/input/ftrace_6.18.txt" 2>&1 | sed "s|$TOP/||"
"$LRUTAPE" import --from ftrace-text -o no.lrt "$TOP/tests/golden/cli/input/perf_script.txt" 2>&1 | sed "s|$TOP/||"
ls
