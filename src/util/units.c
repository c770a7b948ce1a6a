/* SPDX-License-Identifier: MIT */
/*
 * units.c - sizes and durations as people write and read them; see units.h.
 */
#include "util/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Digits with an optional fraction, times a unit. Exact: "1.5k" is 1536. Sets *ret_rest behind
 * the number. The unit is found by the caller's table after a first look at *ret_rest.
 */
struct decimal {
	uint64_t whole, fraction, scale; /* whole + fraction / scale */
};

static int parse_decimal(const char *text, struct decimal *ret, const char **ret_rest)
{
	struct decimal d = {0, 0, 1};
	const char *p = text;

	if (!isdigit((unsigned char)*p))
		return -1;
	for (; isdigit((unsigned char)*p); p++) {
		if (__builtin_mul_overflow(d.whole, (uint64_t)10, &d.whole) ||
		    __builtin_add_overflow(d.whole, (uint64_t)(*p - '0'), &d.whole))
			return -1;
	}
	if (*p == '.') {
		if (!isdigit((unsigned char)*++p))
			return -1;
		for (; isdigit((unsigned char)*p); p++) {
			if (d.scale >= 1000000)
				continue; /* finer than anyone means */
			d.fraction = d.fraction * 10 + (uint64_t)(*p - '0');
			d.scale *= 10;
		}
	}
	*ret = d;
	*ret_rest = p;
	return 0;
}

static int scale_decimal(const struct decimal *d, uint64_t unit, uint64_t *ret)
{
	unsigned __int128 value = (unsigned __int128)d->whole * unit +
				  (unsigned __int128)d->fraction * unit / d->scale;

	if (value > UINT64_MAX)
		return -1;
	*ret = (uint64_t)value;
	return 0;
}

int units_parse_size(const char *text, uint64_t *ret_bytes)
{
	static const char letters[] = "kmgt";
	struct decimal d;
	const char *rest, *letter;
	uint64_t unit = 1;

	if (parse_decimal(text, &d, &rest))
		return -1;
	if (*rest) {
		letter = strchr(letters, tolower((unsigned char)*rest));
		if (!letter || rest[1])
			return -1;
		unit <<= 10 * (letter - letters + 1);
	}
	return scale_decimal(&d, unit, ret_bytes);
}

int units_parse_duration(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"ms", 1000000},
		{"s", 1000000000},
		{"m", UINT64_C(60) * 1000000000},
		{"h", UINT64_C(3600) * 1000000000},
		{"d", UINT64_C(86400) * 1000000000},
	};
	struct decimal d;
	const char *rest;

	if (parse_decimal(text, &d, &rest))
		return -1;
	/* of 5 nobody knows whether seconds or minutes were meant; 0 is 0 */
	if (!*rest && !d.whole && !d.fraction) {
		*ret_ns = 0;
		return 0;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(rest, units[i].name))
			return scale_decimal(&d, units[i].ns, ret_ns);
	}
	return -1;
}

char *units_format_size(uint64_t bytes, char ret[static UNITS_LEN])
{
	static const char letters[] = "kmgtpe";
	double value = (double)bytes;
	int i = -1;

	if (bytes < 1024) {
		snprintf(ret, UNITS_LEN, "%" PRIu64, bytes);
		return ret;
	}
	/* 1023.5k would be printed as 1024k: go on to the next unit before that. */
	while (i < 0 || (value >= 1023.5 && letters[i + 1])) {
		value /= 1024;
		i++;
	}
	snprintf(ret, UNITS_LEN, value < 99.95 ? "%.1f%c" : "%.0f%c", value, letters[i]);
	return ret;
}

char *units_format_size_delta(int64_t bytes, char ret[static UNITS_LEN])
{
	uint64_t magnitude = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;

	if (!bytes)
		return units_format_size(0, ret);
	units_format_size(magnitude, ret);
	memmove(ret + 1, ret, strlen(ret) + 1);
	ret[0] = bytes < 0 ? '-' : '+';
	return ret;
}

char *units_format_duration_ms(uint64_t ms, char ret[static UNITS_LEN])
{
	uint64_t s = (ms + 500) / 1000;

	if (ms < 9995)
		snprintf(ret, UNITS_LEN, "%.2fs", (double)ms / 1000);
	else if (ms < 59950)
		snprintf(ret, UNITS_LEN, "%.1fs", (double)ms / 1000);
	else if (s < 3600)
		snprintf(ret, UNITS_LEN, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(ret, UNITS_LEN, "%" PRIu64 "h%02" PRIu64 "m", s / 3600, s / 60 % 60);
	else
		snprintf(ret, UNITS_LEN, "%" PRIu64 "d%02" PRIu64 "h", s / 86400, s / 3600 % 24);
	return ret;
}
