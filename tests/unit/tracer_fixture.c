/* SPDX-License-Identifier: MIT */
/*
 * tracer_fixture.c - see tracer_fixture.h.
 */
#include "tests/unit/tracer_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "store/create.h"
#include "store/process.h"
#include "store/writer.h"
#include "tests/unit/folder.h"
#include "tracer/index.h"
#include "tracer/module.h"
#include "tracer/sys.h"
#include "tracer/thread.h"
#include "tracer/unwind.h"

char tracer_store_path[64];

int tracer_set_up(void **state)
{
	struct store_options options = {.cap = UINT64_C(1) << 30, .mode = HS_MODE_LIVE};
	struct process_stat self;
	struct timespec now;

	assert_int_equal(folder_make(state), 0);
	snprintf(tracer_store_path, sizeof(tracer_store_path), "%s", in_folder("store.live"));
	assert_int_equal(store_create(tracer_store_path, &options), 0);
	assert_int_equal(store_attach(tracer_store_path), 0);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	store.header->start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	store.header->pid = (uint32_t)getpid();
	assert_true(process_stat_read(getpid(), 0, &self));
	store.header->start_ticks = self.start_ticks;
	assert_true(process_boot_id(store.header->boot_id));
	sys_membarrier_register();
	module_start("/proc/self/exe");
	unwind_start();
	assert_int_equal(thread_start(), 0);
	assert_int_equal(index_start(), 0);
	__atomic_store_n(&store.header->state, HS_STATE_RECORDING, __ATOMIC_RELEASE);
	thread_open_gate();
	return 0;
}
