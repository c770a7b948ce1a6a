// SPDX-License-Identifier: MIT
//! rust_types - keeps containers of many types and tells what each block is.
//!
//! At MARK 1 it prints a line "BLOCK address class" for each, the address somewhere in the block:
//! of an element, a node, a boxed value.
include!("mark.rs");
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

#[allow(dead_code)]
#[derive(Clone, Default)]
pub struct Job {
    id: u64,
    text: [u8; 24],
}

pub trait Shape {
    fn area(&self) -> f64;
}
pub struct Circle {
    r: [f64; 5],
}
impl Shape for Circle {
    fn area(&self) -> f64 {
        self.r[0]
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

#[derive(Default)]
struct Everything {
    rows: Vec<Vec<u32>>,
    jobs: Vec<Job>,
    texts: Vec<String>,
    queue: VecDeque<Job>,
    heap: BinaryHeap<u64>,
    by_number: HashMap<u64, Job>,
    by_name: HashMap<String, u32>,
    names: HashSet<u64>,
    sorted: BTreeMap<u64, Job>,
    set: BTreeSet<u64>,
    list: LinkedList<Job>,
    shapes: Vec<Box<dyn Shape>>,
    shared: Vec<Rc<RefCell<Job>>>,
    locked: Vec<Arc<Mutex<Job>>>,
    boxes: Vec<Box<Job>>,
    slices: Vec<Box<[u16]>>,
    bytes: Vec<Vec<u8>>,
    longs: Vec<Vec<i64>>,
    reals: Vec<Vec<f64>>,
    groups: Vec<Vec<Job>>,
    words: Vec<Vec<String>>,
    options: Vec<Vec<Option<Box<u32>>>>,
    planned: HashMap<u32, f64>,
}

#[inline(never)]
fn make_vectors(all: &mut Everything, told: &mut Told) {
    for i in 0..200usize {
        let mut row = Vec::new();
        for k in 0..(10 + i) as u32 {
            row.push(k);
        }
        all.rows.push(row);
        all.jobs.push(Job { id: i as u64, text: [0; 24] });
        all.texts.push(long_text(i));
        all.queue.push_back(Job::default());
        all.heap.push(i as u64);
        let mut reserved: Vec<u32> = Vec::with_capacity(64 + i);
        reserved.push(1);
        all.rows.push(reserved);
        all.rows.push((0..20 + i as u32).filter(|n| n % 2 == 0).collect());
        all.rows.push(vec![7; 33]);
        let copy = all.texts[i].clone();
        all.texts.push(copy);
        all.slices.push(vec![1u16; 20].into_boxed_slice());
    }
    for row in &all.rows {
        told.tell(row.as_ptr(), "Vec<u32>");
    }
    for text in &all.texts {
        told.tell(text.as_ptr(), "String");
    }
    for slice in &all.slices {
        told.tell(slice.as_ptr(), "Vec<u16>");
    }
    told.tell(all.rows.as_ptr(), "Vec<Vec<u32>>");
    told.tell(all.jobs.as_ptr(), "Vec<rust_types::Job>");
    told.tell(&all.queue[0], "VecDeque<rust_types::Job>");
    told.tell(all.heap.iter().next().unwrap(), "BinaryHeap<u64>");
}

// Vectors and texts that are made in other ways than element by element.
#[inline(never)]
fn make_copies(all: &mut Everything, told: &mut Told) {
    for i in 0..50usize {
        all.bytes.push(vec![0; 100 + i]);
        all.bytes.push(vec![7; 100 + i]);
        all.bytes.push(all.texts[i].as_bytes().to_vec());
        all.bytes.push([&all.bytes[0][..], &all.bytes[1][..]].concat());
        let mut more = Vec::new();
        more.extend_from_slice(&all.bytes[i]);
        all.bytes.push(more);
        all.longs.push(vec![0; 10 + i]);
        all.longs.push(vec![-1; 10 + i]);
        all.longs.push((0..30).map(|n| n * 2).collect());
        all.reals.push(vec![0.0; 20]);
        all.reals.push(vec![1.5; 20]);
        all.groups.push(vec![Job::default(); 5 + i]);
        all.groups.push(all.groups[0].clone());
        all.words.push(vec![String::new(); 6]);
        all.words.push((0..9).map(|_| String::new()).collect());
        all.options.push(vec![None; 12]);
        let upper = all.texts[i].to_uppercase();
        all.texts.push(upper);
        let joined = [&all.texts[i][..], "and", &all.texts[i + 1][..]].join(" ");
        all.texts.push(joined);
        all.texts.push(String::from("a text that was literal"));
        all.texts.push("another one of these".to_string());
        all.texts.push(all.texts[i].chars().rev().collect());
    }
    all.planned.reserve(300);
    all.planned.insert(1, 1.0);
    for b in &all.bytes {
        told.tell(b.as_ptr(), "Vec<u8>");
    }
    for l in &all.longs {
        told.tell(l.as_ptr(), "Vec<i64>");
    }
    for r in &all.reals {
        told.tell(r.as_ptr(), "Vec<f64>");
    }
    for g in &all.groups {
        told.tell(g.as_ptr(), "Vec<rust_types::Job>");
    }
    for w in &all.words {
        told.tell(w.as_ptr(), "Vec<String>");
    }
    for o in &all.options {
        told.tell(o.as_ptr(), "Vec<Option<Box<u32>>>");
    }
    for text in all.texts.iter().skip(400) {
        told.tell(text.as_ptr(), "String");
    }
    told.tell(all.texts.as_ptr(), "Vec<String>");
    told.tell(&all.planned[&1], "HashMap<u32, f64>");
}

#[inline(never)]
fn make_maps(all: &mut Everything, told: &mut Told) {
    for i in 0..200u64 {
        all.by_number.insert(i, Job::default());
        all.by_name.insert(long_text(i as usize), 1);
        all.names.insert(i);
        all.sorted.insert(i, Job::default());
        all.set.insert(i);
    }
    // one block each: all of its elements lie in it
    for job in all.by_number.values() {
        told.tell(job, "HashMap<u64, rust_types::Job>");
    }
    for (name, n) in &all.by_name {
        told.tell(n, "HashMap<String, u32>");
        told.tell(name.as_ptr(), "String");
    }
    for n in &all.names {
        told.tell(n, "HashSet<u64>");
    }
    for job in all.sorted.values() {
        told.tell(job, "BTreeMap<u64, rust_types::Job>");
    }
    for n in &all.set {
        told.tell(n, "BTreeSet<u64>");
    }
}

#[inline(never)]
fn make_pointers(all: &mut Everything, told: &mut Told) {
    for _ in 0..200 {
        all.list.push_back(Job::default());
        told.tell(all.list.back().unwrap(), "LinkedList<rust_types::Job>");
        all.shapes.push(Box::new(Circle { r: [1.0; 5] }));
        told.tell(&**all.shapes.last().unwrap(), "Box<rust_types::Circle>");
        all.shared.push(Rc::new(RefCell::new(Job::default())));
        told.tell(Rc::as_ptr(all.shared.last().unwrap()), "Rc<RefCell<rust_types::Job>>");
        all.locked.push(Arc::new(Mutex::new(Job::default())));
        told.tell(Arc::as_ptr(all.locked.last().unwrap()), "Arc<Mutex<rust_types::Job>>");
        all.boxes.push(Box::new(Job::default()));
        told.tell(&**all.boxes.last().unwrap(), "Box<rust_types::Job>");
    }
    told.tell(all.shapes.as_ptr(), "Vec<Box<dyn rust_types::Shape>>");
    told.tell(all.shared.as_ptr(), "Vec<Rc<RefCell<rust_types::Job>>>");
}

fn main() {
    let mut told = Told { lines: Vec::new() };
    let mut all = Everything::default();
    make_vectors(&mut all, &mut told);
    make_copies(&mut all, &mut told);
    make_maps(&mut all, &mut told);
    make_pointers(&mut all, &mut told);
    let mut sum = 0.0;
    for shape in &all.shapes {
        sum += shape.area();
    }
    for (address, what) in &told.lines {
        println!("BLOCK {:#x} {}", address, what);
    }
    marks::mark(1);
    marks::say("SUM", sum as u64 + all.heap.len() as u64);
}
