// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a tape that is checked and replayed: worlds are made of its snapshots, and its events drive
 * the core, whatever they claim. Checksums are put right first, as in fuzz_tape_reader.c. Counts
 * of what is decided must fit together; all else is up to the sanitizers.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay/check/check.h"
#include "replay/engine/engine.h"
#include "replay/event_stream.h"
#include "schema/tape_reader.h"
#include "tests/fuzz/fuzz_main.h"
#include "tests/fuzz/fuzz_repair.h"

#define EVENTS_LIMIT 20000 /* of one input: a tape can claim many in few bytes */
#define MEMORY_PAGES 64

/* Ends with a tally that adds up. */
static void assert_tallies(const struct check *check, const struct world *world)
{
	for (uint32_t n = 0; n < world->nr_memcgs; n++)
		for (int d = 0; d < NR_CHECK_DECISIONS; d++) {
			const struct check_tally *tally = check_tally(check, n,
								      (enum check_decision)d);
			uint64_t sum = 0;

			for (int c = 0; tally && c < NR_CHECK_CAUSES; c++)
				sum += tally->cause[c];
			assert(!tally || tally->equal + sum == tally->decided);
		}
}

static void run(struct tape_reader *reader, struct world *world, const char *policy)
{
	struct policy_choice choice;
	const struct tape_event *event;
	struct event_stream *stream;
	struct replay *replay;
	struct check *check;
	uint64_t read_end;
	char why[256];

	assert(!policy_parse(policy, "6.18", &choice, why, sizeof(why)));
	stream = event_stream_open(reader);
	check = check_open(world, &choice, 2);
	replay = replay_open(world, &choice, MEMORY_PAGES);
	if (!stream || !check || !replay || replay_perturb(replay, 1))
		abort();
	for (int i = 0; i < EVENTS_LIMIT && event_stream_next(stream, &event, &read_end) > 0; i++) {
		world_event(world, event);
		check_event(check, event, read_end);
		replay_event(replay, event, read_end);
		world_event_done(world, event, read_end);
	}
	replay_finish(replay);
	assert_tallies(check, world);
	replay_close(replay);
	check_close(check);
	event_stream_close(stream);
}

static void replay_tape(const char *path, const char *policy)
{
	struct tape_problem problem;
	struct tape_reader *reader;
	struct world world;

	if (tape_reader_open(path, &reader, &problem))
		return;
	if (!world_init(&world, reader)) {
		run(reader, &world, policy);
		world_exit(&world);
	}
	tape_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const policy[] = { "classic", "lru_gen", "fifo" };
	int fd = memfd_create("tape", MFD_CLOEXEC);
	uint8_t *repaired = malloc(size + 1);
	char path[64];

	if (fd < 0 || !repaired)
		abort();
	memcpy(repaired, data, size);
	fuzz_repair_checksums(repaired, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (pwrite(fd, repaired, size, 0) != (ssize_t)size)
		abort();
	for (size_t i = 0; i < sizeof(policy) / sizeof(policy[0]); i++)
		replay_tape(path, policy[i]);
	free(repaired);
	close(fd);
	return 0;
}
