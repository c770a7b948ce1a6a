/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - the stack of the calling thread, as a node of the trie of stacks.
 *
 * Runs in any thread of the traced program, perhaps in a signal handler on a small stack, with
 * `in` set (so never twice at once in a thread). No malloc, no lock, no system call but
 * sys_probe_read() where a stack is met for the first time or reaches deeper than ever.
 */
#ifndef HEAPSTORY_TRACER_UNWIND_H
#define HEAPSTORY_TRACER_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* State in the frame that called a hook, at the return from the call. */
struct unwind_regs {
	uintptr_t pc; /* return address into the caller */
	uintptr_t sp; /* stack pointer after the return: the hook's canonical frame address */
	uintptr_t fp; /* frame pointer register (rbp, x29) of the caller */
};

/*
 * Fills *regs in a hook function. A macro, because it has to look at the hook's own frame; it
 * makes the compiler give the hook a frame pointer.
 */
#define UNWIND_HERE(regs)                                     \
	((regs)->pc = (uintptr_t)__builtin_return_address(0), \
	 (regs)->sp = (uintptr_t)__builtin_dwarf_cfa(),       \
	 (regs)->fp = *(uintptr_t *)__builtin_frame_address(0))

/* One thread's memory of its last stack and of where its stacks lie. Opaque; zeroed is ready. */
struct unwind_thread;

/* Bytes of a struct unwind_thread for stacks of `depth` frames. */
size_t unwind_thread_size(uint32_t depth);

/* u is about to be another thread's: what it remembers is dropped at the next capture. */
void unwind_thread_reset(struct unwind_thread *u);

enum unwind_flags {
	UNWIND_CUT_DEPTH = 1u << 0, /* cut by the depth limit */
	UNWIND_CUT = 1u << 1, /* cut because the next frame could not be found */
};

/* Once, from the first thread, before any capture. */
void unwind_start(void);

/*
 * Once, from the tracer's constructor, before any thread but the first: loads libunwind for the
 * few frames that rows can't express. Everything it allocates has to be served by the caller's
 * boot allocator during the call (boot_begin()/boot_end()). False: not to be had, rows only.
 */
bool unwind_load(void);

/*
 * Unwinds from regs and returns the node of the innermost frame, 0 if nothing could be kept.
 * depth is the largest number of frames. u must be the calling thread's, made for that depth.
 * ret_flags: enum unwind_flags. Cut stacks have an enum hs_pseudo_pc node at their outer end.
 */
uint32_t unwind_capture(struct unwind_thread *u, uint32_t depth, const struct unwind_regs *regs,
			uint32_t *ret_flags);

/*
 * Forgets all cached rows and makes every thread forget its last stack: code was unloaded.
 * Called while `in` is set; other threads may be unwinding at the same moment.
 */
void unwind_forget(void);

#endif
