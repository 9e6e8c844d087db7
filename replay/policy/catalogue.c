// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/policy/policy.h"

#define POLICY(name) extern const struct reclaim_policy policy_##name;
#define PATCH(name) extern const struct policy_patch patch_##name;
#include "replay/policy/policies.def"

static const struct reclaim_policy *const bases[] = {
#define POLICY(name) &policy_##name,
#include "replay/policy/policies.def"
};

static const struct policy_patch *const patches[] = {
#define PATCH(name) &patch_##name,
#include "replay/policy/policies.def"
};

#define NR_BASES (sizeof(bases) / sizeof(bases[0]))
#define NR_PATCHES (sizeof(patches) / sizeof(patches[0]))
#define WORD_BYTES 64

const struct reclaim_policy *policy_base(unsigned int i)
{
	return i < NR_BASES ? bases[i] : NULL;
}

const struct policy_patch *policy_patch(unsigned int i)
{
	return i < NR_PATCHES ? patches[i] : NULL;
}

/* Edits (insert, delete, replace) between two words of fewer than WORD_BYTES bytes. */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int row[WORD_BYTES + 1];
	size_t nb = strnlen(b, WORD_BYTES);

	for (unsigned int j = 0; j <= nb; j++)
		row[j] = j;
	for (unsigned int i = 0; a[i]; i++) {
		unsigned int corner = row[0];

		row[0] = i + 1;
		for (unsigned int j = 0; j < nb; j++) {
			unsigned int replace = corner + (a[i] != b[j]);
			unsigned int best = row[j] + 1 < row[j + 1] + 1 ? row[j] + 1 :
									  row[j + 1] + 1;

			corner = row[j + 1];
			row[j + 1] = replace < best ? replace : best;
		}
	}
	return row[nb];
}

/* The names a mistyped word may have meant, nearest first, up to three: "a, b". */
static void nearest_names(const char *word, const char *const *name, unsigned int nr, char *out,
			  size_t out_bytes)
{
	bool used[NR_BASES + NR_PATCHES] = { false };
	size_t at = 0;

	out[0] = '\0';
	for (unsigned int place = 0; place < 3 && place < nr; place++) {
		unsigned int best = 0, best_distance = UINT32_MAX;

		for (unsigned int i = 0; i < nr; i++) {
			unsigned int distance = used[i] ? UINT32_MAX : edit_distance(word, name[i]);

			if (distance < best_distance) {
				best = i;
				best_distance = distance;
			}
		}
		used[best] = true;
		at += (size_t)snprintf(out + at, at < out_bytes ? out_bytes - at : 0, "%s%s",
				       place ? ", " : "", name[best]);
		if (at >= out_bytes)
			return;
	}
}

static bool take_word(const char **text, char *word)
{
	size_t n = strcspn(*text, "@+=");

	if (!n || n >= WORD_BYTES)
		return false;
	memcpy(word, *text, n);
	word[n] = '\0';
	*text += n;
	return true;
}

static int parse_base(const char **text, struct policy_choice *choice, char *why, size_t why_bytes)
{
	const char *name[NR_BASES];
	char word[WORD_BYTES], near[128];

	if (!take_word(text, word)) {
		snprintf(why, why_bytes,
			 "a policy is written base[@release][+patch[=value]]..., e.g. classic");
		return -1;
	}
	for (unsigned int i = 0; i < NR_BASES; i++) {
		name[i] = bases[i]->name;
		if (!strcmp(word, name[i])) {
			choice->base = bases[i];
			return 0;
		}
	}
	nearest_names(word, name, NR_BASES, near, sizeof(near));
	snprintf(why, why_bytes, "no policy is called '%s'; nearest: %s", word, near);
	return -1;
}

static int parse_release(const char **text, const char *release, struct policy_choice *choice,
			 char *why, size_t why_bytes)
{
	const struct mm_rules *rules, *list;
	char word[WORD_BYTES];
	unsigned int nr;

	if (**text == '@') {
		++*text;
		if (!take_word(text, word)) {
			snprintf(why, why_bytes, "a release must follow '@', e.g. classic@6.18");
			return -1;
		}
		release = word;
	}
	rules = mm_rules_for_release(release);
	if (rules) {
		choice->rules = *rules;
		return 0;
	}
	list = mm_rules_list(&nr);
	snprintf(why, why_bytes, "release '%.40s' is not modelled; write one that is, e.g. %s@%s",
		 release, choice->base->name, list[nr - 1].release);
	return -1;
}

static int parse_patch(const char **text, struct policy_choice *choice, char *why, size_t why_bytes)
{
	const struct policy_patch *patch = NULL;
	const char *name[NR_PATCHES];
	char word[WORD_BYTES], near[128], *end;
	unsigned int nr = 0;
	int64_t value;

	if (!take_word(text, word)) {
		snprintf(why, why_bytes, "a patch's name must follow '+'");
		return -1;
	}
	for (unsigned int i = 0; i < NR_PATCHES; i++) {
		if (strcmp(patches[i]->base, choice->base->name))
			continue;
		name[nr++] = patches[i]->name;
		if (!strcmp(word, patches[i]->name))
			patch = patches[i];
	}
	if (!patch) {
		nearest_names(word, name, nr, near, sizeof(near));
		snprintf(why, why_bytes, "no patch of %s is called '%s'; %s%s", choice->base->name,
			 word, nr ? "nearest: " : "it has none", near);
		return -1;
	}
	if (patch->release && strcmp(patch->release, choice->rules.release)) {
		snprintf(why, why_bytes,
			 "patch %s is for the code of %s, not of %s; write %s@%s+%s", patch->name,
			 patch->release, choice->rules.release, choice->base->name, patch->release,
			 patch->name);
		return -1;
	}
	if (choice->nr_patches == POLICY_PATCH_LIMIT) {
		snprintf(why, why_bytes, "more than %d patches", POLICY_PATCH_LIMIT);
		return -1;
	}
	value = patch->param ? patch->param->preset : 0;
	if (**text == '=') {
		++*text;
		if (!patch->param) {
			snprintf(why, why_bytes, "patch %s has no setting", patch->name);
			return -1;
		}
		errno = 0;
		value = strtoll(*text, &end, 10);
		if (errno || end == *text || (*end && *end != '+') || value < patch->param->least ||
		    value > patch->param->greatest) {
			snprintf(why, why_bytes, "%s=%.20s: %s must be a number from %lld to %lld",
				 patch->name, *text, patch->param->name,
				 (long long)patch->param->least, (long long)patch->param->greatest);
			return -1;
		}
		*text = end;
	}
	choice->patch[choice->nr_patches] = patch;
	choice->value[choice->nr_patches++] = value;
	patch->apply(&choice->rules, value);
	return 0;
}

/* See reclaim_policy.exact. */
static void make_exact(struct mm_rules *rules)
{
	rules->folio_batch_size = 1;
	rules->memcg_stock_pages = 0;
}

/* What follows the base, which *choice has. */
static int parse_rest(const char *text, const char *release, struct policy_choice *choice,
		      char *why, size_t why_bytes)
{
	if (parse_release(&text, release, choice, why, why_bytes))
		return -1;
	if (choice->base->exact)
		make_exact(&choice->rules);
	while (*text == '+') {
		text++;
		if (parse_patch(&text, choice, why, why_bytes))
			return -1;
	}
	if (*text) {
		snprintf(why, why_bytes,
			 "'%.40s' was not understood; write base[@release][+patch[=value]]...",
			 text);
		return -1;
	}
	return 0;
}

static int name_choice(struct policy_choice *choice, const char *base, const char *rest, char *why,
		       size_t why_bytes)
{
	memset(choice, 0, sizeof(*choice));
	if (snprintf(choice->name, sizeof(choice->name), "%s%s", base, rest) <
	    (int)sizeof(choice->name))
		return 0;
	snprintf(why, why_bytes, "a policy's name has fewer than %zu characters",
		 sizeof(choice->name));
	return -1;
}

int policy_parse(const char *text, const char *release, struct policy_choice *choice, char *why,
		 size_t why_bytes)
{
	if (name_choice(choice, text, "", why, why_bytes) ||
	    parse_base(&text, choice, why, why_bytes))
		return -1;
	return parse_rest(text, release, choice, why, why_bytes);
}

int policy_parse_rest(const struct reclaim_policy *base, const char *rest, const char *release,
		      struct policy_choice *choice, char *why, size_t why_bytes)
{
	if (name_choice(choice, base->name, rest, why, why_bytes))
		return -1;
	choice->base = base;
	return parse_rest(rest, release, choice, why, why_bytes);
}

const char *policy_missing_op(const struct reclaim_policy *policy)
{
#define REQUIRED(op)                                                                               \
	if (!policy->op)                                                                           \
	return #op
	REQUIRED(folio_added);
	REQUIRED(folio_activated);
	REQUIRED(folio_rotated);
	REQUIRED(folio_removed);
	REQUIRED(folio_accessed);
	REQUIRED(refault);
	REQUIRED(evict);
	REQUIRED(prepare_scan);
	REQUIRED(shrink_begin);
	REQUIRED(shrink_next);
	REQUIRED(shrink_done);
	REQUIRED(isolate);
	REQUIRED(references_checked);
	REQUIRED(putback);
	REQUIRED(reclaim_end);
#undef REQUIRED
	return NULL;
}
