// SPDX-License-Identifier: MIT
//! rust_services - keeps what one finds in services and tells what each block is.
//!
//! At MARK 1 it prints a line "BLOCK address class" for each, as rust_types does: maps of maps, trees,
//! trait objects, futures, shared and weak pointers, closures, channels.
include!("mark.rs");
use std::any::Any;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, RwLock};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    a: u32,
    b: u64,
}
#[allow(dead_code)]
#[derive(Clone, Default)]
pub struct Session {
    id: u64,
    peer: String,
    data: [u64; 5],
}
pub enum Shape {
    Circle(f64),
    Poly(Vec<(f64, f64)>),
    Named(String),
}
pub mod net {
    #[derive(Clone, Default)]
    pub struct Packet {
        pub id: u32,
        pub body: Vec<u8>,
    }
    pub trait Handler {
        fn handle(&mut self, p: &Packet) -> usize;
    }
    pub struct Counter {
        pub n: [usize; 6],
    }
    impl Handler for Counter {
        fn handle(&mut self, p: &Packet) -> usize {
            self.n[0] += p.body.len();
            self.n[0]
        }
    }
    pub struct Generic<T> {
        pub t: T,
        pub pad: [u64; 4],
    }
    impl<T> Handler for Generic<T> {
        fn handle(&mut self, p: &Packet) -> usize {
            p.id as usize
        }
    }
}
pub struct Tree {
    value: u64,
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
}
pub struct Parent {
    children: RefCell<Vec<Rc<Child>>>,
    name: String,
}
pub struct Child {
    parent: RefCell<Weak<Parent>>,
    n: Cell<u64>,
}
// Uses a value, so that it is not optimised away.
fn keep(n: usize) {
    if n == usize::MAX {
        marks::say("KEEP", 1);
    }
}
struct Told {
    lines: Vec<(usize, &'static str)>,
}
impl Told {
    fn tell<T: ?Sized>(&mut self, address: *const T, what: &'static str) {
        self.lines.push((address as *const u8 as usize, what));
    }
}
fn long_text(i: usize) -> String {
    format!("a text of some length, number {}", i)
}
fn insert(t: &mut Option<Box<Tree>>, v: u64, told: &mut Told) {
    match t {
        None => {
            *t = Some(Box::new(Tree {
                value: v,
                left: None,
                right: None,
            }));
            told.tell(&**t.as_ref().unwrap(), "Box<rust_services::Tree>");
        }
        Some(n) => {
            if v < n.value {
                insert(&mut n.left, v, told)
            } else {
                insert(&mut n.right, v, told)
            }
        }
    }
}
#[inline(never)]
fn maps(told: &mut Told) {
    let mut nested: HashMap<String, HashMap<u32, Vec<String>>> = HashMap::new();
    let mut tree: BTreeMap<Key, Vec<Key>> = BTreeMap::new();
    let mut groups: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let mut seen: HashSet<Key> = HashSet::new();
    let mut words: HashSet<String> = HashSet::new();
    let mut sessions: HashMap<u64, Box<Session>> = HashMap::new();
    let mut shared: HashMap<String, Arc<RwLock<Session>>> = HashMap::new();
    let mut cache: HashMap<(u32, u32), Option<String>> = HashMap::new();
    for i in 0..300usize {
        nested
            .entry(long_text(i % 10))
            .or_default()
            .entry(i as u32 % 7)
            .or_default()
            .push(long_text(i));
        let key = Key {
            a: i as u32 % 50,
            b: i as u64,
        };
        tree.entry(key.clone())
            .or_insert_with(Vec::new)
            .push(key.clone());
        groups
            .entry(long_text(i % 20))
            .or_default()
            .insert(i as u32);
        seen.insert(key);
        words.insert(long_text(i));
        sessions.insert(
            i as u64,
            Box::new(Session {
                id: i as u64,
                peer: long_text(i),
                data: [0; 5],
            }),
        );
        shared.insert(long_text(i), Arc::new(RwLock::new(Session::default())));
        cache.insert((i as u32, 1), Some(long_text(i)));
    }
    for (k, v) in &nested {
        told.tell(k.as_ptr(), "String");
        told.tell(v, "HashMap<String, HashMap<u32, Vec<String>>>");
        for (_, list) in v {
            told.tell(list, "HashMap<u32, Vec<String>>");
            told.tell(list.as_ptr(), "Vec<String>");
            for t in list {
                told.tell(t.as_ptr(), "String");
            }
        }
    }
    for (_, v) in &tree {
        told.tell(v, "BTreeMap<rust_services::Key, Vec<rust_services::Key>>");
        told.tell(v.as_ptr(), "Vec<rust_services::Key>");
    }
    for (k, v) in &groups {
        told.tell(k.as_ptr(), "String");
        told.tell(v, "BTreeMap<String, BTreeSet<u32>>");
        for n in v {
            told.tell(n, "BTreeSet<u32>");
        }
    }
    for k in &seen {
        told.tell(k, "HashSet<rust_services::Key>");
    }
    for k in &words {
        told.tell(k, "HashSet<String>");
        told.tell(k.as_ptr(), "String");
    }
    for (_, s) in &sessions {
        told.tell(s, "HashMap<u64, Box<rust_services::Session>>");
        told.tell(&**s, "Box<rust_services::Session>");
        told.tell(s.peer.as_ptr(), "String");
    }
    for (k, s) in &shared {
        told.tell(k.as_ptr(), "String");
        told.tell(s, "HashMap<String, Arc<RwLock<rust_services::Session>>>");
        told.tell(Arc::as_ptr(s), "Arc<RwLock<rust_services::Session>>");
    }
    for (_, v) in &cache {
        told.tell(v, "HashMap<(u32, u32), Option<String>>");
        told.tell(v.as_ref().unwrap().as_ptr(), "String");
    }
    std::mem::forget((nested, tree, groups, seen, words, sessions, shared, cache));
}
#[inline(never)]
fn vectors(told: &mut Told) {
    let mut cube: Vec<Vec<Vec<f32>>> = Vec::new();
    let mut pairs: Vec<(u32, String)> = Vec::new();
    let mut shapes: Vec<Shape> = Vec::new();
    let mut options: Vec<Option<Box<Session>>> = Vec::new();
    let mut results: Vec<Result<String, u32>> = Vec::new();
    let mut packets: VecDeque<net::Packet> = VecDeque::new();
    let mut strs: Vec<&'static str> = Vec::new();
    let mut cows: Vec<Cow<'static, str>> = Vec::new();
    let mut refs: Vec<Rc<Session>> = Vec::new();
    let mut heap: BinaryHeap<(u64, Key)> = BinaryHeap::new();
    let mut arrays: Vec<[u8; 16]> = Vec::new();
    let mut units: Vec<Vec<char>> = Vec::new();
    let mut fns: Vec<Box<dyn Fn(u64) -> u64>> = Vec::new();
    for i in 0..120usize {
        cube.push(vec![vec![1.0f32; 5 + i]; 4]);
        pairs.push((1, long_text(i)));
        shapes.push(if i % 3 == 0 {
            Shape::Circle(1.0)
        } else if i % 3 == 1 {
            Shape::Poly(vec![(1.0, 2.0); 5])
        } else {
            Shape::Named(long_text(i))
        });
        options.push(if i % 2 == 0 {
            None
        } else {
            Some(Box::default())
        });
        results.push(if i % 2 == 0 { Ok(long_text(i)) } else { Err(1) });
        packets.push_back(net::Packet {
            id: 1,
            body: vec![1; 50 + i],
        });
        strs.push("x");
        cows.push(Cow::Owned(long_text(i).repeat(2)));
        refs.push(Rc::new(Session {
            id: 1,
            peer: "peer ".repeat(5),
            data: [0; 5],
        }));
        heap.push((i as u64, Key::default()));
        arrays.push([1; 16]);
        units.push(long_text(i).chars().collect());
        let k = [i as u64; 5];
        fns.push(Box::new(move |x| x + k[0] + k[4]));
    }
    for plane in &cube {
        told.tell(plane.as_ptr(), "Vec<Vec<f32>>");
        for row in plane {
            told.tell(row.as_ptr(), "Vec<f32>");
        }
    }
    told.tell(cube.as_ptr(), "Vec<Vec<Vec<f32>>>");
    for p in &pairs {
        told.tell(p.1.as_ptr(), "String");
    }
    told.tell(pairs.as_ptr(), "Vec<(u32, String)>");
    for s in &shapes {
        match s {
            Shape::Poly(v) => told.tell(v.as_ptr(), "Vec<(f64, f64)>"),
            Shape::Named(n) => told.tell(n.as_ptr(), "String"),
            Shape::Circle(r) => {
                keep(*r as usize);
            }
        }
    }
    told.tell(shapes.as_ptr(), "Vec<rust_services::Shape>");
    for o in options.iter().flatten() {
        told.tell(&**o, "Box<rust_services::Session>");
    }
    told.tell(options.as_ptr(), "Vec<Option<Box<rust_services::Session>>>");
    for r in results.iter().flatten() {
        told.tell(r.as_ptr(), "String");
    }
    told.tell(results.as_ptr(), "Vec<Result<String, u32>>");
    for p in &packets {
        told.tell(p.body.as_ptr(), "Vec<u8>");
    }
    told.tell(&packets[0], "VecDeque<rust_services::net::Packet>");
    told.tell(strs.as_ptr(), "Vec<&str>");
    for c in &cows {
        told.tell(c.as_ptr(), "String");
    }
    told.tell(cows.as_ptr(), "Vec<Cow<str>>");
    for r in &refs {
        told.tell(Rc::as_ptr(r), "Rc<rust_services::Session>");
        told.tell(r.peer.as_ptr(), "String");
    }
    told.tell(refs.as_ptr(), "Vec<Rc<rust_services::Session>>");
    told.tell(
        heap.peek().unwrap(),
        "BinaryHeap<(u64, rust_services::Key)>",
    );
    told.tell(arrays.as_ptr(), "Vec<[u8; 16]>");
    for u in &units {
        told.tell(u.as_ptr(), "Vec<char>");
    }
    told.tell(fns.as_ptr(), "Vec<Box<dyn Fn(u64) -> u64>>");
    let sliced: Box<[u32]> = (0..100u32).collect::<Vec<_>>().into_boxed_slice();
    told.tell(sliced.as_ptr(), "Vec<u32>");
    let sorted = {
        let mut v: Vec<u64> = (0..500).rev().collect();
        v.sort();
        v.dedup();
        v.shrink_to_fit();
        v
    };
    told.tell(sorted.as_ptr(), "Vec<u64>");
    let (even, odd): (Vec<u64>, Vec<u64>) = sorted.iter().partition(|n| *n % 2 == 0);
    told.tell(even.as_ptr(), "Vec<u64>");
    told.tell(odd.as_ptr(), "Vec<u64>");
    let split: Vec<String> = "one two three four five six"
        .split(' ')
        .map(|s| s.to_string())
        .collect();
    told.tell(split.as_ptr(), "Vec<String>");
    for s in &split {
        told.tell(s.as_ptr(), "String");
    }
    let zipped: Vec<(u64, String)> = even.iter().copied().zip(split.iter().cloned()).collect();
    told.tell(zipped.as_ptr(), "Vec<(u64, String)>");
    let mut drained = sorted.clone();
    drained.drain(..10);
    told.tell(drained.as_ptr(), "Vec<u64>");
    let tail = drained.split_off(100);
    told.tell(tail.as_ptr(), "Vec<u64>");
    let chunks: Vec<Vec<u64>> = sorted.chunks(50).map(|c| c.to_vec()).collect();
    told.tell(chunks.as_ptr(), "Vec<Vec<u64>>");
    for c in &chunks {
        told.tell(c.as_ptr(), "Vec<u64>");
    }
    let flat: Vec<u64> = chunks.iter().flatten().copied().collect();
    told.tell(flat.as_ptr(), "Vec<u64>");
    std::mem::forget((
        cube, pairs, shapes, options, results, packets, strs, cows, refs, heap,
    ));
    std::mem::forget((
        arrays, units, fns, sliced, sorted, even, odd, split, zipped, drained,
    ));
    std::mem::forget((tail, chunks, flat));
}
async fn step(n: u64) -> u64 {
    let text = long_text(n as usize);
    std::future::ready(()).await;
    text.len() as u64
}
#[inline(never)]
fn pointers(told: &mut Told) {
    let mut root = None;
    for i in 0..200u64 {
        insert(&mut root, i * 7919 % 211, told);
    }
    std::mem::forget(root);
    let parent = Rc::new(Parent {
        children: RefCell::new(vec![]),
        name: long_text(1),
    });
    told.tell(Rc::as_ptr(&parent), "Rc<rust_services::Parent>");
    told.tell(parent.name.as_ptr(), "String");
    for i in 0..100u64 {
        let child = Rc::new(Child {
            parent: RefCell::new(Weak::new()),
            n: Cell::new(i),
        });
        *child.parent.borrow_mut() = Rc::downgrade(&parent);
        told.tell(Rc::as_ptr(&child), "Rc<rust_services::Child>");
        keep(child.n.get() as usize);
        parent.children.borrow_mut().push(child);
    }
    told.tell(
        parent.children.borrow().as_ptr(),
        "Vec<Rc<rust_services::Child>>",
    );
    std::mem::forget(parent);
    let mut handlers: Vec<Box<dyn net::Handler>> = Vec::new();
    let mut shared: Vec<Arc<dyn net::Handler>> = Vec::new();
    let mut anys: Vec<Box<dyn Any>> = Vec::new();
    let mut futures: Vec<Pin<Box<dyn Future<Output = u64>>>> = Vec::new();
    let mut errors: Vec<Box<dyn std::error::Error>> = Vec::new();
    let mut names: Vec<Arc<str>> = Vec::new();
    let mut locked: Vec<Arc<Mutex<HashMap<u64, u64>>>> = Vec::new();
    for i in 0..60u64 {
        handlers.push(Box::new(net::Counter { n: [0; 6] }));
        told.tell(
            &**handlers.last().unwrap(),
            "Box<rust_services::net::Counter>",
        );
        handlers.push(Box::new(net::Generic {
            t: 1u16,
            pad: [0; 4],
        }));
        told.tell(
            &**handlers.last().unwrap(),
            "Box<rust_services::net::Generic<u16>>",
        );
        shared.push(Arc::new(net::Counter { n: [0; 6] }));
        told.tell(
            &**shared.last().unwrap(),
            "Arc<rust_services::net::Counter>",
        );
        anys.push(Box::new(Key::default()));
        told.tell(&**anys.last().unwrap(), "Box<rust_services::Key>");
        futures.push(Box::pin(step(i)));
        told.tell(
            &**futures.last().unwrap(),
            "Box<rust_services::step::{async_fn_env#0}>",
        );
        errors.push(long_text(i as usize).into());
        names.push(Arc::from(long_text(i as usize)));
        told.tell(names.last().unwrap().as_ptr(), "Arc<str>");
        let mut m = HashMap::new();
        m.insert(i, i);
        locked.push(Arc::new(Mutex::new(m)));
        told.tell(
            Arc::as_ptr(locked.last().unwrap()),
            "Arc<Mutex<HashMap<u64, u64>>>",
        );
    }
    let mut sum = 0;
    for h in handlers.iter_mut() {
        sum += h.handle(&net::Packet::default());
    }
    keep(sum);
    told.tell(
        handlers.as_ptr(),
        "Vec<Box<dyn rust_services::net::Handler>>",
    );
    told.tell(anys.as_ptr(), "Vec<Box<dyn Any>>");
    told.tell(names.as_ptr(), "Vec<Arc<str>>");
    let (tx, rx) = mpsc::channel::<net::Packet>();
    for i in 0..100 {
        tx.send(net::Packet {
            id: i,
            body: vec![0; 30],
        })
        .unwrap();
    }
    let (stx, srx) = mpsc::sync_channel::<String>(50);
    for i in 0..40 {
        stx.send(long_text(i)).unwrap();
    }
    std::mem::forget((
        handlers, shared, anys, futures, errors, names, locked, tx, rx,
    ));
    std::mem::forget((stx, srx));
}
#[inline(never)]
fn dynamic(told: &mut Told) {
    let mut sent: Vec<Box<dyn net::Handler + Send + Sync>> = Vec::new();
    let mut calls: HashMap<String, Box<dyn Fn(&str) -> bool + Send>> = HashMap::new();
    let mut jobs: VecDeque<Box<dyn FnOnce() + Send>> = VecDeque::new();
    let mut arcs: Vec<Arc<dyn Fn(u32, String) -> Option<u8> + Send + Sync>> = Vec::new();
    let mut plain: Vec<fn(u64) -> u64> = Vec::new();
    let mut slices: Vec<&'static [u8]> = Vec::new();
    let mut times: Vec<std::time::Duration> = Vec::new();
    let mut locks: Vec<Mutex<VecDeque<Key>>> = Vec::new();
    let mut grid: Vec<[[Option<Key>; 2]; 3]> = Vec::new();
    let mut texts: Vec<[String; 2]> = Vec::new();
    let mut rcs: Vec<Rc<str>> = Vec::new();
    for i in 0..50usize {
        sent.push(Box::new(net::Counter { n: [0; 6] }));
        told.tell(&**sent.last().unwrap(), "Box<rust_services::net::Counter>");
        let k = long_text(i);
        calls.insert(long_text(i), Box::new(move |s| s == k));
        let n = [i; 6];
        jobs.push_back(Box::new(move || keep(n[1])));
        arcs.push(Arc::new(
            |n, s| if s.len() == n as usize { Some(1) } else { None },
        ));
        plain.push(|x| x + 1);
        slices.push(b"abc");
        times.push(std::time::Duration::from_secs(1));
        let mut queue = VecDeque::with_capacity(10);
        queue.push_back(Key::default());
        told.tell(&queue[0], "VecDeque<rust_services::Key>");
        locks.push(Mutex::new(queue));
        grid.push(Default::default());
        texts.push([long_text(i), long_text(i)]);
        rcs.push(Rc::from("a short text"));
        told.tell(rcs.last().unwrap().as_ptr(), "Rc<str>");
    }
    told.tell(
        sent.as_ptr(),
        "Vec<Box<dyn rust_services::net::Handler + Send + Sync>>",
    );
    told.tell(
        calls.values().next().unwrap(),
        "HashMap<String, Box<dyn Fn(&str) -> bool + Send>>",
    );
    told.tell(&jobs[0], "VecDeque<Box<dyn FnOnce() + Send>>");
    told.tell(
        arcs.as_ptr(),
        "Vec<Arc<dyn Fn(u32, String) -> Option<u8> + Send + Sync>>",
    );
    told.tell(plain.as_ptr(), "Vec<fn(u64) -> u64>");
    told.tell(slices.as_ptr(), "Vec<&[u8]>");
    told.tell(times.as_ptr(), "Vec<Duration>");
    told.tell(locks.as_ptr(), "Vec<Mutex<VecDeque<rust_services::Key>>>");
    told.tell(grid.as_ptr(), "Vec<[[Option<rust_services::Key>; 2]; 3]>");
    told.tell(texts.as_ptr(), "Vec<[String; 2]>");
    std::mem::forget((
        sent, calls, jobs, arcs, plain, slices, times, locks, grid, texts, rcs,
    ));
}
/// Short ways to make things, whose frames are few.
#[inline(never)]
fn literals(told: &mut Told) {
    for i in 0..40u32 {
        let numbers = vec![i, 2, 3, 4];
        told.tell(numbers.as_ptr(), "Vec<u32>");
        let texts = vec![long_text(1), long_text(2)];
        told.tell(texts.as_ptr(), "Vec<String>");
        let array = Box::new([i, 2, 3]);
        told.tell(&*array, "Box<[u32; 3]>");
        let default: Box<[u64; 4]> = Box::default();
        told.tell(&*default, "Box<[u64; 4]>");
        let slice: Box<[u16]> = Box::from(&[1u16, 2, 3][..]);
        told.tell(slice.as_ptr(), "Box<[u16]>");
        let text: Box<str> = Box::from("a short text");
        told.tell(text.as_ptr(), "Box<str>");
        let from = Vec::from([i; 5]);
        told.tell(from.as_ptr(), "Vec<u32>");
        let queue: VecDeque<u8> = (0..30).collect();
        told.tell(&queue[0], "VecDeque<u8>");
        std::mem::forget((numbers, texts, array, default, slice, text, from, queue));
    }
}
#[inline(never)]
fn hashes(told: &mut Told) {
    for i in 0..40u32 {
        let set: HashSet<u32> = (i..i + 9).collect();
        told.tell(set.iter().next().unwrap(), "HashSet<u32>");
        let twin = set.clone();
        told.tell(twin.iter().next().unwrap(), "HashSet<u32>");
        let both: HashSet<u32> = &set | &twin;
        told.tell(both.iter().next().unwrap(), "HashSet<u32>");
        let map: HashMap<u32, u64> = (i..i + 9).map(|n| (n, 1)).collect();
        told.tell(map.keys().next().unwrap(), "HashMap<u32, u64>");
        let copy = map.clone();
        told.tell(copy.keys().next().unwrap(), "HashMap<u32, u64>");
        let mut units: HashMap<u64, ()> = HashMap::new();
        units.insert(1, ());
        told.tell(units.keys().next().unwrap(), "HashMap<u64, ()>");
        std::mem::forget((set, twin, both, map, copy, units));
    }
}
#[inline(never)]
fn strings(told: &mut Told) {
    for i in 0..40usize {
        let mut pushed = String::new();
        pushed.push('x');
        told.tell(pushed.as_ptr(), "String");
        let mut inserted = String::new();
        inserted.insert(0, 'y');
        told.tell(inserted.as_ptr(), "String");
        let mut reserved = String::new();
        reserved.reserve(30 + i);
        told.tell(reserved.as_ptr(), "String");
        let collected: String = long_text(i).chars().rev().collect();
        told.tell(collected.as_ptr(), "String");
        std::mem::forget((pushed, inserted, reserved, collected));
    }
}
fn main() {
    let mut told = Told { lines: Vec::new() };
    maps(&mut told);
    vectors(&mut told);
    pointers(&mut told);
    dynamic(&mut told);
    literals(&mut told);
    hashes(&mut told);
    strings(&mut told);
    for (address, what) in &told.lines {
        println!("BLOCK {:#x} {}", address, what);
    }
    marks::mark(1);
}
