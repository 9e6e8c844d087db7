// SPDX-License-Identifier: GPL-2.0-only
#include "replay/policy_file.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "replay/file_hash.h"
#include "replay/policy/object.h"

#define ENDING ".so"

static const char *const struct_name[NR_POLICY_OBJECT_STRUCTS] = {
	[POLICY_OBJECT_RECLAIM_POLICY] = "reclaim_policy",
	[POLICY_OBJECT_FOLIO] = "folio",
	[POLICY_OBJECT_LRUVEC] = "lruvec",
	[POLICY_OBJECT_MEM_CGROUP] = "mem_cgroup",
	[POLICY_OBJECT_MM] = "mm",
	[POLICY_OBJECT_MM_RULES] = "mm_rules",
	[POLICY_OBJECT_RECLAIM_WALK] = "reclaim_walk",
	[POLICY_OBJECT_SCAN_REQUEST] = "scan_request",
	[POLICY_OBJECT_SCAN_RESULT] = "scan_result",
};

static const uint32_t struct_bytes[NR_POLICY_OBJECT_STRUCTS] = POLICY_OBJECT_SIZES;

const char *policy_file_rest(const char *text)
{
	for (const char *so = strstr(text, ENDING); so; so = strstr(so + 1, ENDING)) {
		const char *rest = so + strlen(ENDING);

		if (!*rest || *rest == '@' || *rest == '+')
			return rest;
	}
	return NULL;
}

/* Built against other sources? @is_variant: its structs are its own business. Return: 0 or -1. */
static int check_built(const struct policy_object *object, char *why, size_t why_bytes)
{
	if (object->abi != POLICY_OBJECT_ABI ||
	    object->object_bytes != sizeof(struct policy_object)) {
		snprintf(
			why, why_bytes,
			"was built for policy interface %u of %u bytes, this program has %u of %zu: build "
			"it anew from this program's sources",
			object->abi, object->object_bytes, POLICY_OBJECT_ABI,
			sizeof(struct policy_object));
		return -1;
	}
	if (object->core) {
		if (object->core_bytes == sizeof(struct replay_core) &&
		    object->world_bytes == sizeof(struct world) && object->variant)
			return 0;
		snprintf(
			why, why_bytes,
			"is a variant of another version of this program: run `make variant` again");
		return -1;
	}
	for (int i = 0; i < NR_POLICY_OBJECT_STRUCTS; i++) {
		if (object->size[i] == struct_bytes[i])
			continue;
		snprintf(
			why, why_bytes,
			"was built with a struct %s of %u bytes, here it has %u: build it anew from this "
			"program's sources",
			struct_name[i], object->size[i], struct_bytes[i]);
		return -1;
	}
	return 0;
}

static int check_policy(const struct reclaim_policy *policy, char *why, size_t why_bytes)
{
	const char *missing;

	if (!policy || !policy->name || !*policy->name || strpbrk(policy->name, "@+=/ ")) {
		snprintf(why, why_bytes,
			 "its policy has no name, or one with any of @ + = / in it");
		return -1;
	}
	for (unsigned int i = 0; policy_base(i); i++)
		if (!strcmp(policy_base(i)->name, policy->name)) {
			snprintf(why, why_bytes,
				 "its policy is called '%s' like one of the program's: rename it",
				 policy->name);
			return -1;
		}
	missing = policy_missing_op(policy);
	if (missing) {
		snprintf(why, why_bytes, "its policy '%s' has no %s(), which is required",
			 policy->name, missing);
		return -1;
	}
	return 0;
}

int policy_file_load(const char *text, struct policy_file *file, char *why, size_t why_bytes)
{
	const char *rest = policy_file_rest(text);
	const struct policy_object *object;
	char path[PATH_MAX];
	void *handle;

	memset(file, 0, sizeof(*file));
	/* Without a slash dlopen() would look in the folders of libraries. */
	if (snprintf(path, sizeof(path), "%s%.*s",
		     memchr(text, '/', (size_t)(rest - text)) ? "" : "./", (int)(rest - text),
		     text) >= (int)sizeof(path)) {
		snprintf(why, why_bytes, "the file's name is too long");
		return -1;
	}
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		const char *error = dlerror();

		snprintf(why, why_bytes, "%s",
			 error ? error :
				 "a static program cannot load a policy: build lrutape anew");
		return -1;
	}
	object = dlsym(handle, POLICY_OBJECT_SYMBOL);
	if (!object) {
		snprintf(why, why_bytes,
			 "is no policy: it has no " POLICY_OBJECT_SYMBOL
			 ", which POLICY_OBJECT() of replay/policy/object.h makes");
		return -1;
	}
	if (check_built(object, why, why_bytes) ||
	    (!object->core && check_policy(object->policy, why, why_bytes)))
		return -1;
	file->policy = object->core ? NULL : object->policy;
	file->core = object->core;
	file->name = object->core ? object->variant : object->policy->name;
	if (file_hash(path, file->hash, sizeof(file->hash)))
		file->hash[0] = '\0';
	return 0;
}

int policy_file_parse(const char *text, const char *release, struct policy_choice *choice,
		      struct policy_file *file, char *why, size_t why_bytes)
{
	const char *rest = policy_file_rest(text);

	memset(file, 0, sizeof(*file));
	if (!rest)
		return policy_parse(text, release, choice, why, why_bytes);
	memset(choice, 0, sizeof(*choice));
	if (policy_file_load(text, file, why, why_bytes))
		return -1;
	return file->core ? 0 :
			    policy_parse_rest(file->policy, rest, release, choice, why, why_bytes);
}
