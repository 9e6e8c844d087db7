// SPDX-License-Identifier: GPL-2.0-only
#include "capture/referenced_probe.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/stale_owner.h"
#include "capture/text_file.h"
#include "capture/trace_instance.h"

#define GROUP_PREFIX "lrutape_"
#define LIST_BYTES (1u << 20)
#define TRACE_BYTES (16u << 20)
/* Tasks that may be in folio_referenced() at a time; the kernel's own choice is two a CPU or less. */
#define RETURNS "256"
/* Enough for some batches of order 0 on one CPU. */
#define SAMPLE_BYTES (256u << 12)
#define CALIBRATIONS 3

/* Who truncates this file removes everybody's probes. */
static int control(const char *tracefs, const char *line)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/kprobe_events", tracefs);
	return text_file_append(path, line);
}

static int undefine(const char *tracefs, const char *group, const char *event)
{
	char line[128];

	snprintf(line, sizeof(line), "-:%s/%s\n", group, event);
	return control(tracefs, line);
}

/* The group of a line, `r256:lrutape_17/folio_referenced folio_referenced ...`. Return: whether it is a dead recorder's. */
static bool is_stale(const char *line, char *group, size_t room, pid_t *owner)
{
	const char *at = strchr(line, ':'), *end = at ? strchr(at, '/') : NULL;
	char name[64];

	if (!end || strncmp(at + 1, GROUP_PREFIX, strlen(GROUP_PREFIX)) ||
	    (size_t)snprintf(group, room, "%.*s", (int)(end - at - 1), at + 1) >= room)
		return false;
	snprintf(name, sizeof(name), "lrutape-%s", group + strlen(GROUP_PREFIX));
	*owner = stale_owner(name);
	return *owner;
}

void referenced_probe_clean_stale(const char *tracefs, FILE *say)
{
	char path[PATH_MAX], group[32], event[64], *list, *line, *rest;
	pid_t owner;

	snprintf(path, sizeof(path), "%s/kprobe_events", tracefs);
	list = rest = text_file_read(path, LIST_BYTES, NULL);
	while (rest && (line = strsep(&rest, "\n"))) {
		if (!is_stale(line, group, sizeof(group), &owner) ||
		    sscanf(strchr(line, '/') + 1, "%63s", event) != 1)
			continue;
		if (!undefine(tracefs, group, event))
			fprintf(say,
				"lrutape: %s/%s: probe left by recorder %d, which is gone: removed\n",
				group, event, owner);
	}
	free(list);
}

static int refused(int error, struct capture_problem *problem)
{
	const char *remedy = "record without --probe-referenced";

	switch (error) {
	case -ENOENT:
		return capture_problem_set(
			problem,
			"--probe-referenced: this kernel has no folio_referenced() to "
			"probe, Linux 5.16 or newer has: %s",
			remedy);
	case -EPERM:
	case -EACCES:
		return capture_problem_set(
			problem,
			"--probe-referenced: kprobe_events: %s: needs root, and a kernel "
			"that is not locked down: %s",
			strerror(-error), remedy);
	default:
		return capture_problem_set(problem,
					   "--probe-referenced: the kernel refuses a probe on "
					   "folio_referenced(): %s: %s",
					   strerror(-error), remedy);
	}
}

int referenced_probe_make(const char *tracefs, struct referenced_probe *probe,
			  struct capture_problem *problem)
{
	char path[PATH_MAX], line[256];
	int error;

	memset(probe, 0, sizeof(*probe));
	snprintf(path, sizeof(path), "%s/kprobe_events", tracefs);
	if (access(path, F_OK))
		return capture_problem_set(
			problem,
			"--probe-referenced: this kernel has no kprobes, %s is not there: record without it, "
			"or on a kernel with CONFIG_KPROBE_EVENTS, as those of distributions have",
			path);
	snprintf(probe->group, sizeof(probe->group), GROUP_PREFIX "%d", getpid());
	snprintf(line, sizeof(line),
		 "r" RETURNS
		 ":%s/folio_referenced folio_referenced folio=$arg1:x64 locked=$arg2:s32 "
		 "referenced=$retval:s32 vm_flags=+0($arg4):x64\n",
		 probe->group);
	error = control(tracefs, line);
	if (!error)
		return 0;
	/* Before 6.9 a return probe does not know what the function was called with. */
	snprintf(line, sizeof(line),
		 "p:%s/folio_look folio_referenced folio=$arg1:x64 locked=$arg2:s32\n",
		 probe->group);
	error = control(tracefs, line);
	if (!error) {
		probe->has_look = true;
		snprintf(line, sizeof(line),
			 "r" RETURNS
			 ":%s/folio_referenced folio_referenced referenced=$retval:s32\n",
			 probe->group);
		error = control(tracefs, line);
	}
	if (!error)
		return 0;
	if (probe->has_look)
		undefine(tracefs, probe->group, "folio_look");
	memset(probe, 0, sizeof(*probe));
	return refused(error, problem);
}

int referenced_probe_remove(const char *tracefs, struct referenced_probe *probe)
{
	int error, of_look = 0;

	if (!probe->group[0])
		return 0;
	error = undefine(tracefs, probe->group, "folio_referenced");
	if (probe->has_look)
		of_look = undefine(tracefs, probe->group, "folio_look");
	memset(probe, 0, sizeof(*probe));
	return error ? error : of_look;
}

/* ---- from addresses to frames */

/* The next "folio=ADDRESS pfn=FRAME", or "page=". Return: behind it, NULL: there is none. */
static const char *next_pair(const char *text, uint64_t *folio, uint64_t *pfn)
{
	const char *at;
	char *end;

	for (; (at = strstr(text, " pfn=")); text = at + 5) {
		const char *word = at;

		while (word > text && word[-1] != ' ')
			word--;
		if (strncmp(word, "folio=", 6) && strncmp(word, "page=", 5))
			continue;
		*folio = strtoull(strchr(word, '=') + 1, &end, 16);
		*pfn = strtoull(at + 5, NULL, 16);
		if (end == at)
			return at + 5;
	}
	return NULL;
}

int referenced_probe_learn(struct referenced_probe *probe, const char *text)
{
	uint64_t folio, pfn, folio_before = 0, pfn_before = 0, bytes = 0;
	unsigned int nr = 0;

	for (; (text = next_pair(text, &folio, &pfn)); nr++) {
		uint64_t span;

		if (nr && pfn != pfn_before) {
			span = pfn > pfn_before ? folio - folio_before : folio_before - folio;
			span /= pfn > pfn_before ? pfn - pfn_before : pfn_before - pfn;
			if (!span || (bytes && span != bytes))
				return -1;
			bytes = span;
		}
		folio_before = folio;
		pfn_before = pfn;
	}
	if (!bytes || bytes > 4096 || folio_before - pfn_before * bytes > folio_before)
		return -1;
	probe->page_bytes = bytes;
	probe->first_page = folio_before - pfn_before * bytes;
	return 0;
}

/* Brings some new pages of order 0 on LRU lists. */
static void make_samples(void)
{
	char *pages = mmap(NULL, SAMPLE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	if (pages == MAP_FAILED)
		return;
	madvise(pages, SAMPLE_BYTES, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < SAMPLE_BYTES; i += 4096)
		pages[i] = 1;
	munmap(pages, SAMPLE_BYTES);
}

int referenced_probe_calibrate(struct referenced_probe *probe, struct trace_instance *instance,
			       struct capture_problem *problem)
{
	static const char enable[] = "events/pagemap/mm_lru_insertion/enable";
	char trace[PATH_MAX], *text;
	int failed = -1;

	/* Addresses as they are: the text is ours alone. */
	if (trace_instance_write(instance, "options/hash-ptr", "0", problem) ||
	    trace_instance_write(instance, enable, "1", problem))
		return -1;
	snprintf(trace, sizeof(trace), "%s/trace", trace_instance_directory(instance));
	for (int i = 0; failed && i < CALIBRATIONS; i++) {
		if (trace_instance_write(instance, "tracing_on", "1", problem))
			return -1;
		make_samples();
		if (trace_instance_write(instance, "tracing_on", "0", problem))
			return -1;
		text = text_file_read(trace, TRACE_BYTES, NULL);
		failed = text ? referenced_probe_learn(probe, text) : -1;
		free(text);
		text_file_write(trace, "");
	}
	if (trace_instance_write(instance, enable, "0", problem))
		return -1;
	return failed ? capture_problem_set(
				problem,
				"--probe-referenced: pagemap:mm_lru_insertion does not tell "
				"how folios' addresses become frames: record without it") :
			0;
}
