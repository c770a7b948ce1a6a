/* SPDX-License-Identifier: MIT */
/*
 * ehframe.c - entries of .eh_frame in the memory of the program, read within bounds.
 *
 * Runs on any thread of the traced program, perhaps in a signal handler. Takes no lock.
 * What an image says is believed only as far as its spans go.
 */
#include "tracer/ehframe.h"

#include "tracer/rows.h"

/* ---- reading ----------------------------------------------------------------------------- */

/* Pointer encodings of .eh_frame (DWARF exception headers). */
enum encoding {
	ENC_ABSPTR = 0x00,
	ENC_ULEB = 0x01,
	ENC_UDATA2 = 0x02,
	ENC_UDATA4 = 0x03,
	ENC_UDATA8 = 0x04,
	ENC_SLEB = 0x09,
	ENC_SDATA2 = 0x0a,
	ENC_SDATA4 = 0x0b,
	ENC_SDATA8 = 0x0c,
	ENC_PCREL = 0x10,
	ENC_DATAREL = 0x30,
	ENC_RELATION = 0x70,
	ENC_INDIRECT = 0x80,
	ENC_OMIT = 0xff,
};

static void span_take(struct span *s, void *ret, size_t size)
{
	if ((size_t)(s->end - s->p) < size) {
		s->bad = true;
		s->p = s->end;
		__builtin_memset(ret, 0, size);
		return;
	}
	__builtin_memcpy(ret, s->p, size);
	s->p += size;
}

void span_skip(struct span *s, uint64_t size)
{
	if ((uint64_t)(s->end - s->p) < size) {
		s->bad = true;
		s->p = s->end;
		return;
	}
	s->p += size;
}

uint8_t span_u8(struct span *s)
{
	uint8_t v;

	span_take(s, &v, sizeof(v));
	return v;
}

uint16_t span_u16(struct span *s)
{
	uint16_t v;

	span_take(s, &v, sizeof(v));
	return v;
}

uint32_t span_u32(struct span *s)
{
	uint32_t v;

	span_take(s, &v, sizeof(v));
	return v;
}

uint64_t span_u64(struct span *s)
{
	uint64_t v;

	span_take(s, &v, sizeof(v));
	return v;
}

uint64_t span_uleb(struct span *s)
{
	uint64_t v = 0;
	uint32_t shift = 0;
	uint8_t byte;

	do {
		byte = span_u8(s);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return v;
}

int64_t span_sleb(struct span *s)
{
	uint64_t v = 0;
	uint32_t shift = 0;
	uint8_t byte;

	do {
		byte = span_u8(s);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		v |= ~UINT64_C(0) << shift;
	return (int64_t)v;
}

uintptr_t span_pointer(struct span *s, uint8_t encoding, uintptr_t data)
{
	uintptr_t at = (uintptr_t)s->p;
	uintptr_t v;

	switch (encoding & 0x0f) {
	case ENC_ABSPTR:
	case ENC_UDATA8:
	case ENC_SDATA8:
		v = span_u64(s);
		break;
	case ENC_ULEB:
		v = span_uleb(s);
		break;
	case ENC_SLEB:
		v = (uintptr_t)span_sleb(s);
		break;
	case ENC_UDATA2:
		v = span_u16(s);
		break;
	case ENC_SDATA2:
		v = (uintptr_t)(intptr_t)(int16_t)span_u16(s);
		break;
	case ENC_UDATA4:
		v = span_u32(s);
		break;
	case ENC_SDATA4:
		v = (uintptr_t)(intptr_t)(int32_t)span_u32(s);
		break;
	default:
		s->bad = true;
		return 0;
	}
	if (encoding & ENC_INDIRECT)
		return 0; /* only personality routines, which are skipped */
	switch (encoding & ENC_RELATION) {
	case 0:
		return v;
	case ENC_PCREL:
		return v + at;
	case ENC_DATAREL:
		return v + data;
	default:
		s->bad = true;
		return 0;
	}
}

/* A cursor from an address to the end of the span that it lies in; false if it is in none. */
static bool image_span(const struct rows_image *image, uintptr_t at, struct span *ret)
{
	for (uint32_t i = 0; i < image->nr_spans; i++) {
		if (at >= image->spans[i].start && at < image->spans[i].end) {
			ret->p = (const uint8_t *)at;
			ret->end = (const uint8_t *)image->spans[i].end;
			ret->bad = false;
			return true;
		}
	}
	return false;
}

/* ---- entries: CIE and FDE ---------------------------------------------------------------- */

/* Longest entry that is believed, in bytes. */
#define MAX_ENTRY (1u << 20)

/* The content of the entry at an address, after its length word. */
static bool entry_open(const struct rows_image *image, uintptr_t at, struct span *ret)
{
	uint32_t len;

	if (!image_span(image, at, ret))
		return false;
	len = span_u32(ret);
	if (ret->bad || len == 0 || len > MAX_ENTRY || len > (size_t)(ret->end - ret->p))
		return false;
	ret->end = ret->p + len;
	return true;
}

static bool cie_parse(const struct rows_image *image, uintptr_t at, struct cie *ret)
{
	struct span s;
	const char *aug;
	uint8_t version;

	__builtin_memset(ret, 0, sizeof(*ret));
	if (!entry_open(image, at, &s) || span_u32(&s) != 0)
		return false;
	version = span_u8(&s);
	if (version != 1 && version != 3)
		return false;
	aug = (const char *)s.p;
	while (span_u8(&s))
		;
	if (s.bad)
		return false;
	ret->code_align = span_uleb(&s);
	ret->data_align = span_sleb(&s);
	ret->ra_reg = version == 1 ? span_u8(&s) : span_uleb(&s);
	if (*aug == 'z') {
		uint64_t len = span_uleb(&s);
		struct span a = s;

		ret->has_augmentation = true;
		span_skip(&s, len);
		a.end = s.p;
		for (aug++; *aug; aug++) {
			switch (*aug) {
			case 'R':
				ret->fde_encoding = span_u8(&a);
				break;
			case 'L':
				span_u8(&a);
				break;
			case 'P':
				span_pointer(&a, span_u8(&a), 0);
				break;
			case 'S':
				ret->signal = true;
				break;
			case 'B': /* aarch64: return addresses are signed with key B */
			case 'G': /* aarch64: memory tagging */
				break;
			default:
				return false;
			}
		}
		if (a.bad)
			return false;
	} else if (*aug) {
		return false;
	}
	ret->program = s;
	return !s.bad;
}

/* Parses the entry of a function at an address. */
static bool fde_parse(const struct rows_image *image, uintptr_t at, struct fde *ret)
{
	struct span s;
	uintptr_t id_at, start, len;
	uint32_t id;

	if (!entry_open(image, at, &s))
		return false;
	id_at = (uintptr_t)s.p;
	id = span_u32(&s);
	if (s.bad || id == 0 || !cie_parse(image, id_at - id, &ret->cie))
		return false;
	start = span_pointer(&s, ret->cie.fde_encoding, 0);
	len = span_pointer(&s, ret->cie.fde_encoding & 0x0f, 0);
	if (ret->cie.has_augmentation)
		span_skip(&s, span_uleb(&s));
	if (s.bad || start + len < start)
		return false;
	ret->start = start;
	ret->end = start + len;
	ret->program = s;
	return true;
}

/* ---- the table in .eh_frame_hdr ---------------------------------------------------------- */

struct table {
	const uint8_t *entries; /* pairs of int32_t, relative to base: code, FDE; sorted by code */
	uint64_t nr;
	uintptr_t base;
};

static bool table_open(const struct rows_image *image, struct table *ret)
{
	struct span s;
	uint8_t frame_encoding, count_encoding, table_encoding;
	uint64_t nr;

	if (!image_span(image, image->eh_frame_hdr, &s) || span_u8(&s) != 1)
		return false;
	frame_encoding = span_u8(&s);
	count_encoding = span_u8(&s);
	table_encoding = span_u8(&s);
	if (count_encoding == ENC_OMIT || table_encoding != (ENC_DATAREL | ENC_SDATA4))
		return false;
	span_pointer(&s, frame_encoding, image->eh_frame_hdr);
	nr = span_pointer(&s, count_encoding, image->eh_frame_hdr);
	if (s.bad || nr > (uint64_t)(s.end - s.p) / 8)
		return false;
	ret->entries = s.p;
	ret->nr = nr;
	ret->base = image->eh_frame_hdr;
	return true;
}

static uintptr_t table_word(const struct table *t, uint64_t word)
{
	int32_t v;

	__builtin_memcpy(&v, t->entries + word * 4, sizeof(v));
	return t->base + (uintptr_t)(intptr_t)v;
}

/* Number of entries whose code starts at or below key: the last of them may hold it. */
static uint64_t table_find(const struct table *t, uintptr_t key)
{
	uint64_t low = 0, high = t->nr;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (table_word(t, mid * 2) <= key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int ehframe_find(const struct rows_image *image, uintptr_t key, struct fde *ret_fde,
		 uintptr_t *ret_next)
{
	struct table table;
	uint64_t nr;

	if (!table_open(image, &table))
		return -1;
	nr = table_find(&table, key);
	if (nr) {
		if (!fde_parse(image, table_word(&table, (nr - 1) * 2 + 1), ret_fde))
			return -1;
		if (key >= ret_fde->start && key < ret_fde->end)
			return 1;
	}
	*ret_next = nr < table.nr ? table_word(&table, nr * 2) : 0;
	return 0;
}

bool ehframe_table(const struct rows_image *image, uintptr_t *ret_at, uint64_t *ret_nr)
{
	struct table table;

	if (!table_open(image, &table))
		return false;
	*ret_at = (uintptr_t)table.entries;
	*ret_nr = table.nr;
	return true;
}
