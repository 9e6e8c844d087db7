// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast a tape is read and written, and how small it gets.
 *
 *   bench_tape [--repeats N] [--frame-kib N] [--level N] [TAPE...]
 *
 * Without a tape it makes one: random preads of 4 KiB under a memory limit, as the kernel's events
 * would tell of them; and takes the greater ones of the bundled tapes below $TOP. Reading is open, merge of the CPUs and decoding of all fields. Writing feeds
 * the same events, rebuilt as ring buffer records in memory, through tape_stream_record(). Times are
 * CPU times of the one thread that does it; medians over the repeats, with least and greatest.
 */
#include <getopt.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "schema/tape_reader.h"
#include "schema/tape_writer.h"

#define REPEATS_MAX 101

static unsigned int repeats = 5;
static struct tape_writer_options writer_options;

/* A tape's events as its recorder saw them. */
struct record {
	uint64_t timestamp_ns;
	uint32_t at, size; /* in the bytes */
	uint16_t type;
	uint16_t cpu;
};

struct recording {
	struct record *record;
	size_t nr, room;
	uint8_t *bytes;
	size_t nr_bytes, bytes_room;
};

static void die(const char *what)
{
	fprintf(stderr, "bench_tape: %s\n", what);
	exit(1);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void report(const char *what, double *value, const char *unit)
{
	qsort(value, repeats, sizeof(value[0]), compare_doubles);
	printf("  %-28s %9.2f %s (%.2f to %.2f in %u runs)\n", what, value[repeats / 2], unit,
	       value[0], value[repeats - 1], repeats);
}

static struct tape_reader *open_tape(const char *path)
{
	struct tape_problem problem;
	struct tape_reader *reader;

	if (tape_reader_open(path, &reader, &problem))
		die(problem.text);
	return reader;
}

/* All slots of all events. Return: a sum, so that no compiler skips the work. */
static uint64_t read_all(struct tape_reader *reader)
{
	const struct tape_event *event;
	uint64_t sum = 0;
	int got;

	while ((got = tape_reader_next(reader, &event)) > 0)
		sum += event->timestamp_ns ^ event->value[0];
	if (got < 0)
		die(tape_reader_problem(reader)->text);
	return sum;
}

static void *grow(void *old, size_t size)
{
	void *grown = realloc(old, size);

	if (!grown)
		die("not enough memory");
	return grown;
}

/* Bytes that tape_stream_record() takes apart into what the event holds. */
static void put_record(struct recording *to, const struct tape_type *type,
		       const struct tape_event *event)
{
	uint8_t bytes[8192] = { 0 };
	size_t size = 8;

	bytes[2] = event->flags;
	bytes[3] = event->preempt_count;
	memcpy(bytes + 4, &event->pid, 4);
	for (unsigned int i = 0; i < type->nr_fields; i++)
		if ((size_t)type->field[i].offset + type->field[i].size > size)
			size = (size_t)type->field[i].offset + type->field[i].size;
	if (size > 2048)
		die("event type with fields too far behind");
	for (unsigned int i = 0; i < type->nr_fields; i++) {
		const struct tape_field *field = &type->field[i];
		const char *text;
		size_t text_bytes;

		if (field->kind == TAPE_FIELD_INTEGER) {
			memcpy(bytes + field->offset, &event->value[field->slot], field->size);
		} else if (field->kind != TAPE_FIELD_LEFT_OUT) {
			text = tape_event_string(event, field->slot, &text_bytes);
			if (!strncmp(field->ctype, "__data_loc", 10) && size + text_bytes < 8000) {
				uint32_t where = (uint32_t)(size | (text_bytes + 1) << 16);

				memcpy(bytes + field->offset, &where, 4);
				memcpy(bytes + size, text, text_bytes);
				size += text_bytes + 1;
			} else if (text_bytes <= field->size) {
				memcpy(bytes + field->offset, text, text_bytes);
			}
		}
	}
	if (to->nr == to->room) {
		to->room = to->room ? 2 * to->room : 4096;
		to->record = grow(to->record, to->room * sizeof(to->record[0]));
	}
	if (to->bytes_room - to->nr_bytes < size) {
		to->bytes_room = to->bytes_room ? 2 * to->bytes_room : 1 << 20;
		to->bytes = grow(to->bytes, to->bytes_room);
	}
	to->record[to->nr++] = (struct record){
		.timestamp_ns = event->timestamp_ns,
		.at = (uint32_t)to->nr_bytes,
		.size = (uint32_t)size,
		.type = event->type,
		.cpu = (uint16_t)event->cpu,
	};
	memcpy(to->bytes + to->nr_bytes, bytes, size);
	to->nr_bytes += size;
}

static void load(struct tape_reader *reader, struct recording *to)
{
	const struct tape_event *event;

	while (tape_reader_next(reader, &event) > 0 && to->nr_bytes < UINT32_MAX - (64u << 20))
		if (event->kind != EVENT_LOST)
			put_record(to, tape_reader_type(reader, event->type), event);
}

/* Return: CPU seconds. */
static double write_all(const struct tape_reader *types, const struct recording *from,
			const char *path, uint64_t *file_bytes)
{
	struct tape_stream *stream[1024] = { NULL };
	struct tape_problem problem;
	struct tape_writer *writer;
	const struct tape_type *type;
	uint16_t number;
	double start;

	if (tape_writer_create(path, &writer_options, &writer, &problem))
		die(problem.text);
	for (unsigned int i = 0; (type = tape_reader_type(types, i)); i++)
		if (tape_writer_add_type(writer, type, &number))
			die("type refused");
	start = cpu_seconds();
	for (size_t i = 0; i < from->nr; i++) {
		const struct record *record = &from->record[i];
		struct tape_stream **to = &stream[record->cpu % 1024];

		if (!*to)
			*to = tape_writer_stream(writer, record->cpu);
		if (!*to || tape_stream_record(*to, record->type, record->timestamp_ns,
					       from->bytes + record->at, record->size))
			die(tape_writer_problem(writer)->text);
	}
	for (unsigned int i = 0; i < 1024; i++)
		if (stream[i] && tape_stream_flush(stream[i]))
			die(tape_writer_problem(writer)->text);
	start = cpu_seconds() - start;
	*file_bytes = tape_writer_bytes(writer);
	if (tape_writer_finish(writer, &problem))
		die(problem.text);
	return start;
}

static void bench(const char *path, const char *scratch)
{
	double read_rate[REPEATS_MAX], write_ns[REPEATS_MAX];
	struct tape_reader *reader = open_tape(path);
	const struct tape_summary *summary = tape_reader_summary(reader);
	struct recording recording = { 0 };
	uint64_t file_bytes = 0;

	load(reader, &recording);
	printf("%s: %" PRIu64 " events on %u CPUs\n", path, summary->nr_events, summary->nr_cpus);
	for (unsigned int i = 0; i < repeats; i++)
		write_ns[i] = write_all(reader, &recording, scratch, &file_bytes) * 1e9 /
			      (double)recording.nr;
	tape_reader_close(reader);
	for (unsigned int i = 0; i < repeats; i++) {
		double start = cpu_seconds();

		reader = open_tape(scratch);
		read_all(reader);
		read_rate[i] = (double)tape_reader_summary(reader)->nr_events /
			       (cpu_seconds() - start) / 1e6;
		tape_reader_close(reader);
	}
	report("reading", read_rate, "million events/s");
	report("writing", write_ns, "ns/event");
	printf("  %-28s %9.3f bytes/event\n", "size", (double)file_bytes / (double)recording.nr);
	free(recording.record);
	free(recording.bytes);
}

/* The made-up tape's event types: layouts of 6.18. */
#define F(ctype, name, offset, size)                                                               \
	{                                                                                          \
		name, ctype, offset, size, false, TAPE_FIELD_INTEGER, 0                            \
	}

static const struct tape_field get_pages_fields[] = {
	F("unsigned long", "i_ino", 8, 8),
	F("dev_t", "s_dev", 16, 4),
	F("unsigned long", "index", 24, 8),
	F("unsigned long", "last_index", 32, 8),
};

static const struct tape_field add_fields[] = {
	F("unsigned long", "pfn", 8, 8),    F("unsigned long", "i_ino", 16, 8),
	F("unsigned long", "index", 24, 8), F("dev_t", "s_dev", 32, 4),
	F("unsigned char", "order", 36, 1),
};

static const struct tape_field insertion_fields[] = {
	{ "folio", "struct folio *", 8, 8, false, TAPE_FIELD_LEFT_OUT, 0 },
	F("unsigned long", "pfn", 16, 8),
	F("enum lru_list", "lru", 24, 4),
	F("unsigned long", "flags", 32, 8),
};

static const struct tape_type made_types[] = {
	{ .system = "filemap",
	  .name = "mm_filemap_get_pages",
	  .format = "",
	  .filter = "",
	  .field = get_pages_fields,
	  .nr_fields = 4 },
	{ .system = "filemap",
	  .name = "mm_filemap_add_to_page_cache",
	  .format = "",
	  .filter = "",
	  .field = add_fields,
	  .nr_fields = 5 },
	{ .system = "filemap",
	  .name = "mm_filemap_delete_from_page_cache",
	  .format = "",
	  .filter = "",
	  .field = add_fields,
	  .nr_fields = 5 },
	{ .system = "pagemap",
	  .name = "mm_lru_insertion",
	  .format = "",
	  .filter = "",
	  .field = insertion_fields,
	  .nr_fields = 4 },
};

#define MADE_READS 600000u
#define FILE_PAGES (1u << 17)
#define MEMORY_PAGES (1u << 14)
#define BATCH 31u

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % limit;
}

static void made_event(struct tape_writer *writer, uint16_t type, uint64_t *now, uint64_t step,
		       const void *fields, size_t size)
{
	uint8_t record[64] = { 0 };
	const int32_t pid = 4242;

	record[3] = type == 3 ? 3 : 0;
	memcpy(record + 4, &pid, 4);
	memcpy(record + 8, fields, size);
	*now += step + random_below(step / 4);
	if (tape_stream_record(tape_writer_stream(writer, 0), type, *now, record, 40))
		die(tape_writer_problem(writer)->text);
}

/* A FIFO cache of MEMORY_PAGES in front of random reads. */
static void make_tape(const char *path)
{
	uint32_t *index_of = grow(NULL, MEMORY_PAGES * sizeof(*index_of));
	uint8_t *cached = calloc(FILE_PAGES, 1);
	struct tape_problem problem;
	struct tape_writer *writer;
	uint64_t now = 1000000000, nr_adds = 0;
	uint16_t number;

	if (!cached || tape_writer_create(path, NULL, &writer, &problem))
		die("the made-up tape cannot be written");
	for (unsigned int i = 0; i < 4; i++)
		if (tape_writer_add_type(writer, &made_types[i], &number))
			die("type refused");
	for (unsigned int i = 0; i < MADE_READS; i++) {
		uint64_t index = random_below(FILE_PAGES), place = nr_adds % MEMORY_PAGES;
		struct {
			uint64_t ino;
			uint32_t dev, pad;
			uint64_t index, last_index;
		} get = { 4711, 0xfe00000, 0, index, index };
		struct {
			uint64_t pfn, ino, index;
			uint32_t dev;
			uint8_t order;
		} page = { 0x100000 + place * 5 % MEMORY_PAGES, 4711, 0, 0xfe00000, 0 };

		if (!cached[index]) {
			if (nr_adds >= MEMORY_PAGES) {
				page.index = index_of[place];
				cached[page.index] = 0;
				made_event(writer, 2, &now, 150, &page, sizeof(page));
			}
			page.index = index;
			made_event(writer, 1, &now, 600, &page, sizeof(page));
			index_of[place] = (uint32_t)index;
			cached[index] = 1;
			if (++nr_adds % BATCH == 0) {
				for (uint64_t j = nr_adds - BATCH; j < nr_adds; j++) {
					struct {
						uint64_t folio, pfn;
						uint32_t lru, pad;
						uint64_t flags;
					} in = { 0, 0x100000 + j % MEMORY_PAGES * 5 % MEMORY_PAGES,
						 2, 0, 4 };
					made_event(writer, 3, &now, 60, &in, sizeof(in));
				}
			}
		}
		made_event(writer, 0, &now, 500, &get, sizeof(get));
	}
	if (tape_writer_finish(writer, &problem))
		die(problem.text);
	free(index_of);
	free(cached);
}

/* Bundled tapes that are large enough to time. */
static void bench_bundled(const char *scratch)
{
	char pattern[4096];
	struct stat stat_of;
	glob_t found;

	if (!getenv("TOP"))
		return;
	snprintf(pattern, sizeof(pattern), "%s/tests/golden/tapes/v*/*.lrt", getenv("TOP"));
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (!stat(found.gl_pathv[i], &stat_of) && stat_of.st_size > 1 << 18)
			bench(found.gl_pathv[i], scratch);
	globfree(&found);
}

static unsigned long number_option(const char *text, unsigned long max)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*end || number < 1 || number > max)
		die("an option's number is wrong");
	return number;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "repeats", required_argument, NULL, 'r' },
		{ "frame-kib", required_argument, NULL, 'f' },
		{ "level", required_argument, NULL, 'l' },
		{ NULL, 0, NULL, 0 },
	};
	const char *directory = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	char made[4096], scratch[4096];
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case 'r':
			repeats = (unsigned int)number_option(optarg, REPEATS_MAX);
			break;
		case 'f':
			writer_options.frame_bytes = (uint32_t)number_option(optarg, 8192) << 10;
			break;
		case 'l':
			writer_options.compression_level = (int)number_option(optarg, 19);
			break;
		default:
			return 2;
		}
	}
	snprintf(made, sizeof(made), "%s/bench_tape_%d_made.lrt", directory, (int)getpid());
	snprintf(scratch, sizeof(scratch), "%s/bench_tape_%d.lrt", directory, (int)getpid());
	if (optind == argc) {
		make_tape(made);
		bench(made, scratch);
		unlink(made);
		bench_bundled(scratch);
	}
	for (int i = optind; i < argc; i++)
		bench(argv[i], scratch);
	unlink(scratch);
	return 0;
}
