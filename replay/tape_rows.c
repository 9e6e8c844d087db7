// SPDX-License-Identifier: GPL-2.0-only
#include "replay/tape_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replay/file_hash.h"

#define PAGE_BYTES 4096

static const char *first_line(const struct tape_reader *reader, const char *name, char *line,
			      size_t line_bytes)
{
	const struct tape_blob *blob = tape_reader_find_blob(reader, TAPE_MOMENT_START, name);

	if (!blob)
		return NULL;
	snprintf(line, line_bytes, "%.*s", (int)strcspn(blob->data, "\n"), blob->data);
	return line;
}

int tape_rows_begin(struct results *results, const char *path, const struct tape_reader *reader,
		    const struct world *world, const char *recorded_policy,
		    const struct policy_choice *checked, int64_t *tape_id)
{
	const struct tape_summary *summary = tape_reader_summary(reader);
	char hash[32], command[4096], source[4096];
	struct results_tape tape = {
		.path = path,
		.content_hash = hash,
		.format_version = summary->format_version,
		.kernel_release = world->release[0] ? world->release : NULL,
		.command = first_line(reader, "lrutape/command", command, sizeof(command)),
		.source = first_line(reader, "lrutape/source", source, sizeof(source)),
		.recorded_policy = recorded_policy,
		.checked_policy = checked->name,
		.checked_rules = checked->rules.release,
		.first_ns = summary->nr_events ? summary->first_ns : RESULTS_NONE,
		.last_ns = summary->nr_events ? summary->last_ns : RESULTS_NONE,
		.nr_events = summary->nr_events,
		.nr_lost = summary->nr_lost,
		.nr_losses_unknown = summary->nr_losses_unknown,
		.nr_overrun = summary->nr_overrun,
	};

	if (!tape.source)
		tape.source = "record";
	if (file_hash(path, hash, sizeof(hash)))
		tape.content_hash = NULL;
	return results_add_tape(results, &tape, tape_id);
}

static void add_memcgs(struct results *results, int64_t tape_id, const struct world *world)
{
	for (uint32_t n = 0; n < world->nr_memcgs; n++) {
		const struct world_memcg *memcg = &world->memcg[n];

		results_add_memcg(results, tape_id, memcg->id, memcg->path,
				  memcg->limit_pages == INT64_MAX ?
					  RESULTS_NONE :
					  (uint64_t)memcg->limit_pages * PAGE_BYTES);
	}
}

static void add_tally(struct results *results, int64_t tape_id, uint64_t memcg_id,
		      enum check_decision decision, const struct check_tally *tally)
{
	const bool any = tally->first_mismatch_ns != UINT64_MAX;
	const struct results_agreement row = {
		.tape_id = tape_id,
		.memcg_id = memcg_id,
		.decision = check_name(decision),
		.decided = tally->decided,
		.equal = tally->equal,
		.first_mismatch_ns = any ? tally->first_mismatch_ns : RESULTS_NONE,
		.first_predicted = any ? tally->predicted : NULL,
		.first_recorded = any ? tally->recorded : NULL,
	};

	results_add_agreement(results, &row);
	for (int c = 0; c < NR_CHECK_CAUSES; c++)
		if (tally->cause[c])
			results_add_disagreement(results, tape_id, memcg_id, row.decision,
						 check_cause_name((enum check_cause)c),
						 tally->cause[c]);
}

static void add_drifts(struct results *results, int64_t tape_id, const struct world *world,
		       const struct check *check)
{
	for (uint32_t n = 0; n < world->nr_memcgs; n++)
		for (int file = 0; file < 2; file++) {
			const struct check_drift *drift = check_drift(check, n, file);

			if (drift)
				results_add_drift(results, tape_id, world->memcg[n].id, file,
						  drift->since_ns, drift->isolations, drift->equal);
		}
}

static void add_agreement(struct results *results, int64_t tape_id, const struct world *world,
			  const struct check *check)
{
	const struct check_mismatch *mismatch;
	struct check_undecided_kind kind;

	for (uint32_t n = 0; n < world->nr_memcgs; n++)
		for (int d = 0; d < NR_CHECK_DECISIONS; d++) {
			const struct check_tally *tally = check_tally(check, n,
								      (enum check_decision)d);

			if (tally)
				add_tally(results, tape_id, world->memcg[n].id,
					  (enum check_decision)d, tally);
		}
	add_drifts(results, tape_id, world, check);
	if (check_walks_from(check) != UINT64_MAX)
		results_set_walks(results, tape_id, check_walks_from(check));
	for (unsigned int i = 0; check_undecided_kind(check, i, &kind); i++)
		results_add_undecided(results, tape_id, kind.name, check_cause_name(kind.cause),
				      kind.count);
	for (unsigned int rule = 1; rule < NR_INFER_RULES; rule++)
		if (world->inferred[rule])
			results_add_inferred_by_check(results, tape_id, infer_rule_name(rule),
						      world->inferred[rule]);
	for (unsigned int i = 0; (mismatch = check_mismatch(check, i)); i++) {
		const struct results_mismatch row = {
			.tape_id = tape_id,
			.number = i + 1,
			.timestamp_ns = mismatch->timestamp_ns,
			.memcg_id = world->memcg[mismatch->memcg].id,
			.cpu = mismatch->cpu,
			.pid = mismatch->pid,
			.decision = check_name(mismatch->decision),
			.cause = check_cause_name(mismatch->cause),
			.predicted = mismatch->predicted,
			.recorded = mismatch->recorded,
			.state = mismatch->state,
		};

		results_add_mismatch(results, &row);
	}
}

void tape_rows_end(struct results *results, int64_t tape_id, const struct world *world,
		   const struct check *check)
{
	add_memcgs(results, tape_id, world);
	add_agreement(results, tape_id, world, check);
}
