/* SPDX-License-Identifier: MIT */
/*
 * test_class_libcxx.c - classes of libc++'s containers.
 *
 * The stacks are those of a program that was built with clang 14 and libc++ 14, -O0 and -O2, and said
 * of each block what it is; up to the program's own function, innermost frame first, the names as
 * heapstory prints them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "analysis/class.h"
#include "analysis/names.h"

#define MAX_FRAMES 8

static const struct {
	const char *class;
	const char *functions[MAX_FRAMES + 1];
} stacks[] = {
	{
		"std::any",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<Item>::allocate(unsigned long)",
			"std::allocator_traits<std::allocator<Item> "
			">::allocate(std::allocator<Item>&, unsigned long)",
			"Item& std::__any_imp::_LargeHandler<Item>::__create<Item>(std::any&, "
			"Item&&)",
			"std::any::any<Item, Item, void>(Item&&)",
		},
	},
	{
		"std::deque<Item>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<Item>::allocate(unsigned long)",
			"std::allocator_traits<std::allocator<Item> "
			">::allocate(std::allocator<Item>&, unsigned long)",
			"std::deque<Item, std::allocator<Item> >::__add_front_capacity()",
			"std::deque<Item, std::allocator<Item> >::push_front(Item&&)",
		},
	},
	{
		"std::forward_list<Item>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<std::__forward_list_node<Item, void*> "
			">::allocate(unsigned long)",
			"std::allocator_traits<std::allocator<std::__forward_list_node<Item, "
			"void*> > >::allocate(std::allocator<std::__forward_list_node<Item, "
			"void*> >&, unsigned long)",
			"std::forward_list<Item, std::allocator<Item> >::push_front(Item&&)",
		},
	},
	{
		"std::list<Item>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<std::__list_node<Item, void*> >::allocate(unsigned "
			"long)",
			"std::allocator_traits<std::allocator<std::__list_node<Item, void*> > "
			">::allocate(std::allocator<std::__list_node<Item, void*> >&, "
			"unsigned long)",
			"std::list<Item, std::allocator<Item> >::resize(unsigned long)",
		},
	},
	{
		"std::map<int, Item>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<std::__tree_node<std::__value_type<int, Item>, void*> "
			">::allocate(unsigned long)",
			"std::allocator_traits<std::allocator<std::__tree_node<std::__value_ty"
			"pe<int, Item>, void*> > >::allocate(std::allocator<std::__tree_node<s"
			"td::__value_type<int, Item>, void*> >&, unsigned long)",
			"std::unique_ptr<std::__tree_node<std::__value_type<int, Item>, "
			"void*>, std::__tree_node_destructor<std::allocator<std::__tree_node<s"
			"td::__value_type<int, Item>, void*> > > > "
			"std::__tree<std::__value_type<int, Item>, "
			"std::__map_value_compare<int, std::__value_type<int, Item>, "
			"std::less<int>, true>, std::allocator<std::__value_type<int, Item> > "
			">::__construct_node<std::piecewise_construct_t const&, "
			"std::tuple<int&&>, std::tuple<> >(std::piecewise_construct_t const&, "
			"std::tuple<int&&>&&, std::tuple<>&&)",
			"std::pair<std::__tree_iterator<std::__value_type<int, Item>, "
			"std::__tree_node<std::__value_type<int, Item>, void*>*, long>, bool> "
			"std::__tree<std::__value_type<int, Item>, "
			"std::__map_value_compare<int, std::__value_type<int, Item>, "
			"std::less<int>, true>, std::allocator<std::__value_type<int, Item> > "
			">::__emplace_unique_key_args<int, std::piecewise_construct_t const&, "
			"std::tuple<int&&>, std::tuple<> >(int const&, "
			"std::piecewise_construct_t const&, std::tuple<int&&>&&, "
			"std::tuple<>&&)",
			"std::map<int, Item, std::less<int>, std::allocator<std::pair<int "
			"const, Item> > >::operator[](int&&)",
		},
	},
	{
		"std::multimap<std::string, int>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<std::__tree_node<std::__value_type<std::string, int>, "
			"void*> >::allocate(unsigned long)",
			"std::allocator_traits<std::allocator<std::__tree_node<std::__value_ty"
			"pe<std::string, int>, void*> > >::allocate(std::allocator<std::__tree"
			"_node<std::__value_type<std::string, int>, void*> >&, unsigned long)",
			"std::unique_ptr<std::__tree_node<std::__value_type<std::string, "
			"int>, void*>, std::__tree_node_destructor<std::allocator<std::__tree_"
			"node<std::__value_type<std::string, int>, void*> > > > "
			"std::__tree<std::__value_type<std::string, int>, "
			"std::__map_value_compare<std::string, std::__value_type<std::string, "
			"int>, std::less<std::string>, true>, std::allocator<std::__value_type"
			"<std::string, int> > >::__construct_node<std::string, "
			"int>(std::string&&, int&&)",
			"std::__tree_iterator<std::__value_type<std::string, int>, "
			"std::__tree_node<std::__value_type<std::string, int>, void*>*, long> "
			"std::__tree<std::__value_type<std::string, int>, "
			"std::__map_value_compare<std::string, std::__value_type<std::string, "
			"int>, std::less<std::string>, true>, std::allocator<std::__value_type"
			"<std::string, int> > >::__emplace_multi<std::string, "
			"int>(std::string&&, int&&)",
			"std::__map_iterator<std::__tree_iterator<std::__value_type<std::strin"
			"g, int>, std::__tree_node<std::__value_type<std::string, int>, "
			"void*>*, long> > std::multimap<std::string, int, "
			"std::less<std::string>, std::allocator<std::pair<std::string const, "
			"int> > >::emplace<std::string, int>(std::string&&, int&&)",
		},
	},
	{
		"std::multiset<Item>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<std::__tree_node<Item, void*> >::allocate(unsigned "
			"long)",
			"std::allocator_traits<std::allocator<std::__tree_node<Item, void*> > "
			">::allocate(std::allocator<std::__tree_node<Item, void*> >&, "
			"unsigned long)",
			"std::unique_ptr<std::__tree_node<Item, void*>, "
			"std::__tree_node_destructor<std::allocator<std::__tree_node<Item, "
			"void*> > > > std::__tree<Item, std::less<Item>, std::allocator<Item> "
			">::__construct_node<Item>(Item&&)",
			"std::__tree_iterator<Item, std::__tree_node<Item, void*>*, long> "
			"std::__tree<Item, std::less<Item>, std::allocator<Item> "
			">::__emplace_multi<Item>(Item&&)",
			"std::__tree_const_iterator<Item, std::__tree_node<Item, void*>*, "
			"long> std::multiset<Item, std::less<Item>, std::allocator<Item> "
			">::emplace<Item>(Item&&)",
		},
	},
	{
		"std::set<Item>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<std::__tree_node<Item, void*> >::allocate(unsigned "
			"long)",
			"std::allocator_traits<std::allocator<std::__tree_node<Item, void*> > "
			">::allocate(std::allocator<std::__tree_node<Item, void*> >&, "
			"unsigned long)",
			"std::unique_ptr<std::__tree_node<Item, void*>, "
			"std::__tree_node_destructor<std::allocator<std::__tree_node<Item, "
			"void*> > > > std::__tree<Item, std::less<Item>, std::allocator<Item> "
			">::__construct_node<Item const&>(Item const&)",
			"std::pair<std::__tree_iterator<Item, std::__tree_node<Item, void*>*, "
			"long>, bool> std::__tree<Item, std::less<Item>, std::allocator<Item> "
			">::__emplace_unique_key_args<Item, Item const&>(Item const&, Item "
			"const&)",
			"std::__tree<Item, std::less<Item>, std::allocator<Item> "
			">::__insert_unique(Item const&)",
			"std::set<Item, std::less<Item>, std::allocator<Item> >::insert(Item "
			"const&)",
		},
	},
	{
		"std::string",
		{
			"std::string::__init(unsigned long, char)",
			"std::string::basic_string(unsigned long, char)",
		},
	},
	{
		"std::string",
		{
			"std::string::__grow_by_and_replace(unsigned long, unsigned long, "
			"unsigned long, unsigned long, unsigned long, unsigned long, char "
			"const*)",
			"std::string::append(char const*)",
			"std::string::operator+=(char const*)",
		},
	},
	{
		"std::u32string",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<char32_t>::allocate(unsigned long)",
			"std::allocator_traits<std::allocator<char32_t> "
			">::allocate(std::allocator<char32_t>&, unsigned long)",
			"std::basic_string<char32_t, std::char_traits<char32_t>, "
			"std::allocator<char32_t> >::__init(unsigned long, char32_t)",
			"std::basic_string<char32_t, std::char_traits<char32_t>, "
			"std::allocator<char32_t> >::basic_string(unsigned long, char32_t)",
		},
	},
	{
		"std::wstring",
		{
			"std::wstring::__grow_by_and_replace(unsigned long, unsigned long, "
			"unsigned long, unsigned long, unsigned long, unsigned long, wchar_t "
			"const*)",
			"std::wstring::insert(unsigned long, wchar_t const*, unsigned long)",
			"std::wstring std::operator+<wchar_t, std::char_traits<wchar_t>, "
			"std::allocator<wchar_t> >(wchar_t const*, std::wstring&&)",
		},
	},
	{
		"std::unordered_map<int, Item>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<std::__hash_node_base<std::__hash_node<std::__hash_val"
			"ue_type<int, Item>, void*>*>*>::allocate(unsigned long)",
			"std::allocator_traits<std::allocator<std::__hash_node_base<std::__has"
			"h_node<std::__hash_value_type<int, Item>, void*>*>*> "
			">::allocate(std::allocator<std::__hash_node_base<std::__hash_node<std"
			"::__hash_value_type<int, Item>, void*>*>*>&, unsigned long)",
			"std::__hash_table<std::__hash_value_type<int, Item>, "
			"std::__unordered_map_hasher<int, std::__hash_value_type<int, Item>, "
			"std::hash<int>, std::equal_to<int>, true>, "
			"std::__unordered_map_equal<int, std::__hash_value_type<int, Item>, "
			"std::equal_to<int>, std::hash<int>, true>, "
			"std::allocator<std::__hash_value_type<int, Item> > "
			">::__rehash(unsigned long)",
			"std::__hash_table<std::__hash_value_type<int, Item>, "
			"std::__unordered_map_hasher<int, std::__hash_value_type<int, Item>, "
			"std::hash<int>, std::equal_to<int>, true>, "
			"std::__unordered_map_equal<int, std::__hash_value_type<int, Item>, "
			"std::equal_to<int>, std::hash<int>, true>, "
			"std::allocator<std::__hash_value_type<int, Item> > "
			">::rehash(unsigned long)",
			"std::unordered_map<int, Item, std::hash<int>, std::equal_to<int>, "
			"std::allocator<std::pair<int const, Item> > >::rehash(unsigned long)",
		},
	},
	{
		"std::unordered_map<int, Item>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<std::__hash_node_base<std::__hash_node<std::__hash_val"
			"ue_type<int, Item>, void*>*>*>::allocate(unsigned long)",
			"std::allocator_traits<std::allocator<std::__hash_node_base<std::__has"
			"h_node<std::__hash_value_type<int, Item>, void*>*>*> "
			">::allocate(std::allocator<std::__hash_node_base<std::__hash_node<std"
			"::__hash_value_type<int, Item>, void*>*>*>&, unsigned long)",
			"std::__hash_table<std::__hash_value_type<int, Item>, "
			"std::__unordered_map_hasher<int, std::__hash_value_type<int, Item>, "
			"std::hash<int>, std::equal_to<int>, true>, "
			"std::__unordered_map_equal<int, std::__hash_value_type<int, Item>, "
			"std::equal_to<int>, std::hash<int>, true>, "
			"std::allocator<std::__hash_value_type<int, Item> > "
			">::__rehash(unsigned long)",
			"std::unordered_map<int, Item, std::hash<int>, std::equal_to<int>, "
			"std::allocator<std::pair<int const, Item> > "
			">::unordered_map(std::unordered_map<int, Item, std::hash<int>, "
			"std::equal_to<int>, std::allocator<std::pair<int const, Item> > > "
			"const&)",
		},
	},
	{
		"std::unordered_multimap<std::string, Item>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<std::__hash_node_base<std::__hash_node<std::__hash_val"
			"ue_type<std::string, Item>, void*>*>*>::allocate(unsigned long)",
			"std::allocator_traits<std::allocator<std::__hash_node_base<std::__has"
			"h_node<std::__hash_value_type<std::string, Item>, void*>*>*> "
			">::allocate(std::allocator<std::__hash_node_base<std::__hash_node<std"
			"::__hash_value_type<std::string, Item>, void*>*>*>&, unsigned long)",
			"std::__hash_table<std::__hash_value_type<std::string, Item>, "
			"std::__unordered_map_hasher<std::string, "
			"std::__hash_value_type<std::string, Item>, std::hash<std::string>, "
			"std::equal_to<std::string>, true>, std::__unordered_map_equal<std::st"
			"ring, std::__hash_value_type<std::string, Item>, "
			"std::equal_to<std::string>, std::hash<std::string>, true>, "
			"std::allocator<std::__hash_value_type<std::string, Item> > "
			">::__rehash(unsigned long)",
			"std::__hash_table<std::__hash_value_type<std::string, Item>, "
			"std::__unordered_map_hasher<std::string, "
			"std::__hash_value_type<std::string, Item>, std::hash<std::string>, "
			"std::equal_to<std::string>, true>, std::__unordered_map_equal<std::st"
			"ring, std::__hash_value_type<std::string, Item>, "
			"std::equal_to<std::string>, std::hash<std::string>, true>, "
			"std::allocator<std::__hash_value_type<std::string, Item> > "
			">::rehash(unsigned long)",
			"std::unordered_multimap<std::string, Item, std::hash<std::string>, "
			"std::equal_to<std::string>, std::allocator<std::pair<std::string "
			"const, Item> > >::unordered_multimap(std::unordered_multimap<std::str"
			"ing, Item, std::hash<std::string>, std::equal_to<std::string>, "
			"std::allocator<std::pair<std::string const, Item> > > const&)",
		},
	},
	{
		"std::unordered_multimap<std::string, Item>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<std::__hash_node_base<std::__hash_node<std::__hash_val"
			"ue_type<std::string, Item>, void*>*>*>::allocate(unsigned long)",
			"std::allocator_traits<std::allocator<std::__hash_node_base<std::__has"
			"h_node<std::__hash_value_type<std::string, Item>, void*>*>*> "
			">::allocate(std::allocator<std::__hash_node_base<std::__hash_node<std"
			"::__hash_value_type<std::string, Item>, void*>*>*>&, unsigned long)",
			"std::__hash_table<std::__hash_value_type<std::string, Item>, "
			"std::__unordered_map_hasher<std::string, "
			"std::__hash_value_type<std::string, Item>, std::hash<std::string>, "
			"std::equal_to<std::string>, true>, std::__unordered_map_equal<std::st"
			"ring, std::__hash_value_type<std::string, Item>, "
			"std::equal_to<std::string>, std::hash<std::string>, true>, "
			"std::allocator<std::__hash_value_type<std::string, Item> > "
			">::__rehash(unsigned long)",
			"std::unordered_multimap<std::string, Item, std::hash<std::string>, "
			"std::equal_to<std::string>, std::allocator<std::pair<std::string "
			"const, Item> > >::unordered_multimap(std::unordered_multimap<std::str"
			"ing, Item, std::hash<std::string>, std::equal_to<std::string>, "
			"std::allocator<std::pair<std::string const, Item> > > const&)",
		},
	},
	{
		"std::unordered_multiset<long>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<std::__hash_node<long, void*> >::allocate(unsigned "
			"long)",
			"std::allocator_traits<std::allocator<std::__hash_node<long, void*> > "
			">::allocate(std::allocator<std::__hash_node<long, void*> >&, "
			"unsigned long)",
			"std::unique_ptr<std::__hash_node<long, void*>, "
			"std::__hash_node_destructor<std::allocator<std::__hash_node<long, "
			"void*> > > > std::__hash_table<long, std::hash<long>, "
			"std::equal_to<long>, std::allocator<long> "
			">::__construct_node<int>(int&&)",
			"std::__hash_iterator<std::__hash_node<long, void*>*> "
			"std::__hash_table<long, std::hash<long>, std::equal_to<long>, "
			"std::allocator<long> >::__emplace_multi<int>(int&&)",
			"std::__hash_const_iterator<std::__hash_node<long, void*>*> "
			"std::unordered_multiset<long, std::hash<long>, std::equal_to<long>, "
			"std::allocator<long> >::emplace<int>(int&&)",
		},
	},
	{
		"std::unordered_set<Item>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<std::__hash_node_base<std::__hash_node<Item, "
			"void*>*>*>::allocate(unsigned long)",
			"std::allocator_traits<std::allocator<std::__hash_node_base<std::__has"
			"h_node<Item, void*>*>*> >::allocate(std::allocator<std::__hash_node_b"
			"ase<std::__hash_node<Item, void*>*>*>&, unsigned long)",
			"std::__hash_table<Item, std::hash<Item>, std::equal_to<Item>, "
			"std::allocator<Item> >::__rehash(unsigned long)",
			"std::__hash_table<Item, std::hash<Item>, std::equal_to<Item>, "
			"std::allocator<Item> >::rehash(unsigned long)",
			"std::unordered_set<Item, std::hash<Item>, std::equal_to<Item>, "
			"std::allocator<Item> >::unordered_set(std::unordered_set<Item, "
			"std::hash<Item>, std::equal_to<Item>, std::allocator<Item> > const&)",
		},
	},
	{
		"std::unordered_set<Item>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<std::__hash_node_base<std::__hash_node<Item, "
			"void*>*>*>::allocate(unsigned long)",
			"std::allocator_traits<std::allocator<std::__hash_node_base<std::__has"
			"h_node<Item, void*>*>*> >::allocate(std::allocator<std::__hash_node_b"
			"ase<std::__hash_node<Item, void*>*>*>&, unsigned long)",
			"std::__hash_table<Item, std::hash<Item>, std::equal_to<Item>, "
			"std::allocator<Item> >::__rehash(unsigned long)",
			"std::unordered_set<Item, std::hash<Item>, std::equal_to<Item>, "
			"std::allocator<Item> >::unordered_set(std::unordered_set<Item, "
			"std::hash<Item>, std::equal_to<Item>, std::allocator<Item> > const&)",
		},
	},
	{
		"std::vector<Item>",
		{
			"void* std::__libcpp_operator_new<unsigned long>(unsigned long)",
			"std::__libcpp_allocate(unsigned long, unsigned long)",
			"std::allocator<Item>::allocate(unsigned long)",
			"std::allocator_traits<std::allocator<Item> "
			">::allocate(std::allocator<Item>&, unsigned long)",
			"std::vector<Item, std::allocator<Item> >::__vallocate(unsigned long)",
			"std::vector<Item, std::allocator<Item> >::vector(unsigned long)",
		},
	},
};

static void test_stacks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		struct frame frames[MAX_FRAMES];
		const struct frame *list[MAX_FRAMES];
		struct stack_class c;
		size_t nr = 0;

		for (; stacks[i].functions[nr]; nr++) {
			frames[nr] = (struct frame){.function = stacks[i].functions[nr],
						    .file = "app.cpp",
						    .runtime = true};
			list[nr] = &frames[nr];
		}
		class_of_stack(list, nr, &c);
		assert_non_null(c.name);
		assert_string_equal(c.name, stacks[i].class);
		class_release(&c);
	}
}

/* What begins with a vtable has its class by that. */
static void test_vtables(void **state)
{
	static const char *const vtables[][2] = {
		{"std::__1::__function::__func<main::$_0, std::__1::allocator<main::$_0>, void "
		 "(bus::Event const&)>",
		 "std::function<void(bus::Event const&)>"},
		{"std::__1::__shared_ptr_emplace<bus::Alarm, std::__1::allocator<bus::Alarm> >",
		 "std::shared_ptr<bus::Alarm>"},
		{"std::__1::__shared_ptr_pointer<Item*, Closer, std::__1::allocator<Item> >",
		 "std::shared_ptr<Item>"},
		{"std::__1::basic_ofstream<char, std::__1::char_traits<char> >", "std::ofstream"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(vtables) / sizeof(vtables[0]); i++) {
		char *class = class_of_vtable(vtables[i][0]);

		assert_string_equal(class, vtables[i][1]);
		free(class);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_vtables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
