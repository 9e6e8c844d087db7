// SPDX-License-Identifier: GPL-2.0-only
/*
 * A field's line in the format file:
 *
 *	field:unsigned long pfn;	offset:16;	size:8;	signed:0;
 *	field:char comm[16];	offset:8;	size:16;	signed:0;
 *	field:__data_loc char[] name;	offset:8;	size:4;	signed:0;
 *
 * The name is the last word before the first `;`, and an array's brackets follow it. The part that
 * says how to print, below, is not looked at.
 */
#include "capture/format_file.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text addresses that are typed as plain numbers; all other kernel addresses have a pointer's type. */
static const char *const address_names[] = { "call_site", "caller_ip" };

static enum tape_field_kind field_kind(const struct tape_field *field)
{
	const char *ctype = field->ctype;

	if (strchr(ctype, '*'))
		return TAPE_FIELD_LEFT_OUT;
	for (size_t i = 0; i < sizeof(address_names) / sizeof(address_names[0]); i++)
		if (!strcmp(field->name, address_names[i]))
			return TAPE_FIELD_LEFT_OUT;
	if (!strncmp(ctype, "__data_loc ", 11))
		return strstr(ctype, "char[") ? TAPE_FIELD_STRING : TAPE_FIELD_BYTES;
	if (!strncmp(ctype, "__rel_loc ", 10))
		return TAPE_FIELD_BYTES;
	if (strchr(ctype, '['))
		return !strncmp(ctype, "char[", 5) ? TAPE_FIELD_STRING : TAPE_FIELD_BYTES;
	if (!strncmp(ctype, "struct ", 7) || !strncmp(ctype, "union ", 6))
		return TAPE_FIELD_BYTES;
	if (field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8)
		return TAPE_FIELD_INTEGER;
	return TAPE_FIELD_BYTES;
}

/* The number behind `key` in the rest of a field's line, -1 without one. */
static long number_after(const char *line, const char *end, const char *key)
{
	const char *at = memmem(line, (size_t)(end - line), key, strlen(key));
	char *stop;
	long value;

	if (!at)
		return -1;
	at += strlen(key);
	value = strtol(at, &stop, 10);
	return stop == at || value < 0 || value > INT_MAX ? -1 : value;
}

/* Splits `unsigned long pfn` or `char comm[16]` into type and name, written to *out. */
static bool split_declaration(const char *from, const char *end, char **out,
			      struct tape_field *field)
{
	const char *brackets = end, *name;
	char *to = *out;

	if (end > from && end[-1] == ']') {
		brackets = memrchr(from, '[', (size_t)(end - from));
		if (!brackets)
			return false;
	}
	name = brackets;
	while (name > from && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
		name--;
	if (name == brackets || name == from)
		return false;

	field->name = to;
	to = mempcpy(to, name, (size_t)(brackets - name));
	*to++ = '\0';
	field->ctype = to;
	while (name > from && name[-1] == ' ')
		name--;
	to = mempcpy(to, from, (size_t)(name - from));
	to = mempcpy(to, brackets, (size_t)(end - brackets));
	*to++ = '\0';
	*out = to;
	return true;
}

static bool parse_field(const char *line, const char *end, char **strings, struct tape_field *field)
{
	const char *stop = memchr(line, ';', (size_t)(end - line));
	long offset, size, is_signed;

	if (!stop || !split_declaration(line, stop, strings, field))
		return false;
	offset = number_after(stop, end, "offset:");
	size = number_after(stop, end, "size:");
	is_signed = number_after(stop, end, "signed:");
	if (offset < 0 || size < 0 || offset > UINT16_MAX || size > UINT16_MAX)
		return false;
	field->offset = (uint16_t)offset;
	field->size = (uint16_t)size;
	field->is_signed = is_signed == 1;
	field->kind = field_kind(field);
	return true;
}

int format_file_parse(const char *text, struct format_fields *fields)
{
	const char *end, *line = text;
	unsigned int room = 0;
	char *strings;
	long id = -1;

	memset(fields, 0, sizeof(*fields));
	/* Each string of a line is shorter than the line, with its NUL in place of `;` or a blank. */
	fields->strings = strings = malloc(2 * strlen(text) + 1);
	if (!strings)
		return -1;
	for (; *line; line = *end ? end + 1 : end) {
		struct tape_field field = { 0 };

		end = strchrnul(line, '\n');
		while (line < end && (*line == '\t' || *line == ' '))
			line++;
		if (!strncmp(line, "print fmt:", 10))
			break;
		if (!strncmp(line, "ID:", 3))
			id = number_after(line, end, "ID:");
		if (strncmp(line, "field:", 6))
			continue;
		if (!parse_field(line + 6, end, &strings, &field))
			goto err_free;
		if (!strncmp(field.name, "common_", 7))
			continue;
		if (fields->nr_fields == room) {
			struct tape_field *more;

			room = room ? 2 * room : 16;
			more = room > FORMAT_FILE_MAX_FIELDS ?
				       NULL :
				       reallocarray(fields->field, room, sizeof(*more));
			if (!more)
				goto err_free;
			fields->field = more;
		}
		fields->field[fields->nr_fields++] = field;
	}
	if (id < 0 || id > UINT16_MAX)
		goto err_free;
	fields->kernel_id = (uint16_t)id;
	return 0;

err_free:
	format_file_free(fields);
	return -1;
}

void format_file_free(struct format_fields *fields)
{
	free(fields->field);
	free(fields->strings);
	memset(fields, 0, sizeof(*fields));
}

unsigned int format_file_sub_buffer_bytes(const char *header_page)
{
	const char *data = strstr(header_page, "char data;"), *end;
	long offset, size;

	if (!data)
		return 0;
	end = strchrnul(data, '\n');
	offset = number_after(data, end, "offset:");
	size = number_after(data, end, "size:");
	return offset < 0 || size <= 0 ? 0 : (unsigned int)(offset + size);
}
