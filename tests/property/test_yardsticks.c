// SPDX-License-Identifier: GPL-2.0-only
/*
 * The yardsticks against models so slow and plain that they can be seen to be right: random requests, every
 * memory size from one page to more than there are. A failure prints the seed that repeats it.
 */
#include "replay/engine/engine.h"
#include "replay/event_stream.h"

#include "tests/unit/made_tape.h"

#define REQUESTS 1200
#define PAGES 40
#define SIZES (PAGES + 2) /* 1 page and up */
#define SEEDS 8
#define POLICIES 4

static const char *const names[POLICIES] = { "fifo", "lru", "clock", "opt" };

static uint64_t draw(uint64_t *state, uint64_t limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state >> 11) % limit;
}

/* Phases of skewed requests, of loops, and of evenly drawn ones. */
static void draw_requests(uint64_t seed, uint64_t page[REQUESTS])
{
	uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1, kind = 0;

	for (int i = 0; i < REQUESTS; i++) {
		uint64_t a = draw(&state, PAGES), b = draw(&state, PAGES);

		if (i % 100 == 0)
			kind = draw(&state, 3);
		page[i] = kind == 0 ? (a < b ? a : b) : kind == 1 ? (uint64_t)i % (PAGES / 2) : a;
	}
}

/* ---- the models: memory is an array of pages, the one to go next in front */

struct model {
	unsigned int nr, size;
	struct {
		uint64_t page;
		bool referenced;
	} memory[SIZES];
};

static void take_out(struct model *model, unsigned int at)
{
	model->nr--;
	memmove(&model->memory[at], &model->memory[at + 1],
		(model->nr - at) * sizeof(model->memory[0]));
}

static void append(struct model *model, uint64_t page)
{
	model->memory[model->nr].page = page;
	model->memory[model->nr++].referenced = false;
}

static int next_request(const uint64_t *page, int after, uint64_t which)
{
	int i = after + 1;

	while (i < REQUESTS && page[i] != which)
		i++;
	return i;
}

static void make_room(struct model *model, const char *policy, const uint64_t *page, int now)
{
	unsigned int victim = 0;

	if (!strcmp(policy, "clock"))
		while (model->memory[0].referenced) {
			uint64_t passed = model->memory[0].page;

			take_out(model, 0);
			append(model, passed);
		}
	if (!strcmp(policy, "opt"))
		for (unsigned int i = 1; i < model->nr; i++)
			if (next_request(page, now, model->memory[i].page) >
			    next_request(page, now, model->memory[victim].page))
				victim = i;
	take_out(model, victim);
}

static uint64_t model_misses(const char *policy, unsigned int size, const uint64_t *page)
{
	struct model model = { .size = size };
	uint64_t misses = 0;

	for (int now = 0; now < REQUESTS; now++) {
		unsigned int at = 0;

		while (at < model.nr && model.memory[at].page != page[now])
			at++;
		if (at < model.nr) {
			model.memory[at].referenced = true;
			if (!strcmp(policy, "lru")) {
				take_out(&model, at);
				append(&model, page[now]);
			}
			continue;
		}
		misses++;
		if (model.nr == model.size)
			make_room(&model, policy, page, now);
		append(&model, page[now]);
	}
	return misses;
}

/* ---- the replay: all policies at all sizes in one pass */

static uint64_t misses_of(const struct replay *replay)
{
	const struct mm *mm = replay_mm(replay);
	uint64_t misses = 0;

	for (unsigned int n = 0; n < mm->nr_memcgs; n++)
		misses += mm->memcg[n]->lruvec[0].counter[COUNT_misses];
	return misses;
}

static void replay_all(struct tape_reader *reader, uint64_t misses[POLICIES][SIZES])
{
	struct replay *replay[POLICIES][SIZES];
	const struct tape_event *event;
	struct event_stream *stream;
	struct future *future;
	struct world world;
	uint64_t read_end;

	assert_int_equal(world_init(&world, reader), 0);
	assert_int_equal(future_read(reader, &future), 0);
	for (int p = 0; p < POLICIES; p++)
		for (int s = 0; s < SIZES; s++) {
			struct policy_choice choice;
			char why[256];

			assert_int_equal(policy_parse(names[p], "6.18", &choice, why, sizeof(why)),
					 0);
			replay[p][s] = replay_open(&world, &choice, s + 1);
			assert_non_null(replay[p][s]);
			replay_foretell(replay[p][s], future);
		}
	stream = event_stream_open(reader);
	while (event_stream_next(stream, &event, &read_end) > 0) {
		world_event(&world, event);
		for (int p = 0; p < POLICIES; p++)
			for (int s = 0; s < SIZES; s++)
				replay_event(replay[p][s], event, read_end);
		world_event_done(&world, event, read_end);
	}
	event_stream_close(stream);
	for (int p = 0; p < POLICIES; p++)
		for (int s = 0; s < SIZES; s++) {
			replay_finish(replay[p][s]);
			assert_false(replay_failed(replay[p][s]));
			misses[p][s] = misses_of(replay[p][s]);
			replay_close(replay[p][s]);
		}
	future_close(future);
	world_exit(&world);
}

static void yardsticks_miss_what_their_models_miss(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t misses[POLICIES][SIZES], page[REQUESTS];
		struct made_tape tape;

		draw_requests(seed, page);
		made_tape_begin(&tape, NULL);
		for (int i = 0; i < REQUESTS; i++)
			made_event(&tape, 0, 1, PAGE_REQUEST, page[i], 1);
		replay_all(made_tape_read(&tape), misses);
		made_tape_end(&tape);
		for (int p = 0; p < POLICIES; p++)
			for (unsigned int s = 0; s < SIZES; s++) {
				uint64_t model = model_misses(names[p], s + 1, page);

				if (misses[p][s] != model)
					fail_msg(
						"seed %llu: %s with %u pages misses %llu, its model %llu",
						(unsigned long long)seed, names[p], s + 1,
						(unsigned long long)misses[p][s],
						(unsigned long long)model);
			}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(yardsticks_miss_what_their_models_miss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
