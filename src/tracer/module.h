/* SPDX-License-Identifier: MIT */
/*
 * module.h - which program or library a code address lies in, and when it goes away.
 *
 * Built on _dl_find_object() (glibc 2.35), which takes no lock and may run in a signal handler.
 * A module found for the first time is written to the store's module array.
 */
#ifndef HEAPSTORY_TRACER_MODULE_H
#define HEAPSTORY_TRACER_MODULE_H

#include <stdbool.h>
#include <stdint.h>

struct module_unwind {
	uint32_t module;        /* number in the store, 0: none */
	uintptr_t start, end;   /* mapping of the module */
	uintptr_t eh_frame_hdr; /* address of its PT_GNU_EH_FRAME, 0: none */
};

/*
 * Finds the module of code address pc; adds it to the store where it is new. False if pc is in
 * no loaded module (JIT code, trampolines), or not in an executable segment of one.
 * Lock-free but for adding, which spins on a short lock. Call only while `in` is set.
 */
bool module_find(uintptr_t pc, struct module_unwind *ret);

#define MODULE_MAX 32768u /* numbers that a node has room for */

/* By number: unloaded. Written under the lock of adding. */
extern uint8_t module_dead[MODULE_MAX];

/* False once the module was unloaded; module 0 (no module) is always alive. */
static inline bool module_alive(uint32_t module)
{
	return !__atomic_load_n(&module_dead[module], __ATOMIC_RELAXED);
}

/* Adds the modules that are loaded now; exe is the path of the program. Once, at the start. */
void module_start(const char *exe);

/*
 * Looks after modules that may have been unloaded since the last call: seals those that are
 * gone, and then calls unwind_forget(). Cheap (one load) where nothing was reported by
 * module_suspect(). Call at the start of each event, while `in` is set.
 */
void module_poll(void);

/* Says that a module may be gone: from the dlclose hook, after the real one. */
void module_suspect(void);

/* Says that the module in which address lies is about to go: from the __cxa_finalize hook. It is
 * looked at on every event until it is gone. */
void module_ending(uintptr_t address);

/* In a followed child, of whose threads the calling one alone is left. */
void module_fork_child(void);

#endif
