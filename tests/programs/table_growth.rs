// SPDX-License-Identifier: MIT
// table_growth.rs - hash tables of Rust, which grow by alloc, moving each element, dealloc.
//
// At MARK 1 they are all alive; "TOTAL n" says how often they grew out of a block they had. The
// Vec that grows beside them does so by realloc and is not among these.
include!("mark.rs");
use marks::*;

use std::collections::{HashMap, HashSet};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn main() {
    let mut random = Random(88172645463325252);
    let mut grown = 0;
    let mut one: HashMap<u64, u64> = HashMap::new();
    let mut many: Vec<HashMap<u64, String>> = (0..20).map(|_| HashMap::new()).collect();
    let mut names: HashSet<String> = HashSet::new();
    let mut list = Vec::new();

    for i in 0..50000 {
        let before = one.capacity();
        one.insert(random.next(), i);
        grown += (before > 0 && one.capacity() != before) as u64;

        let table = &mut many[(random.next() % 20) as usize];
        let before = table.capacity();
        table.insert(random.next(), "some text".to_string());
        grown += (before > 0 && table.capacity() != before) as u64;

        let before = names.capacity();
        names.insert(format!("name {}", i));
        grown += (before > 0 && names.capacity() != before) as u64;
        list.push(i);
    }
    say("TOTAL", grown);
    mark(1);
    say("SIZE", (one.len() + many.len() + names.len() + list.len()) as u64);
}
