# SPDX-License-Identifier: GPL-2.0-only
# A policy as a shared object counts what its source counts within the program; a variant, built from a
# patch, what the program's own patch of that name counts, also with a struct changed. What does not fit
# is refused with its reason.
CC=${CC:-cc}
command -v "$CC" >/dev/null || { echo "no compiler"; exit 77; }
cd "$TEST_TMP" || exit 1
tape=$TOP/tests/golden/tapes/v1/pread-6.18.lrt
status=0
fail() {
	echo "FAILED: $*"
	status=1
}
build() { # source: a policy
	"$CC" -std=gnu11 -O2 -fno-strict-aliasing -D_GNU_SOURCE= -fPIC -shared -I"$TOP" -o "${1%.c}.so" "$1" ||
		fail "$1: does not compile"
}
rows() { # database policy
	"$LRUTAPE" sql --csv "$1" "
		SELECT seed, memory_pages, c.name, value, 0 FROM v_counter_total AS c JOIN v_run USING (run_id) WHERE policy = '$2'
		UNION ALL SELECT seed, memory_pages, site, holds, folios FROM v_lock_total JOIN v_run USING (run_id) WHERE policy = '$2'
		UNION ALL SELECT seed, memory_pages, batch || cause, drains, v_drain.folios FROM v_drain JOIN v_run USING (run_id)
			WHERE policy = '$2'
		ORDER BY 1, 2, 3"
}
same_rows() { # database policy policy
	rows "$1" "$2" >rows.1
	rows "$1" "$3" >rows.2
	[ "$(wc -l <rows.1)" -gt 20 ] || fail "$2: no rows"
	diff rows.1 rows.2 || fail "$3: other rows than $2"
}

# ---- A policy.
{
	sed 's/policy_fifo/policy_mine/; s/"fifo"/"mine"/; s/^const struct/static const struct/' \
		"$TOP/replay/policy/fifo.c"
	printf '#include "replay/policy/object.h"\nPOLICY_OBJECT(policy_mine);\n'
} >mine.c
build mine.c
"$LRUTAPE" replay --policy fifo --policy mine.so --policy ./mine.so@6.18 --memory 50%,100% --perturb 1 -o mine.db "$tape" \
	2>/dev/null || fail "replay of mine.so"
same_rows mine.db fifo mine
same_rows mine.db fifo mine@6.18
"$LRUTAPE" sql --csv mine.db "SELECT value FROM v_setting WHERE policy = 'mine' AND name = 'mine.so'" |
	grep -q '^fnv1a64:' || fail "mine.so: its hash is no setting"
"$LRUTAPE" check --policy ./mine.so "$tape" | grep -q insertion_list || fail "check by mine.so"

# ---- A variant: batches of 15, as the patch folio_batch_15 makes them, and a member more in each lruvec.
mkdir -p a/replay/mm b/replay/mm
cp "$TOP/replay/mm/rules.c" "$TOP/replay/mm/lruvec.h" a/replay/mm
sed 's/folio_batch_size = 31/folio_batch_size = 15/' a/replay/mm/rules.c >b/replay/mm/rules.c
sed 's/^struct lruvec {/&\n\tuint64_t of_the_variant;/' a/replay/mm/lruvec.h >b/replay/mm/lruvec.h
diff -ru a b >of_15.patch
mkdir -p variant_bin/bin
CC=$CC CFLAGS= BIN=variant_bin/bin "$TOP/scripts/variant" of_15 of_15.patch >said 2>&1 || fail "variant: $(cat said)"
"$LRUTAPE" replay --policy classic+folio_batch_15 --policy variant_bin/bin/of_15.so --policy classic -o variant.db "$tape" \
	2>/dev/null || fail "replay of of_15.so"
same_rows variant.db classic+folio_batch_15 classic+of_15
rows variant.db classic | cmp -s - rows.1 && fail "the patch changes nothing, and so shows nothing"

# ---- What is refused, and why.
refused() { # words-of-the-reason command...
	local words=$1
	shift
	"$@" >said 2>&1 && fail "not refused: $*"
	grep -q "$words" said || fail "$*: said: $(cat said)"
}
replay=("$LRUTAPE" replay -o no.db "$tape" --policy)
echo "no object" >text.so
printf 'int nothing;\n' >empty.c
build empty.c
sed 's/^POLICY_OBJECT.*/const struct policy_object lrutape_policy = { .abi = 7 };/' mine.c >old.c
build old.c
sed 's/^POLICY_OBJECT.*/&\n/; s/^#include "replay\/policy\/object.h"/&\n#undef POLICY_OBJECT_SIZES\n#define POLICY_OBJECT_SIZES { sizeof(struct reclaim_policy), 1 }/' \
	mine.c >other.c
build other.c
sed 's/^\t\.folio_accessed = .*//' mine.c >lacking.c
build lacking.c
sed 's/"mine"/"fifo"/' mine.c >again.c
build again.c
refused "no_such.so: cannot open" "${replay[@]}" no_such.so
refused "text.so: \(invalid ELF\|file too short\)" "${replay[@]}" text.so
refused "it has no lrutape_policy" "${replay[@]}" empty.so
refused "built for policy interface 7" "${replay[@]}" old.so
refused "struct folio of 1 bytes, here it has 64" "${replay[@]}" other.so
refused "no folio_accessed(), which is required" "${replay[@]}" lacking.so
refused "called 'fifo' like one of the program's" "${replay[@]}" again.so
refused "no patch of mine is called 'nothing'; it has none" "${replay[@]}" mine.so+nothing
refused "only .lrutape replay. runs" "$LRUTAPE" check --policy variant_bin/bin/of_15.so "$tape"
variant=(env BIN=variant_bin/bin CC="$CC" "$TOP/scripts/variant")
refused "usage: make variant" "${variant[@]}" "" ""
refused "small letters" "${variant[@]}" ../x of_15.patch
refused "called so" "${variant[@]}" zap_drains of_15.patch
refused "cannot be read" "${variant[@]}" mine no.patch
sed 's,replay/mm/rules.c,schema/events.h,' of_15.patch >far.patch
refused "replay/mm/ and replay/policy/ only" "${variant[@]}" mine far.patch
sed 's/^-.*folio_batch_size.*/-nothing like this/' of_15.patch >bad.patch
refused "does not apply" "${variant[@]}" mine bad.patch
sed 's/^+.*of_the_variant;/+\tno such type;/' of_15.patch >broken.patch
refused "does not compile" "${variant[@]}" mine broken.patch
exit $status
