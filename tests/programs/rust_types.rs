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
    told.tell(all.texts.as_ptr(), "Vec<String>");
    told.tell(&all.queue[0], "VecDeque<rust_types::Job>");
    told.tell(all.heap.iter().next().unwrap(), "BinaryHeap<u64>");
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
