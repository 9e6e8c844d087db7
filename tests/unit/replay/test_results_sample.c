// SPDX-License-Identifier: GPL-2.0-only
/*
 * A small results database with known numbers. As a test: made twice it is the same file, byte for
 * byte. With a file name as its argument: makes it there, for the tests in tests/golden/cli; the word
 * costs behind it adds runs whose lru_add() was measured.
 *
 * The numbers of the two mthp runs are those worked out for 20 threads that each 1,000 times fill and
 * drop 16 MiB in folios of 16 KiB: 20,480,000 folios added one by one, or 31 at a time.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "replay/results.h"

#define MTHP_MEMCG 4242
#define PREAD_MEMCG 77

/* Five repeats of 1000 holds of 15 folios; nanoseconds of each are told. */
static void add_cost(struct results *results, int64_t run_id, const char *shape,
		     const uint64_t ns[static 5], uint64_t median, uint64_t low, uint64_t high)
{
	struct results_cost cost = {
		.step = "lru_add",
		.shape = shape,
		.host = "made-up CPU, Linux 6.18.44, x86_64",
		.repeats = 5,
		.folios = 15000,
		.holds = 1000,
		.ns_per_folio = { (double)median / 15000, (double)low / 15000,
				  (double)high / 15000 },
		.ns_per_hold = { (double)median / 1000, (double)low / 1000, (double)high / 1000 },
	};

	results_add_cost(results, run_id, &cost);
	for (unsigned int i = 0; i < 5; i++)
		results_add_cost_repeat(results, run_id, "lru_add", i + 1, ns[i], 15000, 1000);
}

static void add_mthp_run(struct results *results, int64_t tape_id, const char *policy,
			 uint64_t add_holds, uint64_t waiting_max)
{
	struct results_run run = {
		.tape_id = tape_id,
		.policy = policy,
		.release = "6.18",
		.memory_pages = RESULTS_NONE,
		.accesses = RESULTS_NONE,
	};
	int64_t id;

	results_add_run(results, &run, &id);
	results_end_run(results, id, 20480000, 20480000, 0);
	results_add_counter(results, id, MTHP_MEMCG, "accesses", 20480000);
	results_add_counter(results, id, MTHP_MEMCG, "hits", 20480000);
	results_add_counter(results, id, MTHP_MEMCG, "misses", 0);
	results_add_counter(results, id, MTHP_MEMCG, "lru_insertions", 20480000);
	results_add_counter(results, id, MTHP_MEMCG, "anon_alloc", 81920000);
	results_add_counter(results, id, MTHP_MEMCG, "anon_free", 81920000);
	results_add_counter(results, id, MTHP_MEMCG, "batch_pages_max", waiting_max);
	results_add_lock_hold(results, id, MTHP_MEMCG, "lru_add", add_holds, 20480000);
	results_add_lock_hold(results, id, MTHP_MEMCG, "folios_put", 740000, 20480000);
	results_add_lock_hold(results, id, MTHP_MEMCG, "isolate", 0, 0);
	if (add_holds == 20480000) {
		results_add_drain(results, id, "lru_add", "large_folio", 20480000, 20480000);
	} else {
		results_add_drain(results, id, "lru_add", "full", 660645, 20479995);
		results_add_drain(results, id, "lru_add", "end", 1, 5);
		results_add_setting(results, id, "large_folio_lru_cache.below_order", "3");
	}
}

static void add_pread_run(struct results *results, int64_t tape_id, const char *policy,
			  uint64_t memory_pages, uint64_t misses)
{
	struct results_run run = {
		.tape_id = tape_id,
		.policy = policy,
		.release = "6.18",
		.memory_pages = memory_pages,
		.accesses = 400000,
	};
	int64_t id;

	results_add_run(results, &run, &id);
	results_add_counter(results, id, PREAD_MEMCG, "accesses", 400000);
	results_add_counter(results, id, PREAD_MEMCG, "hits", 400000 - misses);
	results_add_counter(results, id, PREAD_MEMCG, "misses", misses);
	results_add_counter(results, id, PREAD_MEMCG, "readahead", 0);
	results_add_counter(results, id, PREAD_MEMCG, "workingset_refault_file", misses / 2);
	results_add_counter(results, id, PREAD_MEMCG, "pgscan_direct", misses * 3);
	results_add_counter(results, id, RESULTS_NO_MEMCG, "accesses", 0);
	for (uint64_t second = 1; second <= 3; second++)
		results_add_counter_at(results, id, PREAD_MEMCG, 1000000000 * (5 + second),
				       "workingset_refault_file", misses / 6 * second);
	results_add_inferred(results, id, "activate_is_second_read", 1200);
	results_end_run(results, id, 400000, 400000, 1200);
}

/* Two cost-only patches: the difference of one is seen, that of the other is below the spread. */
static void add_cost_run(struct results *results, int64_t tape_id, const char *policy,
			 const char *shape, const uint64_t ns[static 5], uint64_t median,
			 uint64_t low, uint64_t high)
{
	struct results_run run = {
		.tape_id = tape_id,
		.policy = policy,
		.release = "5.6",
		.memory_pages = 8192,
		.accesses = 400000,
	};
	int64_t id;

	results_add_run(results, &run, &id);
	results_add_counter(results, id, PREAD_MEMCG, "accesses", 400000);
	results_add_lock_hold(results, id, PREAD_MEMCG, "lru_add", 1000, 15000);
	results_end_run(results, id, 400000, 400000, 0);
	if (shape)
		add_cost(results, id, shape, ns, median, low, high);
}

static void add_cost_runs(struct results *results, int64_t tape_id)
{
	static const uint64_t stock[5] = { 240000, 250000, 245000, 241000, 260000 };
	static const uint64_t one[5] = { 241000, 248000, 246000, 240000, 262000 };
	static const uint64_t both[5] = { 226000, 236000, 231000, 227000, 246000 };

	add_cost_run(results, tape_id, "classic@5.6", "page_evictable() a call, smp_mb()", stock,
		     245000, 241000, 250000);
	add_cost_run(results, tape_id, "classic@5.6+inline_evictable",
		     "page_evictable() inline, smp_mb()", one, 246000, 241000, 248000);
	add_cost_run(results, tape_id, "classic@5.6+inline_evictable+mb_after_atomic",
		     "page_evictable() inline, smp_mb__after_atomic()", both, 231000, 227000,
		     236000);
	add_cost_run(results, tape_id, "classic@5.6+exact_stats", NULL, stock, 0, 0, 0);
}

/* Two insertions of 63000 were not predicted, one of them behind a loss. */
static void add_pread_agreement(struct results *results, int64_t tape_id)
{
	const struct results_agreement insertions = {
		.tape_id = tape_id,
		.memcg_id = PREAD_MEMCG,
		.decision = "insertion_list",
		.decided = 63000,
		.equal = 62998,
		.first_mismatch_ns = 5500000000,
		.first_predicted = "pfn 1f to inactive_file",
		.first_recorded = "to active_file",
	};
	const struct results_agreement victims = {
		.tape_id = tape_id,
		.memcg_id = PREAD_MEMCG,
		.decision = "victim",
		.decided = 62962,
		.equal = 62962,
		.first_mismatch_ns = RESULTS_NONE,
	};
	struct results_mismatch mismatch = {
		.tape_id = tape_id,
		.number = 1,
		.timestamp_ns = 5500000000,
		.memcg_id = PREAD_MEMCG,
		.cpu = 1,
		.pid = 4321,
		.decision = "insertion_list",
		.cause = "unexplained",
		.predicted = "pfn 1f to inactive_file",
		.recorded = "to active_file",
		.state = "inactive_file 100 100",
	};

	results_add_agreement(results, &insertions);
	results_add_agreement(results, &victims);
	results_add_disagreement(results, tape_id, PREAD_MEMCG, "insertion_list", "unexplained", 1);
	results_add_disagreement(results, tape_id, PREAD_MEMCG, "insertion_list", "lost_events", 1);
	results_add_undecided(results, tape_id, "unseen_folio", "unseen_folio", 17);
	results_add_drift(results, tape_id, PREAD_MEMCG, true, 6000000000, 40, 12);
	results_set_walks(results, tape_id, 6500000000);
	results_add_mismatch(results, &mismatch);
	mismatch.number = 2;
	mismatch.timestamp_ns = 6250000000;
	mismatch.cause = "lost_events";
	results_add_mismatch(results, &mismatch);
}

/* @costs: with the runs that were measured. */
static int make_sample(const char *path, bool costs, struct results_problem *problem)
{
	struct results_tape mthp = {
		.path = "tapes/mthp.lrt",
		.content_hash = "crc32:0badcafe",
		.format_version = 1,
		.kernel_release = "6.18.44",
		.command = "mthp_churn --threads 20 --loops 1000",
		.source = "record",
		.recorded_policy = "classic@6.18",
		.checked_policy = "classic@6.18",
		.checked_rules = "6.18",
		.first_ns = 1000000000,
		.last_ns = 21230000000,
		.nr_events = 102400000,
	};
	struct results_tape pread = {
		.path = "pread.lrt",
		.content_hash = "crc32:12345678",
		.format_version = 1,
		.kernel_release = "6.18.44",
		.command = "pread \"--file\" a,b",
		.source = "ftrace-text",
		.recorded_policy = "classic@6.18",
		.checked_policy = "classic@6.18",
		.checked_rules = "6.18",
		.first_ns = 5000000000,
		.last_ns = 8000000000,
		.nr_events = 900000,
		.nr_lost = 12,
		.nr_losses_unknown = 1,
	};
	struct results *results;
	int64_t mthp_id, pread_id;

	if (results_create(path, "0.1.0", &results, problem))
		return -1;
	results_add_tape(results, &mthp, &mthp_id);
	results_add_memcg(results, mthp_id, MTHP_MEMCG, "/mthp", RESULTS_NONE);
	results_add_agreement(results,
			      &(struct results_agreement){ .tape_id = mthp_id,
							   .memcg_id = MTHP_MEMCG,
							   .decision = "insertion_list",
							   .decided = 20480000,
							   .equal = 20480000,
							   .first_mismatch_ns = RESULTS_NONE });
	results_add_tape(results, &pread, &pread_id);
	results_add_memcg(results, pread_id, PREAD_MEMCG, "/pread", 64 << 20);
	add_pread_agreement(results, pread_id);

	add_mthp_run(results, mthp_id, "classic@6.18", 20480000, 4);
	add_mthp_run(results, mthp_id, "classic@6.18+large_folio_lru_cache=3", 660646, 2480);
	add_pread_run(results, pread_id, "classic@6.18", 16384, 120000);
	add_pread_run(results, pread_id, "classic@6.18+large_folio_lru_cache=3", 16384, 120000);
	add_pread_run(results, pread_id, "opt", 16384, 60000);
	add_pread_run(results, pread_id, "classic@6.18", 32768, 30000);
	add_pread_run(results, pread_id, "classic@6.18+large_folio_lru_cache=3", 32768, 28500);
	if (costs)
		add_cost_runs(results, pread_id);
	return results_commit(results, problem);
}

static char *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *data = malloc(1 << 22);

	assert_non_null(file);
	assert_non_null(data);
	*size = fread(data, 1, 1 << 22, file);
	assert_true(*size > 0 && *size < 1 << 22);
	fclose(file);
	return data;
}

static void same_rows_make_the_same_bytes(void **state)
{
	char folder[] = "/tmp/lrutape-test-XXXXXX";
	char path[2][64];
	char *data[2];
	size_t size[2];
	struct results_problem problem;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%d.db", folder, i);
		assert_int_equal(make_sample(path[i], true, &problem), 0);
		data[i] = read_all(path[i], &size[i]);
	}
	assert_int_equal(size[0], size[1]);
	assert_memory_equal(data[0], data[1], size[0]);
	for (int i = 0; i < 2; i++) {
		free(data[i]);
		unlink(path[i]);
	}
	rmdir(folder);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(same_rows_make_the_same_bytes) };
	struct results_problem problem;

	if (argc > 1) {
		if (make_sample(argv[1], argc > 2 && !strcmp(argv[2], "costs"), &problem) == 0)
			return 0;
		fprintf(stderr, "lrutape: %s\n", problem.text);
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
