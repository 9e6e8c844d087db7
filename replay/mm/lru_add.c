// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/lru_add.h"

#include <stdlib.h>
#include <string.h>

#include "replay/mm/folio.h"
#include "replay/mm/lruvec.h"
#include "replay/mm/rules.h"

#define AS_UNEVICTABLE 3 /* bit of address_space.flags: include/linux/pagemap.h, v5.6 */

#define barrier() __asm__ __volatile__("" ::: "memory")

#if defined(__x86_64__)
/* Kernel's choice since 4.15, arch/x86/include/asm/barrier.h: cheaper than mfence. */
#define smp_mb() __asm__ __volatile__("lock; addl $0,-4(%%rsp)" ::: "memory", "cc")
#define smp_mb__after_atomic() barrier()
#else
#define smp_mb() __sync_synchronize()
#define smp_mb__after_atomic() smp_mb()
#endif

static inline void set_flag_atomic(struct folio *folio, uint32_t flag)
{
	__atomic_fetch_or(&folio->flags, flag, __ATOMIC_SEQ_CST);
}

static inline bool test_clear_flag_atomic(struct folio *folio, uint32_t flag)
{
	return __atomic_fetch_and(&folio->flags, ~flag, __ATOMIC_SEQ_CST) & flag;
}

static inline uint32_t read_flags(const struct folio *folio)
{
	return __atomic_load_n(&folio->flags, __ATOMIC_RELAXED);
}

/* A call in every shape, as in every release. Kernel: mm/util.c, page_mapping(), v5.6. */
static __attribute__((noinline)) const struct address_space *page_mapping(
	const struct lru_add *lru_add, const struct folio *folio)
{
	if (!folio->file || read_flags(folio) & PG_swapcache)
		return NULL;
	return &lru_add->mapping[folio->file % LRU_ADD_MAPPINGS];
}

static inline __attribute__((always_inline)) bool evictable(const struct lru_add *lru_add,
							    const struct folio *folio)
{
	const struct address_space *mapping;
	bool ret;

	barrier(); /* rcu_read_lock() of a kernel that is not preemptible */
	mapping = page_mapping(lru_add, folio);
	ret = !(mapping &&
		__atomic_load_n(&mapping->flags, __ATOMIC_RELAXED) >> AS_UNEVICTABLE & 1) &&
	      !(read_flags(folio) & PG_mlocked);
	barrier();
	return ret;
}

/* Kernel: mm/vmscan.c, page_evictable(), v5.6. */
static __attribute__((noinline)) bool page_evictable(const struct lru_add *lru_add,
						     const struct folio *folio)
{
	return evictable(lru_add, folio);
}

/* Kernel: mm/swap.c, update_page_reclaim_stat(), v5.6. */
static inline void update_page_reclaim_stat(struct lruvec *lruvec, const struct folio *folio)
{
	int file = folio_is_file_lru(folio);

	lruvec->recent_scanned[file]++;
	if (folio_test(folio, PG_active))
		lruvec->recent_rotated[file]++;
}

/* Kernel: mm/swap.c, __pagevec_lru_add_fn(), v5.6; lru_add(), v6.18. */
static inline __attribute__((always_inline)) void add_folio(struct lru_add *lru_add,
							    struct folio *folio,
							    const bool test_is_inline,
							    const enum lru_add_barrier order)
{
	struct lruvec *lruvec = folio->lruvec;
	bool was_unevictable = test_clear_flag_atomic(folio, PG_unevictable);

	if (order != LRU_ADD_FLAG_LAST)
		set_flag_atomic(folio, PG_lru);
	if (order == LRU_ADD_SMP_MB)
		smp_mb();
	else if (order == LRU_ADD_MB_AFTER_ATOMIC)
		smp_mb__after_atomic();
	if (test_is_inline ? evictable(lru_add, folio) : page_evictable(lru_add, folio)) {
		if (order != LRU_ADD_FLAG_LAST)
			update_page_reclaim_stat(lruvec, folio);
		if (was_unevictable)
			lru_add->unevictable_pgrescued++;
	} else {
		folio_clear(folio, PG_active);
		folio_set(folio, PG_unevictable);
		if (!was_unevictable)
			lru_add->unevictable_pgculled++;
	}
	lruvec_add_folio(lruvec, folio);
	lruvec_count(lruvec, COUNT_lru_insertions, 1);
	if (order == LRU_ADD_FLAG_LAST)
		set_flag_atomic(folio, PG_lru);
}

static inline __attribute__((always_inline)) void add_run(struct lru_add *lru_add,
							  struct folio *const *folio,
							  unsigned int nr,
							  const bool test_is_inline,
							  const enum lru_add_barrier order)
{
	uint32_t unlocked = 0;

	while (!__atomic_compare_exchange_n(&lru_add->lock, &unlocked, 1, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED))
		unlocked = 0;
	for (unsigned int i = 0; i < nr; i++)
		add_folio(lru_add, folio[i], test_is_inline, order);
	__atomic_store_n(&lru_add->lock, 0, __ATOMIC_RELEASE);
}

/* Each at the start of a cache line, so that none has the better place. */
#define SHAPE(name, test_is_inline, order)                                                         \
	static __attribute__((noinline, aligned(64))) void name(                                   \
		struct lru_add *lru_add, struct folio *const *folio, unsigned int nr)              \
	{                                                                                          \
		add_run(lru_add, folio, nr, test_is_inline, order);                                \
	}

SHAPE(add_call_smp_mb, false, LRU_ADD_SMP_MB)
SHAPE(add_call_after_atomic, false, LRU_ADD_MB_AFTER_ATOMIC)
SHAPE(add_call_flag_last, false, LRU_ADD_FLAG_LAST)
SHAPE(add_inline_smp_mb, true, LRU_ADD_SMP_MB)
SHAPE(add_inline_after_atomic, true, LRU_ADD_MB_AFTER_ATOMIC)
SHAPE(add_inline_flag_last, true, LRU_ADD_FLAG_LAST)

static const struct {
	lru_add_run_fn *run;
	const char *name;
} shape[2][3] = {
	{
		[LRU_ADD_SMP_MB] = { add_call_smp_mb, "page_evictable() a call, smp_mb()" },
		[LRU_ADD_MB_AFTER_ATOMIC] = { add_call_after_atomic,
					      "page_evictable() a call, smp_mb__after_atomic()" },
		[LRU_ADD_FLAG_LAST] = { add_call_flag_last,
					"page_evictable() a call, PG_lru set last" },
	},
	{
		[LRU_ADD_SMP_MB] = { add_inline_smp_mb, "page_evictable() inline, smp_mb()" },
		[LRU_ADD_MB_AFTER_ATOMIC] = { add_inline_after_atomic,
					      "page_evictable() inline, smp_mb__after_atomic()" },
		[LRU_ADD_FLAG_LAST] = { add_inline_flag_last,
					"page_evictable() inline, PG_lru set last" },
	},
};

void lru_add_init(struct lru_add *lru_add, const struct mm_rules *rules)
{
	memset(lru_add, 0, sizeof(*lru_add));
	lru_add->run = shape[rules->evictable_inline][rules->lru_add_barrier].run;
}

const char *lru_add_shape_name(const struct mm_rules *rules)
{
	return shape[rules->evictable_inline][rules->lru_add_barrier].name;
}

struct lru_add_log *lru_add_log_open(uint64_t limit)
{
	struct lru_add_log *log = calloc(1, sizeof(*log));

	if (log)
		log->limit = limit;
	return log;
}

void lru_add_log_close(struct lru_add_log *log)
{
	if (log)
		free(log->record);
	free(log);
}

void lru_add_log_hold(struct lru_add_log *log, struct folio *const *folio, unsigned int nr)
{
	if (log->failed || log->nr + nr > log->limit) {
		log->nr_left_out += nr;
		return;
	}
	if (log->nr + nr > log->room) {
		uint64_t room = (log->nr + nr) * 2;
		struct lru_add_record *bigger = realloc(log->record, room * sizeof(*bigger));

		if (!bigger) {
			log->failed = true;
			return;
		}
		log->record = bigger;
		log->room = room;
	}
	for (unsigned int i = 0; i < nr; i++)
		log->record[log->nr++] = (struct lru_add_record){
			.pfn = folio[i]->pfn,
			.flags = folio[i]->flags,
			.file = folio[i]->file,
			.memcg = folio[i]->lruvec->memcg->index,
			.order = folio[i]->order,
			.takes_lock = !i,
		};
	log->nr_holds++;
}
