/* SPDX-License-Identifier: MIT */
/*
 * test_class.c - names of types and functions as text, and what the table of containers makes of
 * the frames of a stack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/class.h"
#include "analysis/class_pattern.h"
#include "analysis/class_rules.h"
#include "analysis/class_text.h"
#include "analysis/names.h"

static void expect(char *got, const char *want)
{
	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
	free(got);
}

static void test_tight(void **state)
{
	(void)state;
	expect(class_tight("std::map<int, A<B> >"), "std::map<int,A<B>>");
	expect(class_tight("std::__1::vector<Foo const*>"), "std::vector<Foo const*>");
	expect(class_tight("std::__cxx11::basic_string<char>"), "std::basic_string<char>");
	expect(class_tight("A<unsigned long>  ::f( int )"), "A<unsigned long>::f(int)");
	expect(class_tight("(anonymous namespace)::X"), "(anonymous namespace)::X");
	expect(class_tight("app::__1::x"), "app::x");
	expect(class_tight("std::__1::__fs::filesystem::path"), "std::filesystem::path");
	expect(class_tight("std::__exception_ptr::exception_ptr"), "std::exception_ptr");
	expect(class_tight("A<main()::B>"), "A<main::B>");
	expect(class_tight("f[abi:cxx11](int)"), "f(int)");
	expect(class_tight("f[abi:cxx"), "f[abi:cxx");
	expect(class_tight("my_main()::B"), "my_main()::B");
	/* as gcc's debug information has them */
	expect(class_tight("A<long unsigned int, short int>"), "A<unsigned long,short>");
	expect(class_tight("A<long long int, long long unsigned int>"),
	       "A<long long,unsigned long long>");
	expect(class_tight("A<along int, long internal>"), "A<along int,long internal>");
	expect(class_tight("A<const long int>"), "A<long const>");
	expect(class_tight("A<const B<const C*>*, D>"), "A<B<C const*> const*,D>");
	expect(class_tight("A<const (anonymous namespace)::B&>"),
	       "A<(anonymous namespace)::B const&>");
	expect(class_tight("A<const f(int)::B, int>"), "A<f(int)::B const,int>");
	expect(class_tight("A<int(const char*)>"), "A<int(char const*)>");
	expect(class_tight("A<const char [3]>"), "A<char const[3]>");
	expect(class_tight("A<const volatile int>"), "A<int const volatile>");
	expect(class_tight("A<*const u8>"), "A<*const u8>");
	expect(class_tight("const const "), "const const");
	expect(class_tight("A<const "), "A<const");
	expect(class_tight("A<const <"), "A<const<");
	expect(class_tight(""), "");
	expect(class_tight("  "), "");
}

static void test_function(void **state)
{
	static const char *const cases[][2] = {
		{"main", "main"},
		{"f(int)", "f"},
		{"void a::B<T>::f<U>(int) const", "a::B<T>::f<U>"},
		{"std::vector<int>& X<std::pair<int, long> >::get(char (&)[3])",
		 "X<std::pair<int,long>>::get"},
		{"Foo* std::g<Foo>(Foo*)", "std::g<Foo>"},
		{"unsigned long h()", "h"},
		{"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
		{"a::(anonymous namespace)::B::f() const &", "a::(anonymous namespace)::B::f"},
		{"void (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<int>"},
		{"a::B::operator()(int) const", "a::B::operator()"},
		{"bool a::operator< <int>(A<int>)", "a::operator<<int>"},
		{"operator new(unsigned long)", "operator new"},
		{"a::B::operator unsigned long() const", "a::B::operator unsigned long"},
		{"decltype(auto) f<int>(int)", "f<int>"},
		{"<alloc::vec::Vec<u8>>::with_capacity", "alloc::vec::Vec<u8>::with_capacity"},
		{"<alloc::string::String as core::clone::Clone>::clone",
		 "alloc::string::String::clone"},
		{"<<a::X as b::Y>::Z as c::W>::f", "a::X::Z::f"},
		{"alloc::vec::Vec<T,A>::push", "alloc::vec::Vec<T,A>::push"},
		{"a<b<c", "a<b<c"},
		{"f(", "f"},
		{"f(int)::{lambda(long)#1}::operator()(long) const",
		 "f(int)::{lambda(long)#1}::operator()"},
		{"void A::f(int) const::B::g(int)", "A::f(int) const::B::g"},
		{"main()::A::f(int)", "main::A::f"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(class_function(cases[i][0]), cases[i][1]);
}

static void test_match(void **state)
{
	static const struct {
		const char *pattern, *text, *class, *want; /* NULL: does not match */
	} cases[] = {
		{"std::vector<$1,*>::*", "std::vector<A,std::allocator<A>>::push_back", "V<$1>", "V<A>"},
		{"std::vector<$1,*>::*", "std::vector<A<B,C>>::f", "V<$1>", "V<A<B,C>>"},
		{"std::vector<$1,*>::*", "std::vector<A>", "V<$1>", NULL},
		{"std::vector<$1,*>::*", "std::vectors<A>::f", "V<$1>", NULL},
		{"M<$1,P<$1 const,$2>,*>", "M<A,P<A const,B>,X,Y>", "$1:$2", "A:B"},
		{"M<$1,P<$1 const,$2>,*>", "M<A,P<C const,B>>", "$1:$2", NULL},
		{"M<$1,P<$1 const,$2>,*>", "M<A,P<A,B>>", "$1:$2", NULL},
		{"S<$1,$1,*>", "S<A<x,y>,A<x,y>>", "$1", "A<x,y>"},
		{"a::{*}::f<$1,*>", "a::{impl#12}::f<u8,Global>", "$1", "u8"},
		{"a::{*}::f<$1,*>", "a::b::f<u8>", "$1", NULL},
		{"T<($1,())*>::*", "T<(K,()),G>::g", "$1", "K"},
		{"T<($1,$2)*>::*", "T<(K,V)>::g", "$1=$2", "K=V"},
		{"f<$1>", "f<>", "$1", NULL},
		{"*", "anything<at>all", "x", "x"},
		{"", "", "", ""},
		{"f<$1>", "f<fn(a)->b>", "$1", "fn(a)->b"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct class_captures captures;
		bool matches = class_match(cases[i].pattern, cases[i].text, &captures);

		assert_int_equal(matches, cases[i].want != NULL);
		if (matches)
			expect(class_expand(cases[i].class, &captures), cases[i].want);
	}
}

/* A pattern that could be tried in more ways than there is time. */
static void test_match_ends(void **state)
{
	struct class_captures captures;
	char text[4096];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	assert_false(class_match("*a*a*a*a*a*a*a*a*b", text, &captures));
}

static void test_type(void **state)
{
	static const char *const cases[][2] = {
		{"Foo", "Foo"},
		{"std::vector<Foo,std::allocator<Foo>>", "std::vector<Foo>"},
		{"std::map<int,A,std::less<int>,std::allocator<std::pair<int const,A>>>",
		 "std::map<int, A>"},
		{"std::basic_string<char,std::char_traits<char>,std::allocator<char>>", "std::string"},
		{"std::vector<std::basic_string<char,std::char_traits<char>,std::allocator<char>>,"
		 "std::allocator<int>>*",
		 "std::vector<std::string>*"},
		{"std::unique_ptr<A,std::default_delete<A>>", "std::unique_ptr<A>"},
		{"std::unique_ptr<A,my_delete>", "std::unique_ptr<A, my_delete>"},
		{"std::allocator<A>", "std::allocator<A>"},
		{"std::function<void(int,A const&)>", "std::function<void(int, A const&)>"},
		{"alloc::vec::Vec<alloc::string::String,alloc::alloc::Global>", "Vec<String>"},
		{"std::collections::hash::map::HashMap<u8,(),std::hash::random::RandomState>",
		 "HashMap<u8, ()>"},
		{"&mut core::option::Option<app::Job>", "&mut Option<app::Job>"},
		{"alloc::boxed::Box<dyn app::Shape,alloc::alloc::Global>", "Box<dyn app::Shape>"},
		{"(usize,&str)", "(usize, &str)"},
		{"[u16]", "[u16]"},
		{"std::array<int,4ul>", "std::array<int, 4>"},
		{"A<-3l,0x1ul,u,ul>", "A<-3, 0x1ul, u, ul>"},
		{"std::basic_ostringstream<char,std::char_traits<char>,std::allocator<char>>",
		 "std::ostringstream"},
		{"std::basic_ostream<wchar_t,std::char_traits<wchar_t>>", "std::wostream"},
		{"std::basic_regex<char,std::regex_traits<char>>", "std::regex"},
		{"A<std::basic_string<char,std::char_traits<char>,std::pmr::polymorphic_allocator<char>>>",
		 "A<std::pmr::string>"},
		{"std::queue<A<B>,std::deque<A<B>,std::allocator<A<B>>>>", "std::queue<A<B>>"},
		{"std::priority_queue<long,std::vector<long>,std::less<long>>", "std::priority_queue<long>"},
		{"std::stack<long,std::vector<long>>", "std::stack<long, std::vector<long>>"},
		{"std::queue<A,std::deque<B>>", "std::queue<A, std::deque<B>>"},
		{"std::vector<int(*)(char)>", "std::vector<int (*)(char)>"},
		{"std::vector<int(A::*)(char)>", "std::vector<int (A::*)(char)>"},
		{"A::operator+", "A::operator+"},
		{"A::operator++", "A::operator++"},
		{"A::operator+=", "A::operator+="},
		{"A::operator->", "A::operator->"},
		{"alloc::vec::Vec<[core::option::Option<app::A>;2]>", "Vec<[Option<app::A>; 2]>"},
		{"alloc::vec::Vec<[alloc::string::String;4]>", "Vec<[String; 4]>"},
		{"alloc::boxed::Box<(dyn app::A+core::marker::Send+core::marker::Sync)>",
		 "Box<dyn app::A + Send + Sync>"},
		{"alloc::boxed::Box<dyn core::ops::function::Fn<(u64,&str),Output=u8>>",
		 "Box<dyn Fn(u64, &str) -> u8>"},
		{"Box<(dyn core::ops::function::FnOnce<(),Output=()>+core::marker::Send)>",
		 "Box<dyn FnOnce() + Send>"},
		{"Fn<(A),B>", "Fn<(A), B>"},
		{"alloc::vec::Vec<fn(u64)-> core::option::Option<u8>>", "Vec<fn(u64) -> Option<u8>>"},
		{"core::future::from_generator::GenFuture<app::f::{async_fn_env#0}>",
		 "app::f::{async_fn_env#0}"},
		{"A<(anonymous namespace)::B>", "A<(anonymous namespace)::B>"},
		{"A<B", "A<B>"},
		{"A>>,B", "A>>,B"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(class_type(cases[i][0]), cases[i][1]);
}

/* ---- stacks ------------------------------------------------------------------------------ */

#define MAX_FRAMES 8

static bool without_lines; /* frames are without debug information */

/*
 * Frames by their functions, innermost first; "|" before one: it has only a scope's name, "^": it is
 * inlined, from a header of the library.
 */
static void expect_class(const char *const *functions, const char *name, const char *element)
{
	struct frame frames[MAX_FRAMES];
	const struct frame *list[MAX_FRAMES];
	struct stack_class c;
	size_t nr = 0;

	for (; functions[nr]; nr++) {
		bool scope = functions[nr][0] == '|', inlined = functions[nr][0] == '^';

		frames[nr] = (struct frame){.function = scope ? "?" : functions[nr] + inlined,
					    .scope = scope ? functions[nr] + 1 : NULL,
					    .file = without_lines ? NULL
						    : inlined ? "/usr/include/c++/12/vector"
							      : "app.cpp",
					    .inlined = inlined,
					    .runtime = strncmp(functions[nr], "app::", 5) != 0};
		list[nr] = &frames[nr];
	}
	class_of_stack(list, nr, &c);
	if (name)
		assert_string_equal(c.name, name);
	else
		assert_null(c.name);
	if (element)
		assert_string_equal(c.element, element);
	class_release(&c);
}

#define FRAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_cpp(void **state)
{
	(void)state;
	expect_class(FRAMES("operator new(unsigned long)", "app::f()"), NULL, NULL);
	expect_class(FRAMES("operator new(unsigned long)", "std::__new_allocator<app::A>::allocate"
							  "(unsigned long, void const*)",
			    "void std::vector<app::A, std::allocator<app::A> >::"
			    "_M_realloc_insert<app::A>(int, app::A&&)",
			    "app::f()"),
		     "std::vector<app::A>", "app::A");
	/* what a constructor of the element allocates within the container's function is its own */
	expect_class(FRAMES("operator new(unsigned long)", "app::A::A()",
			    "std::vector<app::A, std::allocator<app::A> >::push_back(app::A&&)"),
		     NULL, NULL);
	/* a string that is copied while a vector grows */
	expect_class(FRAMES("std::__new_allocator<char>::allocate(unsigned long, void const*)",
			    "std::__cxx11::basic_string<char, std::char_traits<char>, "
			    "std::allocator<char> >::_M_create(unsigned long&, unsigned long)",
			    "void std::vector<std::string, std::allocator<std::string> >::"
			    "push_back(std::string const&)"),
		     "std::string", NULL);
	expect_class(FRAMES("std::__new_allocator<std::_Sp_counted_ptr_inplace<A, "
			    "std::allocator<void>, (__gnu_cxx::_Lock_policy)2> >::allocate(unsigned "
			    "long, void const*)"),
		     "std::shared_ptr<A>", NULL);
	expect_class(FRAMES("std::_Rb_tree<int, std::pair<int const, B>, "
			    "std::_Select1st<std::pair<int const, B> >, std::less<int>, "
			    "std::allocator<std::pair<int const, B> > >::_M_get_node()"),
		     "std::map<int, B>", NULL);
	/* several of one key */
	expect_class(FRAMES("std::_Rb_tree_iterator<std::pair<int const, B> > std::_Rb_tree<int, "
			    "std::pair<int const, B>, std::_Select1st<std::pair<int const, B> >, "
			    "std::less<int>, std::allocator<std::pair<int const, B> > >::"
			    "_M_emplace_equal<int, B>(int&&, B&&)"),
		     "std::multimap<int, B>", NULL);
	expect_class(FRAMES("std::_Hashtable<int, int, std::allocator<int>, std::__detail::_Identity, "
			    "std::equal_to<int>, std::hash<int>, std::__detail::_Mod_range_hashing, "
			    "std::__detail::_Default_ranged_hash, std::__detail::_Prime_rehash_policy, "
			    "std::__detail::_Hashtable_traits<false, true, false> >::_M_rehash()"),
		     "std::unordered_multiset<int>", NULL);
	expect_class(FRAMES("std::_Hashtable<int, int, std::allocator<int>, std::__detail::_Identity, "
			    "std::equal_to<int>, std::hash<int>, std::__detail::_Mod_range_hashing, "
			    "std::__detail::_Default_ranged_hash, std::__detail::_Prime_rehash_policy, "
			    "std::__detail::_Hashtable_traits<false, true, true> >::_M_rehash()"),
		     "std::unordered_set<int>", NULL);
	/* private functions are merged, too; without lines it may be a list in a list */
	for (unsigned int i = 0; i < 2; i++) {
		without_lines = i;
		expect_class(FRAMES("std::__cxx11::_List_base<A, std::allocator<A> >::_M_get_node()",
				    "std::__cxx11::list<B, std::allocator<B> >::push_back(B&&)"),
			     i ? "std::list<A>" : "std::list<B>", NULL);
	}
	without_lines = false;
	expect_class(FRAMES("std::_Rb_tree<A, A, std::_Identity<A>, std::less<A>, std::allocator<A> >"
			    "::_M_get_node()",
			    "std::multiset<B, std::less<B>, std::allocator<B> >::insert(B const&)"),
		     "std::multiset<B>", NULL);
	expect_class(FRAMES("std::_Rb_tree<A, A, std::_Identity<A>, std::less<A>, std::allocator<A> >"
			    "::_M_get_node()",
			    "std::vector<B, std::allocator<B> >::push_back(B const&)"),
		     "std::set<A>", NULL);
	/* machine code that a vector of another type shares; what it inlined knows better */
	expect_class(FRAMES("std::_Vector_base<app::A, std::allocator<app::A> >::_M_allocate(unsigned "
			    "long)",
			    "std::_Vector_base<app::B, std::allocator<app::B> >::_M_create_storage("
			    "unsigned long)",
			    "std::vector<app::B, std::allocator<app::B> >::vector(unsigned long)",
			    "std::vector<app::C, std::allocator<app::C> >::resize(unsigned long)"),
		     "std::vector<app::B>", "app::B");
	expect_class(FRAMES("std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(int)",
			    "std::something()", "std::vector<long, std::allocator<long> >::resize()"),
		     "std::vector<int>", "int");
	expect_class(FRAMES("std::__new_allocator<std::_List_node<A> >::allocate(unsigned long)",
			    "std::allocator_traits<std::allocator<std::_Rb_tree_node<B> > >::allocate("
			    "std::allocator<std::_Rb_tree_node<B> >&, unsigned long)",
			    "std::_Rb_tree<B, B, std::_Identity<B>, std::less<B>, std::allocator<B> >"
			    "::_M_get_node()"),
		     "std::set<B>", NULL);
	expect_class(FRAMES("std::__new_allocator<std::_List_node<A> >::allocate(unsigned long)",
			    "std::allocator_traits<std::allocator<std::_List_node<B> > >::allocate("
			    "std::allocator<std::_List_node<B> >&, unsigned long)",
			    "std::__cxx11::list<B, std::allocator<B> >::push_back(B const&)"),
		     "std::list<B>", NULL);
	/* allocators of another type's node, of the same size */
	expect_class(FRAMES("std::__new_allocator<std::_Rb_tree_node<A> >::allocate",
			    "std::allocator<std::_Sp_counted_ptr_inplace<B, std::allocator<void>, "
			    "(__gnu_cxx::_Lock_policy)2> >::allocate",
			    "std::_Rb_tree<A, A, std::_Identity<A>, std::less<A>, std::allocator<A> >"
			    "::_M_get_node"),
		     "std::set<A>", NULL);
	expect_class(FRAMES("std::__new_allocator<std::_List_node<A> >::allocate",
			    "std::allocator_traits<std::allocator<std::_List_node<A> > >::allocate",
			    "std::_List_base<B, std::allocator<B> >::_M_get_node"),
		     "std::list<B>", NULL);
	expect_class(FRAMES("std::allocator_traits<std::allocator<std::_List_node<A> > >::allocate",
			    "std::__allocate_guarded<std::allocator<std::_Sp_counted_ptr_inplace<B, "
			    "std::allocator<void>, (__gnu_cxx::_Lock_policy)2> > >",
			    "std::make_shared<B>"),
		     "std::shared_ptr<B>", NULL);
	/* and the library's functions of no container between them: who is right? */
	expect_class(FRAMES("std::__new_allocator<std::_List_node<A> >::allocate", "std::something",
			    "std::list<A, std::allocator<A> >::push_back"),
		     "std::list<A>", NULL);
	expect_class(FRAMES("std::__new_allocator<std::_List_node<A> >::allocate", "std::something",
			    "std::list<B, std::allocator<B> >::push_back",
			    "std::list<B, std::allocator<B> >::insert"),
		     NULL, NULL);
	/* nodes that gcc's debug information names */
	expect_class(FRAMES("std::allocator<std::__detail::_Hash_node<std::pair<const std::string, A>, "
			    "true> >::allocate",
			    "std::__detail::_Hashtable_alloc<std::allocator<std::__detail::_Hash_node<"
			    "std::pair<const std::string, A>, true> > >::_M_allocate_node<int>",
			    "std::_Hashtable<std::string, std::pair<const std::string, A>, "
			    "std::allocator<std::pair<const std::string, A> >, X>::_Scoped_node"),
		     "std::unordered_map<std::string, A>", NULL);
	expect_class(FRAMES("std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<int*, "
			    "std::__sp_array_delete, std::allocator<void> >"),
		     "std::shared_ptr<int[]>", NULL);
	/* an allocator of the program's own, and memory that such a one keeps for itself */
	expect_class(FRAMES("app::Alloc<int>::allocate(unsigned long)",
			    "std::allocator_traits<app::Alloc<int> >::allocate(app::Alloc<int>&, "
			    "unsigned long)",
			    "std::vector<int, app::Alloc<int> >::push_back(int)"),
		     "std::vector<int>", "int");
	expect_class(FRAMES("app::Alloc<std::_List_node<A> >::allocate(unsigned long)",
			    "std::allocator_traits<app::Alloc<std::_List_node<A> > >::allocate("
			    "app::Alloc<std::_List_node<A> >&, unsigned long)"),
		     "std::list<A>", NULL);
	expect_class(FRAMES("app::Pool::refill()", "app::Alloc<int>::allocate(unsigned long)",
			    "std::allocator_traits<app::Alloc<int> >::allocate(app::Alloc<int>&, "
			    "unsigned long)",
			    "std::vector<int, app::Alloc<int> >::push_back(int)"),
		     NULL, NULL);
	expect_class(FRAMES("std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<A*>(A*)",
			    "std::shared_ptr<A>::shared_ptr<A, void>(A*)"),
		     "std::shared_ptr<A>", NULL);
	expect_class(FRAMES("std::_Function_base::_Base_manager<F>::_M_create<F>(std::_Any_data&)",
			    "std::_Function_base::_Base_manager<F>::_M_init_functor(std::_Any_data&)",
			    "std::function<void (int)>::function<F, void>(F&&)"),
		     "std::function<void(int)>", NULL);
	/* libc++ */
	expect_class(FRAMES("std::__1::allocator<A>::allocate(unsigned long)",
			    "std::__1::__split_buffer<A, std::__1::allocator<A>&>::__split_buffer("
			    "unsigned long, unsigned long, std::__1::allocator<A>&)",
			    "void std::__1::vector<A, std::__1::allocator<A> >::"
			    "__push_back_slow_path<A>(A&&)"),
		     "std::vector<A>", "A");
	expect_class(FRAMES("std::__1::allocator<std::__1::__tree_node<std::__1::__value_type<int, "
			    "B>, void*> >::allocate(unsigned long)"),
		     "std::map<int, B>", NULL);
}

/* What is inlined is not known: it may be an element's. */
static void test_no_lines(void **state)
{
	static const char insert[] = "std::_Rb_tree<A, A, std::_Identity<A>, std::less<A>, "
				     "std::allocator<A> >::_M_insert_<A>(A&&)";

	(void)state;
	without_lines = true;
	expect_class(FRAMES("std::vector<A, std::allocator<A> >::push_back(A&&)"), "std::vector<A>",
		     "A");
	expect_class(FRAMES("std::vector<std::list<A>, std::allocator<std::list<A> > >::"
			    "push_back(std::list<A> const&)"),
		     NULL, NULL);
	expect_class(FRAMES("std::_Vector_base<std::list<A>, std::allocator<std::list<A> > >::"
			    "_M_allocate(unsigned long)"),
		     "std::vector<std::list<A>>", "std::list<A>");
	/* a set or a multiset */
	expect_class(FRAMES(insert), NULL, NULL);
	expect_class(FRAMES(insert, "std::_Rb_tree<A, A, std::_Identity<A>, std::less<A>, "
				    "std::allocator<A> >::_M_insert_unique<A>(A&&)"),
		     "std::set<A>", NULL);
	expect_class(FRAMES(insert, "std::multiset<A, std::less<A>, std::allocator<A> >::insert(A&&)"),
		     "std::multiset<A>", NULL);
	without_lines = false;
}

/* As clang -gline-tables-only has them: inlined functions have no scopes. */
static void test_bare(void **state)
{
	static const char vector[] = "void std::vector<std::list<A> >::_M_realloc_insert<A>(A&&)";
	static const char copy[] = "std::_Rb_tree<A, A, std::_Identity<A>, std::less<A>, "
				   "std::allocator<A> >::_M_copy<false>(A*)";

	(void)state;
	expect_class(FRAMES("^allocate", "^_M_allocate", vector), "std::vector<std::list<A>>", NULL);
	/* in the copy of an element: a list's node, for all that is known */
	expect_class(FRAMES("^allocate", "^_M_get_node", "^list", "^construct_at<A, A>", vector), NULL,
		     NULL);
	expect_class(FRAMES("^allocate", "^_M_get_node", copy, "^_Rb_tree", "^set"), "std::set<A>",
		     NULL);
	expect_class(FRAMES("^allocate", "^_M_get_node", copy, "^_Rb_tree", "^multiset"), NULL, NULL);
}

static void test_rust(void **state)
{
	(void)state;
	/* the code of grow_one for A serves B as well: what the caller inlined knows better */
	expect_class(FRAMES("|alloc::raw_vec::RawVecInner<alloc::alloc::Global>::finish_grow<A>",
			    "|alloc::raw_vec::RawVec<app::A, alloc::alloc::Global>::grow_one<app::A>",
			    "|alloc::vec::Vec<app::B, alloc::alloc::Global>::push<app::B>", "app::f"),
		     "Vec<app::B>", NULL);
	/* the text of a string that is cloned with a vector of strings */
	expect_class(FRAMES("<alloc::raw_vec::RawVec<u8>>::with_capacity_in",
			    "<alloc::vec::Vec<u8>>::with_capacity_in",
			    "<alloc::string::String as core::clone::Clone>::clone",
			    "|alloc::vec::Vec<alloc::string::String, alloc::alloc::Global>::clone"),
		     "String", NULL);
	expect_class(FRAMES("|alloc::boxed::{impl#0}::new<alloc::sync::ArcInner<app::A>>",
			    "|alloc::sync::Arc<app::A>::new<app::A>"),
		     "Arc<app::A>", NULL);
	expect_class(FRAMES("|alloc::boxed::box_new_uninit", "|alloc::boxed::{impl#0}::new<app::A>"),
		     "Box<app::A>", "app::A");
	/* vec![1, 2], and boxes of arrays */
	expect_class(FRAMES("|alloc::boxed::box_new_uninit",
			    "|alloc::boxed::{impl#0}::new_uninit<[[u8; 2]; 4]>", "|app::f"),
		     "Vec<[u8; 2]>", NULL);
	expect_class(FRAMES("|alloc::boxed::box_new_uninit",
			    "|alloc::boxed::{impl#0}::new_uninit<[u32; 4]>",
			    "|alloc::boxed::{impl#11}::default<[u32; 4]>"),
		     "Box<[u32; 4]>", "[u32; 4]");
	expect_class(FRAMES("|alloc::boxed::box_new_uninit",
			    "|alloc::boxed::{impl#0}::new<[u32; 4]>", "|app::f"),
		     "Box<[u32; 4]>", "[u32; 4]");
	/* without debug information, and before Rust 1.95, nothing tells which it is */
	expect_class(FRAMES("alloc::boxed::box_new_uninit", "app::f"), NULL, NULL);
	expect_class(FRAMES("|alloc::alloc::exchange_malloc", "|app::f"), NULL, NULL);
	/* a set is a map of (), but a map of () is no set */
	expect_class(
		FRAMES("|hashbrown::raw::RawTableInner::new_uninitialized<A>",
		       "|hashbrown::raw::RawTable<(u32, ()), A>::new_uninitialized<(u32, ()), A>",
		       "|hashbrown::map::{impl#0}::clone<u32, (), S, A>",
		       "|hashbrown::set::{impl#0}::clone<u32, S, A>"),
		"HashSet<u32>", NULL);
	expect_class(
		FRAMES("|hashbrown::raw::RawTableInner::new_uninitialized<A>",
		       "|hashbrown::raw::RawTable<(u32, ()), A>::new_uninitialized<(u32, ()), A>",
		       "|hashbrown::map::{impl#0}::clone<u32, (), S, A>", "|app::f"),
		"HashMap<u32, ()>", NULL);
	/* of the functions of the std that were compiled without types */
	expect_class(FRAMES("<alloc::raw_vec::RawVecInner>::reserve::do_reserve_and_handle",
			    "|alloc::string::String::reserve", "|alloc::string::String::push"),
		     "String", NULL);
	expect_class(FRAMES("<alloc::raw_vec::RawVecInner>::with_capacity_in",
			    "<alloc::string::String as app::Words>::words"),
		     "Vec<_>", NULL);
	expect_class(FRAMES("<alloc::raw_vec::RawVecInner>::with_capacity_in",
			    "<alloc::vec::Vec<u32> as alloc::vec::spec_from_elem::SpecFromElem>::"
			    "from_elem::<alloc::alloc::Global>"),
		     "Vec<_>", NULL);
	/* with rustc's debuginfo=1 */
	expect_class(FRAMES("|alloc::raw_vec::RawVecInner::with_capacity_in<alloc::alloc::Global>",
			    "|alloc::raw_vec::RawVec::with_capacity_in<f32, alloc::alloc::Global>",
			    "|alloc::vec::Vec::with_capacity_in<f32, alloc::alloc::Global>",
			    "|alloc::vec::from_elem<alloc::vec::Vec<f32, alloc::alloc::Global> >"),
		     "Vec<f32>", NULL);
	expect_class(FRAMES("alloc::sync::Arc<[T]>::allocate_for_slice::{{closure}}",
			    "|alloc::sync::Arc<[u8], alloc::alloc::Global>::allocate_for_slice<u8>",
			    "<alloc::sync::Arc<str> as core::convert::From<&str>>::from"),
		     "Arc<str>", NULL);
	/* of a symbol table without types only the kind is known */
	expect_class(FRAMES("alloc::raw_vec::RawVecInner<A>::finish_grow",
			    "alloc::raw_vec::RawVec<T,A>::grow_one", "app::f"),
		     "Vec<_>", NULL);
	expect_class(FRAMES("hashbrown::raw::RawTableInner<A>::new_uninitialized",
			    "|hashbrown::raw::RawTable<(u64, ()), alloc::alloc::Global>::"
			    "reserve_rehash<(u64, ())>",
			    "|hashbrown::map::HashMap<u64, (), S>::insert",
			    "|std::collections::hash::set::HashSet<u64, S>::insert"),
		     "HashSet<u64>", NULL);
}

static void test_site(void **state)
{
	struct frame f = {.function = "void app::Cache<std::allocator<int> >::put(int)",
			  .module = "/bin/app",
			  .offset = 0x10};

	(void)state;
	expect(class_of_site(NULL), "non-object");
	expect(class_of_site(&f), "malloc in app::Cache<std::allocator<int>>::put");
	expect(class_of_mapping(&f), "mapping in app::Cache<std::allocator<int>>::put");
	f.function = f.shown = NULL;
	expect(class_of_site(&f), "malloc in app+0x10");
	f.module = NULL;
	f.function = f.shown = "JS:*render /app.js:10:3";
	expect(class_of_site(&f), "malloc in JS:*render /app.js:10:3");
	expect(class_of_vtable("(anonymous namespace)::X"), "(anonymous namespace)::X");
	expect(class_of_vtable("std::_Sp_counted_ptr_inplace<A, std::allocator<A>, "
			       "(__gnu_cxx::_Lock_policy)2>"),
	       "std::shared_ptr<A>");
}

/* Every form is one that can be matched, and every class uses only what its form captures. */
static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < class_nr_function_rules + class_nr_type_rules; i++) {
		const struct class_rule *r =
			i < class_nr_function_rules ?
				&class_function_rules[i] :
				&class_type_rules[i - class_nr_function_rules];
		const char *const texts[] = {r->class, r->after, r->element};

		for (size_t k = 0; k < 3; k++) {
			for (const char *p = texts[k]; p && (p = strchr(p, '$')); p++) {
				char name[3] = {'$', p[1], 0};

				assert_non_null(strstr(r->form, name));
			}
		}
		expect(class_tight(r->form), r->form);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tight), cmocka_unit_test(test_function),
		cmocka_unit_test(test_match), cmocka_unit_test(test_match_ends),
		cmocka_unit_test(test_type),  cmocka_unit_test(test_cpp),
		cmocka_unit_test(test_no_lines),
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_rust),  cmocka_unit_test(test_site),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
