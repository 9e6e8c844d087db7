# SPDX-License-Identifier: GPL-2.0-only
# A pair under perturbations: differences with their spread; the same seeds make the same rows, the
# unperturbed runs stay what they are, and other seeds are other runs.
cd "$TEST_TMP" || exit 1
tape=$TOP/tests/golden/tapes/v1/pread-6.18.lrt
pair=(--policy classic --policy classic+folio_batch_15 --memory 50%)
rows() { # database condition
	"$LRUTAPE" sql --csv "$1" "SELECT policy, seed, c.name, value FROM v_counter_total AS c JOIN v_run USING (run_id)
		WHERE $2 ORDER BY 1, 2, 3"
}
"$LRUTAPE" replay "${pair[@]}" --perturb 3 -o one.db "$tape" 2>/dev/null
"$LRUTAPE" replay "${pair[@]}" --perturb 3 -o two.db "$tape" 2>/dev/null
"$LRUTAPE" replay "${pair[@]}" --perturb 2 --seed 2 -o three.db "$tape" 2>/dev/null
"$LRUTAPE" replay "${pair[@]}" -o none.db "$tape" 2>/dev/null
rows one.db 1 >one
rows two.db 1 | cmp - one && echo "the same seeds: the same rows"
rows none.db "seed = 0" >none
rows one.db "seed = 0" | cmp - none && echo "seed 0: as if nothing was perturbed"
rows one.db "seed >= 2" >from_2
rows three.db "seed >= 2" | cmp - from_2 && echo "seeds 2 and 3: whatever the first one is"
"$LRUTAPE" sql one.db "SELECT count(DISTINCT value) AS of_4_runs FROM v_counter_total JOIN v_run USING (run_id)
	WHERE policy = 'classic' AND name = 'misses'"
"$LRUTAPE" sql one.db "SELECT seed, count(*) AS moments FROM counter_at JOIN run USING (run_id) GROUP BY seed"
"$LRUTAPE" compare one.db | sed "/How far to believe/,\$d"
"$LRUTAPE" compare one.db 1 5 | head -n 8
"$LRUTAPE" compare --csv one.db | grep -E 'section|misses|,all,'
"$LRUTAPE" sql one.db noise
for wrong in "--perturb 0" "--perturb many" "--perturb 3 --seed 0" "--perturb 255 --memory 1M,2M,3M,4M,5M"; do
	echo "\$ lrutape replay $wrong"
	"$LRUTAPE" replay $wrong -o no.db "$tape" 2>&1
	echo "[status $?]"
done
