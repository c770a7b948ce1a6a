// SPDX-License-Identifier: MIT
//! rust_tables - buffers of Rust that are made anew as they grow, and some that are not.
//!
//! A HashMap<u64, u64> has 4, 8, 16, ... buckets of 16 bytes, a control byte each and 16 more; it is
//! moved entry by entry. From MARK 1 to 2 put() brings it from 3 keys to 1000, to MARK 3 to 3000. A
//! HashSet<String> gets 200 names (24 bytes a bucket). A BinaryHeap<u64> and a Vec<Vec<u8>> grow by
//! realloc; a Vec that is cloned when it is full, as a copy-on-write list is, by copies, to exactly
//! twice its size. Two Vecs that are swapped each round grow in turn. A Box<[u8]> is replaced by
//! one of another size each time, which is no growth.
//!
//! TRUTH grow 1 2 at=put blocks=0 bytes=34748
//! TRUTH grow 2 3 at=put blocks=0 bytes=34816
//! TRUTH lineage 2 at=put size=34832 born=84 grows=9 inferred=True birth=put
//! TRUTH lineage 3 at=put size=69648 born=84 grows=10 inferred=True birth=put
//! TRUTH lineage 3 at=add_name size=6416 born=116 grows=6 inferred=True birth=add_name
//! TRUTH lineage 3 at=push_heap size=32768 born=32 grows=10 ratio=2 inferred=False birth=push_heap
//! TRUTH lineage 3 at=publish size=32768 born=64 grows=9 ratio=2 inferred=True birth=publish
//! TRUTH lineage 3 at=take_turns size=16384 born=32 grows=9 ratio=2 blocks=2 inferred=False birth=take_turns
//! TRUTH lineage 3 at=replace blocks=0
//! TRUTH rate 2 3 count=2000 at=push_row blocks=0.500 bytes=28.4
//! TRUTH exit code=0
include!("mark.rs");
use std::collections::{BinaryHeap, HashMap, HashSet};

#[derive(Default)]
struct Data {
    map: HashMap<u64, u64>,
    names: HashSet<String>,
    heap: BinaryHeap<u64>,
    rows: Vec<Vec<u8>>,
    list: Vec<u64>,
    front: Vec<u64>,
    back: Vec<u64>,
    config: Option<Box<[u8]>>,
    sum: u64,
}

#[inline(never)]
fn put(d: &mut Data, key: u64) {
    d.sum += d.map.insert(key, key).unwrap_or(0);
}

#[inline(never)]
fn add_name(d: &mut Data, n: u64) {
    d.sum += d.names.insert(format!("name {n}")) as u64;
}

#[inline(never)]
fn push_heap(d: &mut Data, n: u64) {
    d.heap.push(n.wrapping_mul(7919) % 1_000_003);
    d.sum += d.heap.len() as u64;
}

#[inline(never)]
fn push_row(d: &mut Data, n: u64) {
    d.rows.push(vec![n as u8; 20]);
    d.sum += d.rows.len() as u64;
}

#[inline(never)]
fn publish(d: &mut Data, n: u64) {
    if d.list.len() == d.list.capacity() {
        let mut larger = Vec::with_capacity((2 * d.list.len()).max(8));
        larger.extend_from_slice(&d.list);
        d.list = larger;
    }
    d.list.push(n * 0x9e37_79b9_7f4a_7c15 % 1_000_003 + 1);
}

#[inline(never)]
fn take_turns(d: &mut Data, n: u64) {
    d.back.push(n);
    std::mem::swap(&mut d.front, &mut d.back);
}

#[inline(never)]
fn replace(d: &mut Data, n: u64) {
    d.config = Some(vec![n as u8; 100 + (n % 300) as usize].into_boxed_slice());
}

#[inline(never)]
fn rounds(d: &mut Data, from: u64, to: u64) {
    for n in from..to {
        put(d, n);
        if n < 200 {
            add_name(d, n);
        }
        if n % 2 == 0 {
            push_row(d, n);
        }
        push_heap(d, n);
        publish(d, n);
        take_turns(d, n);
        replace(d, n);
    }
}

fn main() {
    let mut d = Data::default();
    for (mark, from, to) in marks::opaque(vec![(1, 0, 3), (2, 3, 1000), (3, 1000, 3000)]) {
        rounds(&mut d, from, to);
        marks::say("OPS", to);
        marks::mark(mark);
    }
    let left = d.rows.len() + d.list.len() + d.front.len() + d.config.map_or(0, |c| c.len());
    marks::say("LEFT", d.sum % 2 + left as u64);
}
