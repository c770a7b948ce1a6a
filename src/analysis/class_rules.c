/* SPDX-License-Identifier: MIT */
/*
 * class_rules.c - containers and smart pointers, by the functions that allocate for them.
 *
 * To add a container, look at the stack of one of its blocks (heap --addresses --all-frames) and
 * add the innermost function that names it. Texts are as class_text.h says: no blanks that mean
 * nothing, no inline namespaces. A class that begins with '=' is what the rules of types make of
 * the rest; if they make nothing of it, what stands behind '|', if anything, else the next frame
 * is asked. A class that ends in '?' is provisional: a frame further out may know better, and if
 * none does, only the kind is told, "Vec<_>"; of a mere "?" nothing is. With '~' only the very next
 * frame may, and if it does not, the class is as it is.
 *
 * gcc takes functions of two types of one size for one, whose name says nothing then. So a '=' of an
 * allocator gives way to any frame of a container further out, and what a container of libstdc++
 * calls only itself (_M_...) to the very next frame, where that is of the same container.
 */
#include "analysis/class_rules.h"

const struct class_rule class_function_rules[] = {
	/* ---- C++: libstdc++, and libc++ where the names differ ------------------------------- */

	/* allocators: the nodes of libstdc++'s containers are types of their own */
	{"std::__new_allocator<$1>::allocate", "=$1", NULL, NULL},
	{"__gnu_cxx::new_allocator<$1>::allocate", "=$1", NULL, NULL},
	{"std::allocator<$1>::allocate", "=$1", NULL, NULL},
	{"std::allocator_traits<*<$1>>::allocate", "=$1", NULL, NULL},
	{"std::__allocation_guard<std::allocator<$1>>::*", "=$1", NULL, NULL},
	{"std::__allocate_guarded<*<$1>>", "=$1", NULL, NULL},
	{"std::__detail::_Hashtable_alloc<*<$1>>::*", "=$1", NULL, NULL},

	{"std::basic_string<$1,*>::*", "std::basic_string<$1>", NULL, "$1"},
	{"std::string::*", "std::string", NULL, NULL},
	{"std::wstring::*", "std::wstring", NULL, NULL},
	{"std::__str_concat<std::string>", "std::string", NULL, NULL},
	{"std::basic_stringbuf<$1,*>::*", "std::basic_string<$1>", NULL, NULL},
	{"std::basic_stringstream<$1,*>::str", "std::basic_string<$1>", NULL, NULL},
	{"std::basic_istringstream<$1,*>::str", "std::basic_string<$1>", NULL, NULL},
	{"std::basic_ostringstream<$1,*>::str", "std::basic_string<$1>", NULL, NULL},
	{"std::_Vector_base<$1,*>::*", "std::vector<$1>", NULL, "$1"},
	{"std::vector<$1,*>::*", "std::vector<$1>", NULL, "$1"},
	{"std::_Bvector_base<*>::*", "std::vector<bool>", NULL, NULL},
	{"std::_Deque_base<$1,*>::*", "std::deque<$1>", NULL, "$1"},
	{"std::deque<$1,*>::*", "std::deque<$1>", NULL, "$1"},
	{"std::_List_base<$1,*>::*", "std::list<$1>", NULL, NULL},
	{"std::list<$1,*>::*", "std::list<$1>", NULL, NULL},
	{"std::__list_imp<$1,*>::*", "std::list<$1>", NULL, NULL},
	{"std::_Fwd_list_base<$1,*>::*", "std::forward_list<$1>", NULL, NULL},
	{"std::forward_list<$1,*>::*", "std::forward_list<$1>", NULL, NULL},
	{"std::__forward_list_base<$1,*>::*", "std::forward_list<$1>", NULL, NULL},
	{"std::_Rb_tree<$1,std::pair<$1 const,$2>,std::_Select1st<*>,*>::*_equal*",
	 "std::multimap<$1,$2>", NULL, NULL},
	{"std::_Rb_tree<$1,$1,std::_Identity<*>,*>::*_equal*", "std::multiset<$1>", NULL, NULL},
	{"std::_Rb_tree<$1,std::pair<$1 const,$2>,std::_Select1st<*>,*>::*", "std::map<$1,$2>", NULL,
	 NULL},
	{"std::_Rb_tree<$1,$1,std::_Identity<*>,*>::*", "std::set<$1>", NULL, NULL},
	{"std::__tree<std::__value_type<$1,$2>,*>::*", "std::map<$1,$2>", NULL, NULL},
	{"std::__tree<$1,*>::*", "std::set<$1>", NULL, NULL},
	{"std::_Hashtable<$1,std::pair<$1 const,$2>,*,std::__detail::_Hashtable_traits<*,false>>::*",
	 "std::unordered_multimap<$1,$2>", NULL, NULL},
	{"std::_Hashtable<$1,$1,*,std::__detail::_Hashtable_traits<*,false>>::*",
	 "std::unordered_multiset<$1>", NULL, NULL},
	{"std::_Hashtable<$1,std::pair<$1 const,$2>,*>::*", "std::unordered_map<$1,$2>", NULL, NULL},
	{"std::_Hashtable<$1,$1,*>::*", "std::unordered_set<$1>", NULL, NULL},
	{"std::__hash_table<std::__hash_value_type<$1,$2>,*>::*", "std::unordered_map<$1,$2>", NULL,
	 NULL},
	{"std::__hash_table<$1,*>::*", "std::unordered_set<$1>", NULL, NULL},
	{"std::__detail::_Map_base<$1,std::pair<$1 const,$2>,*>::*", "std::unordered_map<$1,$2>", "~",
	 NULL},
	{"std::map<$1,$2,*>::*", "std::map<$1,$2>", "~", NULL},
	{"std::set<$1,*>::*", "std::set<$1>", "~", NULL},
	{"std::multimap<$1,$2,*>::*", "std::multimap<$1,$2>", "~", NULL},
	{"std::multiset<$1,*>::*", "std::multiset<$1>", "~", NULL},
	{"std::unordered_map<$1,$2,*>::*", "std::unordered_map<$1,$2>", "~", NULL},
	{"std::unordered_set<$1,*>::*", "std::unordered_set<$1>", "~", NULL},
	{"std::unordered_multimap<$1,$2,*>::*", "std::unordered_multimap<$1,$2>", "~", NULL},
	{"std::unordered_multiset<$1,*>::*", "std::unordered_multiset<$1>", "~", NULL},
	{"std::multimap<$1,$2,*>::*", "std::multimap<$1,$2>", "std::map<$1,$2>", NULL},
	{"std::multiset<$1,*>::*", "std::multiset<$1>", "std::set<$1>", NULL},
	{"std::unordered_multimap<$1,$2,*>::*", "std::unordered_multimap<$1,$2>",
	 "std::unordered_map<$1,$2>", NULL},
	{"std::unordered_multiset<$1,*>::*", "std::unordered_multiset<$1>", "std::unordered_set<$1>",
	 NULL},
	/* libc++'s vectors grow through one of these, and so does the table of its deques */
	{"std::__split_buffer<$1,*>::*", "std::vector<$1>?", NULL, "$1"},
	{"std::vector<$1,*>::*", "std::vector<$1>", "?", "$1"},
	{"std::deque<$1,*>::*", "std::deque<$1>", "?", "$1"},
	{"std::__shared_count<*>::__shared_count<$1,std::allocator<void>,*>", "std::shared_ptr<$1>",
	 NULL, NULL},
	{"std::__shared_count<*>::__shared_count<$1*,std::__sp_array_delete,*>",
	 "std::shared_ptr<$1[]>", NULL, NULL},
	{"std::__shared_count<*>::__shared_count<$1*,*>", "std::shared_ptr<$1>", NULL, NULL},
	{"std::__shared_ptr<$1,*>::__shared_ptr<std::allocator<*>,*>", "std::shared_ptr<$1>", NULL,
	 NULL},
	{"std::allocate_shared<$1,*>", "std::shared_ptr<$1>", NULL, NULL},
	{"std::make_shared<$1,*>", "std::shared_ptr<$1>", NULL, NULL},
	{"std::_Sp_counted_array_base<std::allocator<$1>>::*", "std::shared_ptr<$1[]>", NULL, NULL},
	{"std::make_unique<$1>", "$1", NULL, "$1"},
	{"std::make_unique<$1,*>", "$1", NULL, "$1"},
	{"std::_Function_base::*", "std::function~", NULL, NULL},
	{"std::_Function_base::*", "std::function~", "?", NULL},
	{"std::function<$1>::*", "std::function<$1>", "?", NULL},
	{"std::function<$1>::*", "std::function<$1>", NULL, NULL},
	{"std::any::*", "std::any", NULL, NULL},
	{"std::get_temporary_buffer<$1>", "std::get_temporary_buffer<$1>", NULL, NULL},
	{"std::thread::*", "std::thread", NULL, NULL},

	/* ---- Rust: std ----------------------------------------------------------------------- */

	/* shared by all vectors; the machine code of one for T may serve another T of its size */
	{"alloc::raw_vec::RawVecInner<*>::*", "Vec<_>?", NULL, NULL},
	{"alloc::raw_vec::RawVecInner::*", "Vec<_>?", NULL, NULL},
	{"alloc::raw_vec::finish_grow<*>", "Vec<_>?", NULL, NULL},
	{"alloc::raw_vec::finish_grow", "Vec<_>?", NULL, NULL},
	{"alloc::raw_vec::RawVec<$1,*>::*", "Vec<$1>?", NULL, NULL},
	{"alloc::raw_vec::RawVec<$1,*>::*", "Vec<$1>?", "?", NULL},
	/* "<Vec<A> as SpecFromElem>::from_elem" makes a vector of these */
	{"alloc::vec::Vec<*>::from_elem*", "Vec<_>?", NULL, NULL},
	{"alloc::vec::Vec<*>::from_elem*", "Vec<_>?", "?", NULL},
	{"alloc::vec::Vec<$1,*>::*", "Vec<$1>", NULL, NULL},
	{"alloc::vec::Vec<$1,*>::*", "Vec<$1>", "?", NULL},
	{"alloc::vec::from_elem<$1,*>", "Vec<$1>", "?", NULL},
	{"alloc::slice::hack::to_vec<$1,*>", "Vec<$1>", "?", NULL},
	{"alloc::vec::spec_from_iter_nested::{*}::from_iter<$1,*>", "Vec<$1>", "?", NULL},
	{"core::iter::traits::iterator::Iterator::partition<*,alloc::vec::Vec<$1,*>,*>", "Vec<$1>",
	 "?", NULL},
	{"alloc::collections::vec_deque::VecDeque<$1,*>::*", "VecDeque<$1>", "?", NULL},
	{"alloc::collections::vec_deque::VecDeque<$1,*>::*", "VecDeque<$1>", "Vec<$1>", NULL},
	{"alloc::collections::vec_deque::spec_from_iter::{*}::spec_from_iter<$1,*>", "VecDeque<$1>",
	 "Vec<$1>", NULL},
	{"alloc::collections::binary_heap::BinaryHeap<$1,*>::*", "BinaryHeap<$1>", "Vec<$1>", NULL},
	{"alloc::string::String::*", "String", "Vec<u8>", NULL},
	/* the std may be without types: only what calls nothing else, and is no name of a trait's */
	{"alloc::string::String::push", "String", "Vec<_>", NULL},
	{"alloc::string::String::push_str", "String", "Vec<_>", NULL},
	{"alloc::string::String::insert", "String", "Vec<_>", NULL},
	{"alloc::string::String::insert_str", "String", "Vec<_>", NULL},
	{"alloc::string::String::reserve", "String", "Vec<_>", NULL},
	{"alloc::string::String::with_capacity", "String", "Vec<_>", NULL},
	{"alloc::string::{*}::*", "String", "Vec<u8>", NULL},
	{"alloc::fmt::format", "String", "Vec<u8>", NULL},
	{"alloc::fmt::format::*", "String", "Vec<u8>", NULL},
	{"alloc::str::{*}::*", "String", "Vec<u8>", NULL}, /* to_owned, join, to_uppercase, ... */
	{"str::*", "String", "Vec<u8>", NULL},
	{"std::ffi::os_str::OsString::*", "OsString", "Vec<u8>", NULL},
	{"std::path::PathBuf::*", "PathBuf", "OsString", NULL},
	{"std::ffi::os_str::OsStr::to_os_string", "OsString", "Vec<u8>", NULL},
	{"std::path::Path::to_path_buf", "PathBuf", "OsString", NULL},
	{"std::ffi::c_str::CString::*", "CString", "Vec<u8>", NULL},
	{"alloc::ffi::c_str::CString::*", "CString", "Vec<u8>", NULL},
	{"alloc::ffi::c_str::{*}::*", "CString", "Vec<u8>", NULL},

	{"alloc::boxed::{*}::*<$1,*>", "=$1|Box<$1>", NULL, "$1"},
	{"alloc::boxed::Box<$1,*>::*", "=$1|Box<$1>", NULL, "$1"},
	/*
	 * What Box::new and vec![a, b] both call, first as exchange_malloc, since Rust 1.95 as the
	 * other. Box::new has a frame of its own where there is debug information; the vector has none,
	 * or that of new_uninit, of an array, which only few programs call themselves.
	 */
	{"alloc::alloc::exchange_malloc", "?", NULL, NULL},
	{"alloc::boxed::box_new_uninit", "?", NULL, NULL},
	{"alloc::boxed::{*}::new_uninit<[$1;$2]>", "Vec<$1>~", "?", NULL},
	{"alloc::boxed::Box<[$1;$2],*>::new_uninit", "Vec<$1>~", "?", NULL},
	{"alloc::vec::{*}::from<$1,$2>", "Vec<$1>", "Box<[$1;$2]>", NULL},
	/* a boxed slice is allocated as a vector is */
	{"alloc::boxed::{*}::*new_uninit_slice<$1,*>", "Box<[$1]>", "Vec<$1>", "$1"},
	{"alloc::boxed::{*}::from<$1>", "Box<[$1]>", "Vec<$1>", "$1"},
	{"alloc::boxed::Box<str>::from", "Box<str>", "Box<[u8]>", NULL},
	{"alloc::boxed::{*}::*<$1,*>", "=$1|Box<$1>", "?", "$1"},
	{"alloc::boxed::Box<$1,*>::*", "=$1|Box<$1>", "?", "$1"},
	{"alloc::rc::Rc<str>::from", "Rc<str>", "Rc<[u8]>", NULL},
	{"alloc::sync::Arc<str>::from", "Arc<str>", "Arc<[u8]>", NULL},
	{"alloc::rc::Rc<$1,*>::*", "Rc<$1>", NULL, NULL},
	{"alloc::rc::Rc<$1,*>::*", "Rc<$1>", "?", NULL},
	{"alloc::sync::Arc<$1,*>::*", "Arc<$1>", NULL, NULL},
	{"alloc::sync::Arc<$1,*>::*", "Arc<$1>", "?", NULL},
	{"alloc::collections::btree::set::BTreeSet<$1,*>::*", "BTreeSet<$1>", "BTreeMap<$1,SetValZST>",
	 NULL},
	{"alloc::collections::btree::map::BTreeMap<$1,alloc::collections::btree::set_val::SetValZST,*>"
	 "::*",
	 "BTreeSet<$1>", NULL, NULL},
	{"alloc::collections::btree::map::BTreeMap<$1,$2,*>::*", "BTreeMap<$1,$2>", NULL, NULL},
	{"alloc::collections::linked_list::LinkedList<$1,*>::*", "LinkedList<$1>", NULL, NULL},

	{"hashbrown::raw::RawTableInner::*", "HashMap<_>?", NULL, NULL},
	{"hashbrown::raw::RawTableInner<*>::*", "HashMap<_>?", NULL, NULL},
	{"hashbrown::raw::inner::RawTableInner::*", "HashMap<_>?", NULL, NULL},
	{"hashbrown::raw::RawTable<($1,())*>::*", "HashMap<$1,()>?", "?", NULL},
	{"hashbrown::raw::RawTable<($1,$2)*>::*", "HashMap<$1,$2>?", "?", NULL},
	{"hashbrown::map::HashMap<$1,$2,*>::*", "HashMap<$1,$2>", "?", NULL},
	{"hashbrown::map::HashMap<$1,$2,*>::*", "HashMap<$1,$2>", NULL, NULL},
	{"hashbrown::map::{*}::*<$1,$2,*>", "HashMap<$1,$2>", "?", NULL}, /* clone, extend, ... */
	{"std::collections::hash::map::HashMap<$1,$2,*>::*", "HashMap<$1,$2>", "?", NULL},
	{"std::collections::hash::set::{*}::*<$1,*>", "HashSet<$1>", "HashMap<$1,()>", NULL},
	{"hashbrown::set::{*}::*<$1,*>", "HashSet<$1>", "HashMap<$1,()>", NULL},
	{"std::collections::hash::set::HashSet<$1,*>::*", "HashSet<$1>", "HashMap<$1,()>", NULL},
	{"hashbrown::set::HashSet<$1,*>::*", "HashSet<$1>", "HashMap<$1,()>", NULL},
};
const size_t class_nr_function_rules =
	sizeof(class_function_rules) / sizeof(class_function_rules[0]);

const struct class_rule class_type_rules[] = {
	/* libstdc++ */
	{"std::_Sp_counted_ptr_inplace<$1,*>", "std::shared_ptr<$1>", NULL, NULL},
	{"std::_Sp_counted_array<$1,*>", "std::shared_ptr<$1[]>", NULL, NULL},
	{"std::_Sp_counted_ptr<$1*,*>", "std::shared_ptr<$1>", NULL, NULL},
	{"std::_Sp_counted_deleter<$1*,std::__sp_array_delete,*>", "std::shared_ptr<$1[]>", NULL,
	 NULL},
	{"std::_Sp_counted_deleter<$1*,*>", "std::shared_ptr<$1>", NULL, NULL},
	{"std::_List_node<$1>", "std::list<$1>", NULL, NULL},
	{"std::_Fwd_list_node<$1>", "std::forward_list<$1>", NULL, NULL},
	/* libc++ */
	{"std::__shared_ptr_emplace<$1,*>", "std::shared_ptr<$1>", NULL, NULL},
	{"std::__shared_ptr_pointer<$1*,*>", "std::shared_ptr<$1>", NULL, NULL},
	{"std::__list_node<$1,*>", "std::list<$1>", NULL, NULL},
	{"std::__function::__func<$1,$2,$3>", "std::function<$3>", NULL, NULL},
	{"std::__forward_list_node<$1,*>", "std::forward_list<$1>", NULL, NULL},
	{"std::__tree_node<std::__value_type<$1,$2>,*>", "std::map<$1,$2>", NULL, NULL},
	{"std::__tree_node<$1,*>", "std::set<$1>", NULL, NULL},
	{"std::__hash_node<std::__hash_value_type<$1,$2>,*>", "std::unordered_map<$1,$2>", NULL, NULL},
	{"std::__hash_node<$1,*>", "std::unordered_set<$1>", NULL, NULL},
	/* Rust */
	{"alloc::sync::ArcInner<$1>", "Arc<$1>", NULL, NULL},
	{"alloc::rc::RcInner<$1>", "Rc<$1>", NULL, NULL},
	{"alloc::rc::RcBox<$1>", "Rc<$1>", NULL, NULL},
	{"alloc::collections::btree::node::LeafNode<$1,alloc::collections::btree::set_val::SetValZST>",
	 "BTreeSet<$1>", NULL, NULL},
	{"alloc::collections::btree::node::InternalNode<$1,alloc::collections::btree::set_val::"
	 "SetValZST>",
	 "BTreeSet<$1>", NULL, NULL},
	{"alloc::collections::btree::node::LeafNode<$1,$2>", "BTreeMap<$1,$2>", NULL, NULL},
	{"alloc::collections::btree::node::InternalNode<$1,$2>", "BTreeMap<$1,$2>", NULL, NULL},
	{"alloc::collections::linked_list::Node<$1>", "LinkedList<$1>", NULL, NULL},
};
const size_t class_nr_type_rules = sizeof(class_type_rules) / sizeof(class_type_rules[0]);
