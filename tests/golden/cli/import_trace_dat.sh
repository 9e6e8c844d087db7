# SPDX-License-Identifier: GPL-2.0-only
# Files that trace-cmd 3.1.6 wrote on 6.18: version 6, version 7 packed with zstd and not packed, with two
# instances, with a main buffer that the kernel had overwritten. And what is refused.
input=$TOP/tests/golden/cli/input
cd "$TEST_TMP" || exit 1
run() {
	echo "\$ lrutape import $*"
	"$LRUTAPE" import "$@" 2>&1 | sed "s/, [0-9]* bytes.*//"
}
cp "$input/trace_cmd_v7_zstd.dat" v7.dat
for name in v6 v6_main v7_main; do
	gunzip -c "$input/trace_cmd_$name.dat.gz" >$name.dat
done
for name in v6 v7; do
	run --from trace.dat --instance pages -o $name.pages.lrt $name.dat
	run --from trace.dat --instance tasks -o $name.tasks.lrt $name.dat
	"$LRUTAPE" dump $name.pages.lrt | sed -n '1,3p;$p'
	"$LRUTAPE" dump $name.tasks.lrt
	"$LRUTAPE" dump $name.pages.lrt --blob lrutape/tasks
	"$LRUTAPE" dump $name.pages.lrt --blob lrutape/source
	"$LRUTAPE" dump $name.pages.lrt --blob lrutape/release
	"$LRUTAPE" dump $name.pages.lrt --blob lrutape/clock
	"$LRUTAPE" dump $name.pages.lrt --moment end --blob lrutape/per_cpu/1/stats | sed 's/[0-9.]*$/N/'
done
run --from trace.dat -o v6_main.lrt v6_main.dat
run --from trace.dat -o v7_main.lrt v7_main.dat
"$LRUTAPE" dump v6_main.lrt >v6.txt
"$LRUTAPE" dump v7_main.lrt | cmp - v6.txt && echo "version 6 and 7 hold the same"
grep -m 2 LOST v6.txt
# Packed once more, and from standard input: read from a copy.
run --from trace.dat -o gz.lrt "$input/trace_cmd_v6_main.dat.gz" | sed "s|$input/||"
"$LRUTAPE" dump gz.lrt | cmp - v6.txt
run --from trace.dat -o stdin.lrt - <v7_main.dat | head -n 2

run --from trace.dat -o no.lrt v6.dat
run --from trace.dat --instance house -o no.lrt v6.dat
run --from trace.dat --instance house -o no.lrt v6_main.dat
run --from pages --instance pages -o no.lrt v6.dat
head -c 20000 v7.dat >cut.dat
head -c 9000 v7.dat >cut7.dat
head -c 30000 v6_main.dat >cut6.dat
head -c 2000 v6_main.dat >cut_head.dat
for name in cut7 cut6 cut_head; do
	run --from trace.dat --instance pages -o no.lrt $name.dat
done
printf 'no trace' | run --from trace.dat -o no.lrt -
printf '\027\010Dtracing5\0' | run --from trace.dat -o no.lrt -
printf '\027\010Dtracing6\0\001\010\0\020\0\0' | run --from trace.dat -o no.lrt -
ls ./*no* 2>/dev/null || echo "nothing is left behind"
