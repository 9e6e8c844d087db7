# SPDX-License-Identifier: GPL-2.0-only
# The worked examples of docs/policies.md are what it says they are: they compile without a warning, and a
# program that has them replays by them. A loop longer than memory misses each time under a copy of fifo.
cc=${CC:-cc}
command -v "$cc" >/dev/null || { echo "no C compiler here"; exit 77; }
tree=$TEST_TMP/tree
mkdir -p "$tree/replay/policy" && cd "$TEST_TMP" || exit 1

# The patch's code stands on the page as it stands in its file.
sed -n '/^```c$/,/^```$/p' "$TOP/docs/policies.md" | sed '/^```/d' >shown
sed -n '/^static/,$p' "$TOP/replay/policy/folio_batch_15.c" >real
diff shown real || exit 1

# The page's own sed commands, on a copy; then only what changed is compiled, in front of the archive.
cp "$TOP/replay/policy/policies.def" "$TOP/replay/policy/"{fifo,folio_batch_15}.c "$tree/replay/policy/" || exit 1
(cd "$tree" && sed -n '/^    sed /s/^    //p' "$TOP/docs/policies.md" | sh -e) || exit 1
[ "$(diff "$TOP/replay/policy/policies.def" "$tree/replay/policy/policies.def" | grep -c '^>')" = 2 ] ||
	{ echo "the page's sed commands do not add two lines to policies.def"; exit 1; }
sanitize=
[ "$VARIANT" = san ] && sanitize=-fsanitize=address,undefined
"$cc" -std=gnu11 -D_GNU_SOURCE= -pthread -O1 -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Werror $sanitize \
	-I"$tree" -I"$TOP" -o lrutape -Wl,-u,command_replay -Wl,-u,command_import -Wl,-u,command_sql \
	"$TOP/lrutape.c" "$TOP/replay/policy/catalogue.c" "$tree/replay/policy/mine.c" \
	"$tree/replay/policy/batch_of_7.c" "$BIN/../lib/liblrutape.a" \
	$(pkg-config --libs libzstd zlib sqlite3) || exit 1

for i in 1 2 3 4 5; do seq 0 299; done >loop.txt
./lrutape import --from pages -o loop.lrt loop.txt >/dev/null || exit 1
./lrutape replay --policy mine --policy classic+batch_of_7 --memory 1M,2M -o loop.db loop.lrt 2>/dev/null || exit 1
./lrutape sql --csv loop.db "SELECT policy, memory_pages, missed_accesses FROM v_miss
	ORDER BY 1, 2" | tr -d '\r' >got || exit 1
diff - got <<-END
	policy,memory_pages,missed_accesses
	classic+batch_of_7,256,1500
	classic+batch_of_7,512,300
	mine,256,1500
	mine,512,300
END
