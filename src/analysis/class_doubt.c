/* SPDX-License-Identifier: MIT */
/*
 * class_doubt.c - where the name of a function does not tell whose the block is; see class_doubt.h.
 */
#include "analysis/class_doubt.h"

#include <stddef.h>
#include <string.h>

#include "analysis/class_brackets.h"
#include "analysis/names.h"
#include "analysis/runtime.h"

/* The last part of a path: "f<B>" of "std::A<B>::f<B>". */
static const char *last_part(const char *function)
{
	const char *name = function;

	for (const char *p = function; *p; p++) {
		if (bracket(function, p) > 0)
			p = group_end(function, p);
		if (!*p)
			break;
		if (name_follows(function, p, "::"))
			name = p;
	}
	return name;
}

bool class_private(const char *function)
{
	const char *name = last_part(function), *arguments = strchr(function, '<');

	return name_starts(function, "std::") &&
	       (name_starts(name, "_M_") || name_starts(name, "_S_") ||
		(arguments && name_follows(function, arguments, "_base")));
}

/* Whether some type in the text allocates where an object of it is made or copied. */
static bool has_allocating_type(const char *text)
{
	static const char *const types[] = {
		"std::basic_string<", "std::string",
		"std::wstring",	      "std::vector<",
		"std::deque<",	      "std::list<",
		"std::map<",	      "std::set<",
		"std::multi",	      "std::any",
		"std::unordered",     "std::forward_list<",
		"std::function<",     "std::filesystem::path",
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strstr(text, types[i]))
			return true;
	}
	return false;
}

/* Whether no element is made or copied by what has this name. */
static bool only_allocates(const char *name)
{
	static const char *const names[] = {
		"allocate",	     "_M_get_node",	  "_M_allocate",    "_M_allocate_buckets",
		"_M_allocate_map",   "_M_create_storage", "_M_rehash",	    "_M_rehash_aux",
		"_M_reallocate_map", "_M_initialize_map", "__split_buffer", "__vallocate",
		"__rehash",	     "__do_rehash",
	};
	size_t len = strcspn(name, "<(");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == len && !strncmp(name, names[i], len))
			return true;
	}
	return false;
}

bool class_hides_inlined(const char *function)
{
	const char *arguments = strchr(function, '<');

	return name_starts(function, "std::") && arguments && has_allocating_type(arguments) &&
	       !only_allocates(last_part(function));
}

bool class_is_tree(const char *function)
{
	return name_starts(function, "std::_Rb_tree<") || name_starts(function, "std::__tree<");
}

bool class_tells_keys(const char *function)
{
	const char *name = last_part(function);

	return name_starts(function, "std::map<") || name_starts(function, "std::set<") ||
	       name_starts(function, "std::multi") ||
	       (class_is_tree(function) &&
		(strstr(name, "unique") || strstr(name, "equal") || strstr(name, "multi")));
}

bool class_bare(const struct frame *frame)
{
	const char *f = frame->function;

	return frame->inlined && f && *f != '<' && f[strcspn(f, "<(:")] != ':' && frame->file &&
	       runtime_file(frame->file);
}

bool class_bare_private(const char *function)
{
	static const char *const starts[] = {"_M_", "_S_", "__", "operator new", "operator()"};
	size_t len = strcspn(function, "<(");

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (name_starts(function, starts[i]))
			return true;
	}
	return name_follows(function, function + len, "_base") ||
	       (len == strlen("allocate") && name_starts(function, "allocate"));
}
