/* SPDX-License-Identifier: MIT */
/*
 * step.c - steps outward that are not just offsets from a register, see step.h.
 */
#include "tracer/step.h"

#include "tracer/fallback.h"
#include "tracer/module.h"
#include "tracer/sys.h"

#ifdef __aarch64__
/* struct rt_sigframe: siginfo 128, ucontext up to the registers 176, fault address 8. */
#define SIGNAL_CONTEXT 128
#define SIGNAL_REG(n)  (SIGNAL_CONTEXT + 176 + 8 + (n)*8)
#define SIGNAL_FP      SIGNAL_REG(29)
#define SIGNAL_RA      SIGNAL_REG(30)
#define SIGNAL_SP      SIGNAL_REG(31)
#define SIGNAL_PC      SIGNAL_REG(32)
#else
/* ucontext_t: gregs at 40, of them RBP 10, RSP 15, RIP 16. */
#define SIGNAL_FP (40 + 10 * 8)
#define SIGNAL_SP (40 + 15 * 8)
#define SIGNAL_PC (40 + 16 * 8)
#endif

/* Out of the frame by which a signal handler returns, to what it interrupted. */
enum stack_end step_signal(struct cursor *c)
{
	uintptr_t sp, frame = c->sp;

	if (!readable(c, frame, SIGNAL_PC + 8))
		return END_CUT;
	c->pc = strip(load(frame + SIGNAL_PC));
	c->fp = load(frame + SIGNAL_FP);
#ifdef __aarch64__
	c->ra = strip(load(frame + SIGNAL_RA));
#endif
	sp = load(frame + SIGNAL_SP);
	if (sp & 7 || sp < HS_PC_FIRST_REAL)
		return END_CUT;
	c->sp = sp;
	c->slot = sp - 8;
	c->sp_off = 1;
	c->made = FRAME_REDO;
	c->step = STEP_SAVES_FP;
	c->interrupted = true;
	if (sp <= c->lo || sp > c->hi)
		cursor_place(c, sp);
	return pc_check(c->pc);
}

#ifdef __aarch64__
/*
 * Whether the frame looks like one of a signal: a context without flags and not linked to another,
 * an aligned stack pointer, an address of code. Only a sieve; the code decides.
 */
static bool looks_like_signal(struct cursor *c)
{
	uintptr_t frame = c->sp, sp;

	if (frame & 15 || !readable(c, frame, SIGNAL_PC + 8))
		return false;
	sp = load(frame + SIGNAL_SP);
	return !load(frame + SIGNAL_CONTEXT) && !load(frame + SIGNAL_CONTEXT + 8) && sp &&
	       !(sp & 15) && pc_check(strip(load(frame + SIGNAL_PC))) == END_NONE;
}

enum stack_end step_leaf(struct cursor *c, uintptr_t cfa)
{
	if (!c->interrupted || cfa < c->sp)
		return END_CUT;
	c->no_memo = true;
	c->pc = c->ra;
	c->slot = cfa - 8;
	c->sp_off = 1;
	c->sp = cfa;
	c->made = FRAME_REDO;
	c->step = 0;
	c->interrupted = false;
	return pc_check(c->pc);
}

/* Whether two instructions can be read there; an emulator's own code lies in no module. */
static bool code_readable(uintptr_t pc)
{
	struct module_unwind module;

	if (pc & 3)
		return false;
	if (module_find(pc, &module))
		return pc + 8 <= module.end;
	return (pc & 4095) <= 4088 && !sys_probe_read((void *)(pc & ~(uintptr_t)4095), 4096);
}

/* mov x8, #__NR_rt_sigreturn; svc #0: the kernel's own has no unwind data. */
bool step_at_sigreturn(struct cursor *c)
{
	const uint32_t *code = (const uint32_t *)c->pc;

	return looks_like_signal(c) && code_readable(c->pc) && code[0] == 0xd2801168 &&
	       code[1] == 0xd4000001;
}
#endif

static enum stack_end step_deref(struct cursor *c, row_t row)
{
	uintptr_t at = c->fp + (uintptr_t)row_cfa_offset(row);
	uintptr_t fp_at = c->fp + (row_fp(row) - 256) * 8;
	uintptr_t cfa;

	if (!readable(c, at, 8) || !readable(c, fp_at, 8))
		return END_CUT;
	cfa = load(at);
	if (cfa <= c->sp || !readable(c, cfa - 8, 8))
		return END_CUT;
	c->pc = load(cfa - 8);
	c->fp = load(fp_at);
	c->sp = cfa;
	c->slot = cfa - 8;
	c->sp_off = 1;
	c->made = FRAME_REDO;
	c->step = STEP_USES_FP | STEP_SAVES_FP;
	c->interrupted = false;
	return pc_check(c->pc);
}

/* Rows that are not just offsets from a register. */
__attribute__((noinline)) enum stack_end step_special(struct cursor *c, row_t row)
{
	switch (row_type(row)) {
	case ROW_DEREF:
		return step_deref(c, row);
	case ROW_SIGNAL:
		return step_signal(c);
	case ROW_END:
		return END_OUTER;
#ifdef __aarch64__
	case ROW_LEAF:
		return step_leaf(c, c->sp);
#endif
	default:
		break;
	}
	if (!fallback_step(c))
		return END_CUT;
	c->made = FRAME_REDO;
	c->step = STEP_USES_FP | STEP_SAVES_FP;
	if (c->sp > c->hi && !cursor_extend(c, c->sp))
		cursor_place(c, c->sp);
	return pc_check(c->pc);
}
