/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests: a check that reads a made tape to its end.
 *
 *   check = made_check_open(&tape, &world, "6.18", 1);    ends the tape's writing
 *   check_tell_verdicts(check, ...);                      whatever else it is to do
 *   made_check_read(check, &world, &tape);
 *   check_close(check), world_exit(&world)
 */
#ifndef TESTS_UNIT_MADE_CHECK_H
#define TESTS_UNIT_MADE_CHECK_H

#include "replay/check/check.h"
#include "replay/event_stream.h"

#include "tests/unit/made_tape.h"

/** made_check_open() - by the classic LRU's rules of @release. @nr_explain: mismatches that are kept. */
static inline struct check *made_check_open(struct made_tape *tape, struct world *world,
					    const char *release, unsigned int nr_explain)
{
	struct policy_choice choice;
	struct check *check;
	char why[256];

	assert_int_equal(world_init(world, made_tape_read(tape)), 0);
	assert_int_equal(policy_parse("classic", release, &choice, why, sizeof(why)), 0);
	check = check_open(world, &choice, nr_explain);
	assert_non_null(check);
	return check;
}

/** made_check_read() - all events. */
static inline void made_check_read(struct check *check, struct world *world,
				   const struct made_tape *tape)
{
	struct event_stream *stream = event_stream_open(tape->reader);
	const struct tape_event *event;
	uint64_t read_end;
	int ret;

	assert_non_null(stream);
	event_stream_foresee(stream, check_foresees(check));
	while ((ret = event_stream_next(stream, &event, &read_end)) > 0) {
		world_event(world, event);
		check_event(check, event, read_end);
		world_event_done(world, event, read_end);
	}
	assert_int_equal(ret, 0);
	event_stream_close(stream);
	assert_false(check_failed(check));
}

#endif
