// SPDX-License-Identifier: MIT
//! rust_texts - interned strings, trees of JSON, Cow, OsString, paths, C strings, boxed and shared
//! slices, and every way to make a String.
//!
//! At MARK 1 it prints a line "BLOCK address class" for each block, as rust_services does.
#![allow(dead_code)]
include!("mark.rs");
include!("tell.rs");
use std::borrow::Cow;
use std::collections::*;
use std::ffi::*;
use std::path::*;
use std::rc::Rc;

struct Interner {
    map: HashMap<Rc<str>, u32>,
    names: Vec<Rc<str>>,
}
impl Interner {
    fn get(&mut self, s: &str) -> u32 {
        if let Some(&i) = self.map.get(s) {
            return i;
        }
        let r: Rc<str> = Rc::from(s);
        tell(r.as_ptr(), "Rc<str>");
        let i = self.names.len() as u32;
        self.names.push(r.clone());
        self.map.insert(r, i);
        i
    }
}
#[derive(Clone, Debug, PartialEq)]
enum Json {
    Null,
    Num(f64),
    Str(String),
    Arr(Vec<Json>),
    Obj(BTreeMap<String, Json>),
}
fn json(d: usize) -> Json {
    match d {
        0 => Json::Num(1.5),
        1 => Json::Str(txt(d)),
        d if d % 2 == 0 => Json::Arr((0..4).map(|i| json(d - 1 - i % 2)).collect()),
        d => Json::Obj((0..4).map(|i| (txt(i), json(d - 1))).collect()),
    }
}
fn walk(j: &Json) {
    match j {
        Json::Str(s) => tell(s.as_ptr(), "String"),
        Json::Arr(v) => {
            tell(v.as_ptr(), "Vec<rust_texts::Json>");
            v.iter().for_each(walk)
        }
        Json::Obj(m) => {
            for (k, v) in m {
                tell(k.as_ptr(), "String");
                tell(k, "BTreeMap<String, rust_texts::Json>");
                walk(v)
            }
        }
        _ => {}
    }
}
fn norm(s: &str) -> Cow<'_, str> {
    if s.contains(' ') {
        Cow::Owned(s.replace(' ', "_"))
    } else {
        Cow::Borrowed(s)
    }
}
struct Token<'a> {
    text: &'a str,
    kind: u8,
}
fn main() {
    let mut it = Interner {
        map: HashMap::new(),
        names: vec![],
    };
    for i in 0..150 {
        it.get(&txt(i % 100));
    }
    let it = keep(it);
    tell(it.names.as_ptr(), "Vec<Rc<str>>");
    tell(it.map.keys().next().unwrap(), "HashMap<Rc<str>, u32>");
    let j = keep(json(6));
    walk(j);
    let c = keep(j.clone());
    walk(c);
    let mut cows: Vec<Cow<'static, str>> = Vec::new();
    for i in 0..80 {
        let c: Cow<'static, str> = Cow::Owned(norm(&txt(i)).into_owned());
        tell(c.as_ptr(), "String");
        cows.push(c);
    }
    let cows = keep(cows);
    tell(cows.as_ptr(), "Vec<Cow<str>>");
    let words = keep(String::new());
    for i in 0..400 {
        words.push_str(&txt(i));
        words.push(' ');
    }
    tell(words.as_ptr(), "String");
    let toks: Vec<Token> = words
        .split(' ')
        .map(|w| Token { text: w, kind: 1 })
        .collect();
    tell(toks.as_ptr(), "Vec<rust_texts::Token>");
    keep(toks);
    let sp: Vec<&str> = words.split_whitespace().collect();
    tell(sp.as_ptr(), "Vec<&str>");
    keep(sp);
    let chars: Vec<char> = words.chars().rev().collect();
    tell(chars.as_ptr(), "Vec<char>");
    let back: String = chars.iter().collect();
    tell(back.as_ptr(), "String");
    keep((chars, back));
    let mut vs: Vec<String> = vec![];
    for i in 0..50 {
        vs.push(txt(i).to_uppercase());
        vs.push(txt(i).trim().to_string());
        vs.push(txt(i).to_owned() + " and more");
        vs.push(["a long piece", "another long piece", "x"].concat());
        vs.push(["a long piece", "another long piece"].join("/"));
        vs.push("abcdefgh".repeat(9));
        vs.push(String::from_utf8_lossy(b"bytes of some text that is long").into_owned());
        vs.push(format!("{:?}", (i, "debug", 1.5)));
        vs.push(txt(i).chars().filter(|c| c.is_alphabetic()).collect());
        vs.push(
            txt(i)
                .split(',')
                .map(|s| s.trim().to_string())
                .collect::<Vec<_>>()
                .join(";"),
        );
        let mut x = String::with_capacity(70);
        x.insert_str(0, "some");
        x.extend(["a", "b"].iter().copied());
        vs.push(x);
        vs.push(i.to_string() + "000000000000000000000000000000000000");
        let s: &str = &txt(3);
        vs.push(s.into());
        vs.push(
            s.to_lowercase()
                .replace("text", "a much longer text than that"),
        );
        vs.push(std::char::from_u32(65).unwrap().to_string());
    }
    for v in &vs {
        tell(v.as_ptr(), "String");
    }
    tell(vs.as_ptr(), "Vec<String>");
    keep(vs);
    for i in 0..40 {
        let o: OsString = OsString::from(txt(i));
        tell(o.to_str().unwrap().as_ptr(), "String");
        keep(o);
        let mut o2 = OsString::new();
        o2.push("some long os string");
        o2.push("and its tail of some length");
        tell(o2.to_str().unwrap().as_ptr(), "OsString");
        keep(o2);
        let mut p = PathBuf::from("/usr");
        p.push("share/doc/of/some/length");
        p.push(txt(i));
        p.set_extension("txt");
        tell(p.to_str().unwrap().as_ptr(), "PathBuf");
        keep(p);
        let p2 = Path::new("/usr/share/doc/of/length").join("leaf");
        tell(p2.to_str().unwrap().as_ptr(), "PathBuf");
        keep(p2);
        let p3 = Path::new("/usr/share/doc/of/length").to_path_buf();
        tell(p3.to_str().unwrap().as_ptr(), "PathBuf");
        keep(p3);
        let c = CString::new("a c string of some length").unwrap();
        tell(c.as_ptr(), "CString");
        keep(c);
        let bs: Box<str> = "a boxed str of some length".into();
        tell(bs.as_ptr(), "Box<str>");
        keep(bs);
        let rs: Rc<[u16]> = Rc::from(vec![1u16; 40]);
        tell(rs.as_ptr(), "Rc<[u16]>");
        keep(rs);
        let by: Box<[u8]> = b"some bytes of some length"[..].into();
        tell(by.as_ptr(), "Box<[u8]>");
        keep(by);
        let vb = b"some bytes of some length".to_vec();
        tell(vb.as_ptr(), "Vec<u8>");
        keep(vb);
        let rst: Rc<String> = Rc::new(txt(i));
        tell(&*rst, "Rc<String>");
        tell(rst.as_ptr(), "String");
        keep(rst);
    }
    finish();
}
