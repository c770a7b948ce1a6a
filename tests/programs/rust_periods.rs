// SPDX-License-Identifier: MIT
//! rust_periods - collections of Rust over 24 periods, a mark after each.
//!
//!   cache     a HashMap<u64, String> and a VecDeque of its keys, at most 200 of them, 30 new ones
//!             a period: it fills in 7 periods and replaces from then on
//!   gather    a Vec<String> that is filled for 4 periods and then made anew
//!   backlog   a VecDeque<u64> that gets 50 a period and gives 28: it doubles
//!   index     a BTreeMap<u64, Box<[u8]>> that gets 5 boxes of 100 bytes a period
//!   forget    a Box of 72 bytes that is forgotten in every second period
//!   journal   a String with room for 70 that gets 100 characters a period: it doubles
//!   render    a Vec<Box<u64>> of 50, all of them new in each period
//!
//! TRUTH trend at=cache shape=plateau|step sure=low grows=False
//! TRUTH trend at=gather shape=noise sure=low grows=False
//! TRUTH trend at=backlog shape=doubling sure=medium|high grows=True factor=2
//! TRUTH trend at=index shape=linear sure=high grows=True first=2
//! TRUTH trend at=forget shape=linear sure=high grows=True first=2
//! TRUTH trend at=journal shape=doubling sure=medium|high grows=True factor=2
//! TRUTH trend at=render shape=noise sure=low grows=False
//! TRUTH suspects 24 some=index,forget none=gather,render,cache
//! TRUTH flat 8 24 at=cache
//! TRUTH flat 8 24 at=gather
//! TRUTH flat 1 24 at=render
//! TRUTH grow 8 24 at=forget blocks=8 bytes=576
//! TRUTH rate 8 24 count=16 at=forget blocks=0.500 bytes=36.0
//! TRUTH lineage 24 at=backlog size=8192 born=32|64 grows=8|7 ratio=2 inferred=False birth=backlog|main
//! TRUTH lineage 24 at=journal size=4480 born=70 grows=6 ratio=2 inferred=False birth=main
//! TRUTH exit code=0
include!("mark.rs");
use std::collections::{BTreeMap, HashMap, VecDeque};

#[derive(Default)]
struct Server {
    cache: HashMap<u64, String>,
    keys: VecDeque<u64>,
    gathered: Vec<String>,
    backlog: VecDeque<u64>,
    index: BTreeMap<u64, Box<[u8]>>,
    journal: String,
    rendered: Vec<Box<u64>>,
}

#[inline(never)]
fn cache(s: &mut Server, period: u64) {
    for key in period * 30..period * 30 + 30 {
        if s.keys.len() == 200 {
            let oldest = s.keys.pop_front().unwrap();
            s.cache.remove(&oldest);
        }
        s.keys.push_back(key);
        s.cache.insert(key, "x".repeat(60));
    }
}

#[inline(never)]
fn gather(s: &mut Server, period: u64) {
    if period % 4 == 1 {
        s.gathered = Vec::new();
    }
    for _ in 0..40 {
        s.gathered.push("y".repeat(90));
    }
}

#[inline(never)]
fn backlog(s: &mut Server) {
    for job in 0..50 {
        s.backlog.push_back(job);
    }
    for _ in 0..28 {
        s.backlog.pop_front();
    }
}

#[inline(never)]
fn index(s: &mut Server, period: u64) {
    for key in period * 5..period * 5 + 5 {
        s.index.insert(key, vec![1; 100].into_boxed_slice());
    }
}

#[inline(never)]
fn forget(period: u64) {
    if period % 2 == 0 {
        std::mem::forget(marks::opaque(Box::new([period; 9])));
    }
}

#[inline(never)]
fn journal(s: &mut Server, period: u64) {
    let line: [u8; 100] = [b'a' + (period % 26) as u8; 100];
    s.journal.push_str(std::str::from_utf8(&line).unwrap());
}

#[inline(never)]
fn render(s: &mut Server, period: u64) {
    s.rendered.clear();
    for _ in 0..50 {
        s.rendered.push(Box::new(period));
    }
}

fn main() {
    // so large that it is never made anew for places that were used
    let mut s = Server { cache: HashMap::with_capacity(400), ..Server::default() };
    s.journal.reserve_exact(70);
    for period in 1..=24 {
        cache(&mut s, period);
        gather(&mut s, period);
        backlog(&mut s);
        index(&mut s, period);
        forget(period);
        journal(&mut s, period);
        render(&mut s, period);
        std::thread::sleep(std::time::Duration::from_millis(60));
        marks::mark(period);
    }
    let left = s.cache.len() + s.gathered.len() + s.backlog.len() + s.index.len();
    marks::say("LEFT", (left + s.journal.len()) as u64 + s.rendered.iter().map(|n| **n).sum::<u64>());
}
