// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tape is read twice: once to learn which page frames are on it, then to copy it. Snapshots
 * come before the events, those of the end behind them, as the recorder wrote them.
 */
#include "capture/anonymize.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "capture/anonymize_files.h"
#include "capture/anonymize_names.h"
#include "capture/anonymize_pfn.h"
#include "capture/anonymize_warm.h"
#include "schema/tape_reader.h"
#include "schema/tape_writer.h"

enum field_rule {
	FIELD_KEEP,
	FIELD_ZERO, /* a number becomes 0, bytes become zeros */
	FIELD_PID,
	FIELD_INODE,
	FIELD_CGROUP,
	FIELD_DEVICE,
	FIELD_PFN,
	FIELD_ADDRESS,
	FIELD_COMM,
	FIELD_CGROUP_PATH,
	FIELD_PATH,
	FIELD_PROGRAM,
	FIELD_DEVICE_NAME,
	FIELD_TEXT,
};

static const struct number_rule {
	const char *system, *event, *field, *ctype;
	enum field_rule rule;
} number_rules[] = {
#define NUMBER(system, event, field, ctype, what) { system, event, field, ctype, FIELD_##what },
#include "capture/anonymize_rules.def"
};

static const struct text_rule {
	const char *system, *event, *field;
	enum field_rule rule;
} text_rules[] = {
#define TEXT(system, event, field, what) { system, event, field, FIELD_##what },
#include "capture/anonymize_rules.def"
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

struct type_rules {
	enum field_rule *rule; /* by field */
	bool has_text;
};

struct copy {
	struct tape_reader *reader;
	struct tape_writer *writer;
	struct anonymize_names names;
	struct pfn_map pfns;
	struct type_rules *type;
	unsigned int nr_types;
	uint64_t *value; /* of the event being copied */
	unsigned int nr_values;
	FILE *text; /* its strings */
	char *text_data;
	size_t text_size;
	int64_t shift_ns;
	bool warm_is_usable;
	struct anonymize_report *report;
	struct tape_problem *problem;
};

static int fail(struct copy *copy, enum tape_error code, const char *path)
{
	return tape_problem_set(copy->problem, code, path, 0, NULL);
}

static int fail_reader(struct copy *copy)
{
	*copy->problem = *tape_reader_problem(copy->reader);
	return copy->problem->code;
}

static int fail_writer(struct copy *copy)
{
	*copy->problem = *tape_writer_problem(copy->writer);
	return copy->problem->code;
}

/* ---- rules */

static enum field_rule number_rule(const struct tape_type *type, const struct tape_field *field)
{
	for (size_t i = 0; i < NR(number_rules); i++) {
		const struct number_rule *rule = &number_rules[i];

		if (!fnmatch(rule->system, type->system, 0) &&
		    !fnmatch(rule->event, type->name, 0) && !fnmatch(rule->field, field->name, 0) &&
		    !fnmatch(rule->ctype, field->ctype, 0))
			return rule->rule;
	}
	return FIELD_KEEP;
}

static enum field_rule text_rule(const struct tape_type *type, const struct tape_field *field)
{
	for (size_t i = 0; i < NR(text_rules); i++) {
		const struct text_rule *rule = &text_rules[i];

		if (!fnmatch(rule->system, type->system, 0) &&
		    !fnmatch(rule->event, type->name, 0) && !fnmatch(rule->field, field->name, 0))
			return rule->rule;
	}
	return FIELD_TEXT;
}

static enum field_rule field_rule(const struct tape_type *type, const struct tape_field *field)
{
	switch (field->kind) {
	case TAPE_FIELD_INTEGER:
		return number_rule(type, field);
	case TAPE_FIELD_STRING:
		return text_rule(type, field);
	case TAPE_FIELD_BYTES:
		return FIELD_ZERO;
	case TAPE_FIELD_LEFT_OUT:
		break;
	}
	return FIELD_KEEP;
}

/* Whether a filter speaks of numbers and flags only, none of them replaced. */
static bool filter_may_stay(const struct tape_type *type, const enum field_rule *rules)
{
	const char *filter = type->filter;

	if (!strcmp(filter, "rwbs ~ \"W*\""))
		return true; /* the recorder's own, of letters that stay */
	if (strpbrk(filter, "\"'~/") || strstr(filter, "pid") || strstr(filter, "comm"))
		return false;
	for (unsigned int i = 0; i < type->nr_fields; i++)
		if (rules[i] != FIELD_KEEP && strstr(filter, type->field[i].name))
			return false;
	return true;
}

static int copy_type(struct copy *copy, const struct tape_type *type)
{
	enum field_rule *rules = calloc(type->nr_fields + 1u, sizeof(*rules));
	struct tape_type changed = *type;
	uint16_t number;

	if (!rules)
		return fail(copy, TAPE_ERR_MEMORY, "a type");
	copy->type[type->number].rule = rules;
	for (unsigned int i = 0; i < type->nr_fields; i++) {
		rules[i] = field_rule(type, &type->field[i]);
		copy->type[type->number].has_text |= type->field[i].kind == TAPE_FIELD_STRING ||
						     type->field[i].kind == TAPE_FIELD_BYTES;
	}
	/* A filter that is there, but not told, still tells that not all events are on the tape. */
	if (!filter_may_stay(type, rules)) {
		changed.filter = "left out";
		copy->report->nr_filters_left_out++;
	}
	if (type->nr_slots > copy->nr_values)
		copy->nr_values = type->nr_slots;
	return tape_writer_add_type(copy->writer, &changed, &number) ? fail_writer(copy) : 0;
}

static int copy_types(struct copy *copy)
{
	const struct tape_type *type;

	while (tape_reader_type(copy->reader, copy->nr_types))
		copy->nr_types++;
	copy->type = calloc(copy->nr_types + 1u, sizeof(*copy->type));
	if (!copy->type)
		return fail(copy, TAPE_ERR_MEMORY, "types");
	for (unsigned int i = 0; i < copy->nr_types; i++) {
		type = tape_reader_type(copy->reader, i);
		if (copy_type(copy, type))
			return copy->problem->code;
	}
	copy->value = calloc(copy->nr_values + 1u, sizeof(*copy->value));
	return copy->value ? 0 : fail(copy, TAPE_ERR_MEMORY, "types");
}

/* ---- page frames */

static int use_pfns(struct copy *copy, const struct tape_event *event)
{
	const struct tape_type *type = tape_reader_type(copy->reader, event->type);

	for (unsigned int i = 0; i < type->nr_fields; i++)
		if (copy->type[event->type].rule[i] == FIELD_PFN &&
		    pfn_map_use(&copy->pfns, event->value[type->field[i].slot]))
			return fail(copy, TAPE_ERR_MEMORY, "page frames");
	return 0;
}

static int learn_pfns(struct copy *copy)
{
	const struct tape_blob *zoneinfo = tape_reader_find_blob(copy->reader, TAPE_MOMENT_START,
								 "/proc/zoneinfo");
	const struct tape_event *event;
	int got;

	if (anonymize_warm_learn(copy->reader, &copy->pfns, &copy->warm_is_usable))
		return fail(copy, TAPE_ERR_MEMORY, "page frames");
	while ((got = tape_reader_next(copy->reader, &event)) > 0)
		if (event->kind != EVENT_LOST && use_pfns(copy, event))
			return copy->problem->code;
	if (got < 0 || tape_reader_rewind(copy->reader))
		return fail_reader(copy);
	pfn_map_shuffle(&copy->pfns, &copy->names.key, zoneinfo ? zoneinfo->data : "");
	return 0;
}

/* ---- snapshots */

static uint64_t shifted(const struct copy *copy, uint64_t timestamp_ns)
{
	if (copy->shift_ns < 0 && timestamp_ns < (uint64_t)-copy->shift_ns)
		return 0;
	return timestamp_ns + (uint64_t)copy->shift_ns;
}

static int note_left_out(struct copy *copy, const char *name)
{
	struct anonymize_report *report = copy->report;
	uint64_t low = 0, high = report->nr_left_out;
	char **more;

	report->nr_files_left_out++;
	while (low < high) {
		uint64_t middle = (low + high) / 2;
		int order = strcmp(name, report->left_out[middle]);

		if (!order)
			return 0;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	more = reallocarray(report->left_out, report->nr_left_out + 1, sizeof(*more));
	if (!more)
		return fail(copy, TAPE_ERR_MEMORY, name);
	report->left_out = more;
	memmove(&more[low + 1], &more[low], (report->nr_left_out - low) * sizeof(*more));
	more[low] = strdup(name);
	if (!more[low])
		more[low] = (char *)calloc(1, 1);
	report->nr_left_out++;
	return more[low] ? 0 : fail(copy, TAPE_ERR_MEMORY, name);
}

static int copy_blob(struct copy *copy, const struct tape_blob *blob)
{
	struct tape_blob changed;
	int error;

	if (anonymize_file(&copy->names, blob, copy->shift_ns, &changed) ||
	    copy->names.out_of_memory)
		return fail(copy, TAPE_ERR_MEMORY, blob->name);
	if (!changed.name)
		return note_left_out(copy, blob->name);
	changed.timestamp_ns = shifted(copy, blob->timestamp_ns);
	error = tape_writer_add_blob(copy->writer, &changed);
	free((char *)changed.name);
	free((char *)changed.data);
	if (error && tape_writer_problem(copy->writer)->code != TAPE_OK)
		return fail_writer(copy);
	if (error) /* its new name is longer than a name may be */
		return note_left_out(copy, blob->name);
	copy->report->nr_files++;
	return 0;
}

static int copy_blobs(struct copy *copy, bool at_end)
{
	const struct tape_blob *blob;

	for (size_t i = 0; (blob = tape_reader_blob(copy->reader, i)); i++) {
		if (copy->warm_is_usable && anonymize_warm_is(blob))
			continue;
		if ((blob->moment == TAPE_MOMENT_END) == at_end && copy_blob(copy, blob))
			return copy->problem->code;
	}
	return 0;
}

static int copy_warm_pages(struct copy *copy)
{
	const struct tape_blob *first = tape_reader_find_blob(copy->reader, TAPE_MOMENT_START,
							      "lrutape/warm_pages/0");
	unsigned int nr_blobs;

	if (!copy->warm_is_usable || !first)
		return 0;
	if (anonymize_warm_copy(copy->reader, &copy->pfns, &copy->names, copy->writer,
				shifted(copy, first->timestamp_ns), &nr_blobs))
		return tape_writer_problem(copy->writer)->code == TAPE_OK ?
			       fail(copy, TAPE_ERR_MEMORY, first->name) :
			       fail_writer(copy);
	copy->report->nr_files += nr_blobs;
	return 0;
}

/* ---- events */

static uint64_t replace_number(struct copy *copy, enum field_rule rule, uint64_t value)
{
	switch (rule) {
	case FIELD_ZERO:
		return 0;
	case FIELD_PID:
		return (uint64_t)anonymize_pid(&copy->names, (int64_t)value);
	case FIELD_INODE:
		return anonymize_inode(&copy->names, value);
	case FIELD_CGROUP:
		return anonymize_cgroup(&copy->names, value);
	case FIELD_DEVICE:
		return anonymize_device(&copy->names, value);
	case FIELD_PFN:
		return pfn_map_get(&copy->pfns, value);
	case FIELD_ADDRESS:
		return anonymize_address(&copy->names, value);
	default:
		return value;
	}
}

static void replace_text(struct copy *copy, enum field_rule rule, const char *text, size_t size)
{
	switch (rule) {
	case FIELD_KEEP:
		fwrite(text, 1, size, copy->text);
		break;
	case FIELD_COMM:
		anonymize_comm(&copy->names, text, size, copy->text);
		break;
	case FIELD_CGROUP_PATH:
	case FIELD_PATH:
		anonymize_path(&copy->names, text, size, copy->text);
		break;
	case FIELD_PROGRAM:
		anonymize_program(&copy->names, text, size, copy->text);
		break;
	case FIELD_DEVICE_NAME:
		anonymize_device_name(&copy->names, text, size, copy->text);
		break;
	case FIELD_ZERO:
		while (size--)
			fputc('\0', copy->text);
		break;
	default:
		anonymize_text(&copy->names, text, size, copy->text);
		break;
	}
}

/* The text goes to the event's strings; its slot says where it is. */
static uint64_t replace_string(struct copy *copy, enum field_rule rule,
			       const struct tape_event *event, unsigned int slot)
{
	long start = ftell(copy->text), end;
	const char *text;
	size_t size;

	if (event->value[slot] == TAPE_VALUE_ABSENT)
		return TAPE_VALUE_ABSENT;
	text = tape_event_string(event, slot, &size);
	replace_text(copy, rule, text, size);
	end = ftell(copy->text);
	fputc('\0', copy->text);
	return (uint64_t)start << 32 | (uint64_t)(end - start);
}

static int copy_event(struct copy *copy, const struct tape_event *event, struct tape_stream *stream)
{
	const struct tape_type *type = tape_reader_type(copy->reader, event->type);
	const enum field_rule *rules = copy->type[event->type].rule;
	struct tape_event changed = *event;

	memcpy(copy->value, event->value, type->nr_slots * sizeof(*copy->value));
	if (copy->type[event->type].has_text)
		rewind(copy->text);
	for (unsigned int i = 0; i < type->nr_fields; i++) {
		const struct tape_field *field = &type->field[i];

		if (field->kind == TAPE_FIELD_INTEGER)
			copy->value[field->slot] = replace_number(copy, rules[i],
								  event->value[field->slot]);
		else if (field->kind != TAPE_FIELD_LEFT_OUT)
			copy->value[field->slot] = replace_string(copy, rules[i], event,
								  field->slot);
	}
	if ((copy->type[event->type].has_text && fflush(copy->text)) || copy->names.out_of_memory)
		return fail(copy, TAPE_ERR_MEMORY, "an event");
	changed.pid = (int32_t)anonymize_pid(&copy->names, event->pid);
	changed.timestamp_ns = shifted(copy, event->timestamp_ns);
	changed.value = copy->value;
	changed.strings = copy->text_data;
	copy->report->nr_events++;
	return tape_stream_event(stream, &changed) ? fail_writer(copy) : 0;
}

static int copy_events(struct copy *copy)
{
	const struct tape_event *event;
	int got;

	while ((got = tape_reader_next(copy->reader, &event)) > 0) {
		struct tape_stream *stream = tape_writer_stream(copy->writer, event->cpu);

		if (!stream)
			return fail(copy, TAPE_ERR_MEMORY, "a CPU's stream");
		if (event->kind != EVENT_LOST) {
			if (copy_event(copy, event, stream))
				return copy->problem->code;
			continue;
		}
		copy->report->nr_losses++;
		if (tape_stream_lost(stream, event->value[EVENT_LOST_COUNT]))
			return fail_writer(copy);
	}
	return got < 0 ? fail_reader(copy) : 0;
}

/* ---- all of it */

/* What a reader of the copy should know. */
static int add_note(struct copy *copy)
{
	const struct anonymize_report *report = copy->report;
	char text[256];
	struct tape_blob note = { .moment = TAPE_MOMENT_START,
				  .name = "lrutape/anonymized",
				  .data = text };

	if (tape_reader_find_blob(copy->reader, TAPE_MOMENT_START, note.name))
		return 0;
	note.timestamp_ns = shifted(copy, tape_reader_summary(copy->reader)->first_ns);
	note.size = (size_t)snprintf(text, sizeof(text),
				     "files_left_out %" PRIu64 "\nfilters_left_out %" PRIu64
				     "\ntime_shifted %d\ntorn %d\n",
				     report->nr_files_left_out, report->nr_filters_left_out,
				     copy->shift_ns != 0, report->torn);
	return tape_writer_add_blob(copy->writer, &note) ? fail_writer(copy) : 0;
}

static int copy_all(struct copy *copy)
{
	int error = copy_types(copy);

	error = error ? error : learn_pfns(copy);
	error = error ? error : copy_blobs(copy, false);
	error = error ? error : copy_warm_pages(copy);
	error = error ? error : copy_events(copy);
	error = error ? error : copy_blobs(copy, true);
	return error ? error : add_note(copy);
}

static void free_copy(struct copy *copy)
{
	for (unsigned int i = 0; copy->type && i < copy->nr_types; i++)
		free(copy->type[i].rule);
	free(copy->type);
	free(copy->value);
	if (copy->text)
		fclose(copy->text);
	free(copy->text_data);
	pfn_map_free(&copy->pfns);
	anonymize_names_free(&copy->names);
	tape_reader_close(copy->reader);
}

int anonymize_tape(const char *from, const char *to, const struct anonymize_options *options,
		   struct anonymize_report *report, struct tape_problem *problem)
{
	struct copy copy = { .report = report, .problem = problem };
	const struct tape_summary *summary;
	int error;

	memset(report, 0, sizeof(*report));
	error = tape_reader_open(from, &copy.reader, problem);
	if (error)
		return error;
	summary = tape_reader_summary(copy.reader);
	report->torn = summary->torn;
	report->torn_at = summary->torn_at;
	if (options->shift_time && summary->nr_events)
		copy.shift_ns = (int64_t)(ANONYMIZE_FIRST_NS - summary->first_ns);
	anonymize_names_init(&copy.names, &options->key);
	anonymize_files_prepare(copy.reader, &copy.names);
	copy.text = open_memstream(&copy.text_data, &copy.text_size);
	if (!copy.text) {
		error = fail(&copy, TAPE_ERR_MEMORY, from);
		goto out_free;
	}
	error = tape_writer_create(to, NULL, &copy.writer, problem);
	if (error)
		goto out_free;
	error = copy_all(&copy);
	if (error)
		tape_writer_abandon(copy.writer);
	else
		error = tape_writer_finish(copy.writer, problem);
	report->nr_pids = copy.names.pids.nr;
	report->nr_inodes = copy.names.inodes.nr;
	report->nr_cgroups = copy.names.cgroups.nr;
	report->nr_minors = copy.names.minors.nr;
	report->nr_pfn_blocks = copy.pfns.nr;
out_free:
	free_copy(&copy);
	return error;
}

void anonymize_report_free(struct anonymize_report *report)
{
	for (uint64_t i = 0; i < report->nr_left_out; i++)
		free(report->left_out[i]);
	free(report->left_out);
	report->left_out = NULL;
	report->nr_left_out = 0;
}
