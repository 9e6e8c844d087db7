# SPDX-License-Identifier: GPL-2.0-only
# The examples of the man pages run, on a tape of the name that they use. Not those that record or
# import: they need root, or other recorders' files. compare and sql have a test of their own.
cd "$TEST_TMP" || exit 1
"$LRUTAPE" import --from ftrace-text --release 6.18.44 --assume memory_limit=64M --assume swappiness=0 \
	-o pread.lrt "$TOP/tests/golden/cli/input/ftrace_6.18.txt" >import 2>&1 || { cat import; exit 1; }
PATH=$(dirname "$LRUTAPE"):$PATH
status=0
for page in lrutape.1 lrutape.5 lrutape-info.1 lrutape-dump.1 lrutape-verify.1 lrutape-check.1 lrutape-replay.1; do
	sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/p' "$TOP/docs/man/$page" | sed -n '/^\.EX/,/^\.EE/p' |
		grep -v '^\.E' | sed 's/^ *//; s/\\-/-/g' >examples
	[ -s examples ] || { echo "$page: no examples"; status=1; }
	while read -r example; do
		case $example in "lrutape record "*) continue ;; esac
		bash -o pipefail -c "$example" >out 2>err || {
			echo "$page: this fails: $example: $(tail -3 err)"
			status=1
		}
		[ -s out ] || case $example in
		*" replay "*|*" report -o "*) ;;
		*"| grep "*) ;;
		*) echo "$page: this prints nothing: $example"; status=1 ;;
		esac
	done <examples
done
exit $status
