# SPDX-License-Identifier: GPL-2.0-only
# A kernel's own text of 42 kinds of events: plain, packed and under a misleading name, from standard input.
input=$TOP/tests/golden/cli/input/ftrace_6.18.txt
cd "$TEST_TMP" || exit 1
without_size() { sed 's/, [0-9]* bytes.*//'; }
"$LRUTAPE" import --from ftrace-text --release 6.18.44 --assume memory_limit=64M \
	--assume anon_pages=2530 -o plain.lrt "$input" 2>&1 | without_size
cp "$input" trace.txt
gzip -9 <trace.txt >packed.txt
"$LRUTAPE" import -f ftrace-text -o gz.lrt packed.txt 2>&1 | without_size | head -n 1
if command -v zstd >/dev/null; then zstd -q <trace.txt >packed.txt; fi
"$LRUTAPE" import -f ftrace-text -o zst.lrt packed.txt 2>&1 | without_size | head -n 1
"$LRUTAPE" import -f ftrace-text -o stdin.lrt - <trace.txt 2>&1 | without_size | head -n 1
ls
