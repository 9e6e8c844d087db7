#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What each patch counts on the bundled tapes, row by row as patches.csv has it: of a patch only the rows
# that its base does not have alike, or that differ. A row never moves unexplained. UPDATE_GOLDEN=1
# (`make golden`) rewrites it.
set -eu
cd "$TOP/tests/golden"

# TAPE BASE PATCH...: rows of BASE, then of BASE+PATCH what is not the same.
rows() {
	local tape=$1 base=$2 policies=(--policy "$2") patch
	shift 2
	for patch; do policies+=(--policy "$base$patch"); done
	"$LRUTAPE" replay "${policies[@]}" -o "$TEST_TMP/rows.db" "tapes/v1/$tape" 2>/dev/null
	"$LRUTAPE" sql --csv "$TEST_TMP/rows.db" "
		WITH r AS (
			SELECT run_id, 'counter' AS kind, name, value AS number, NULL AS folios
			  FROM v_counter_total
			UNION ALL SELECT run_id, 'lock', site, holds, folios FROM v_lock_total
			UNION ALL SELECT run_id, 'drain', batch || ', ' || cause, drains, folios FROM v_drain)
		SELECT tape, policy, kind, name, number, folios FROM r JOIN v_run USING (run_id)
		 WHERE run_id = 1 AND (number OR folios) OR run_id > 1 AND NOT EXISTS
		       (SELECT 1 FROM r AS b WHERE b.run_id = 1 AND b.kind = r.kind AND b.name = r.name
		           AND b.number = r.number AND b.folios IS r.folios)
		UNION ALL
		SELECT tape, policy, 'equal', 'to ' || '$base', NULL, NULL FROM v_run
		 WHERE run_id > 1 AND NOT EXISTS
		       (SELECT kind, name, number, folios FROM r WHERE r.run_id = v_run.run_id
		        EXCEPT SELECT kind, name, number, folios FROM r WHERE run_id = 1)
		ORDER BY 1, 2, 3, 4" | tr -d '\r' | tail -n +2
}

{
	echo tape,policy,kind,name,number,folios
	rows pread-6.18.lrt classic +folio_batch_15 +zap_drains +dead_folios_at_drain +exact_stats
	rows pread-6.18.lrt classic@5.6 +inline_evictable +mb_after_atomic +inline_evictable+mb_after_atomic
	rows churn-mthp-6.18.lrt classic +folio_batch_15 +zap_drains +dead_folios_at_drain
	rows churn-mthp-6.18.lrt classic+large_folio_lru_cache +folio_batch_15 +zap_drains \
		+dead_folios_at_drain +zap_drains+dead_folios_at_drain
	rows churn-mthp-6.18.lrt classic@5.6 +inline_evictable+mb_after_atomic
	rows churn-mthp-6.18.lrt classic@5.7
	# Only a group that ages has runs that bulk_move turns round.
	for release in 6.1 6.7 6.12 6.18; do
		rows mglru-6.12-aging.lrt lru_gen@$release +batch_counters +bulk_move +prefetch +batch_counters+prefetch
	done
	rows pread-6.18.lrt lru_gen@6.18 +batch_counters +bulk_move +prefetch
} >"$TEST_TMP/patches.csv"
[[ -z ${UPDATE_GOLDEN:-} ]] || cp "$TEST_TMP/patches.csv" .
diff -u patches.csv "$TEST_TMP/patches.csv"
