/* SPDX-License-Identifier: MIT */
/*
 * test_numbered.c - the numbers of snapshots in a folder go up with time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "analysis/snapshot.h"
#include "cli/numbered.h"
#include "tests/unit/fake_heap.h"
#include "tests/unit/folder.h"
#include "util/error.h"

static uint32_t write_from(uint32_t from)
{
	struct snapshot *s;
	struct fake_heap heap;
	struct hs_error err;
	uint32_t number;

	fake_heap_init(&heap, 3);
	fake_heap_event(&heap);
	s = fake_heap_snapshot(&heap, 1);
	if (numbered_write(s, folder(), NULL, from, &number, &err))
		fail_msg("%s", err.text);
	snapshot_free(s);
	fake_heap_release(&heap);
	return number;
}

static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(write_from(0), 1);
	assert_int_equal(write_from(0), 2);
	assert_int_equal(write_from(2), 3); /* another writer was there */
	assert_int_equal(write_from(9999), 9999);
	assert_int_equal(write_from(0), 10000);
	/* those that were thinned out leave numbers behind that nobody takes again */
	assert_int_equal(unlink(in_folder("0002.hs")), 0);
	assert_int_equal(write_from(0), 10001);
}

static void test_names(void **state)
{
	char name[NUMBERED_NAME_LEN];

	(void)state;
	assert_string_equal(numbered_name(7, name), "0007.hs");
	assert_string_equal(numbered_name(12345, name), "12345.hs");
	assert_int_equal(numbered_number("0007.hs"), 7);
	assert_int_equal(numbered_number("12345.hs"), 12345);
	assert_int_equal(numbered_number("7.hs"), 0);
	assert_int_equal(numbered_number("exit.hs"), 0);
	assert_int_equal(numbered_number("0007.hs.tmp"), 0);
	assert_int_equal(numbered_number("99999999999.hs"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test_setup_teardown(test_numbers, folder_make, folder_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
