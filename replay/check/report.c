// SPDX-License-Identifier: GPL-2.0-only
#include "replay/check/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "schema/json_out.h"

static const struct check_mismatch *kept_mismatch(const struct check_report *report, unsigned int i)
{
	return i < report->nr_mismatches ? check_mismatch(report->check, i) : NULL;
}

/* ---- for people */

static void print_seconds(uint64_t ns)
{
	printf("%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns / 1000 % 1000000);
}

/* Percent, rounded down, so that only a perfect row reads 100. */
static void print_share(const struct check_tally *tally)
{
	uint64_t basis = tally->equal * 10000 / tally->decided; /* 1/100 percent */

	if (tally->equal > UINT64_MAX / 1000000)
		basis = tally->equal / (tally->decided / 10000);
	printf("%4" PRIu64 ".%02" PRIu64 " %%", basis / 100, basis % 100);
}

static void print_count(uint64_t nr, const char *what)
{
	if (nr)
		printf("  %10" PRIu64 "  %s\n", nr, what);
}

static void print_causes(const struct check_report *report, uint32_t memcg)
{
	uint64_t sum[NR_CHECK_CAUSES] = { 0 }, all = 0;

	for (int d = 0; d < NR_CHECK_DECISIONS; d++) {
		const struct check_tally *tally = check_tally(report->check, memcg,
							      (enum check_decision)d);

		for (int c = 0; tally && c < NR_CHECK_CAUSES; c++) {
			sum[c] += tally->cause[c];
			all += tally->cause[c];
		}
	}
	if (!all)
		return;
	puts("  not equal, and what stands before it on the tape:");
	for (int c = 0; c < NR_CHECK_CAUSES; c++)
		if (sum[c])
			printf("  %10" PRIu64 "  %s: %s\n", sum[c],
			       check_cause_name((enum check_cause)c),
			       check_cause_meaning((enum check_cause)c));
}

static void print_memcg(const struct check_report *report, uint32_t n)
{
	bool titled = false;

	for (int d = 0; d < NR_CHECK_DECISIONS; d++) {
		const struct check_tally *tally = check_tally(report->check, n,
							      (enum check_decision)d);

		if (!tally)
			continue;
		if (!titled)
			printf("memcg %s\n  %-16s %10s %10s %9s  first mismatch\n",
			       report->world->memcg[n].path, "decision", "decided", "equal",
			       "share");
		titled = true;
		printf("  %-16s %10" PRIu64 " %10" PRIu64 " ", check_name((enum check_decision)d),
		       tally->decided, tally->equal);
		print_share(tally);
		if (tally->first_mismatch_ns != UINT64_MAX) {
			fputs("  at ", stdout);
			print_seconds(tally->first_mismatch_ns);
			printf(": predicted %s, recorded %s", tally->predicted, tally->recorded);
		}
		fputs("\n", stdout);
	}
	for (int file = 0; file < 2; file++) {
		const struct check_drift *drift = check_drift(report->check, n, file);

		if (!drift)
			continue;
		printf("  drift of the %s lists from ", file ? "file" : "anon");
		print_seconds(drift->since_ns);
		printf(" on: of %" PRIu64 " isolations since then %" PRIu64
		       " equal, not counted above\n",
		       drift->isolations, drift->equal);
	}
	print_causes(report, n);
	if (titled)
		fputs("\n", stdout);
}

/* The recorded memcg, or one below it. */
static bool is_recorded(const struct world *world, uint32_t n)
{
	while (n != WORLD_ROOT && n != world->command_memcg)
		n = world->memcg[n].parent;
	return n != WORLD_ROOT;
}

/* One line for what other groups of the machine did meanwhile. */
static void print_others(const struct check_report *report)
{
	const struct world *world = report->world;
	struct check_tally sum = { 0 };
	unsigned int nr = 0;

	for (uint32_t n = 0; n < world->nr_memcgs; n++) {
		uint64_t before = sum.decided;

		for (int d = 0; d < NR_CHECK_DECISIONS && !is_recorded(world, n); d++) {
			const struct check_tally *tally = check_tally(report->check, n,
								      (enum check_decision)d);

			sum.decided += tally ? tally->decided : 0;
			sum.equal += tally ? tally->equal : 0;
		}
		nr += sum.decided > before;
	}
	if (!nr)
		return;
	printf("other memcgs: %u, %" PRIu64 " decided, %" PRIu64 " equal,", nr, sum.decided,
	       sum.equal);
	print_share(&sum);
	fputs(" (--all shows them)\n\n", stdout);
}

static void print_undecided(const struct check_report *report)
{
	const struct tape_summary *summary = tape_reader_summary(report->reader);
	uint64_t lost = summary->nr_overrun > summary->nr_lost ? summary->nr_overrun :
								 summary->nr_lost;
	struct check_undecided_kind kind;

	puts("seen and not decided, on the whole machine:");
	for (unsigned int i = 0; check_undecided_kind(report->check, i, &kind); i++)
		print_count(kind.count, kind.meaning);
	printf("events lost: %" PRIu64 "%s\n", lost,
	       summary->nr_losses_unknown ? ", and losses of unknown size" : "");
	if (check_walks_from(report->check) != UINT64_MAX) {
		fputs("MGLRU walked page tables of mapped folios at ", stdout);
		print_seconds(check_walks_from(report->check));
		fputs(": what it promoted is in no event, and from then on\n"
		      "the figures say how far the tape can be followed, not how right the core is\n",
		      stdout);
	}
}

static void print_inferred(const struct world *world)
{
	puts("inferred, by rule, on the whole machine:");
	for (unsigned int rule = 1; rule < NR_INFER_RULES; rule++)
		print_count(world->inferred[rule], infer_rule_name(rule));
}

static void print_mismatches(const struct check_report *report)
{
	const struct check_mismatch *mismatch;

	for (unsigned int i = 0; (mismatch = kept_mismatch(report, i)); i++) {
		fputs("\n", stdout);
		print_seconds(mismatch->timestamp_ns);
		printf(" [%u] task %d, memcg %s: %s, %s\n  predicted %s\n  recorded  %s\n  %s\n",
		       mismatch->cpu, mismatch->pid, report->world->memcg[mismatch->memcg].path,
		       check_name(mismatch->decision), check_cause_name(mismatch->cause),
		       mismatch->predicted, mismatch->recorded, mismatch->state);
	}
}

void check_report_text(const struct check_report *report, bool all)
{
	const struct world *world = report->world;

	if (all || world->command_memcg == WORLD_ROOT) {
		for (uint32_t n = 0; n < world->nr_memcgs; n++)
			print_memcg(report, n);
	} else {
		for (uint32_t n = 0; n < world->nr_memcgs; n++)
			if (is_recorded(world, n))
				print_memcg(report, n);
		print_others(report);
	}
	print_undecided(report);
	if (all)
		print_inferred(world);
	print_mismatches(report);
}

/* ---- for programs */

/* @text: NULL is null. */
static void json_text(const char *name, const char *text)
{
	printf("\"%s\": ", name);
	if (text)
		json_string(stdout, text, strlen(text));
	else
		fputs("null", stdout);
}

static void json_memcg(const struct world_memcg *memcg)
{
	json_text("memcg", memcg->path);
	printf(", \"memcg_id\": %" PRIu64, memcg->id);
}

static void json_tally(const struct check_report *report, uint32_t n, enum check_decision decision,
		       const struct check_tally *tally)
{
	const char *separator = "";

	fputs("    {", stdout);
	json_memcg(&report->world->memcg[n]);
	printf(", \"decision\": \"%s\", \"decided\": %" PRIu64 ", \"equal\": %" PRIu64
	       ", \"first_mismatch\": ",
	       check_name(decision), tally->decided, tally->equal);
	if (tally->first_mismatch_ns == UINT64_MAX) {
		fputs("null", stdout);
	} else {
		printf("{\"timestamp_ns\": %" PRIu64 ", ", tally->first_mismatch_ns);
		json_text("predicted", tally->predicted);
		fputs(", ", stdout);
		json_text("recorded", tally->recorded);
		fputs("}", stdout);
	}
	fputs(", \"causes\": {", stdout);
	for (int c = 0; c < NR_CHECK_CAUSES; c++) {
		if (!tally->cause[c])
			continue;
		printf("%s\"%s\": %" PRIu64, separator, check_cause_name((enum check_cause)c),
		       tally->cause[c]);
		separator = ", ";
	}
	fputs("}}", stdout);
}

static void json_mismatch(const struct check_report *report, const struct check_mismatch *mismatch)
{
	printf("    {\"timestamp_ns\": %" PRIu64 ", \"cpu\": %u, \"pid\": %d, ",
	       mismatch->timestamp_ns, mismatch->cpu, mismatch->pid);
	json_memcg(&report->world->memcg[mismatch->memcg]);
	printf(", \"decision\": \"%s\", \"cause\": \"%s\", ", check_name(mismatch->decision),
	       check_cause_name(mismatch->cause));
	json_text("predicted", mismatch->predicted);
	fputs(", ", stdout);
	json_text("recorded", mismatch->recorded);
	fputs(", ", stdout);
	json_text("state", mismatch->state);
	fputs("}", stdout);
}

static void json_head(const struct check_report *report)
{
	const struct tape_summary *summary = tape_reader_summary(report->reader);

	fputs("{\n  ", stdout);
	json_text("tape", report->tape);
	fputs(",\n  ", stdout);
	json_text("kernel_release", report->world->release[0] ? report->world->release : NULL);
	fputs(",\n  ", stdout);
	json_text("recorded_policy", report->recorded_policy);
	fputs(", ", stdout);
	json_text("checked_policy", report->choice->name);
	fputs(", ", stdout);
	json_text("rules", report->choice->rules.release);
	printf(",\n  \"events\": %" PRIu64 ", \"first_ns\": %" PRIu64 ", \"last_ns\": %" PRIu64
	       ",\n  \"lost\": {\"events\": %" PRIu64 ", \"places_of_unknown_size\": %" PRIu64
	       ", \"overrun\": %" PRIu64 "}",
	       summary->nr_events, summary->nr_events ? summary->first_ns : 0,
	       summary->nr_events ? summary->last_ns : 0, summary->nr_lost,
	       (uint64_t)summary->nr_losses_unknown, summary->nr_overrun);
}

static void json_drifts(const struct check_report *report)
{
	const char *separator = "\n";

	for (uint32_t n = 0; n < report->world->nr_memcgs; n++) {
		for (int file = 0; file < 2; file++) {
			const struct check_drift *drift = check_drift(report->check, n, file);

			if (!drift)
				continue;
			printf("%s    {", separator);
			json_memcg(&report->world->memcg[n]);
			printf(", \"lists\": \"%s\", \"since_ns\": %" PRIu64
			       ", \"isolations\": %" PRIu64 ", \"equal\": %" PRIu64 "}",
			       file ? "file" : "anon", drift->since_ns, drift->isolations,
			       drift->equal);
			separator = ",\n";
		}
	}
}

static void json_inferred(const struct world *world)
{
	const char *before = "";

	fputs("\n  ],\n  \"inferred\": {", stdout);
	for (unsigned int rule = 1; rule < NR_INFER_RULES; rule++) {
		if (!world->inferred[rule])
			continue;
		printf("%s\"%s\": %" PRIu64, before, infer_rule_name(rule), world->inferred[rule]);
		before = ", ";
	}
	fputs("}", stdout);
}

void check_report_json(const struct check_report *report)
{
	const struct check_mismatch *mismatch;
	struct check_undecided_kind kind;
	const char *separator = "\n";

	json_head(report);
	fputs(",\n  \"command_memcg\": ", stdout);
	if (report->world->command_memcg == WORLD_ROOT)
		fputs("null", stdout);
	else
		json_string(stdout, report->world->memcg[report->world->command_memcg].path,
			    strlen(report->world->memcg[report->world->command_memcg].path));
	fputs(",\n  \"decisions\": [", stdout);
	for (uint32_t n = 0; n < report->world->nr_memcgs; n++) {
		for (int d = 0; d < NR_CHECK_DECISIONS; d++) {
			const struct check_tally *tally = check_tally(report->check, n,
								      (enum check_decision)d);

			if (!tally)
				continue;
			fputs(separator, stdout);
			json_tally(report, n, (enum check_decision)d, tally);
			separator = ",\n";
		}
	}
	fputs("\n  ],\n  \"drifts\": [", stdout);
	json_drifts(report);
	fputs("\n  ],\n  \"walks_from_ns\": ", stdout);
	if (check_walks_from(report->check) == UINT64_MAX)
		fputs("null", stdout);
	else
		printf("%" PRIu64, check_walks_from(report->check));
	fputs(",\n  \"undecided\": [", stdout);
	for (unsigned int i = 0; check_undecided_kind(report->check, i, &kind); i++)
		printf("%s\n    {\"what\": \"%s\", \"cause\": \"%s\", \"count\": %" PRIu64 "}",
		       i ? "," : "", kind.name, check_cause_name(kind.cause), kind.count);
	json_inferred(report->world);
	fputs(",\n  \"mismatches\": [", stdout);
	for (unsigned int i = 0; (mismatch = kept_mismatch(report, i)); i++) {
		fputs(i ? ",\n" : "\n", stdout);
		json_mismatch(report, mismatch);
	}
	fputs("\n  ]\n}\n", stdout);
}
