# SPDX-License-Identifier: GPL-2.0-only
# Replay of an imported access stream, 5 million requests of 100,000 pages by rank (tests/oracle/page_trace.c):
# with room for all, for half and for a tenth of them; the yardsticks at half. Then a million pages, twice each, for
# the memory that a resident page costs: 48 bytes of descriptor, 16 of the policy's own, 8 and some of page cache.
set -e
work=$(mktemp -d "${TMPDIR:-/var/tmp}/lrutape-zipf.XXXXXX")
trap 'rm -rf "$work"' EXIT
[ -x "$BIN/page_trace" ] || { echo "not there yet"; exit 0; }
"$BIN/page_trace" zipf 100000 5000000 42 >"$work/zipf"
"$LRUTAPE" import --from oracleGeneral -o "$work/zipf.lrt" "$work/zipf" >/dev/null
rm "$work/zipf"
for pages in 100000 50000 10000; do
	echo "$pages pages"
	"$BIN/bench_replay" --pages "$pages" "$work/zipf.lrt" | sed '1d'
done
echo "50000 pages"
for policy in fifo lru clock opt; do
	"$BIN/bench_replay" --pages 50000 --policy "$policy" "$work/zipf.lrt" | sed '1d'
done
"$BIN/page_trace" loop 1000000 2000000 >"$work/loop"
"$LRUTAPE" import --from oracleGeneral -o "$work/loop.lrt" "$work/loop" >/dev/null
rm "$work/loop"
echo "1000000 pages"
"$BIN/bench_replay" --pages 1000000 "$work/loop.lrt" | sed '1d'
