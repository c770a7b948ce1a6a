// SPDX-License-Identifier: MIT
//! rust_routes - a cache, routes of closures, trait objects with clones, constants as arguments, and what
//! iterators collect into.
//!
//! At MARK 1 it prints a line "BLOCK address class" for each block, as rust_services does.
#![allow(dead_code)]
include!("mark.rs");
include!("tell.rs");
use std::any::Any;
use std::cell::RefCell;
use std::collections::*;
use std::fmt::Debug;
use std::rc::*;

mod proto {
    pub mod v1 {
        #[derive(Clone, Debug, Default)]
        pub struct Header {
            pub key: String,
            pub value: Vec<u8>,
        }
        #[derive(Clone, Debug, Default)]
        pub struct Frame<const N: usize> {
            pub data: Vec<[u8; N]>,
            pub n: usize,
        }
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Verb {
            Get,
            Put(u32),
        }
    }
}
use proto::v1::*;
struct Lru<K, V> {
    map: HashMap<K, usize>,
    slots: Vec<Option<Slot<K, V>>>,
    free: Vec<usize>,
    order: VecDeque<usize>,
}
struct Slot<K, V> {
    k: K,
    v: V,
    used: u64,
}
impl<K: Clone + Eq + std::hash::Hash, V> Lru<K, V> {
    fn new() -> Self {
        Lru {
            map: HashMap::with_capacity(64),
            slots: Vec::with_capacity(32),
            free: vec![],
            order: VecDeque::with_capacity(10),
        }
    }
    fn put(&mut self, k: K, v: V) {
        self.map.insert(k.clone(), self.slots.len());
        self.order.push_back(self.slots.len());
        self.slots.push(Some(Slot { k, v, used: 0 }));
        self.free.push(1);
    }
}
type Handler = Box<dyn FnMut(&Header) -> Result<Vec<u8>, Box<dyn std::error::Error>>>;
struct Router {
    routes: BTreeMap<String, Handler>,
    by_verb: HashMap<Verb, Vec<Rc<RefCell<State>>>>,
    ext: HashMap<std::any::TypeId, Box<dyn Any>>,
    hooks: Vec<Box<dyn FnOnce(u8)>>,
    observers: Vec<Weak<RefCell<State>>>,
}
#[derive(Default)]
struct State {
    n: u64,
    recent: Vec<Header>,
    hist: BTreeMap<u64, u64>,
    name: Option<Box<Header>>,
}
trait Shape: Debug {
    fn area(&self) -> f64;
    fn boxed(&self) -> Box<dyn Shape>;
}
#[derive(Debug, Clone)]
struct Sq {
    s: f64,
    pts: Vec<(f64, f64)>,
}
#[derive(Debug, Clone)]
struct Poly<const N: usize> {
    p: [(f64, f64); N],
}
impl Shape for Sq {
    fn area(&self) -> f64 {
        self.s
    }
    fn boxed(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }
}
impl<const N: usize> Shape for Poly<N> {
    fn area(&self) -> f64 {
        self.p[0].0
    }
    fn boxed(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }
}
fn main() {
    let mut l: Lru<String, Frame<16>> = Lru::new();
    for i in 0..120 {
        l.put(
            txt(i),
            Frame {
                data: vec![[0; 16]; 4],
                n: 1,
            },
        );
    }
    let l = keep(l);
    tell(
        l.slots.as_ptr(),
        "Vec<Option<rust_routes::Slot<String, rust_routes::proto::v1::Frame<16>>>>",
    );
    tell(l.free.as_ptr(), "Vec<usize>");
    tell(&l.order[0], "VecDeque<usize>");
    tell(l.map.keys().next().unwrap(), "HashMap<String, usize>");
    for (k, _) in &l.map {
        tell(k.as_ptr(), "String");
    }
    for s in l.slots.iter().flatten() {
        tell(s.k.as_ptr(), "String");
        tell(s.v.data.as_ptr(), "Vec<[u8; 16]>");
    }
    let mut r = Router {
        routes: BTreeMap::new(),
        by_verb: HashMap::new(),
        ext: HashMap::new(),
        hooks: vec![],
        observers: vec![],
    };
    for i in 0..100usize {
        let cap = txt(i);
        let n = [i; 9];
        r.routes.insert(
            txt(i),
            Box::new(move |h| {
                if h.value.is_empty() {
                    return Err(cap.clone().into());
                }
                Ok(vec![n[0] as u8])
            }),
        );
        let st = Rc::new(RefCell::new(State::default()));
        tell(&*st, "Rc<RefCell<rust_routes::State>>");
        {
            let mut s = st.borrow_mut();
            for k in 0..5 {
                s.recent.push(Header {
                    key: txt(k),
                    value: vec![1; 70],
                });
                s.hist.insert(k as u64, 1);
            }
            s.name = Some(Box::default());
            tell(s.recent.as_ptr(), "Vec<rust_routes::proto::v1::Header>");
            for h in &s.recent {
                tell(h.key.as_ptr(), "String");
                tell(h.value.as_ptr(), "Vec<u8>");
            }
            for (k, _) in &s.hist {
                tell(k, "BTreeMap<u64, u64>");
            }
            tell(
                &**s.name.as_ref().unwrap(),
                "Box<rust_routes::proto::v1::Header>",
            );
        }
        r.observers.push(Rc::downgrade(&st));
        r.by_verb
            .entry(if i % 2 == 0 {
                Verb::Get
            } else {
                Verb::Put(i as u32)
            })
            .or_default()
            .push(st);
        let b = txt(i);
        r.hooks.push(Box::new(move |x| drop((x, b))));
    }
    r.ext
        .insert(std::any::TypeId::of::<u8>(), Box::new(State::default()));
    r.ext
        .insert(std::any::TypeId::of::<u16>(), Box::new([1u16; 60]));
    let r = keep(r);
    for (k, _) in &r.routes {
        tell(k.as_ptr(), "String");
    }
    tell(
        r.observers.as_ptr(),
        "Vec<Weak<RefCell<rust_routes::State>>>",
    );
    for (_, v) in &r.by_verb {
        tell(v.as_ptr(), "Vec<Rc<RefCell<rust_routes::State>>>");
    }
    tell(
        r.by_verb.keys().next().unwrap(),
        "HashMap<rust_routes::proto::v1::Verb, Vec<Rc<RefCell<rust_routes::State>>>>",
    );
    tell(r.hooks.as_ptr(), "Vec<Box<dyn FnOnce(u8)>>");
    tell(
        r.ext.keys().next().unwrap(),
        "HashMap<TypeId, Box<dyn Any>>",
    );
    let mut shapes: Vec<Box<dyn Shape>> = Vec::new();
    for i in 0..80 {
        let s = Sq {
            s: i as f64,
            pts: vec![(0.0, 1.0); 7],
        };
        tell(s.pts.as_ptr(), "Vec<(f64, f64)>");
        let a: Box<dyn Shape> = Box::new(s);
        tell(&*a, "Box<rust_routes::Sq>");
        let b = a.boxed();
        tell(&*b, "Box<rust_routes::Sq>");
        shapes.push(a);
        shapes.push(b);
        let c: Box<dyn Shape> = Box::new(Poly::<5> { p: [(0.0, 1.0); 5] });
        tell(&*c, "Box<rust_routes::Poly<5>>");
        shapes.push(c);
    }
    tell(shapes.as_ptr(), "Vec<Box<dyn rust_routes::Shape>>");
    keep(shapes);
    let mut v: Vec<u64> = (0..100).collect();
    v.retain(|x| x % 3 == 0);
    v.shrink_to_fit();
    tell(v.as_ptr(), "Vec<u64>");
    let ch: Vec<Vec<u64>> = v.chunks(5).map(|c| c.to_vec()).collect();
    tell(ch.as_ptr(), "Vec<Vec<u64>>");
    for c in &ch {
        tell(c.as_ptr(), "Vec<u64>");
    }
    let z: Vec<(u64, String)> = v.iter().cloned().zip((0..).map(txt)).collect();
    tell(z.as_ptr(), "Vec<(u64, String)>");
    for (_, s) in &z {
        tell(s.as_ptr(), "String");
    }
    let hm: HashMap<u64, String> = z.iter().cloned().collect();
    tell(hm.keys().next().unwrap(), "HashMap<u64, String>");
    for (_, s) in &hm {
        tell(s.as_ptr(), "String");
    }
    let bt: BTreeSet<u64> = v.iter().copied().collect();
    tell(bt.iter().next().unwrap(), "BTreeSet<u64>");
    let (e, o): (Vec<u64>, Vec<u64>) = v.iter().partition(|x| *x % 2 == 0);
    tell(e.as_ptr(), "Vec<u64>");
    tell(o.as_ptr(), "Vec<u64>");
    let mut so = z.clone();
    so.sort_by(|a, b| b.cmp(a));
    tell(so.as_ptr(), "Vec<(u64, String)>");
    for (_, s) in &so {
        tell(s.as_ptr(), "String");
    }
    let ex = [v.clone(), v.clone()].concat();
    tell(ex.as_ptr(), "Vec<u64>");
    let mut sp = v.clone();
    let tail = sp.split_off(10);
    tell(tail.as_ptr(), "Vec<u64>");
    let dr: Vec<u64> = sp.drain(2..5).collect();
    tell(dr.as_ptr(), "Vec<u64>");
    let bx: Box<[u64]> = v.clone().into();
    tell(bx.as_ptr(), "Vec<u64>");
    let rv: Rc<Vec<u64>> = Rc::new(vec![1; 9]);
    tell(&*rv, "Rc<Vec<u64>>");
    tell(rv.as_ptr(), "Vec<u64>");
    let fm: Vec<u64> = ch.iter().flatten().copied().collect();
    tell(fm.as_ptr(), "Vec<u64>");
    let gr = v
        .iter()
        .fold(BTreeMap::new(), |mut m: BTreeMap<u64, Vec<u64>>, x| {
            m.entry(x % 4).or_default().push(*x);
            m
        });
    for (k, x) in &gr {
        tell(k, "BTreeMap<u64, Vec<u64>>");
        tell(x.as_ptr(), "Vec<u64>");
    }
    let res: Result<Vec<u32>, std::num::ParseIntError> =
        "1 2 3 4 5 6 7".split(' ').map(|x| x.parse()).collect();
    let res = res.unwrap();
    tell(res.as_ptr(), "Vec<u32>");
    let opt: Option<Vec<u64>> = v.iter().map(|x| x.checked_add(1)).collect();
    tell(opt.as_ref().unwrap().as_ptr(), "Vec<u64>");
    keep((v, ch, z, hm, bt, e, o, so));
    keep((ex, sp, tail, dr, bx, rv, fm, gr, res, opt));
    finish();
}
