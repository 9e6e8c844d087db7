// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pattern is compiled into steps, literals and conversions in turn. All but one conversion know
 * where they end by themselves; "string" ends where the rest of the pattern fits, and each place
 * is tried from the left: a cgroup's path may hold " pid=" itself.
 */
#include "capture/import_ftrace_pattern.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 48 /* a longer word before '=' is no field's name */

/* What one match found out beside the values. */
struct match {
	const struct ftrace_text_settings *settings;
	const char *end;
	uint64_t nr_gfp_names;
	const char *gfp_name;
	size_t gfp_name_size;
};

struct symbol {
	const char *name;
	uint64_t value;
};

struct ftrace_conversion {
	const char *name;
	const char *ctype;
	uint16_t size;
	bool is_signed;
	enum tape_field_kind kind;
	/* Returns where the value ends, NULL where there is none. Not used for strings. */
	const char *(*read)(const char *p, struct match *match, const struct symbol *symbols,
			    uint64_t *value);
	const struct symbol *symbols;
};

/* ---- Reading one value. */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static const char *skip_0x(const char *p)
{
	return p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? p + 2 : p;
}

static const char *read_hex(const char *p, struct match *match, const struct symbol *symbols,
			    uint64_t *value)
{
	const char *start = p = skip_0x(p);
	uint64_t v = 0;

	(void)match;
	(void)symbols;
	for (int digit; (digit = hex_digit(*p)) >= 0; p++) {
		if (v >> 60)
			return NULL;
		v = v << 4 | (uint64_t)digit;
	}
	*value = v;
	return p > start ? p : NULL;
}

static const char *read_unsigned(const char *p, struct match *match, const struct symbol *symbols,
				 uint64_t *value)
{
	const char *start = p;
	uint64_t v = 0;

	(void)match;
	(void)symbols;
	for (; *p >= '0' && *p <= '9'; p++) {
		unsigned int digit = (unsigned int)(*p - '0');

		if (v > (UINT64_MAX - digit) / 10)
			return NULL;
		v = v * 10 + digit;
	}
	*value = v;
	return p > start ? p : NULL;
}

static const char *read_signed(const char *p, struct match *match, const struct symbol *symbols,
			       uint64_t *value)
{
	bool negative = *p == '-';

	p = read_unsigned(p + negative, match, symbols, value);
	if (!p || *value > (uint64_t)INT64_MAX + negative)
		return NULL;
	if (negative)
		*value = -*value;
	return p;
}

/* Any number, decimal unless it says 0x. */
static const char *read_number(const char *p, struct match *match, const struct symbol *symbols,
			       uint64_t *value)
{
	if (skip_0x(p) != p)
		return read_hex(p, match, symbols, value);
	if (*p == '-')
		return read_signed(p, match, symbols, value);
	return read_unsigned(p, match, symbols, value);
}

/* Up to v5.15 and the like "%lu", later "0x%lx". */
static const char *read_pfn(const char *p, struct match *match, const struct symbol *symbols,
			    uint64_t *value)
{
	if (skip_0x(p) != p)
		return read_hex(p, match, symbols, value);
	return read_unsigned(p, match, symbols, value);
}

/* A failed allocation is recorded as all ones and printed as 0; pfn 0 is never handed out. */
static const char *read_alloc_pfn(const char *p, struct match *match, const struct symbol *symbols,
				  uint64_t *value)
{
	p = read_pfn(p, match, symbols, value);
	if (p && !*value)
		*value = UINT64_MAX;
	return p;
}

static const char *read_offset(const char *p, struct match *match, const struct symbol *symbols,
			       uint64_t *value)
{
	unsigned int shift = match->settings->page_shift;

	p = read_unsigned(p, match, symbols, value);
	if (!p || (*value & ((UINT64_C(1) << shift) - 1)))
		return NULL;
	*value >>= shift;
	return p;
}

static const char *read_last_byte(const char *p, struct match *match, const struct symbol *symbols,
				  uint64_t *value)
{
	unsigned int shift = match->settings->page_shift;

	p = read_unsigned(p, match, symbols, value);
	if (!p || ((*value + 1) & ((UINT64_C(1) << shift) - 1)))
		return NULL;
	*value >>= shift;
	return p;
}

static const char *read_dev(const char *p, struct match *match, const struct symbol *symbols,
			    uint64_t *value)
{
	uint64_t major, minor;

	p = read_unsigned(p, match, symbols, &major);
	if (!p || major >= 1 << 12 || (*p != ':' && *p != ',')) /* block events print a comma */
		return NULL;
	p = read_unsigned(p + 1, match, symbols, &minor);
	if (!p || minor >= 1 << 20)
		return NULL;
	*value = major << 20 | minor;
	return p;
}

/* "0000000012345678", "0xffffea0001234500", "(null)", "(____ptrval____)": left out of the tape. */
static const char *read_pointer(const char *p, struct match *match, const struct symbol *symbols,
				uint64_t *value)
{
	if (*p != '(')
		return read_hex(p, match, symbols, value);
	while (*p && *p != ')' && *p != ' ')
		p++;
	return *p == ')' ? p + 1 : NULL;
}

static const char *read_bool(const char *p, struct match *match, const struct symbol *symbols,
			     uint64_t *value)
{
	(void)match;
	(void)symbols;
	if (!strncmp(p, "true", 4)) {
		*value = 1;
		return p + 4;
	}
	if (!strncmp(p, "false", 5)) {
		*value = 0;
		return p + 5;
	}
	*value = *p == '1';
	return *p == '0' || *p == '1' ? p + 1 : NULL;
}

/* Six columns, each its letter or a blank, but for the second: 'a' or 'f'. Mails lose blanks at the end. */
static const char *read_pageflags(const char *p, struct match *match, const struct symbol *symbols,
				  uint64_t *value)
{
	static const char letter[] = "M?sbdB";
	static const uint8_t bit[] = { 0x01, 0, 0x08, 0x10, 0x20, 0x40 };
	unsigned int column;

	(void)symbols;
	*value = 0;
	for (column = 0; column < 6 && p < match->end; column++, p++) {
		if (column == 1 && (*p == 'a' || *p == 'f'))
			*value |= *p == 'a' ? 0x02 : 0x04;
		else if (column != 1 && *p == letter[column])
			*value |= bit[column];
		else if (column == 1 || *p != ' ')
			return NULL;
	}
	return column >= 2 ? p : NULL;
}

static size_t word_size(const char *p)
{
	size_t size = 0;

	while ((p[size] >= '0' && p[size] <= '9') || (p[size] >= 'a' && p[size] <= 'z') ||
	       (p[size] >= 'A' && p[size] <= 'Z') || p[size] == '_')
		size++;
	return size;
}

static const struct symbol *find_symbol(const struct symbol *symbols, const char *p, size_t size)
{
	for (; symbols->name; symbols++)
		if (strlen(symbols->name) == size && !memcmp(symbols->name, p, size))
			return symbols;
	return NULL;
}

/* One name of a table, or the number that the kernel prints when it has no name either. */
static const char *read_symbol(const char *p, struct match *match, const struct symbol *symbols,
			       uint64_t *value)
{
	const struct symbol *symbol = find_symbol(symbols, p, word_size(p));

	if (!symbol)
		return read_number(p, match, symbols, value);
	*value = symbol->value;
	return p + word_size(p);
}

/* Names joined by '|'; bits without a name come as one hexadecimal number at the end. */
static const char *read_flags(const char *p, struct match *match, const struct symbol *symbols,
			      uint64_t *value)
{
	*value = 0;
	for (;; p++) {
		uint64_t bits;

		p = read_symbol(p, match, symbols, &bits);
		if (!p)
			return NULL;
		*value |= bits;
		if (*p != '|')
			return p;
	}
}

/*
 * The bits of include/linux/gfp_types.h, v6.18. Bits 0 to 7 are the same from v4.9 on; that 8 to 23
 * hold from v5.0 on is believed, not checked. Bits above 23 move with the configuration and stay away.
 */
static const struct symbol gfp_symbols[] = {
	{ "none", 0 },
	{ "GFP_TRANSHUGE", 0x1c24ca },
	{ "GFP_TRANSHUGE_LIGHT", 0x1c20ca },
	{ "GFP_HIGHUSER_MOVABLE", 0x100cca },
	{ "GFP_HIGHUSER", 0x100cc2 },
	{ "GFP_USER", 0x100cc0 },
	{ "GFP_KERNEL_ACCOUNT", 0x400cc0 },
	{ "GFP_KERNEL", 0xcc0 },
	{ "GFP_NOFS", 0xc40 },
	{ "GFP_ATOMIC", 0x820 },
	{ "GFP_NOIO", 0xc00 },
	{ "GFP_NOWAIT", 0x800 },
	{ "GFP_DMA", 0x1 },
	{ "GFP_DMA32", 0x4 },
	{ "__GFP_RECLAIM", 0xc00 },
	{ "__GFP_DMA", 0x1 },
	{ "__GFP_HIGHMEM", 0x2 },
	{ "__GFP_DMA32", 0x4 },
	{ "__GFP_MOVABLE", 0x8 },
	{ "__GFP_RECLAIMABLE", 0x10 },
	{ "__GFP_HIGH", 0x20 },
	{ "__GFP_IO", 0x40 },
	{ "__GFP_FS", 0x80 },
	{ "__GFP_ZERO", 0x100 },
	{ "__GFP_ATOMIC", 0x200 }, /* gone in v6.3 */
	{ "__GFP_DIRECT_RECLAIM", 0x400 },
	{ "__GFP_KSWAPD_RECLAIM", 0x800 },
	{ "__GFP_WRITE", 0x1000 },
	{ "__GFP_NOWARN", 0x2000 },
	{ "__GFP_RETRY_MAYFAIL", 0x4000 },
	{ "__GFP_NOFAIL", 0x8000 },
	{ "__GFP_NORETRY", 0x10000 },
	{ "__GFP_MEMALLOC", 0x20000 },
	{ "__GFP_COMP", 0x40000 },
	{ "__GFP_NOMEMALLOC", 0x80000 },
	{ "__GFP_HARDWALL", 0x100000 },
	{ "__GFP_THISNODE", 0x200000 },
	{ "__GFP_ACCOUNT", 0x400000 },
	{ "__GFP_ZEROTAGS", 0x800000 },
	{ NULL, 0 },
};

#define RELEASE(major, minor) ((unsigned int)(major) << 16 | (minor))
#define GFP_NOWARN 0x2000
#define GFP_ATOMIC_BIT 0x200
#define GFP_LOW_BITS 0xff

static const char *read_gfp(const char *p, struct match *match, const struct symbol *symbols,
			    uint64_t *value)
{
	unsigned int release = match->settings->release;

	*value = 0;
	for (;; p++) {
		size_t size = word_size(p);
		const struct symbol *symbol = find_symbol(symbols, p, size);
		uint64_t bits = 0;

		if (!size)
			return NULL;
		if (symbol) {
			bits = symbol->value;
			/* Two names changed their meaning: v6.3 and v6.8. */
			if (!strcmp(symbol->name, "GFP_ATOMIC") && release &&
			    release < RELEASE(6, 3))
				bits |= GFP_ATOMIC_BIT;
			if (!strcmp(symbol->name, "GFP_NOWAIT") && release >= RELEASE(6, 8))
				bits |= GFP_NOWARN;
			p += size;
		} else if (*p >= '0' && *p <= '9') {
			p = read_number(p, match, symbols, &bits);
			if (!p)
				return NULL;
		} else {
			if (!match->nr_gfp_names++) {
				match->gfp_name = p;
				match->gfp_name_size = size;
			}
			p += size;
		}
		*value |= bits;
		if (*p != '|')
			break;
	}
	if (release && release < RELEASE(5, 0))
		*value &= GFP_LOW_BITS;
	return p;
}

static const struct symbol lru_symbols[] = {
	{ "inactive_anon", 0 }, { "active_anon", 1 }, { "inactive_file", 2 },
	{ "active_file", 3 },	{ "unevictable", 4 }, { NULL, 0 },
};

static const struct symbol writeback_symbols[] = {
	{ "RECLAIM_WB_NONE", 0 },
	{ "RECLAIM_WB_ANON", 0x01 },
	{ "RECLAIM_WB_FILE", 0x02 },
	{ "RECLAIM_WB_SYNC", 0x04 },
	{ "RECLAIM_WB_ASYNC", 0x08 },
	{ "RECLAIM_WB_MIXED", 0x10 },
	{ NULL, 0 },
};

static const struct symbol throttle_symbols[] = {
	{ "VMSCAN_THROTTLE_NONE", 0 },	    { "VMSCAN_THROTTLE_WRITEBACK", 1 },
	{ "VMSCAN_THROTTLE_ISOLATED", 2 },  { "VMSCAN_THROTTLE_NOPROGRESS", 4 },
	{ "VMSCAN_THROTTLE_CONGESTED", 8 }, { NULL, 0 },
};

static const struct symbol migrate_mode_symbols[] = {
	{ "MIGRATE_ASYNC", 0 },
	{ "MIGRATE_SYNC_LIGHT", 1 },
	{ "MIGRATE_SYNC", 2 },
	{ NULL, 0 },
};

#define INTEGER TAPE_FIELD_INTEGER

static const struct ftrace_conversion conversions[] = {
	{ "ulong", "unsigned long", 8, false, INTEGER, read_unsigned, NULL },
	{ "long", "long", 8, true, INTEGER, read_signed, NULL },
	{ "int", "int", 4, true, INTEGER, read_signed, NULL },
	{ "uint", "unsigned int", 4, false, INTEGER, read_unsigned, NULL },
	{ "short", "short", 2, true, INTEGER, read_signed, NULL },
	{ "u8", "unsigned char", 1, false, INTEGER, read_unsigned, NULL },
	{ "u64", "u64", 8, false, INTEGER, read_unsigned, NULL },
	{ "s64", "s64", 8, true, INTEGER, read_signed, NULL },
	{ "bool", "bool", 1, false, INTEGER, read_bool, NULL },
	{ "hex", "unsigned long", 8, false, INTEGER, read_hex, NULL },
	{ "pfn", "unsigned long", 8, false, INTEGER, read_pfn, NULL },
	{ "alloc_pfn", "unsigned long", 8, false, INTEGER, read_alloc_pfn, NULL },
	{ "offset", "unsigned long", 8, false, INTEGER, read_offset, NULL },
	{ "last_byte", "unsigned long", 8, false, INTEGER, read_last_byte, NULL },
	{ "dev", "dev_t", 4, false, INTEGER, read_dev, NULL },
	{ "lru", "int", 4, true, INTEGER, read_symbol, lru_symbols },
	{ "pageflags", "unsigned long", 8, false, INTEGER, read_pageflags, NULL },
	{ "gfp", "unsigned long", 8, false, INTEGER, read_gfp, gfp_symbols },
	{ "writeback", "int", 4, true, INTEGER, read_flags, writeback_symbols },
	{ "throttle", "int", 4, true, INTEGER, read_flags, throttle_symbols },
	{ "migrate_mode", "int", 4, true, INTEGER, read_symbol, migrate_mode_symbols },
	{ "number", "long", 8, true, INTEGER, read_number, NULL },
	{ "pointer", "void *", 8, false, TAPE_FIELD_LEFT_OUT, read_pointer, NULL },
	{ "string", "__data_loc char[]", 4, false, TAPE_FIELD_STRING, NULL, NULL },
};

static const struct ftrace_conversion *find_conversion(const char *name)
{
	for (size_t i = 0; i < sizeof(conversions) / sizeof(conversions[0]); i++)
		if (!strcmp(conversions[i].name, name))
			return &conversions[i];
	return NULL;
}

static bool fits(const struct ftrace_conversion *conversion, uint64_t value)
{
	unsigned int unused = 64 - conversion->size * 8u;

	if (!unused)
		return true;
	if (conversion->is_signed)
		return (uint64_t)((int64_t)(value << unused) >> unused) == value;
	return value << unused >> unused == value;
}

/* ---- Patterns. */

#define RECORD_HEADER_BYTES 8 /* type, flags, preempt count, pid */

static void add_column(struct ftrace_pattern *pattern, const char *name,
		       const struct ftrace_conversion *conversion)
{
	struct tape_field *column = &pattern->column[pattern->nr_columns];
	unsigned int offset = RECORD_HEADER_BYTES;

	/* Offsets say nothing of the recorded kernel; they only keep fields apart and in order. */
	if (pattern->nr_columns)
		offset = (unsigned int)column[-1].offset + column[-1].size;
	offset = (offset + conversion->size - 1) / conversion->size * conversion->size;
	*column = (struct tape_field){
		.name = name,
		.ctype = conversion->ctype,
		.offset = (uint16_t)offset,
		.size = conversion->size,
		.is_signed = conversion->is_signed,
		.kind = conversion->kind,
	};
	pattern->nr_columns++;
}

bool ftrace_pattern_compile(const char *text, struct ftrace_pattern *pattern)
{
	char *p;

	memset(pattern, 0, sizeof(*pattern));
	pattern->text = p = strdup(text);
	if (!p)
		return false;
	while (*p) {
		struct ftrace_step *step = &pattern->step[pattern->nr_steps];
		char *colon, *close;

		if (pattern->nr_steps == FTRACE_STEPS_LIMIT)
			goto err_free;
		if (*p != '{') {
			step->literal = p;
			step->literal_size = strcspn(p, "{");
			p += step->literal_size;
			pattern->nr_steps++;
			continue;
		}
		*p++ = '\0'; /* ends the literal before it */
		colon = strchr(p, ':');
		close = colon ? strchr(colon, '}') : NULL;
		if (!close || pattern->nr_columns == FTRACE_COLUMNS_LIMIT)
			goto err_free;
		*colon = *close = '\0';
		step->conversion = find_conversion(colon + 1);
		if (!step->conversion)
			goto err_free;
		step->column = pattern->nr_columns;
		add_column(pattern, p, step->conversion);
		pattern->nr_steps++;
		p = close + 1;
	}
	return true;

err_free:
	ftrace_pattern_free(pattern);
	return false;
}

void ftrace_pattern_free(struct ftrace_pattern *pattern)
{
	free(pattern->text);
	pattern->text = NULL;
	pattern->nr_steps = pattern->nr_columns = 0;
}

static void save_string(struct ftrace_values *values, unsigned int column, const char *p,
			size_t size)
{
	size_t where = values->strings_size;

	assert(where + size + 1 <= sizeof(values->strings));
	memcpy(values->strings + where, p, size);
	values->strings[where + size] = '\0';
	values->strings_size = where + size + 1;
	values->value[column] = (uint64_t)where << 32 | size;
}

/* A task's name may end in a blank, but only the patterns written down know where names stand. */
static size_t value_without_padding(const struct ftrace_pattern *pattern, const char *p,
				    size_t size)
{
	while (pattern->made && size && p[size - 1] == ' ')
		size--;
	return size;
}

static bool match_steps(const struct ftrace_pattern *pattern, unsigned int i, const char *p,
			struct match *match, struct ftrace_values *values)
{
	for (; i < pattern->nr_steps; i++) {
		const struct ftrace_step *step = &pattern->step[i];
		const struct ftrace_conversion *conversion = step->conversion;
		size_t strings_size = values->strings_size;
		uint64_t value = 0;

		if (step->literal) {
			if (*step->literal == ' ')
				while (p[0] == ' ' && p[1] == ' ')
					p++; /* columns padded to a width */
			if ((size_t)(match->end - p) < step->literal_size ||
			    memcmp(p, step->literal, step->literal_size))
				return false;
			p += step->literal_size;
			continue;
		}
		if (conversion->kind == TAPE_FIELD_STRING) {
			const struct ftrace_step *next = step + 1;

			if (i + 1 == pattern->nr_steps) {
				save_string(values, step->column, p, (size_t)(match->end - p));
				return true;
			}
			if (!next->literal)
				return false; /* nothing tells where it ends */
			for (const char *q = p;; q++) {
				q = memmem(q, (size_t)(match->end - q), next->literal,
					   next->literal_size);
				if (!q)
					return false;
				values->strings_size = strings_size;
				save_string(values, step->column, p,
					    value_without_padding(pattern, p, (size_t)(q - p)));
				if (match_steps(pattern, i + 1, q, match, values))
					return true;
			}
		}
		p = conversion->read(p, match, conversion->symbols, &value);
		if (!p || p > match->end || !fits(conversion, value))
			return false;
		values->value[step->column] = value;
	}
	while (p < match->end && *p == ' ')
		p++;
	return p == match->end;
}

bool ftrace_pattern_match(const struct ftrace_pattern *pattern,
			  const struct ftrace_text_settings *settings, const char *text,
			  size_t size, struct ftrace_values *values,
			  struct ftrace_text_doubts *doubts)
{
	struct match match = { .settings = settings, .end = text + size };

	values->strings_size = 0;
	if (!match_steps(pattern, 0, text, &match, values))
		return false;
	if (match.nr_gfp_names && !doubts->nr_gfp_names) {
		size_t room = sizeof(doubts->gfp_name) - 1;

		if (room > match.gfp_name_size)
			room = match.gfp_name_size;
		memcpy(doubts->gfp_name, match.gfp_name, room);
		doubts->gfp_name[room] = '\0';
	}
	doubts->nr_gfp_names += match.nr_gfp_names;
	return true;
}

static const struct ftrace_pattern_source sources[] = {
#define PATTERN(system, name, text) { system, name, text },
#include "capture/import_ftrace_patterns.def"
};

const struct ftrace_pattern_source *ftrace_pattern_source(size_t i)
{
	return i < sizeof(sources) / sizeof(sources[0]) ? &sources[i] : NULL;
}

/* ---- Patterns made of a line. */

struct pair {
	const char *key, *value;
	size_t key_size;
};

static bool is_key(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '-' || c == '.';
}

/* The next "key=" at or behind @p that begins a word; NULL for none. */
static const char *find_key(const char *text, const char *p, const char *end, size_t *size)
{
	for (; p < end; p++) {
		size_t n = 0;

		if (p > text && p[-1] != ' ' && p[-1] != ',')
			continue;
		if (*p >= '0' && *p <= '9')
			continue;
		while (p + n < end && is_key(p[n]))
			n++;
		if (!n || n > KEY_BYTES || p + n == end || p[n] != '=')
			continue;
		*size = n;
		return p;
	}
	return NULL;
}

static bool is_number(const char *p, size_t size)
{
	struct match match = { 0 };
	uint64_t value;

	return size && read_number(p, &match, NULL, &value) == p + size;
}

/* As the kernel prints "%p" on 64-bit machines: 16 digits, "0x" or not. */
static bool is_pointer(const char *p, size_t size)
{
	struct match match = { 0 };
	const char *digits = skip_0x(p);
	uint64_t value;

	if (size >= 6 && *p == '(' && p[size - 1] == ')')
		return !strncmp(p, "(null)", size) || !strncmp(p, "(____ptrval____)", size);
	return p + size - digits == 16 && read_hex(p, &match, NULL, &value) == p + size;
}

/* Whether events.def has this field, and as a string. */
static bool known_field(enum event_kind kind, const char *key, size_t size, bool *is_string)
{
	const struct event_info *info = event_info_by_kind(kind);
	static const char *const strings[] = { "path",	     "dst_path", "comm",
					       "child_comm", "filename", "name" };

	if (!info)
		return false;
	for (unsigned int i = 0; i < info->nr_fields; i++) {
		const char *name = info->field[i].name;

		if (strlen(name) != size || memcmp(name, key, size))
			continue;
		*is_string = false;
		for (size_t s = 0; s < sizeof(strings) / sizeof(strings[0]); s++)
			*is_string |= !strcmp(strings[s], name);
		return true;
	}
	return false;
}

struct out {
	char text[FTRACE_COLUMNS_LIMIT * (2 * KEY_BYTES + 32) + 64];
	size_t size;
};

static void put(struct out *out, const char *p, size_t size)
{
	assert(out->size + size < sizeof(out->text));
	memcpy(out->text + out->size, p, size);
	out->size += size;
	out->text[out->size] = '\0';
}

static void put_column(struct out *out, unsigned int n, const char *key, size_t size,
		       const char *suffix, const char *conversion)
{
	char number[16] = "";

	if (n)
		snprintf(number, sizeof(number), "_%u", n + 1);
	put(out, "{", 1);
	put(out, key, size);
	put(out, suffix, strlen(suffix));
	put(out, number, strlen(number));
	put(out, ":", 1);
	put(out, conversion, strlen(conversion));
	put(out, "}", 1);
}

static unsigned int times_before(const struct pair *pair, unsigned int i)
{
	unsigned int n = 0;

	for (unsigned int j = 0; j < i; j++)
		if (pair[j].key_size == pair[i].key_size &&
		    !memcmp(pair[j].key, pair[i].key, pair[i].key_size))
			n++;
	return n;
}

bool ftrace_pattern_make(const char *text, size_t size, enum event_kind kind,
			 bool leave_pointers_out, struct ftrace_pattern *pattern)
{
	struct pair pair[FTRACE_COLUMNS_LIMIT - 1]; /* one column is for the text before them */
	unsigned int nr_pairs = 0;
	const char *end = text + size, *p = text;
	struct out out = { .size = 0 };
	bool leading_text;
	bool made;

	while (nr_pairs < FTRACE_COLUMNS_LIMIT - 1) {
		struct pair *next = &pair[nr_pairs];

		next->key = find_key(text, p, end, &next->key_size);
		if (!next->key)
			break;
		next->value = p = next->key + next->key_size + 1;
		nr_pairs++;
	}
	leading_text = nr_pairs ? pair[0].key > text : size > 0;
	if (leading_text)
		put_column(&out, 0, "text", 4, "", "string");
	for (unsigned int i = 0; i < nr_pairs; i++) {
		bool last = i + 1 == nr_pairs, is_string;
		const char *stop = last ? end : pair[i + 1].key;
		const char *conversion = "string", *suffix = "";

		if (!i && leading_text && text[pair[0].key - text - 1] == ' ')
			put(&out, " ", 1);
		const char *separator = "";
		size_t value_size;

		if (stop > pair[i].value && stop[-1] == ' ')
			separator = " ";
		while (stop > pair[i].value && stop[-1] == ' ')
			stop--;
		if (!last && stop > pair[i].value && stop[-1] == ',') {
			separator = *separator ? ", " : ",";
			stop--;
		}
		value_size = (size_t)(stop - pair[i].value);
		if (leave_pointers_out && is_pointer(pair[i].value, value_size))
			conversion = "pointer";
		else if (is_number(pair[i].value, value_size))
			conversion = "number";
		if (known_field(kind, pair[i].key, pair[i].key_size, &is_string)) {
			if (is_string)
				conversion = "string";
			else if (strcmp(conversion, "number"))
				suffix = "_text"; /* or a reader would take text for a number */
		} else if (pair[i].key_size == 4 && !memcmp(pair[i].key, "text", 4)) {
			suffix = "_value";
		}
		put(&out, pair[i].key, pair[i].key_size);
		put(&out, "=", 1);
		put_column(&out, times_before(pair, i), pair[i].key, pair[i].key_size, suffix,
			   conversion);
		if (!last)
			put(&out, separator, strlen(separator));
	}
	made = ftrace_pattern_compile(out.text, pattern);
	if (made)
		pattern->made = true;
	return made;
}
