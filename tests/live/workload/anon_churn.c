// SPDX-License-Identifier: GPL-2.0-only
/*
 * Anonymous memory that comes and goes: each thread fills a mapping of its own and drops it with
 * MADV_DONTNEED, again and again. With 16 kB folios this is the workload that shows what a patch of
 * lru_add batches does: one insertion a folio on the way in, one batch of frees on the way out.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THP_ANY "/sys/kernel/mm/transparent_hugepage/hugepages-*kB/enabled"
#define THP_16K "/sys/kernel/mm/transparent_hugepage/hugepages-16kB/enabled"

/* Mappings start where a folio of any order up to 2 MiB can. */
#define ALIGN_BYTES (2u << 20)

static struct {
	unsigned int nr_threads;
	unsigned int nr_loops;
	size_t size_bytes; /* of each thread's mapping */
	size_t huge_kib; /* folio size that is expected, for the report only; 0: no MADV_HUGEPAGE */
	int thp_16k;
} options = { .nr_threads = 20, .nr_loops = 20, .size_bytes = 16u << 20, .huge_kib = 16 };

static pthread_barrier_t start;

static void fail(const char *what)
{
	fprintf(stderr, "anon_churn: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *churn(void *arg)
{
	char *raw = mmap(NULL, options.size_bytes + ALIGN_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *memory;

	(void)arg;
	if (raw == MAP_FAILED)
		fail("mmap");
	memory = (char *)(((uintptr_t)raw + ALIGN_BYTES - 1) & ~(uintptr_t)(ALIGN_BYTES - 1));
	if (options.huge_kib && madvise(memory, options.size_bytes, MADV_HUGEPAGE) &&
	    errno != EINVAL)
		fail("madvise(MADV_HUGEPAGE)");
	pthread_barrier_wait(&start);
	for (unsigned int i = 0; i < options.nr_loops; i++) {
		memset(memory, 0x55, options.size_bytes);
		if (madvise(memory, options.size_bytes, MADV_DONTNEED))
			fail("madvise(MADV_DONTNEED)");
	}
	munmap(raw, options.size_bytes + ALIGN_BYTES);
	return NULL;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int run(void)
{
	pthread_t *threads = calloc(options.nr_threads, sizeof(*threads));
	double begin, seconds, mib;

	if (!threads || pthread_barrier_init(&start, NULL, options.nr_threads + 1))
		fail("start");
	for (unsigned int i = 0; i < options.nr_threads; i++)
		if ((errno = pthread_create(&threads[i], NULL, churn, NULL)))
			fail("pthread_create");
	begin = now();
	pthread_barrier_wait(&start);
	for (unsigned int i = 0; i < options.nr_threads; i++)
		pthread_join(threads[i], NULL);
	seconds = now() - begin;
	mib = (double)options.size_bytes / 1048576 * options.nr_threads * options.nr_loops;
	printf("threads %u loops %u kib %zu seconds %.3f MiB/s %.0f\n", options.nr_threads,
	       options.nr_loops, options.size_bytes >> 10, seconds, mib / seconds);
	free(threads);
	return 0;
}

/*
 * ---- --thp-16k: settings are borrowed and given back whatever happens
 *
 * A fault takes the largest allowed size that fits, and 2 MiB folios are commonly allowed where
 * MADV_HUGEPAGE asks: all sizes but 16 kB are forbidden for the time of the run.
 */

#define MAX_SIZES 32

static struct borrowed {
	char path[128];
	char before[32];
} borrowed[MAX_SIZES];

static unsigned int nr_borrowed;
static volatile sig_atomic_t child;

static void pass_on(int number)
{
	if (child)
		kill((pid_t)child, number);
}

/* The file reads "always inherit madvise [never]": the chosen word stands in brackets. */
static int read_setting(const char *path, char *word, size_t room)
{
	char text[256] = "", *from, *to;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return -1;
	close(fd);
	from = strchr(text, '[');
	to = from ? strchr(from, ']') : NULL;
	if (!to || (size_t)(to - from) > room)
		return -1;
	*to = '\0';
	strcpy(word, from + 1);
	return 0;
}

static int write_setting(const char *path, const char *word)
{
	int fd = open(path, O_WRONLY);
	int failed = fd < 0 || write(fd, word, strlen(word)) != (ssize_t)strlen(word);

	if (fd >= 0)
		close(fd);
	return failed;
}

static void give_back(void)
{
	while (nr_borrowed > 0) {
		const struct borrowed *setting = &borrowed[--nr_borrowed];

		if (write_setting(setting->path, setting->before))
			fprintf(stderr, "anon_churn: %s: cannot set back to %s: do it by hand\n",
				setting->path, setting->before);
	}
}

/* Return: 0, or -1 with errno set and nothing changed. */
static int borrow(void)
{
	glob_t found;
	int error = 0;

	if (access(THP_16K, F_OK) || glob(THP_ANY, 0, NULL, &found))
		return -1;
	for (size_t i = 0; i < found.gl_pathc && !error && nr_borrowed < MAX_SIZES; i++) {
		const char *wanted = strcmp(found.gl_pathv[i], THP_16K) ? "never" : "madvise";
		struct borrowed *setting = &borrowed[nr_borrowed];

		snprintf(setting->path, sizeof(setting->path), "%s", found.gl_pathv[i]);
		if (read_setting(setting->path, setting->before, sizeof(setting->before)))
			error = errno ? errno : EINVAL;
		else if (!strcmp(setting->before, wanted))
			continue;
		else if (write_setting(setting->path, wanted))
			error = errno ? errno : EIO;
		else
			nr_borrowed++;
	}
	globfree(&found);
	if (error)
		give_back();
	errno = error;
	return error ? -1 : 0;
}

/*
 * The work is done in a child, so that its death by any signal, SIGKILL included, comes back here;
 * signals to this process go to the child first. Only SIGKILL to this very process defeats it.
 */
static int run_with_16k(void)
{
	static const int passed[] = { SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT,
				      SIGALRM, SIGUSR1, SIGUSR2, SIGPIPE };
	struct sigaction action = { .sa_handler = pass_on };
	sigset_t all, before;
	int status = 0;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (borrow())
		fail("cannot allow 16 kB folios (needs root, Linux 6.8, 4 KiB pages): " THP_16K);
	child = fork();
	if (child == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		exit(run());
	}
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		sigaction(passed[i], &action, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (child > 0 && waitpid((pid_t)child, &status, 0) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_BLOCK, &all, NULL);
	give_back();
	if (child < 0)
		fail("fork");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void usage(FILE *to)
{
	fputs("usage: anon_churn [--threads N] [--loops N] [--size MIB] [--huge-kib N] [--thp-16k]\n"
	      "  --threads N   default 20\n"
	      "  --loops N     fills and drops of each thread, default 20\n"
	      "  --size MIB    of each thread's mapping, default 16\n"
	      "  --huge-kib N  0: do not ask for large folios; else ask (default)\n"
	      "  --thp-16k     for the time of the run, allow folios of 16 kB and of no other size\n"
	      "                (" THP_ANY ")\n",
	      to);
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value > 1u << 20) {
		fprintf(stderr, "anon_churn: %s: not a number up to 1048576\n", text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "loops", required_argument, NULL, 'l' },
		{ "size", required_argument, NULL, 's' },
		{ "huge-kib", required_argument, NULL, 'k' },
		{ "thp-16k", no_argument, NULL, 'T' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		switch (option) {
		case 't':
			options.nr_threads = (unsigned int)number(optarg);
			break;
		case 'l':
			options.nr_loops = (unsigned int)number(optarg);
			break;
		case 's':
			options.size_bytes = number(optarg) << 20;
			break;
		case 'k':
			options.huge_kib = number(optarg);
			break;
		case 'T':
			options.thp_16k = 1;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind < argc || !options.nr_threads || !options.size_bytes) {
		usage(stderr);
		return 2;
	}
	return options.thp_16k ? run_with_16k() : run();
}
