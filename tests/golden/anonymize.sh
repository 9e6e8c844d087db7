# SPDX-License-Identifier: GPL-2.0-only
# Copies under other names: of an import, of bundled tapes, of a torn one; keys.
. "$TOP/tests/golden/anonymize.bash"
cd "$TEST_TMP" || exit 1
head -c 32 /dev/urandom >key
head -c 32 /dev/urandom >other_key

"$LRUTAPE" import --from ftrace-text --release 6.18.44-house --assume memory_limit=64M \
	-o import.lrt "$TOP/tests/golden/cli/input/ftrace_6.18.txt" >/dev/null 2>&1
"$LRUTAPE" anonymize --key key -o copy.lrt import.lrt >said || fail "an import is not copied"
all_of import.lrt copy.lrt
"$LRUTAPE" dump copy.lrt --blob lrutape/release | grep -qx 6.18.44 || fail "the release is not cut"

# One key, one copy; another key or none, another copy.
"$LRUTAPE" anonymize --key key -o again.lrt import.lrt >/dev/null
cmp copy.lrt again.lrt || fail "two copies by one key differ"
"$LRUTAPE" anonymize --key other_key -o other.lrt import.lrt >/dev/null
cmp -s copy.lrt other.lrt && fail "copies by two keys are equal"
"$LRUTAPE" anonymize -o random.lrt import.lrt >/dev/null
cmp -s copy.lrt random.lrt && fail "a copy by a random key is that of another"
"$LRUTAPE" anonymize --key key --shift-time -o shifted.lrt import.lrt >/dev/null
"$LRUTAPE" dump shifted.lrt --limit 1 | grep -q ' 1000\.000000000: ' || fail "time is not shifted"

for tape in "$TOP"/tests/golden/tapes/v1/{mixed,pread-6.18,vm-6.1-classic-pread,vm-6.12-classic-pread}.lrt; do
	[ -e "$tape" ] || continue
	cp "$tape" bundled.lrt
	"$LRUTAPE" anonymize --key key -o copy.lrt bundled.lrt >said || fail "$tape is not copied"
	all_of bundled.lrt copy.lrt
done

# A torn tape: what is usable is copied, and the copy is whole. Events by the thousand, in small frames of text.
awk 'BEGIN { srand(1); for (i = 0; i < 60000; i++)
	printf " secretd-7 [%03d] ..... %d.%06d: mm_filemap_add_to_page_cache: dev 8:1 ino 7b page=0x%x pfn=0x%x ofs=%d order=0\n",
		i % 2, i / 1000, i % 1000 * 1000, i, rand() * 16777216, int(rand() * 16777216) * 4096 }' >many.txt
"$LRUTAPE" import --from ftrace-text -o many.lrt many.txt >/dev/null 2>&1 || fail "many.txt is not imported"
size=$(stat -c %s many.lrt)
head -c $((size * 2 / 3)) many.lrt >torn.lrt
"$LRUTAPE" anonymize --key key -o copy.lrt torn.lrt >said 2>said_of_torn || fail "a torn tape is not copied"
grep -q 'torn at byte [0-9]*: what stands before is copied' said_of_torn || fail "not told that it was torn"
"$LRUTAPE" verify copy.lrt >/dev/null || fail "the copy of a torn tape does not verify"
[ "$("$LRUTAPE" dump torn.lrt | wc -l)" = "$("$LRUTAPE" dump copy.lrt | wc -l)" ] ||
	fail "the copy of a torn tape has other events"

# What is refused leaves nothing behind, and an old copy alone.
cp copy.lrt before.lrt
dd if=/dev/zero of=many.lrt bs=1 seek=$((size / 2)) count=64 conv=notrunc 2>/dev/null
"$LRUTAPE" anonymize -o copy.lrt many.lrt >/dev/null 2>&1 && fail "a damaged tape is copied"
cmp copy.lrt before.lrt || fail "a failure replaced an older copy"
printf 'short' >short_key
"$LRUTAPE" anonymize --key short_key -o no.lrt import.lrt 2>&1 | grep -q 'can be guessed' || fail "a short key is taken"
"$LRUTAPE" anonymize --key no_key -o no.lrt import.lrt 2>&1 | grep -q 'cannot be read' || fail "a key of nothing is taken"
"$LRUTAPE" anonymize -o import.lrt import.lrt 2>&1 | grep -q 'would replace the input' || fail "a tape is replaced by its copy"
"$LRUTAPE" anonymize import.lrt 2>/dev/null
[ $? = 2 ] || fail "no -o: exit status is not 2"
ls | grep -E 'unfinished|no\.lrt' && fail "something is left behind"
exit $status
