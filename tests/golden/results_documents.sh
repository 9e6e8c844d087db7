# SPDX-License-Identifier: GPL-2.0-only
# docs/results.md names every table, view and column; its queries and the man pages' examples run.
sample=$BIN/tests/unit/replay/test_results_sample
[ -x "$sample" ] || { echo "the sample maker is not built"; exit 77; }
cd "$TEST_TMP" && "$sample" results.db || exit 1
page=$TOP/docs/results.md
status=0
fail() {
	echo "$*"
	status=1
}

# ---- Names. Views tell only what they add, so their columns are not looked for.
"$LRUTAPE" sql --csv results.db | tr -d '\r"' >names || exit 1
while IFS=, read -r kind name columns; do
	[ "$kind" = kind ] && continue
	grep -q "^| $name |" "$page" || fail "docs/results.md: $kind $name: no row"
	[ "$kind" = table ] || continue
	for column in ${columns//,/ }; do
		grep -qw "$column" "$page" || fail "docs/results.md: $name.$column is not there"
	done
done <names
[ "$(grep -c '^question,' names)" = "$(ls "$TOP"/analysis/questions/*.sql | wc -l)" ] ||
	fail "analysis/questions.c: a file of analysis/questions/ is not in its list"

# ---- Queries of the page.
awk '/^```sql/ { n++; on = 1; next } /^```/ { on = 0 } on { print >("query" n) }' "$page"
[ -s query1 ] || fail "docs/results.md: no query found"
for query in query*; do
	"$LRUTAPE" sql results.db "$(cat "$query")" >rows || fail "docs/results.md: this fails: $(cat "$query")"
	[ "$(wc -l <rows)" -gt 1 ] || fail "docs/results.md: no rows: $(cat "$query")"
done

# ---- Examples of the man pages.
for man in compare report sql; do
	sed -n '/^\.EX/,/^\.EE/p' "$TOP/docs/man/lrutape-$man.1" | grep -v '^\.E' | sed 's/\\-/-/g' >examples
	[ -s examples ] || fail "lrutape-$man.1: no examples"
	while read -r example; do
		(lrutape() { "$LRUTAPE" "$@"; }; set -o pipefail; eval "$example") >rows 2>&1 ||
			fail "lrutape-$man.1: this fails: $example: $(cat rows)"
	done <examples
done
exit $status
