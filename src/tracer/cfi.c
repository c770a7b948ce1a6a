/* SPDX-License-Identifier: MIT */
/*
 * cfi.c - makes a row by running the call frame instructions of one function.
 *
 * Runs on any thread of the traced program, perhaps in a signal handler. Takes no lock. Follows
 * only what rows can say: the CFA, the return address and the frame pointer.
 */
#include "tracer/ehframe.h"
#include "tracer/rows.h"

/* ---- running the instructions ------------------------------------------------------------ */

#ifdef __aarch64__
#define REG_FP 29
#define REG_SP 31
#define REG_RA 30
#else
#define REG_FP 6
#define REG_SP 7
#define REG_RA 16
#endif

enum rule_kind {
	RULE_SAME, /* still in the register */
	RULE_OFFSET, /* saved at CFA + value */
	RULE_FP_OFFSET, /* saved at frame pointer + value */
	RULE_UNDEFINED,
	RULE_OTHER,
};

enum cfa_kind {
	CFA_OFFSET, /* cfa_reg + cfa_off */
	CFA_DEREF, /* *(cfa_reg + cfa_off) */
	CFA_PLT, /* the linker's expression for PLT entries; cfa_off: its literal */
	CFA_OTHER,
};

struct rule {
	enum rule_kind kind;
	int64_t value;
};

struct state {
	enum cfa_kind cfa_kind;
	uint32_t cfa_reg;
	int64_t cfa_off;
	struct rule fp, ra;
};

#define NR_REMEMBERED 6

struct machine {
	struct state now;
	struct state initial; /* after the CIE's instructions: what `restore` goes back to */
	struct state remembered[NR_REMEMBERED];
	uint32_t nr_remembered;
	uintptr_t loc;
	bool bad; /* met something that rows know nothing of */
};

static void set_rule(struct machine *m, const struct cie *cie, uint64_t reg, enum rule_kind kind,
		     int64_t value)
{
	struct rule rule = {kind, value};

	if (reg == REG_FP)
		m->now.fp = rule;
	else if (reg == cie->ra_reg)
		m->now.ra = rule;
}

static void restore_rule(struct machine *m, const struct cie *cie, uint64_t reg)
{
	if (reg == REG_FP)
		m->now.fp = m->initial.fp;
	else if (reg == cie->ra_reg)
		m->now.ra = m->initial.ra;
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t off)
{
	m->now.cfa_kind = CFA_OFFSET;
	m->now.cfa_reg = reg <= 255 ? (uint32_t)reg : 255;
	m->now.cfa_off = off;
}

enum { OP_DEREF = 0x06, OP_BREG0 = 0x70 };

/* The expressions for a CFA that compilers and linkers make; see enum cfa_kind. */
static void set_cfa_expression(struct machine *m, struct span *s)
{
	uint64_t len = span_uleb(s);
	struct span e = *s;
	uint8_t op;

	span_skip(s, len);
	e.end = s->p;
	m->now.cfa_kind = CFA_OTHER;
#ifndef __aarch64__
	/* sp + 8 + ((pc & 15) >= N) * 8 */
	if (len == 11 && !s->bad && e.p[0] == 0x77 && e.p[1] == 8 && e.p[2] == 0x80 &&
	    e.p[3] == 0 && e.p[4] == 0x3f && e.p[5] == 0x1a && (e.p[6] & 0xf0) == 0x30 &&
	    !__builtin_memcmp(e.p + 7, "\x2a\x33\x24\x22", 4)) {
		m->now.cfa_kind = CFA_PLT;
		m->now.cfa_off = e.p[6] - 0x30;
		return;
	}
#endif
	op = span_u8(&e);
	if (op < OP_BREG0 || op >= OP_BREG0 + 32)
		return;
	m->now.cfa_reg = op - OP_BREG0;
	m->now.cfa_off = span_sleb(&e);
	if (span_u8(&e) == OP_DEREF && !e.bad && e.p == e.end)
		m->now.cfa_kind = CFA_DEREF;
}

/* An expression for where a register was saved: only "frame pointer + N" is of use. */
static void set_rule_expression(struct machine *m, const struct cie *cie, struct span *s)
{
	uint64_t reg = span_uleb(s);
	uint64_t len = span_uleb(s);
	struct span e = *s;
	uint8_t op;
	int64_t off;

	span_skip(s, len);
	e.end = s->p;
	op = span_u8(&e);
	off = span_sleb(&e);
	if (op == OP_BREG0 + REG_FP && !e.bad && e.p == e.end)
		set_rule(m, cie, reg, RULE_FP_OFFSET, off);
	else
		set_rule(m, cie, reg, RULE_OTHER, 0);
}

static void remember(struct machine *m)
{
	if (m->nr_remembered < NR_REMEMBERED)
		m->remembered[m->nr_remembered] = m->now;
	else
		m->bad = true;
	m->nr_remembered++;
}

static void restore_remembered(struct machine *m)
{
	if (m->nr_remembered == 0 || m->nr_remembered > NR_REMEMBERED) {
		m->bad = true;
		return;
	}
	m->now = m->remembered[--m->nr_remembered];
}

/* Instructions beside the three that hold an operand in the opcode. False: unknown. */
static bool run_extended(struct machine *m, const struct cie *cie, struct span *s, uint8_t op)
{
	int64_t data = cie->data_align;
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x01: /* set_loc */
		m->loc = span_pointer(s, cie->fde_encoding, 0);
		return true;
	case 0x02: /* advance_loc1 */
		m->loc += span_u8(s) * cie->code_align;
		return true;
	case 0x03: /* advance_loc2 */
		m->loc += span_u16(s) * cie->code_align;
		return true;
	case 0x04: /* advance_loc4 */
		m->loc += span_u32(s) * cie->code_align;
		return true;
	case 0x05: /* offset_extended */
		reg = span_uleb(s);
		set_rule(m, cie, reg, RULE_OFFSET, (int64_t)(span_uleb(s) * (uint64_t)data));
		return true;
	case 0x11: /* offset_extended_sf */
		reg = span_uleb(s);
		set_rule(m, cie, reg, RULE_OFFSET,
			 (int64_t)((uint64_t)span_sleb(s) * (uint64_t)data));
		return true;
	case 0x2f: /* GNU_negative_offset_extended */
		reg = span_uleb(s);
		set_rule(m, cie, reg, RULE_OFFSET, (int64_t)(0 - span_uleb(s) * (uint64_t)data));
		return true;
	case 0x06: /* restore_extended */
		restore_rule(m, cie, span_uleb(s));
		return true;
	case 0x07: /* undefined */
		set_rule(m, cie, span_uleb(s), RULE_UNDEFINED, 0);
		return true;
	case 0x08: /* same_value */
		set_rule(m, cie, span_uleb(s), RULE_SAME, 0);
		return true;
	case 0x09: /* register */
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf */
		set_rule(m, cie, span_uleb(s), RULE_OTHER, 0);
		span_uleb(s);
		return true;
	case 0x0a: /* remember_state */
		remember(m);
		return true;
	case 0x0b: /* restore_state */
		restore_remembered(m);
		return true;
	case 0x0c: /* def_cfa */
		reg = span_uleb(s);
		set_cfa(m, reg, (int64_t)span_uleb(s));
		return true;
	case 0x12: /* def_cfa_sf */
		reg = span_uleb(s);
		set_cfa(m, reg, (int64_t)((uint64_t)span_sleb(s) * (uint64_t)data));
		return true;
	case 0x0d: /* def_cfa_register */
		set_cfa(m, span_uleb(s), m->now.cfa_off);
		return true;
	case 0x0e: /* def_cfa_offset */
		m->now.cfa_off = (int64_t)span_uleb(s);
		return true;
	case 0x13: /* def_cfa_offset_sf */
		m->now.cfa_off = (int64_t)((uint64_t)span_sleb(s) * (uint64_t)data);
		return true;
	case 0x0f: /* def_cfa_expression */
		set_cfa_expression(m, s);
		return true;
	case 0x10: /* expression */
		set_rule_expression(m, cie, s);
		return true;
	case 0x16: /* val_expression */
		set_rule(m, cie, span_uleb(s), RULE_OTHER, 0);
		span_skip(s, span_uleb(s));
		return true;
	case 0x2e: /* GNU_args_size */
		span_uleb(s);
		return true;
#ifdef __aarch64__
	case 0x2c: /* AARCH64_negate_ra_state_with_pc */
	case 0x2d: /* AARCH64_negate_ra_state: the bits are stripped in any case */
		return true;
#endif
	default:
		return false;
	}
}

/* Runs instructions up to the row that holds at key. */
static void run(struct machine *m, const struct cie *cie, struct span s, uintptr_t key)
{
	while (s.p < s.end && !m->bad) {
		uint8_t op = span_u8(&s);
		uint8_t low = op & 0x3f;

		switch (op >> 6) {
		case 1:
			m->loc += low * cie->code_align;
			break;
		case 2:
			set_rule(m, cie, low, RULE_OFFSET,
				 (int64_t)(span_uleb(&s) * (uint64_t)cie->data_align));
			break;
		case 3:
			restore_rule(m, cie, low);
			break;
		default:
			if (!run_extended(m, cie, &s, op))
				m->bad = true;
			break;
		}
		if (m->loc > key)
			return;
	}
	if (s.bad)
		m->bad = true;
}

/* ---- from state to row ------------------------------------------------------------------- */

static row_t row_make(enum row_type type, int64_t cfa_off, uint64_t ra, uint64_t fp)
{
	int64_t units = cfa_off / 8;
	int64_t limit = INT64_C(1) << (ROW_CFA_BITS - 1);

	if (cfa_off % 8 || units >= limit || units < -limit)
		return ROW_BAD;
	return (row_t)type | ((uint64_t)units & ((UINT64_C(1) << ROW_CFA_BITS) - 1)) << 3 |
	       ra << (3 + ROW_CFA_BITS) | fp << (3 + ROW_CFA_BITS + ROW_RA_BITS);
}

#ifdef __aarch64__

static row_t row_of(const struct state *state, const struct cie *cie, uintptr_t key)
{
	const struct rule *ra = &state->ra, *fp = &state->fp;
	uint64_t ra_units = 0, fp_code = 0;

	(void)key;
	if (cie->signal)
		return ROW_SIGNAL;
	if (ra->kind == RULE_UNDEFINED)
		return ROW_END;
	if (state->cfa_kind != CFA_OFFSET || cie->ra_reg != REG_RA)
		return ROW_BAD;
	if (ra->kind == RULE_OFFSET) {
		if (ra->value >= 0 || ra->value % 8 || -ra->value / 8 >= (1 << ROW_RA_BITS))
			return ROW_BAD;
		ra_units = (uint64_t)(-ra->value / 8);
	} else if (ra->kind != RULE_SAME) {
		return ROW_BAD;
	}
	if (fp->kind == RULE_OFFSET && ra_units && fp->value == ra->value - 8)
		fp_code = 1;
	else if (fp->kind == RULE_OFFSET && ra_units && fp->value == ra->value + 8)
		fp_code = 2;
	else if (fp->kind != RULE_SAME)
		return ROW_BAD;
	if (state->cfa_reg == REG_SP && state->cfa_off >= 0) {
		row_t row = row_make(ROW_SP, state->cfa_off, ra_units, fp_code);

		return row ? row : ROW_LEAF;
	}
	if (state->cfa_reg == REG_FP)
		return row_make(ROW_FP, state->cfa_off, ra_units, fp_code);
	return ROW_BAD;
}

#else

/* How the return address's slot in struct sigcontext is found: by glibc's own description. */
static bool is_sigreturn(const struct state *state, const struct cie *cie)
{
	return cie->signal && state->cfa_kind == CFA_DEREF && state->cfa_reg == REG_SP &&
	       state->cfa_off == 160;
}

static row_t row_of_deref(const struct state *state)
{
	int64_t units = state->fp.value / 8 + 256;

	if (state->cfa_reg != REG_FP || state->fp.kind != RULE_FP_OFFSET || state->fp.value % 8 ||
	    units < 1 || units >= (1 << ROW_FP_BITS))
		return ROW_BAD;
	return row_make(ROW_DEREF, state->cfa_off, 0, (uint64_t)units);
}

static row_t row_of(const struct state *state, const struct cie *cie, uintptr_t key)
{
	uint64_t fp = 0;

	if (is_sigreturn(state, cie))
		return ROW_SIGNAL;
	if (state->ra.kind == RULE_UNDEFINED)
		return ROW_END;
	if (cie->ra_reg != REG_RA || state->ra.kind != RULE_OFFSET || state->ra.value != -8)
		return ROW_BAD;
	if (state->cfa_kind == CFA_DEREF)
		return row_of_deref(state);
	if (state->fp.kind == RULE_OFFSET) {
		if (state->fp.value >= 0 || state->fp.value % 8 ||
		    -state->fp.value / 8 >= (1 << ROW_FP_BITS))
			return ROW_BAD;
		fp = (uint64_t)(-state->fp.value / 8);
	} else if (state->fp.kind != RULE_SAME) {
		return ROW_BAD;
	}
	if (state->cfa_kind == CFA_PLT)
		return row_make(ROW_SP, (key & 15) >= (uint64_t)state->cfa_off ? 16 : 8, 0, fp);
	if (state->cfa_kind != CFA_OFFSET)
		return ROW_BAD;
	if (state->cfa_reg == REG_SP && state->cfa_off > 0)
		return row_make(ROW_SP, state->cfa_off, 0, fp);
	if (state->cfa_reg == REG_FP)
		return row_make(ROW_FP, state->cfa_off, 0, fp);
	return ROW_BAD;
}

#endif

row_t rows_parse(const struct rows_image *image, uintptr_t key)
{
	struct machine m;
	struct fde fde;
	uintptr_t next;
	int found = ehframe_find(image, key, &fde, &next);

	if (found < 0)
		return ROW_BAD;
	/* a return to the first byte of a function: something put there to be returned to last */
	if (!found)
		return next == key + 1 ? ROW_END : ROW_NONE;
	m.nr_remembered = 0;
	m.loc = 0;
	m.bad = false;
	__builtin_memset(&m.now, 0, sizeof(m.now));
	m.now.cfa_kind = CFA_OTHER;
	m.initial = m.now;
	run(&m, &fde.cie, fde.cie.program, UINTPTR_MAX);
	m.initial = m.now;
	m.loc = fde.start;
	run(&m, &fde.cie, fde.program, key);
	return m.bad ? ROW_BAD : row_of(&m.now, &fde.cie, key);
}
