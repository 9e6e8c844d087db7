# SPDX-License-Identifier: GPL-2.0-only
# replay --cost: what was measured and by which code; not how long it took. Patches for one release's code.
tape=$TOP/tests/golden/tapes/v1/pread-6.18.lrt
cd "$TEST_TMP" || exit 1
for repeats in =0 =4 =x = =-5 =1002; do
	"$LRUTAPE" replay --cost$repeats -o cost.db "$tape" 2>&1
	echo "status $?"
done
for policy in classic+inline_evictable classic@5.7+mb_after_atomic classic@5.6+inline_evictabel; do
	"$LRUTAPE" replay --policy $policy -o cost.db "$tape" 2>&1
	echo "status $?"
done
[ -e cost.db ] && echo "cost.db is there"
"$LRUTAPE" replay --cost=5 --policy classic@5.6 --policy classic@5.6+inline_evictable --policy fifo \
	--policy classic@5.6+inline_evictable+mb_after_atomic --policy classic -o cost.db "$tape" 2>&1 |
	grep note:
"$LRUTAPE" sql cost.db "SELECT policy, step, shape, repeats, cost.folios = l.folios AND cost.holds = l.holds
	AS all_adds, ns_per_folio > 0 AND ns_per_folio_low <= ns_per_folio AND ns_per_folio <= ns_per_folio_high
	AND ns_per_hold > ns_per_folio AS in_order FROM cost JOIN run USING (run_id) JOIN
	(SELECT run_id, sum(holds) AS holds, sum(folios) AS folios FROM lock_hold WHERE site = 'lru_add'
	 GROUP BY run_id) AS l USING (run_id)"
"$LRUTAPE" sql cost.db "SELECT count(*) AS repeats, min(repeat) AS first, max(repeat) AS last FROM cost_repeat"
"$LRUTAPE" compare cost.db classic@5.6 classic@5.6+inline_evictable+mb_after_atomic | grep '^no difference'
"$LRUTAPE" replay --cost=5 --lists 1024,2048 --policy lru_gen@6.12 --policy lru_gen@6.12+prefetch --policy classic \
	-o loops.db "$tape" 2>&1 | grep note:
"$LRUTAPE" sql loops.db "SELECT policy, step, shape, repeats, folios, holds, ns_per_folio > 0 AND
	ns_per_folio_low <= ns_per_folio AND ns_per_folio <= ns_per_folio_high AS in_order
	FROM cost JOIN run USING (run_id) ORDER BY run_id, cost.rowid"
"$LRUTAPE" compare loops.db lru_gen@6.12 lru_gen@6.12+prefetch | grep -e '^no difference' -e measured | cut -d, -f1
for lists in 1023 4194305 8192, ,8192 8192,x '' 1024,1024,1024,1024,1024,1024,1024,1024,1024; do
	"$LRUTAPE" replay --cost --lists "$lists" -o no.db "$tape" 2>&1
	echo "status $?"
done
