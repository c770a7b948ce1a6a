/* SPDX-License-Identifier: MIT */
/*
 * environment.c - what the launcher said in the environment, and taking it out again.
 *
 * Runs once in the traced program, at the tracer's start, before any other thread.
 */
#include "tracer/environment.h"

#include "store/create.h"
#include "store/format.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libheapstory.so"
#define PRELOAD "LD_PRELOAD="

extern void *__libc_stack_end;

/* The kernel's own array: behind argc and argv at the bottom of the main thread's stack. */
static char **kernel_environment(void)
{
	uintptr_t *at = __libc_stack_end;
	uintptr_t argc = at ? *at : 0;

	if (!at || argc > 1u << 24 || at[argc + 1])
		return environ;
	return (char **)(at + argc + 2);
}

static void copy_path(char *to, const char *from)
{
	size_t len = strlen(from);

	if (len < ENVIRONMENT_PATH)
		memcpy(to, from, len + 1);
}

static uint64_t number(const char *text)
{
	uint64_t n = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (uint64_t)(*text - '0');
	return n;
}

/* key=value,key=value: numbers but for the mode's name. Unknown keys are left to later versions. */
static void take_options(struct environment *env, const char *at)
{
	static const char *const modes[] = { "off", "live", "sample", "full" };

	while (*at) {
		const char *value = strchr(at, '=');
		size_t len;

		if (!value)
			return;
		len = (size_t)(value++ - at);
		if (len == 4 && !strncmp(at, "mode", 4)) {
			for (uint32_t i = 0; i < 4; i++)
				if (!strncmp(value, modes[i], strlen(modes[i])))
					env->mode = i;
		} else if (len == 5 && !strncmp(at, "depth", 5)) {
			env->depth = (uint32_t)number(value);
		} else if (len == 3 && !strncmp(at, "cap", 3)) {
			env->cap = number(value);
		} else if (len == 3 && !strncmp(at, "pid", 3)) {
			env->pid = (uint32_t)number(value);
		} else if (len == 6 && !strncmp(at, "folder", 6)) {
			env->folder = (uint32_t)number(value);
		} else if (len == 6 && !strncmp(at, "follow", 6)) {
			env->follow = number(value);
		} else if (len == 5 && !strncmp(at, "child", 5)) {
			env->child = number(value);
		} else if (len == 10 && !strncmp(at, "supervised", 10)) {
			env->supervised = number(value);
		} else if (len == 10 && !strncmp(at, "generation", 10)) {
			env->generation = (uint32_t)number(value);
		}
		at = strchr(value, ',');
		if (!at)
			return;
		at++;
	}
}

static const char *value_of(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(entry, name, len) && entry[len] == '=' ? entry + len + 1 : NULL;
}

static void take_variable(struct environment *env, const char *entry)
{
	const char *value;

	if ((value = value_of(entry, HS_ENV_STORE)))
		copy_path(env->store, value);
	else if ((value = value_of(entry, HS_ENV_DIR)))
		copy_path(env->dir, value);
	else if ((value = value_of(entry, HS_ENV_PLACE)))
		copy_path(env->place, value);
	else if ((value = value_of(entry, HS_ENV_REGISTRY)))
		copy_path(env->registry, value);
	else if ((value = value_of(entry, HS_ENV_OPTIONS)))
		take_options(env, value);
}

static size_t element_len(const char *at)
{
	return strcspn(at, ": ");
}

/* Takes our library out of the value of LD_PRELOAD, in place; false if nothing else was in it. */
static bool without_library(struct environment *env, char *value)
{
	char *at = value, *end = value + strlen(value);

	while (*at) {
		size_t len = element_len(at), name = sizeof(LIBRARY) - 1;

		if (len >= name && !strncmp(at + len - name, LIBRARY, name) &&
		    (len == name || at[len - name - 1] == '/')) {
			if (len < ENVIRONMENT_PATH) {
				memcpy(env->library, at, len);
				env->library[len] = '\0';
			}
			len += at[len] != '\0';
			memmove(at, at + len, strlen(at + len) + 1);
		} else {
			at += len + (at[len] != '\0');
		}
	}
	at = value + strlen(value);
	if (at > value && at[-1] == ':' && env->library[0])
		*--at = '\0';
	memset(at, 0, (size_t)(end - at));
	return *value != '\0';
}

/*
 * True if the entry stays. What goes is zeroed, as /proc/PID/environ shows this memory; what stays
 * stays where it is, as constructors of other libraries may have kept pointers to it.
 */
static bool take_entry(struct environment *env, char *entry)
{
	size_t len = strlen(entry);
	bool stays = true;

	if (!strncmp(entry, HS_ENV_PREFIX, sizeof(HS_ENV_PREFIX) - 1)) {
		take_variable(env, entry);
		stays = false;
	} else if (!strncmp(entry, PRELOAD, sizeof(PRELOAD) - 1)) {
		if (strstr(entry, LIBRARY))
			stays = without_library(env, entry + sizeof(PRELOAD) - 1) && !env->preload;
		env->preload |= stays;
	}
	if (!stays)
		memset(entry, 0, len);
	if (!strncmp(entry, "XDG_RUNTIME_DIR=", 16))
		copy_path(env->runtime, entry + 16);
	if (!strcmp(entry, "PYTHONMALLOC=malloc"))
		env->python_malloc = true;
	return stays;
}

void environment_take(struct environment *env)
{
	char **from = kernel_environment(), **to = from;

	memset(env, 0, sizeof(*env));
	env->mode = HS_MODE_LIVE;
	env->depth = STORE_DEFAULT_DEPTH;
	env->cap = STORE_DEFAULT_CAP;
	for (; from && *from; from++)
		if (take_entry(env, *from))
			*to++ = *from;
	if (to)
		while (to < from)
			*to++ = NULL;
}
