// SPDX-License-Identifier: GPL-2.0-only
#include "capture/anonymize_files.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CGROUP_MOUNT "/sys/fs/cgroup"
#define V1_MOUNT CGROUP_MOUNT "/memory"

enum file_rule {
	RULE_DROP,
	RULE_KEEP,
	RULE_RELEASE,
	RULE_UNAME,
	RULE_WHAT,
	RULE_COMMAND,
	RULE_WARM_FILES,
	RULE_PID,
	RULE_CLOCK,
	RULE_TASKS,
	RULE_CGROUPS,
	RULE_HIERARCHY,
	RULE_MEMCG,
	RULE_SOURCE,
	RULE_FACTS,
	RULE_MOUNTINFO,
	RULE_SWAPS,
	RULE_STAT,
	RULE_LRU_GEN,
	RULE_DEVICE,
};

static const struct {
	const char *pattern;
	enum file_rule rule;
} file_rules[] = {
#define FILE_RULE(pattern, what) { pattern, RULE_##what },
#include "capture/anonymize_files.def"
};

#define NR_FILE_RULES (sizeof(file_rules) / sizeof(file_rules[0]))

/* A piece of text, not NUL-terminated. */
struct span {
	const char *text;
	size_t size;
};

static bool span_is(struct span span, const char *text)
{
	return span.size == strlen(text) && !memcmp(span.text, text, span.size);
}

/* Cuts the first line off, without its newline. Return: there was one. */
static bool next_line(struct span *rest, struct span *line)
{
	const char *newline;

	if (!rest->size)
		return false;
	newline = memchr(rest->text, '\n', rest->size);
	line->text = rest->text;
	line->size = newline ? (size_t)(newline - rest->text) : rest->size;
	rest->text += line->size + (newline != NULL);
	rest->size -= line->size + (newline != NULL);
	return true;
}

/* Cuts blanks and the word behind them off; an empty word at the end. */
static struct span next_word(struct span *rest)
{
	struct span word;

	while (rest->size && isspace((unsigned char)*rest->text)) {
		rest->text++;
		rest->size--;
	}
	word = (struct span){ rest->text, 0 };
	while (word.size < rest->size && !isspace((unsigned char)word.text[word.size]))
		word.size++;
	rest->text += word.size;
	rest->size -= word.size;
	return word;
}

/* What stands behind the one blank after a word. */
static struct span behind_blank(struct span rest)
{
	return rest.size ? (struct span){ rest.text + 1, rest.size - 1 } : rest;
}

/* A word that is a decimal number. Blobs end with a NUL, so strtoull() does not run away. */
static bool number_of(struct span word, uint64_t *number)
{
	char *end;

	if (!word.size || !isdigit((unsigned char)*word.text))
		return false;
	*number = strtoull(word.text, &end, 10);
	return end == word.text + word.size;
}

static bool device_of(struct span word, uint64_t *dev)
{
	unsigned int major, minor;
	char text[24];
	int used = 0;

	snprintf(text, sizeof(text), "%.*s", (int)(word.size < 23 ? word.size : 23), word.text);
	if (sscanf(text, "%4u:%7u%n", &major, &minor, &used) != 2 || (size_t)used != word.size ||
	    major >= 1u << 12 || minor >= 1u << 20)
		return false;
	*dev = (uint64_t)major << 20 | minor;
	return true;
}

static void print_device(struct anonymize_names *names, uint64_t dev, FILE *to)
{
	dev = anonymize_device(names, dev);
	fprintf(to, "%u:%u", (unsigned int)(dev >> 20), (unsigned int)(dev & 0xfffff));
}

/* ---- names of files */

static bool is_below(const char *name, size_t size, const char *directory)
{
	size_t n = strlen(directory);

	return size >= n && !memcmp(name, directory, n) && (size == n || name[n] == '/');
}

/* A hierarchy mounted elsewhere moves to where it belongs. */
static const char *new_mount(const struct anonymize_names *names)
{
	return names->cgroup_v1 ? V1_MOUNT : CGROUP_MOUNT;
}

/* Prints a cgroup's directory: its mount point, and its path below that in other words. */
static void print_directory(const struct anonymize_names *names, const char *name, size_t size,
			    FILE *to)
{
	const char *mount = "", *mount_after = new_mount(names);

	if (names->mount[0] && is_below(name, size, names->mount))
		mount = names->mount;
	else if (is_below(name, size, V1_MOUNT))
		mount = mount_after = V1_MOUNT;
	else if (is_below(name, size, CGROUP_MOUNT))
		mount = mount_after = CGROUP_MOUNT;
	fputs(mount_after, to);
	anonymize_path(names, name + strlen(mount), size - strlen(mount), to);
}

static void print_name(struct anonymize_names *names, const char *name, FILE *to)
{
	static const char block[] = "/sys/block/", bdi[] = "/sys/class/bdi/";
	const char *base = strrchr(name, '/'), *prefix = NULL;
	size_t size;

	if (!strncmp(name, block, sizeof(block) - 1))
		prefix = block;
	else if (!strncmp(name, bdi, sizeof(bdi) - 1))
		prefix = bdi;
	if (prefix) {
		name += strlen(prefix);
		size = strcspn(name, "/");
		fputs(prefix, to);
		anonymize_device_name(names, name, size, to);
		fputs(name + size, to);
	} else if (base && !strncmp(base, "/memory.", 8)) {
		print_directory(names, name, (size_t)(base - name), to);
		fputs(base, to);
	} else {
		fputs(name, to);
	}
}

/* ---- contents */

static bool is_plain(struct span text)
{
	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.text[i];

		if (c == '/' || c == '@' || (!isprint(c) && !isspace(c)))
			return false;
	}
	return true;
}

/* x.y.z without what the builder of the kernel added. */
static void print_release(struct span text, FILE *to)
{
	size_t size = 0;

	while (size < text.size &&
	       (isdigit((unsigned char)text.text[size]) || text.text[size] == '.'))
		size++;
	while (size && text.text[size - 1] == '.')
		size--;
	fwrite(text.text, 1, size, to);
}

/* "Linux RELEASE VERSION MACHINE": the version holds names and the time of the build. */
static void print_uname(struct span text, FILE *to)
{
	struct span system = next_word(&text), release = next_word(&text), word,
		    machine = { "", 0 };

	while ((word = next_word(&text)).size)
		machine = word;
	fprintf(to, "%.*s ", (int)system.size, system.text);
	print_release(release, to);
	fprintf(to, " %.*s", (int)machine.size, machine.text);
}

static void print_clock(struct span text, int64_t shift_ns, FILE *to)
{
	struct span line;

	while (next_line(&text, &line)) {
		struct span rest = line, key = next_word(&rest), value = next_word(&rest);
		uint64_t ns;

		if (span_is(key, "trace_clock") && is_plain(line))
			fprintf(to, "%.*s\n", (int)line.size, line.text);
		else if ((span_is(key, "monotonic_ns") || span_is(key, "boottime_ns")) &&
			 number_of(value, &ns))
			fprintf(to, "%.*s %" PRIu64 "\n", (int)key.size, key.text,
				ns + (uint64_t)shift_ns);
	}
}

static void print_pid(struct anonymize_names *names, struct span word, FILE *to)
{
	uint64_t pid;

	if (number_of(word, &pid))
		fprintf(to, "%" PRId64, anonymize_pid(names, (int64_t)pid));
	else
		fputc('0', to);
}

static void print_cgroup_id(struct anonymize_names *names, struct span word, FILE *to)
{
	uint64_t id;

	if (number_of(word, &id))
		fprintf(to, "%" PRIu64, anonymize_cgroup(names, id));
	else
		fputc('0', to);
}

static void print_tasks(struct anonymize_names *names, struct span text, FILE *to)
{
	struct span line;

	while (next_line(&text, &line)) {
		print_pid(names, next_word(&line), to);
		fputc(' ', to);
		print_pid(names, next_word(&line), to);
		fputc(' ', to);
		print_cgroup_id(names, next_word(&line), to);
		fputc(' ', to);
		line = behind_blank(line);
		anonymize_comm(names, line.text, line.size, to);
		fputc('\n', to);
	}
}

static void print_cgroups(struct anonymize_names *names, struct span text, FILE *to)
{
	struct span line;

	while (next_line(&text, &line)) {
		print_cgroup_id(names, next_word(&line), to);
		fputc(' ', to);
		line = behind_blank(line);
		anonymize_path(names, line.text, line.size, to);
		fputc('\n', to);
	}
}

/* "VERSION NUMBER MOUNT" */
static void print_hierarchy(struct anonymize_names *names, struct span text, FILE *to)
{
	struct span version = next_word(&text), number = next_word(&text), mount = { "", 0 };

	text = behind_blank(text);
	next_line(&text, &mount);
	fprintf(to, "%.*s %.*s ", (int)version.size, version.text, (int)number.size, number.text);
	print_directory(names, mount.text, mount.size, to);
}

/* "command", "all", "cgroup PATH" or "pid N N..." */
static void print_what(struct anonymize_names *names, struct span text, FILE *to)
{
	struct span what = next_word(&text), word;

	fprintf(to, "%.*s", (int)what.size, what.text);
	if (span_is(what, "cgroup")) {
		text = behind_blank(text);
		fputc(' ', to);
		anonymize_path(names, text.text, strcspn(text.text, "\n"), to);
	} else if (span_is(what, "pid")) {
		while ((word = next_word(&text)).size) {
			fputc(' ', to);
			print_pid(names, word, to);
		}
	}
}

/* "file DEV INODE PAGES PATH", followed by lines of numbers. */
static void print_warm_files(struct anonymize_names *names, struct span text, FILE *to)
{
	struct span line, rest, pages;
	uint64_t dev, inode;

	while (next_line(&text, &line)) {
		rest = line;
		if (!span_is(next_word(&rest), "file")) {
			if (is_plain(line))
				fprintf(to, "%.*s\n", (int)line.size, line.text);
			continue;
		}
		if (!number_of(next_word(&rest), &dev) || !number_of(next_word(&rest), &inode))
			continue;
		pages = next_word(&rest);
		fprintf(to, "file %" PRIu64 " %" PRIu64 " %.*s ", anonymize_device(names, dev),
			anonymize_inode(names, inode), (int)pages.size, pages.text);
		rest = behind_blank(rest);
		anonymize_path(names, rest.text, rest.size, to);
		fputc('\n', to);
	}
}

/* "INODE PATH LIMIT" */
static void print_memcg(struct anonymize_names *names, struct span text, FILE *to)
{
	struct span line, path;

	while (next_line(&text, &line)) {
		print_cgroup_id(names, next_word(&line), to);
		path = behind_blank(line);
		while (path.size && path.text[path.size - 1] != ' ')
			path.size--;
		fputc(' ', to);
		if (path.size) {
			line.size -= (size_t)(path.text + path.size - line.text);
			line.text = path.text + path.size;
			anonymize_path(names, path.text, path.size - 1, to);
			fprintf(to, " %.*s", (int)line.size, line.text);
		}
	}
}

static void print_facts(struct anonymize_names *names, struct span text, FILE *to)
{
	static const char dev_key[] = "file_dev=";
	struct span line;
	uint64_t dev;

	while (next_line(&text, &line)) {
		if (line.size > sizeof(dev_key) &&
		    !memcmp(line.text, dev_key, sizeof(dev_key) - 1)) {
			line.text += sizeof(dev_key) - 1;
			line.size -= sizeof(dev_key) - 1;
			if (!device_of(line, &dev))
				continue;
			fputs(dev_key, to);
			print_device(names, dev, to);
			fputc('\n', to);
		} else if (is_plain(line)) {
			fprintf(to, "%.*s\n", (int)line.size, line.text);
		}
	}
}

/* Only which devices are mounted. */
static void print_mountinfo(struct anonymize_names *names, struct span text, FILE *to)
{
	struct span line;
	uint64_t mount, parent, dev;

	while (next_line(&text, &line)) {
		if (!number_of(next_word(&line), &mount) || !number_of(next_word(&line), &parent) ||
		    !device_of(next_word(&line), &dev))
			continue;
		fprintf(to, "%" PRIu64 " %" PRIu64 " ", mount, parent);
		print_device(names, dev, to);
		fputc('\n', to);
	}
}

static void print_swaps(struct anonymize_names *names, struct span text, FILE *to)
{
	struct span line, rest;

	while (next_line(&text, &line)) {
		rest = line;
		if (span_is(next_word(&rest), "Filename")) {
			fprintf(to, "%.*s\n", (int)line.size, line.text);
			continue;
		}
		anonymize_path(names, line.text, line.size - rest.size, to);
		fprintf(to, "%.*s\n", (int)rest.size, rest.text);
	}
}

/* Without the time of the boot. */
static void print_stat(struct span text, FILE *to)
{
	struct span line, rest;

	while (next_line(&text, &line)) {
		rest = line;
		if (!span_is(next_word(&rest), "btime") && is_plain(line))
			fprintf(to, "%.*s\n", (int)line.size, line.text);
	}
}

/* "memcg ID PATH" in front of each group's numbers. */
static void print_lru_gen(struct anonymize_names *names, struct span text, FILE *to)
{
	struct span line, rest, id;

	while (next_line(&text, &line)) {
		rest = line;
		if (span_is(next_word(&rest), "memcg")) {
			id = next_word(&rest);
			fprintf(to, "%.*s ", (int)(id.text + id.size - line.text), line.text);
			rest = behind_blank(rest);
			anonymize_path(names, rest.text, rest.size, to);
			fputc('\n', to);
		} else if (is_plain(line)) {
			fprintf(to, "%.*s\n", (int)line.size, line.text);
		}
	}
}

static void print_data(struct anonymize_names *names, enum file_rule rule, struct span text,
		       int64_t shift_ns, FILE *to)
{
	struct span line = { "", 0 };
	uint64_t dev;

	switch (rule) {
	case RULE_DROP:
		break;
	case RULE_KEEP:
		fwrite(text.text, 1, text.size, to);
		break;
	case RULE_RELEASE:
		print_release(text, to);
		break;
	case RULE_UNAME:
		print_uname(text, to);
		break;
	case RULE_WHAT:
		print_what(names, text, to);
		break;
	case RULE_WARM_FILES:
		print_warm_files(names, text, to);
		break;
	case RULE_COMMAND:
		anonymize_text(names, text.text, text.size, to);
		break;
	case RULE_PID:
		print_pid(names, next_word(&text), to);
		break;
	case RULE_CLOCK:
		print_clock(text, shift_ns, to);
		break;
	case RULE_TASKS:
		print_tasks(names, text, to);
		break;
	case RULE_CGROUPS:
		print_cgroups(names, text, to);
		break;
	case RULE_HIERARCHY:
		print_hierarchy(names, text, to);
		break;
	case RULE_MEMCG:
		print_memcg(names, text, to);
		break;
	case RULE_SOURCE: /* the kind, without the file's name */
		line = next_word(&text);
		fprintf(to, "%.*s\n", (int)line.size, line.text);
		break;
	case RULE_FACTS:
		print_facts(names, text, to);
		break;
	case RULE_MOUNTINFO:
		print_mountinfo(names, text, to);
		break;
	case RULE_SWAPS:
		print_swaps(names, text, to);
		break;
	case RULE_STAT:
		print_stat(text, to);
		break;
	case RULE_LRU_GEN:
		print_lru_gen(names, text, to);
		break;
	case RULE_DEVICE:
		if (device_of(next_word(&text), &dev))
			print_device(names, dev, to);
		fputc('\n', to);
		break;
	}
}

static enum file_rule rule_of(const struct tape_blob *blob)
{
	for (size_t i = 0; i < NR_FILE_RULES; i++) {
		if (fnmatch(file_rules[i].pattern, blob->name, 0))
			continue;
		if (file_rules[i].rule == RULE_KEEP &&
		    !is_plain((struct span){ blob->data, blob->size }))
			return RULE_DROP;
		return file_rules[i].rule;
	}
	return RULE_DROP;
}

static void learn_mount(const struct tape_reader *reader, struct anonymize_names *names)
{
	const struct tape_blob *blob = tape_reader_find_blob(reader, TAPE_MOMENT_START,
							     "lrutape/hierarchy");
	struct span text, mount = { "", 0 };

	if (!blob)
		return;
	text = (struct span){ blob->data, blob->size };
	names->cgroup_v1 = span_is(next_word(&text), "1");
	next_word(&text);
	text = behind_blank(text);
	if (next_line(&text, &mount) && mount.size < sizeof(names->mount) &&
	    !is_below(mount.text, mount.size, CGROUP_MOUNT)) {
		memcpy(names->mount, mount.text, mount.size);
		names->mount[mount.size] = '\0';
	}
}

void anonymize_files_prepare(const struct tape_reader *reader, struct anonymize_names *names)
{
	const struct tape_blob *blob = tape_reader_find_blob(reader, TAPE_MOMENT_START,
							     "lrutape/cgroups");
	struct span text, line, id;

	learn_mount(reader, names);
	if (!blob)
		return;
	text = (struct span){ blob->data, blob->size };
	while (next_line(&text, &line)) {
		id = next_word(&line);
		if (span_is(behind_blank(line), "/"))
			number_of(id, &names->root_cgroup);
	}
}

int anonymize_file(struct anonymize_names *names, const struct tape_blob *blob, int64_t shift_ns,
		   struct tape_blob *out)
{
	enum file_rule rule = rule_of(blob);
	char *name = NULL, *data = NULL;
	size_t name_size;
	FILE *to;

	*out = *blob;
	out->name = out->data = NULL;
	out->size = 0;
	if (rule == RULE_DROP)
		return 0;
	to = open_memstream(&name, &name_size);
	if (!to)
		return -1;
	print_name(names, blob->name, to);
	if (fclose(to))
		goto err_free;
	to = open_memstream(&data, &out->size);
	if (!to)
		goto err_free;
	print_data(names, rule, (struct span){ blob->data, blob->size }, shift_ns, to);
	if (fclose(to))
		goto err_free;
	out->name = name;
	out->data = data;
	return 0;

err_free:
	free(name);
	free(data);
	return -1;
}
