# SPDX-License-Identifier: GPL-2.0-only
# `lrutape dump` prints what slow_reader.py prints, which was written from docs/format.md alone: of the
# bundled tapes, of fresh imports, of torn tapes, and of tapes that no recorder writes (odd_tapes.py).
export PYTHONDONTWRITEBYTECODE=1
slow_reader=$TOP/tests/golden/slow_reader.py
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' ||
	{ echo "python3 is older than 3.8"; exit 77; }
python3 -c 'import ctypes; ctypes.CDLL("libzstd.so.1")' 2>/dev/null || { echo "no libzstd.so.1"; exit 77; }
cd "$TEST_TMP" || exit 1

nr_tapes=0
nr_lines=0
compare() { # tape: the three dumps; the statuses must be equal too
	local option
	nr_tapes=$((nr_tapes + 1))
	for option in --text --json --blobs; do
		"$LRUTAPE" dump ${option/--text/} "$1" >dump 2>dump.errors
		echo "status $?" >>dump
		python3 -S "$slow_reader" ${option/--text/} "$1" >slow 2>slow.errors
		echo "status $?" >>slow
		cmp -s dump slow || {
			echo "$1 $option: line $(cmp dump slow 2>&1 | sed 's/.*line //'): lrutape dump (<), slow reader (>):"
			diff -a dump slow | head -n 4
			cat dump.errors slow.errors
			exit 1
		}
		nr_lines=$((nr_lines + $(wc -l <dump) - 1))
	done
}

# The beginning of a long tape; a reader of minutes for each would be no test that anybody runs.
compare_begin() { # tape lines
	nr_tapes=$((nr_tapes + 1))
	"$LRUTAPE" dump "$1" 2>/dev/null | head -n "$2" >dump
	python3 -S "$slow_reader" "$1" 2>/dev/null | head -n "$2" >slow
	cmp -s dump slow || {
		echo "$1: line $(cmp dump slow 2>&1 | sed 's/.*line //'): lrutape dump (<), slow reader (>):"
		diff -a dump slow | head -n 4
		exit 1
	}
	nr_lines=$((nr_lines + $(wc -l <dump)))
}

# ---- Bundled: of each kind of kernel and recorder one to its end.
shopt -s globstar nullglob
for tape in "$TOP"/tests/golden/tapes/**/*.lrt; do
	case $tape in
	*/tapes/bad/*) ;;
	*/example.lrt | */mixed.lrt | */cat-96m-6.18.lrt | */vm-6.1-mglru-pread.lrt | */vm-6.12-mglru-bursts-two.lrt)
		compare "$tape" ;;
	*) compare_begin "$tape" 5000 ;;
	esac
done
((nr_tapes)) || { echo "no bundled tape found"; exit 1; }

# ---- Imported.
for text in "$TOP"/tests/golden/cli/input/ftrace_*.txt; do
	"$LRUTAPE" import --from ftrace-text -o import.lrt --keep "$text" >import.log 2>&1
	[ -s import.lrt ] || { echo "$text: no tape: $(cat import.log)"; exit 1; }
	compare import.lrt
	last=$text
	mv import.lrt last.lrt
done
[ "${last:-}" ] || { echo "nothing to import"; exit 1; }

# ---- Torn: in the trailer, the index, the events.
size=$(wc -c <last.lrt)
for bytes in 1 25 $((size / 3)) $((size / 2)) $((size - 33)); do
	head -c $((size - bytes)) last.lrt >torn.lrt
	compare torn.lrt
done

# ---- Odd. The number in a tape's name is its seed.
python3 "$TOP/tests/golden/odd_tapes.py" . 1 20 || exit 1
for tape in odd-*.lrt; do
	compare "$tape"
done
echo "$nr_tapes tapes, $nr_lines lines"
