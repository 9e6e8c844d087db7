// SPDX-License-Identifier: GPL-2.0-only
#include "capture/anonymize_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define COMM_BYTES 15 /* TASK_COMM_LEN without the NUL */
#define FIRST_NEW_PID 1000 /* so that none looks like a kernel thread of the boot */
#define LAST_PID 4194303 /* PID_MAX_LIMIT of 64-bit kernels - 1 */
#define MINOR_BITS 20
#define MINOR_MASK ((1u << MINOR_BITS) - 1)
#define USER_BITS 56 /* of addresses of user space, with page tables of five levels */
#define KERNEL_FIRST (~UINT64_C(0) << USER_BITS)
#define ADDRESS_SHIFT 30
#define PAGE_MASK (~UINT64_C(4095))

/* Purposes of keyed_hash(): never renumbered, for tapes made with one key are compared. */
enum {
	HASH_PID = 1,
	HASH_INODE,
	HASH_CGROUP,
	HASH_MINOR,
	HASH_COMM,
	HASH_PATH_PART,
	HASH_TEXT,
	HASH_ADDRESS = 9, /* 8 is that of anonymize_pfn.c */
};

static const char *const kernel_threads[] = {
#define KERNEL_THREAD(name) name,
#include "capture/anonymize_rules.def"
};

#define NR_KERNEL_THREADS (sizeof(kernel_threads) / sizeof(kernel_threads[0]))

void anonymize_names_init(struct anonymize_names *names, const struct hash_key *key)
{
	*names = (struct anonymize_names){ .key = *key, .root_cgroup = 1 };
	keyed_map_init(&names->pids, key, HASH_PID, FIRST_NEW_PID, LAST_PID, INT32_MAX);
	keyed_map_init(&names->inodes, key, HASH_INODE, 1 << 16, UINT32_MAX, UINT64_MAX - 1);
	keyed_map_init(&names->cgroups, key, HASH_CGROUP, 1 << 16, UINT32_MAX, UINT32_MAX);
	keyed_map_init(&names->minors, key, HASH_MINOR, 1, MINOR_MASK, MINOR_MASK);
}

void anonymize_names_free(struct anonymize_names *names)
{
	keyed_map_free(&names->pids);
	keyed_map_free(&names->inodes);
	keyed_map_free(&names->cgroups);
	keyed_map_free(&names->minors);
}

static uint64_t replace(struct anonymize_names *names, struct keyed_map *map, uint64_t number)
{
	uint64_t replaced = 0;

	names->out_of_memory |= keyed_map_get(map, number, &replaced) != 0;
	return replaced;
}

int64_t anonymize_pid(struct anonymize_names *names, int64_t pid)
{
	if (pid <= 0 || pid > INT32_MAX)
		return pid;
	return (int64_t)replace(names, &names->pids, (uint64_t)pid);
}

static bool is_device(const struct anonymize_names *names, uint64_t dev)
{
	unsigned int i = 0;

	if (!(dev >> MINOR_BITS)) /* none of a block device */
		return false;
	while (i < names->nr_devices && names->device[i] != dev)
		i++;
	return i < names->nr_devices;
}

uint64_t anonymize_inode(struct anonymize_names *names, uint64_t inode)
{
	if (inode == 0 || inode == UINT64_MAX)
		return inode;
	if (is_device(names, inode))
		return anonymize_device(names, inode);
	return replace(names, &names->inodes, inode);
}

/* The high half of an id is a generation where inodes have 32 bits: the inode is the low half. */
uint64_t anonymize_cgroup(struct anonymize_names *names, uint64_t id)
{
	uint64_t inode = id & UINT32_MAX;

	if (id <= 1 || id == names->root_cgroup || id == UINT64_MAX)
		return id;
	return (id & ~(uint64_t)UINT32_MAX) | replace(names, &names->cgroups, inode);
}

uint64_t anonymize_device(struct anonymize_names *names, uint64_t dev)
{
	if (dev == 0 || dev == UINT64_MAX)
		return dev;
	if (dev >> MINOR_BITS && !is_device(names, dev) && names->nr_devices < ANONYMIZE_DEVICES)
		names->device[names->nr_devices++] = dev;
	return (dev & ~(uint64_t)MINOR_MASK) | replace(names, &names->minors, dev & MINOR_MASK);
}

uint64_t anonymize_address(const struct anonymize_names *names, uint64_t address)
{
	uint64_t moved = keyed_hash_number(&names->key, HASH_ADDRESS, 0) << ADDRESS_SHIFT;

	if (address == UINT64_MAX)
		return address;
	if (address >> USER_BITS)
		return KERNEL_FIRST;
	return (address + moved) & ~KERNEL_FIRST & PAGE_MASK;
}

/* ---- names */

static bool is_number(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return true;
}

void anonymize_comm(const struct anonymize_names *names, const char *comm, size_t size, FILE *to)
{
	uint64_t hash;

	size = strnlen(comm, size < COMM_BYTES ? size : COMM_BYTES);
	if (size == 0)
		return;
	hash = keyed_hash(&names->key, HASH_COMM, comm, size);
	for (size_t i = 0; i < NR_KERNEL_THREADS; i++) {
		const char *class = kernel_threads[i];
		size_t n = strlen(class);

		if (size < n || memcmp(comm, class, n))
			continue;
		if (is_number(comm + n, size - n))
			fwrite(comm, 1, size, to);
		else /* what stands behind may name a disk */
			fprintf(to, "%s%0*" PRIx64, class, (int)(COMM_BYTES - n),
				hash >> (64 - 4 * (COMM_BYTES - n)));
		return;
	}
	fprintf(to, "task-%08" PRIx32, (uint32_t)hash);
}

static void print_part(const struct anonymize_names *names, const char *part, size_t size, FILE *to)
{
	if (size && !(size == 1 && *part == '.') && !(size == 2 && !memcmp(part, "..", 2)))
		fprintf(to, "p%012" PRIx64,
			keyed_hash(&names->key, HASH_PATH_PART, part, size) >> 16);
	else
		fwrite(part, 1, size, to);
}

void anonymize_path(const struct anonymize_names *names, const char *path, size_t size, FILE *to)
{
	const char *end = path + size;

	for (;;) {
		const char *slash = memchr(path, '/', (size_t)(end - path));

		print_part(names, path, (size_t)((slash ? slash : end) - path), to);
		if (!slash)
			return;
		fputc('/', to);
		path = slash + 1;
	}
}

void anonymize_program(const struct anonymize_names *names, const char *path, size_t size, FILE *to)
{
	const char *slash = memrchr(path, '/', size);
	size_t directory = slash ? (size_t)(slash + 1 - path) : 0;

	if (directory)
		anonymize_path(names, path, directory, to);
	anonymize_comm(names, path + directory, size - directory, to);
}

void anonymize_text(const struct anonymize_names *names, const char *text, size_t size, FILE *to)
{
	if (size)
		fprintf(to, "text-%08" PRIx32,
			(uint32_t)keyed_hash(&names->key, HASH_TEXT, text, size));
}

void anonymize_device_name(struct anonymize_names *names, const char *name, size_t size, FILE *to)
{
	char start[32];
	unsigned int major, minor;
	int used = 0;
	uint64_t dev;

	snprintf(start, sizeof(start), "%.*s", (int)(size < 31 ? size : 31), name);
	if (sscanf(start, "%4u:%7u%n", &major, &minor, &used) != 2 || major >= 1u << 12 ||
	    minor > MINOR_MASK) {
		if (size)
			fprintf(to, "disk-%08" PRIx32,
				(uint32_t)keyed_hash(&names->key, HASH_TEXT, name, size));
		return;
	}
	dev = anonymize_device(names, (uint64_t)major << MINOR_BITS | minor);
	fprintf(to, "%u:%u", major, (unsigned int)(dev & MINOR_MASK));
	if (size > (size_t)used)
		fprintf(to, "-%06" PRIx32,
			(uint32_t)keyed_hash(&names->key, HASH_TEXT, name + used,
					     size - (size_t)used) >>
				8);
}
