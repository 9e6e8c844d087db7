# SPDX-License-Identifier: GPL-2.0-only
# Bundled files of trace-cmd become the same events, field for field and to the nanosecond, as the text that
# `trace-cmd report` makes of them.
command -v trace-cmd >/dev/null || { echo "trace-cmd is not installed"; exit 77; }
input=$TOP/tests/golden/cli/input
cd "$TEST_TMP" || exit 1
status=0

# Fields in an order of their own; pointers are in neither.
fields_of() { # tape
	"$LRUTAPE" dump "$1" | grep -v ' LOST: ' | sed -E 's/^.*-([0-9]+) \[/\1 [/' | awk '{
		for (i = 5; i <= NF; i++)
			for (j = i; j > 5 && $j < $(j - 1); j--) {
				swap = $j; $j = $(j - 1); $(j - 1) = swap
			}
		print
	}'
}

same() { # file instance...
	local file=$1 prefix=
	shift
	"$LRUTAPE" import --from trace.dat ${1:+--instance "$1"} -o records.lrt "$file" >said 2>&1 || {
		cat said
		status=1
	}
	[ $# = 0 ] || prefix="$1: *"
	# The order of events of equal time is the reader's, and the last digits are times.
	trace-cmd report -t "$file" 2>/dev/null | grep -E "^${prefix:- }" | sed -E "s/^$prefix//" |
		grep -vE '^cpus=|DROPPED' >report.txt
	"$LRUTAPE" import --from ftrace-text -o text.lrt report.txt >said 2>&1 || {
		cat said
		status=1
	}
	fields_of records.lrt >records
	fields_of text.lrt >text
	if ! cmp -s records text; then
		echo "FAILED: $file $*: records and report differ"
		diff records text | head -n 6
		status=1
	fi
	echo "$(basename "$file") $*: $(wc -l <records) events"
	[ -s records ] || status=1
}

for name in v6 v6_main v7_main; do
	gunzip -c "$input/trace_cmd_$name.dat.gz" >$name.dat
done
cp "$input/trace_cmd_v7_zstd.dat" v7.dat
for file in v6.dat v7.dat; do
	same $file pages
	same $file tasks
done
same v6_main.dat
same v7_main.dat
exit $status
