// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/format_file.h"

#define HEAD                                                                                       \
	"name: made_up\nID: 517\nformat:\n"                                                        \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define TAIL "\nprint fmt: \"field:int fake; offset:0; size:4;\", REC->pfn\n"

static void check_field(const struct tape_field *field, const char *name, const char *ctype,
			unsigned int offset, unsigned int size, enum tape_field_kind kind)
{
	assert_string_equal(field->name, name);
	assert_string_equal(field->ctype, ctype);
	assert_int_equal(field->offset, offset);
	assert_int_equal(field->size, size);
	assert_int_equal(field->kind, kind);
}

static void fields_get_name_type_and_place(void **state)
{
	struct format_fields fields;

	(void)state;
	assert_int_equal(
		0, format_file_parse(HEAD
				     "\tfield:unsigned long pfn;\toffset:16;\tsize:8;\tsigned:0;\n"
				     "\tfield:int nid;\toffset:24;\tsize:4;\tsigned:1;\n"
				     "\tfield:bool force;\toffset:28;\tsize:1;\tsigned:0;\n" TAIL,
				     &fields));
	assert_int_equal(fields.kernel_id, 517);
	assert_int_equal(fields.nr_fields, 3);
	check_field(&fields.field[0], "pfn", "unsigned long", 16, 8, TAPE_FIELD_INTEGER);
	assert_false(fields.field[0].is_signed);
	check_field(&fields.field[1], "nid", "int", 24, 4, TAPE_FIELD_INTEGER);
	assert_true(fields.field[1].is_signed);
	check_field(&fields.field[2], "force", "bool", 28, 1, TAPE_FIELD_INTEGER);
	format_file_free(&fields);
}

static void kernel_addresses_are_left_out(void **state)
{
	struct format_fields fields;

	(void)state;
	assert_int_equal(
		0,
		format_file_parse(
			HEAD
			"\tfield:struct folio * folio;\toffset:8;\tsize:8;\tsigned:0;\n"
			"\tfield:const void *ptr;\toffset:16;\tsize:8;\tsigned:0;\n"
			"\tfield:unsigned long call_site;\toffset:24;\tsize:8;\tsigned:0;\n" TAIL,
			&fields));
	assert_int_equal(fields.nr_fields, 3);
	check_field(&fields.field[0], "folio", "struct folio *", 8, 8, TAPE_FIELD_LEFT_OUT);
	check_field(&fields.field[1], "ptr", "const void *", 16, 8, TAPE_FIELD_LEFT_OUT);
	check_field(&fields.field[2], "call_site", "unsigned long", 24, 8, TAPE_FIELD_LEFT_OUT);
	format_file_free(&fields);
}

static void texts_and_other_arrays_differ(void **state)
{
	struct format_fields fields;

	(void)state;
	assert_int_equal(
		0,
		format_file_parse(
			HEAD
			"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			"\tfield:__data_loc char[] path;\toffset:24;\tsize:4;\tsigned:0;\n"
			"\tfield:__data_loc unsigned long[] words;\toffset:28;\tsize:4;\tsigned:0;\n"
			"\tfield:u8 digest[4];\toffset:32;\tsize:4;\tsigned:0;\n"
			"\tfield:struct timespec64 when;\toffset:40;\tsize:8;\tsigned:0;\n"
			"\tfield:u24 odd;\toffset:48;\tsize:3;\tsigned:0;\n" TAIL,
			&fields));
	check_field(&fields.field[0], "comm", "char[16]", 8, 16, TAPE_FIELD_STRING);
	check_field(&fields.field[1], "path", "__data_loc char[]", 24, 4, TAPE_FIELD_STRING);
	check_field(&fields.field[2], "words", "__data_loc unsigned long[]", 28, 4,
		    TAPE_FIELD_BYTES);
	check_field(&fields.field[3], "digest", "u8[4]", 32, 4, TAPE_FIELD_BYTES);
	check_field(&fields.field[4], "when", "struct timespec64", 40, 8, TAPE_FIELD_BYTES);
	check_field(&fields.field[5], "odd", "u24", 48, 3, TAPE_FIELD_BYTES);
	format_file_free(&fields);
}

static void what_is_no_format_file_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"name: x\nformat:\n", /* no ID */
		HEAD "\tfield:unsigned long pfn\n", /* no end */
		HEAD "\tfield:pfn;\toffset:8;\tsize:8;\tsigned:0;\n", /* no type */
		HEAD "\tfield:int pfn;\tsize:8;\tsigned:0;\n", /* no offset */
		HEAD "\tfield:int pfn;\toffset:70000;\tsize:8;\tsigned:0;\n",
		HEAD "\tfield:int ];\toffset:8;\tsize:8;\tsigned:0;\n",
		"name: x\nID: 70000\nformat:\n",
	};
	struct format_fields fields;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(-1, format_file_parse(bad[i], &fields));
}

static void sub_buffer_size_counts_the_header(void **state)
{
	(void)state;
	assert_int_equal(4096, format_file_sub_buffer_bytes(
				       "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				       "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				       "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n"));
	assert_int_equal(131072,
			 format_file_sub_buffer_bytes(
				 "\tfield: char data;\toffset:16;\tsize:131056;\tsigned:0;\n"));
	assert_int_equal(
		0, format_file_sub_buffer_bytes("\tfield: u64 timestamp;\toffset:0;\tsize:8;\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_get_name_type_and_place),
		cmocka_unit_test(kernel_addresses_are_left_out),
		cmocka_unit_test(texts_and_other_arrays_differ),
		cmocka_unit_test(what_is_no_format_file_is_refused),
		cmocka_unit_test(sub_buffer_size_counts_the_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
