// SPDX-License-Identifier: GPL-2.0-only
#include "schema/tape_types.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "schema/tape_format.h"

int tape_bytes_reserve(struct tape_bytes *bytes, size_t size)
{
	size_t room = bytes->room ? bytes->room : 4096;
	uint8_t *grown;

	if (size <= bytes->room - bytes->size)
		return 0;
	while (room - bytes->size < size)
		room *= 2;
	grown = realloc(bytes->data, room);
	if (!grown)
		return TAPE_ERR_MEMORY;
	bytes->data = grown;
	bytes->room = room;
	return 0;
}

int tape_bytes_append(struct tape_bytes *bytes, const void *data, size_t size)
{
	int error = tape_bytes_reserve(bytes, size);

	if (error)
		return error;
	if (size)
		memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
	return 0;
}

uint32_t tape_header_crc(const uint8_t *header, size_t header_bytes)
{
	const size_t crc_at = offsetof(struct tape_frame_header, header_crc);
	const uint8_t zero[4] = { 0 };
	uLong crc = crc32(0, header, (uInt)crc_at);

	crc = crc32(crc, zero, sizeof(zero));
	return (uint32_t)crc32(crc, header + crc_at + 4, (uInt)(header_bytes - crc_at - 4));
}

void tape_frame_seal(struct tape_bytes *frame)
{
	struct tape_frame_header *header = (struct tape_frame_header *)frame->data;

	header->payload_bytes = (uint32_t)(frame->size - header->header_bytes);
	header->payload_crc = (uint32_t)crc32(0, frame->data + header->header_bytes,
					      header->payload_bytes);
	header->header_crc = tape_header_crc(frame->data, header->header_bytes);
}

void tape_bytes_free(struct tape_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct tape_bytes){ 0 };
}

static const char *check_type(const struct tape_type *type)
{
	if (type->nr_fields > TAPE_FIELDS_MAX)
		return "event type with too many fields";
	if (!type->name[0] || !type->system[0])
		return "event type without a name";
	if (strlen(type->name) > TAPE_STRING_BYTES_MAX ||
	    strlen(type->system) > TAPE_STRING_BYTES_MAX ||
	    strlen(type->filter) > TAPE_STRING_BYTES_MAX ||
	    strlen(type->format) > TAPE_FORMAT_TEXT_BYTES_MAX)
		return "event type with a name, filter or format that is too long";
	for (unsigned int i = 0; i < type->nr_fields; i++) {
		const struct tape_field *field = &type->field[i];

		if (strlen(field->name) > TAPE_STRING_BYTES_MAX ||
		    strlen(field->ctype) > TAPE_STRING_BYTES_MAX)
			return "field with a name or C type that is too long";
		if (field->kind > TAPE_FIELD_LEFT_OUT)
			return "field of an unknown kind";
		if (field->kind == TAPE_FIELD_INTEGER && field->size != 1 && field->size != 2 &&
		    field->size != 4 && field->size != 8)
			return "integer field whose size is not 1, 2, 4 or 8 bytes";
	}
	return NULL;
}

/* What reads a text's slot takes its value for a place in memory: an integer must not be there. */
static bool suits(const struct event_field_info *info, const struct tape_field *field)
{
	return info->is_text == (field->kind != TAPE_FIELD_INTEGER);
}

/* Slots of events.def first, in its order; the others behind them, also those of another kind. */
static void assign_slots(struct tape_type *type, struct tape_field *fields)
{
	const struct event_info *info = event_info_by_name(type->system, type->name);

	type->kind = info ? info->kind : EVENT_OTHER;
	type->nr_slots = info ? info->nr_fields : 0;
	type->present = 0;
	for (unsigned int i = 0; i < type->nr_fields; i++) {
		unsigned int slot = 0;

		fields[i].slot = 0;
		if (fields[i].kind == TAPE_FIELD_LEFT_OUT)
			continue;
		while (info && slot < info->nr_fields &&
		       strcmp(info->field[slot].name, fields[i].name))
			slot++;
		if (info && slot < info->nr_fields && !(type->present >> slot & 1) &&
		    suits(&info->field[slot], &fields[i])) {
			fields[i].slot = (uint16_t)slot;
			type->present |= 1ull << slot;
		} else {
			fields[i].slot = (uint16_t)type->nr_slots++;
		}
	}
}

struct tape_type *tape_type_copy(const struct tape_type *type, uint16_t number, const char **why)
{
	struct tape_type *copy;
	struct tape_field *fields;

	*why = check_type(type);
	if (*why)
		return NULL;
	copy = calloc(1, sizeof(*copy));
	if (!copy)
		return NULL;
	fields = calloc(type->nr_fields + 1u, sizeof(*fields));
	copy->field = fields;
	copy->number = number;
	copy->kernel_id = type->kernel_id;
	copy->system = strdup(type->system);
	copy->name = strdup(type->name);
	copy->format = strdup(type->format);
	copy->filter = strdup(type->filter);
	if (!fields || !copy->system || !copy->name || !copy->format || !copy->filter)
		goto err_free_copy;
	for (unsigned int i = 0; i < type->nr_fields; i++) {
		fields[i] = type->field[i];
		fields[i].name = strdup(type->field[i].name);
		fields[i].ctype = strdup(type->field[i].ctype);
		copy->nr_fields = i + 1;
		if (!fields[i].name || !fields[i].ctype)
			goto err_free_copy;
	}
	assign_slots(copy, fields);
	return copy;

err_free_copy:
	tape_type_free(copy);
	return NULL;
}

void tape_type_free(struct tape_type *type)
{
	if (!type)
		return;
	for (unsigned int i = 0; i < type->nr_fields; i++) {
		free((char *)type->field[i].name);
		free((char *)type->field[i].ctype);
	}
	free((struct tape_field *)type->field);
	free((char *)type->system);
	free((char *)type->name);
	free((char *)type->format);
	free((char *)type->filter);
	free(type);
}

static int pack_string(struct tape_bytes *to, const char *text)
{
	uint32_t size = (uint32_t)strlen(text);
	int error = tape_bytes_append(to, &size, sizeof(size));

	return error ? error : tape_bytes_append(to, text, size);
}

int tape_type_pack(struct tape_bytes *to, const struct tape_type *type)
{
	const struct tape_type_entry entry = {
		.number = type->number,
		.kernel_id = type->kernel_id,
		.nr_fields = (uint16_t)type->nr_fields,
	};
	int error = tape_bytes_append(to, &entry, sizeof(entry));

	error = error ? error : pack_string(to, type->system);
	error = error ? error : pack_string(to, type->name);
	error = error ? error : pack_string(to, type->format);
	error = error ? error : pack_string(to, type->filter);
	for (unsigned int i = 0; i < type->nr_fields && !error; i++) {
		const struct tape_field *field = &type->field[i];
		const struct tape_field_entry field_entry = {
			.offset = field->offset,
			.size = field->size,
			.is_signed = field->is_signed,
			.kind = (uint8_t)field->kind,
		};

		error = tape_bytes_append(to, &field_entry, sizeof(field_entry));
		error = error ? error : pack_string(to, field->name);
		error = error ? error : pack_string(to, field->ctype);
	}
	return error;
}

static bool take(const uint8_t **at, const uint8_t *end, void *to, size_t size)
{
	if ((size_t)(end - *at) < size)
		return false;
	memcpy(to, *at, size);
	*at += size;
	return true;
}

/* NULL: not all there, too long, with a NUL inside, or no memory. */
static char *take_string(const uint8_t **at, const uint8_t *end, size_t max)
{
	uint32_t size;
	char *text;

	if (!take(at, end, &size, sizeof(size)) || size > max || (size_t)(end - *at) < size ||
	    memchr(*at, 0, size))
		return NULL;
	text = strndup((const char *)*at, size);
	*at += size;
	return text;
}

struct tape_type *tape_type_unpack(const uint8_t **at, const uint8_t *end, const char **why)
{
	struct tape_type_entry entry;
	struct tape_type *type;
	struct tape_field *fields;

	*why = "event type that ends too early or breaks a limit";
	if (!take(at, end, &entry, sizeof(entry)) || entry.nr_fields > TAPE_FIELDS_MAX ||
	    entry.number >= TAPE_TYPES_MAX)
		return NULL;
	type = calloc(1, sizeof(*type));
	fields = calloc(entry.nr_fields + 1u, sizeof(*fields));
	if (!type || !fields) {
		*why = NULL;
		free(type);
		free(fields);
		return NULL;
	}
	type->field = fields;
	type->number = entry.number;
	type->kernel_id = entry.kernel_id;
	type->system = take_string(at, end, TAPE_STRING_BYTES_MAX);
	type->name = type->system ? take_string(at, end, TAPE_STRING_BYTES_MAX) : NULL;
	type->format = type->name ? take_string(at, end, TAPE_FORMAT_TEXT_BYTES_MAX) : NULL;
	type->filter = type->format ? take_string(at, end, TAPE_STRING_BYTES_MAX) : NULL;
	if (!type->filter)
		goto err_free_type;
	for (unsigned int i = 0; i < entry.nr_fields; i++) {
		struct tape_field_entry field_entry;

		if (!take(at, end, &field_entry, sizeof(field_entry)))
			goto err_free_type;
		fields[i].offset = field_entry.offset;
		fields[i].size = field_entry.size;
		fields[i].is_signed = field_entry.is_signed != 0;
		fields[i].kind = field_entry.kind;
		type->nr_fields = i + 1;
		fields[i].name = take_string(at, end, TAPE_STRING_BYTES_MAX);
		if (!fields[i].name)
			goto err_free_type;
		fields[i].ctype = take_string(at, end, TAPE_STRING_BYTES_MAX);
		if (!fields[i].ctype)
			goto err_free_type;
	}
	if (check_type(type)) {
		*why = check_type(type);
		goto err_free_type;
	}
	assign_slots(type, fields);
	*why = NULL;
	return type;

err_free_type:
	tape_type_free(type);
	return NULL;
}
