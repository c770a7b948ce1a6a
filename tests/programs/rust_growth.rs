// SPDX-License-Identifier: MIT
//! rust_growth - collections of Rust's standard library that grow and shrink.
//!
//! A Vec<u64> is filled to 100000: its buffer doubles from 4 to 131072 numbers, by
//! realloc. A String gets 5000 characters: 8, 16, ... 8192. A HashMap<u64, u64> gets
//! 1000 entries: 2048 buckets of 16 bytes, their control bytes and 16 more. A
//! VecDeque<u32> gets 300 numbers: 512 of them. Names, 200 boxed strings of 20 to 29
//! bytes, are kept in a Vec that was made for them. From MARK 2 to 3 the Vec is
//! emptied, the String is shrunk to 100 bytes, half of the names go.
//!
//! TRUTH grow 1 2 at=fill_vec blocks=1 bytes=1048576
//! TRUTH grow 1 2 at=fill_string blocks=1 bytes=8192
//! TRUTH grow 1 2 at=fill_hash blocks=1 bytes=34832
//! TRUTH grow 1 2 at=fill_queue blocks=1 bytes=2048
//! TRUTH grow 1 2 at=add_names blocks=201 bytes=8100
//! TRUTH largest 2 size=1048576 born=32 grows=15 ratio=2 inferred=False at=fill_vec birth=fill_vec
//! TRUTH only 1 2
//! TRUTH flat 2 3 at=fill_vec
//! TRUTH grow 2 3 at=fill_string blocks=-1 bytes=-8192
//! TRUTH grow 2 3 at=shrink blocks=1 bytes=100
//! TRUTH grow 2 3 at=add_names blocks=-100 bytes=-2400
//! TRUTH events 2 3 born=0 freed=100 resized=1
//! TRUTH only 2 3
//! TRUTH exit code=0
include!("mark.rs");
use std::collections::{HashMap, VecDeque};

#[derive(Default)]
struct Store {
    numbers: Vec<u64>,
    text: String,
    hash: HashMap<u64, u64>,
    queue: Option<VecDeque<u32>>, // some versions give an empty one a block
    names: Vec<Box<str>>,
}

#[inline(never)]
fn fill_vec(s: &mut Store) {
    for i in 0..100_000 {
        s.numbers.push(i);
    }
}

#[inline(never)]
fn fill_string(s: &mut Store) {
    for i in 0..5000u32 {
        s.text.push((b'a' + (i % 26) as u8) as char);
    }
}

#[inline(never)]
fn fill_hash(s: &mut Store) {
    for i in 0..1000 {
        s.hash.insert(i, i);
    }
}

#[inline(never)]
fn fill_queue(s: &mut Store) {
    let queue = s.queue.get_or_insert_with(VecDeque::new);
    for i in 0..300 {
        queue.push_back(i);
    }
}

#[inline(never)]
fn add_names(s: &mut Store) {
    s.names = Vec::with_capacity(200);
    for i in 0..200 {
        let bytes = vec![b'n'; 20 + i % 10];
        s.names.push(unsafe { String::from_utf8_unchecked(bytes) }.into_boxed_str());
    }
}

#[inline(never)]
fn shrink(s: &mut Store) {
    s.text.truncate(100);
    s.text.shrink_to_fit();
    assert!(s.text.capacity() >= 100); // and so no tail call
}

#[inline(never)]
fn drop_names(s: &mut Store) {
    for i in 0..100 {
        s.names.remove(i);
    }
}

fn main() {
    let mut s = Store::default();
    marks::mark(1);
    fill_vec(&mut s);
    fill_string(&mut s);
    fill_hash(&mut s);
    fill_queue(&mut s);
    add_names(&mut s);
    marks::mark(2);
    s.numbers.clear();
    shrink(&mut s);
    drop_names(&mut s);
    marks::mark(3);
    marks::say("LEFT", (s.numbers.len() + s.names.len() + s.hash.len() + s.queue.map_or(0, |q| q.len())) as u64);
}
