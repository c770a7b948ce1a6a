// SPDX-License-Identifier: MIT
//! rust_channels - shared tables, weak owners, channels of messages, plugins, threads and what they
//! return.
//!
//! At MARK 1 it prints a line "BLOCK address class" for each block, as rust_services does.
#![allow(dead_code)]
include!("mark.rs");
include!("tell.rs");
use std::collections::*;
use std::sync::atomic::*;
use std::sync::mpsc::*;
use std::sync::*;

struct Shared {
    hits: AtomicU64,
    table: Mutex<HashMap<String, Arc<Entry>>>,
    log: RwLock<Vec<String>>,
    subs: Mutex<Vec<Sender<Msg>>>,
}
struct Entry {
    body: Vec<u8>,
    owner: Weak<Shared>,
    extra: Option<Arc<str>>,
    slices: Arc<[u32]>,
}
enum Msg {
    Text(String),
    Bytes(Box<[u8]>),
    Many(Vec<Msg>),
    Done,
}
trait Plugin: Send + Sync {
    fn run(&self) -> u64;
}
struct A(u64, [u8; 40]);
struct B<T>(T, Vec<T>);
impl Plugin for A {
    fn run(&self) -> u64 {
        self.0
    }
}
impl<T: Send + Sync + Clone> Plugin for B<T> {
    fn run(&self) -> u64 {
        self.1.len() as u64
    }
}
struct Worker {
    name: String,
    handle: Option<std::thread::JoinHandle<Vec<u64>>>,
    stop: Arc<AtomicBool>,
}
fn look(m: &Msg) {
    match m {
        Msg::Text(s) => tell(s.as_ptr(), "String"),
        Msg::Bytes(b) => tell(b.as_ptr(), "Vec<u8>"),
        Msg::Many(v) => {
            tell(v.as_ptr(), "Vec<rust_channels::Msg>");
            for x in v {
                look(x)
            }
        }
        Msg::Done => {}
    }
}
fn main() {
    let s = Arc::new(Shared {
        hits: AtomicU64::new(0),
        table: Mutex::new(HashMap::new()),
        log: RwLock::new(Vec::new()),
        subs: Mutex::new(vec![]),
    });
    tell(&*s, "Arc<rust_channels::Shared>");
    for i in 0..200 {
        let e = Arc::new(Entry {
            body: vec![0; 90 + i],
            owner: Arc::downgrade(&s),
            extra: Some(Arc::from(txt(i).as_str())),
            slices: (0..30u32).collect::<Vec<_>>().into(),
        });
        tell(&*e, "Arc<rust_channels::Entry>");
        tell(e.body.as_ptr(), "Vec<u8>");
        tell(e.extra.as_ref().unwrap().as_ptr(), "Arc<str>");
        tell(e.slices.as_ptr(), "Arc<[u32]>");
        s.table.lock().unwrap().insert(txt(i), e);
        s.log
            .write()
            .unwrap()
            .push(format!("{:>40} {}", i, "line of the log"));
    }
    for (k, v) in s.table.lock().unwrap().iter() {
        tell(k.as_ptr(), "String");
        tell(v, "HashMap<String, Arc<rust_channels::Entry>>");
    }
    for l in s.log.read().unwrap().iter() {
        tell(l.as_ptr(), "String");
    }
    tell(s.log.read().unwrap().as_ptr(), "Vec<String>");
    let mut rx = vec![];
    for _ in 0..6 {
        let (a, b) = channel();
        s.subs.lock().unwrap().push(a);
        rx.push(b);
    }
    let (sa, sb) = sync_channel::<[u64; 5]>(16);
    sa.send([1; 5]).unwrap();
    keep((sa, sb));
    tell(
        s.subs.lock().unwrap().as_ptr(),
        "Vec<Sender<rust_channels::Msg>>",
    );
    for t in s.subs.lock().unwrap().iter() {
        for k in 0..40 {
            // not vec![..]: what older compilers make of it has the elements' type in no frame
            let mut many = Vec::with_capacity(3);
            many.push(Msg::Text(txt(k)));
            many.push(Msg::Bytes(vec![1u8; 50].into_boxed_slice()));
            many.push(Msg::Done);
            let m = Msg::Many(many);
            look(&m);
            t.send(m).unwrap();
        }
    }
    keep(rx);
    let mut ps: Vec<Box<dyn Plugin>> = vec![];
    let mut ap: Vec<Arc<dyn Plugin>> = Vec::new();
    for i in 0..100 {
        let a = Box::new(A(i, [0; 40]));
        tell(&*a, "Box<rust_channels::A>");
        ps.push(a);
        let b = Box::new(B(txt(1), vec![txt(2); 3]));
        tell(&*b, "Box<rust_channels::B<String>>");
        tell(b.1.as_ptr(), "Vec<String>");
        for x in &b.1 {
            tell(x.as_ptr(), "String");
        }
        ps.push(b);
        let c: Arc<B<u16>> = Arc::new(B(1, vec![1; 40]));
        tell(&*c, "Arc<rust_channels::B<u16>>");
        tell(c.1.as_ptr(), "Vec<u16>");
        ap.push(c);
    }
    tell(ps.as_ptr(), "Vec<Box<dyn rust_channels::Plugin>>");
    tell(ap.as_ptr(), "Vec<Arc<dyn rust_channels::Plugin>>");
    keep((ps, ap));
    let mut ws = Vec::new();
    for i in 0..3 {
        let stop = Arc::new(AtomicBool::new(true));
        tell(&*stop, "Arc<AtomicBool>");
        let st = stop.clone();
        let s2 = s.clone();
        ws.push(Worker {
            name: txt(i),
            handle: Some(std::thread::spawn(move || {
                let v: Vec<u64> = (0..50).map(|x| x * 2).collect();
                while !st.load(Ordering::Relaxed) {}
                s2.hits.fetch_add(1, Ordering::Relaxed);
                v
            })),
            stop,
        });
    }
    let mut outs = vec![];
    for w in ws.iter_mut() {
        tell(w.name.as_ptr(), "String");
        let v = w.handle.take().unwrap().join().unwrap();
        tell(v.as_ptr(), "Vec<u64>");
        outs.push(v);
    }
    tell(ws.as_ptr(), "Vec<rust_channels::Worker>");
    keep((ws, outs));
    let once: &'static OnceLockLike = keep(OnceLockLike {
        v: Mutex::new(Some(Box::new((1u64, [2u8; 30])))),
        c: Condvar::new(),
    });
    tell(
        &**once.v.lock().unwrap().as_ref().unwrap(),
        "Box<(u64, [u8; 30])>",
    );
    keep(s);
    finish();
}
struct OnceLockLike {
    v: Mutex<Option<Box<(u64, [u8; 30])>>>,
    c: Condvar,
}
