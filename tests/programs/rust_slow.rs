// SPDX-License-Identifier: MIT
//! rust_slow - collections of Rust's standard library that grow slowly, among much that does not.
//!
//! 7000 requests from mark to mark. Each makes a reply of 1 to 4 KiB and drops it, and puts a job
//! into a queue and takes one out. Every seventh leaves a tag of 24 bytes in a Vec<Box<str>>
//! (retain); every 35th a Job in a VecDeque that nobody serves (defer, 32 bytes each, from 64 up);
//! every 70th an entry in a HashMap<u64, [u64; 3]> (remember, 32 bytes and a control byte a
//! bucket); every 140th one in a BTreeMap<u64, u64>, whose leaves of 11 are filled by 7 once there
//! is more than one (mark_time: leaves of 192 bytes, inner nodes of 288); and the log gets a byte
//! each 10 requests.
//!
//! TRUTH rate 2 3 count=7000 at=retain blocks=0.143 bytes=5.8
//! TRUTH grow 2 3 at=retain blocks=1000 bytes=40384
//! TRUTH lineage 3 at=retain size=32768 born=64 grows=9 ratio=2 inferred=False birth=retain
//! TRUTH grow 2 3 at=defer blocks=0 bytes=8192
//! TRUTH lineage 3 at=defer size=16384 born=2048|4096 grows=3|2 ratio=2 inferred=False birth=main first=1..2 latest=2..3
//! TRUTH grow 2 3 at=remember blocks=0 bytes=4224
//! TRUTH grow 2 3 at=mark_time blocks=9 bytes=1920
//! TRUTH grow 2 3 at=write_log blocks=0 bytes=1024
//! TRUTH lineage 3 at=write_log size=2048 born=8 grows=8 ratio=2 inferred=False birth=write_log
//! TRUTH flat 1 3 at=reply
//! TRUTH flat 2 3 at=enqueue
//! TRUTH only 2 3
//! TRUTH exit code=0
include!("mark.rs");
use std::collections::{BTreeMap, HashMap, VecDeque};

struct Job {
    id: u64,
    _payload: [u64; 3],
}

struct Server {
    tags: Vec<Box<str>>,
    deferred: VecDeque<Job>,
    known: HashMap<u64, [u64; 3]>,
    times: BTreeMap<u64, u64>,
    log: String,
    queue: VecDeque<Vec<u8>>,
    sum: u64,
}

#[inline(never)]
fn reply(s: &mut Server, n: u64) {
    let text = vec![n as u8; 1024 + (n % 3072) as usize];
    s.sum += text[(n % 1024) as usize] as u64;
    marks::opaque(&text);
}

#[inline(never)]
fn enqueue(s: &mut Server, n: u64) {
    s.queue.push_back(vec![1; 100]);
    if s.queue.len() > 20 {
        s.sum += s.queue.pop_front().map_or(0, |job| job[(n % 100) as usize] as u64);
    }
}

#[inline(never)]
fn retain(s: &mut Server, n: u64) {
    s.tags.push(format!("{n:024}").into_boxed_str());
}

#[inline(never)]
fn defer(s: &mut Server, n: u64) {
    s.deferred.push_back(Job { id: n, _payload: [n; 3] });
}

#[inline(never)]
fn remember(s: &mut Server, n: u64) {
    s.known.insert(n, [n; 3]);
}

#[inline(never)]
fn mark_time(s: &mut Server, n: u64) {
    s.sum += s.times.insert(n, n).unwrap_or(0); // and so no tail call
}

#[inline(never)]
fn write_log(s: &mut Server) {
    s.log.push('.');
}

fn serve(s: &mut Server, from: u64) {
    for n in from..from + 7000 {
        reply(s, n);
        enqueue(s, n);
        if n % 7 == 0 {
            retain(s, n);
        }
        if n % 35 == 0 {
            defer(s, n);
        }
        if n % 70 == 0 {
            remember(s, n);
        }
        if n % 140 == 0 {
            mark_time(s, n);
        }
        if n % 10 == 0 {
            write_log(s);
        }
    }
    marks::say("OPS", 7000);
}

fn main() {
    let mut s = Server {
        tags: Vec::new(),
        deferred: VecDeque::with_capacity(64),
        known: HashMap::new(),
        times: BTreeMap::new(),
        log: String::new(),
        queue: VecDeque::with_capacity(32),
        sum: 0,
    };
    marks::mark(1);
    serve(&mut s, 0);
    marks::mark(2);
    serve(&mut s, 7000);
    marks::mark(3);
    let left = s.tags.len() + s.known.len() + s.times.len() + s.log.len();
    marks::say("LEFT", left as u64 + s.sum % 2 + s.deferred.iter().map(|j| j.id % 2).sum::<u64>());
}
