/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What names, devices, cgroups and threads of a tape become, in events and snapshots alike.
 */
#ifndef CAPTURE_ANONYMIZE_NAMES_H
#define CAPTURE_ANONYMIZE_NAMES_H

#include <stdio.h>

#include "capture/keyed_map.h"

#define ANONYMIZE_DEVICES 64 /* inodes of more are not told apart from others */

struct anonymize_names {
	struct hash_key key;
	struct keyed_map pids, inodes, cgroups;
	struct keyed_map minors; /* of all majors alike: a device keeps its major number */
	/* Of block devices met so far: the number of such a device's inode is the device's own. */
	uint64_t device[ANONYMIZE_DEVICES];
	unsigned int nr_devices;
	uint64_t root_cgroup; /* keeps its inode, with 0 and 1 */
	char mount[256]; /* of the memory controller's cgroups, if not where it belongs */
	bool cgroup_v1;
	bool out_of_memory; /* set once a number could not be replaced */
};

/** anonymize_names_init() - nothing replaced yet. */
void anonymize_names_init(struct anonymize_names *names, const struct hash_key *key);

/** anonymize_names_free() - free the maps. */
void anonymize_names_free(struct anonymize_names *names);

/* What a number becomes. All ones, that is absent or "none", and 0 stay. */
int64_t anonymize_pid(struct anonymize_names *names, int64_t pid);
uint64_t anonymize_inode(struct anonymize_names *names, uint64_t inode);
uint64_t anonymize_cgroup(struct anonymize_names *names, uint64_t id);
uint64_t anonymize_device(struct anonymize_names *names, uint64_t dev); /* major << 20 | minor */

/**
 * anonymize_address() - a virtual address
 * User pages all move by the same number of GiB, modulo 2^56, so that neighbours stay neighbours and large
 * folios aligned; the offset in the page becomes 0. The kernel's own addresses all become the first of them.
 */
uint64_t anonymize_address(const struct anonymize_names *names, uint64_t address);

/*
 * What a name becomes, written to @to. Equal names become equal ones. A path's parts are replaced
 * one by one, so that what lies in a directory still does.
 */
void anonymize_comm(const struct anonymize_names *names, const char *comm, size_t size, FILE *to);
void anonymize_path(const struct anonymize_names *names, const char *path, size_t size, FILE *to);
/* A path whose last part becomes a thread's name at exec. */
void anonymize_program(const struct anonymize_names *names, const char *path, size_t size,
		       FILE *to);
/* A disk or bdi: MAJOR:MINOR at its start stays one. */
void anonymize_device_name(struct anonymize_names *names, const char *name, size_t size, FILE *to);
void anonymize_text(const struct anonymize_names *names, const char *text, size_t size, FILE *to);

#endif
