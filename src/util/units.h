/* SPDX-License-Identifier: MIT */
/*
 * units.h - sizes and durations as people write and read them.
 */
#ifndef HEAPSTORY_UTIL_UNITS_H
#define HEAPSTORY_UTIL_UNITS_H

#include <stdint.h>

/* What is asked for where a text is none. */
#define UNITS_A_SIZE	 "a size as 4096, 4k, 1m or 2g"
#define UNITS_A_DURATION "a duration as 500ms, 30s, 5m or 2h"

#define UNITS_LEN 32u /* room that any of these texts needs, with its 0 */

/* "4096", "4k", "1m", "2g", "1t" (1024), upper case too. 0, or -1 if it is no size or too large. */
int units_parse_size(const char *text, uint64_t *ret_bytes);
/* "500ms", "30s", "5m", "2h", "1d", or "0": any other number needs its unit. 0 or -1. */
int units_parse_duration(const char *text, uint64_t *ret_ns);

/* "0", "999", "1.5k", "12.0m", "340m", "2.0g": three digits or so, units of 1024. Returns ret. */
char *units_format_size(uint64_t bytes, char ret[static UNITS_LEN]);
/* The same with a sign: "+1.5k", "-300", "0". */
char *units_format_size_delta(int64_t bytes, char ret[static UNITS_LEN]);
/* "0.25s", "12.3s", "4m05s", "3h12m", "2d04h". Returns ret. */
char *units_format_duration_ms(uint64_t ms, char ret[static UNITS_LEN]);

#endif
