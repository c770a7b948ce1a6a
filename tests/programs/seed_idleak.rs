// SPDX-License-Identifier: MIT
//! seed_idleak.rs - lost ids make an innocent function grow a vector.
//!
//! An id allocator has a free list and a next_index. `open_window` makes 128
//! textures and lets 118 go, so the free list is well filled. From then on, each
//! simulated second, `render` replaces the 10 textures, and the error path
//! `acquire_without_image` prepares 60 ids and drops them: it allocates nothing.
//! `assign` stores each texture at slots[id]; the lost ids drain the free list
//! and push next_index up, so the slot vector grows although only 10 textures
//! are alive. Whoever looks at the stack of the big block finds the innocent
//! `render`. With the argument "fixed" a dropped id goes back to the free list.
//!
//! MARK 1: window open. MARK 2: after 300 seconds. MARK 3: after 18000 seconds.
//! A slot is 16 bytes; the vector starts with 4 slots and doubles.
//!
//! TRUTH live 1 at=assign via=open_window blocks=1 bytes=2048
//! TRUTH largest 2 size=524288 born=64 grows=13 ratio=2 at=assign via=render birth=assign
//! TRUTH largest 3 size=33554432 born=64 grows=19 ratio=2 at=assign via=render birth=assign
//! TRUTH grow 1 3 at=assign blocks=0 bytes=33552384
//! TRUTH flat 1 3 at=new_texture
//! TRUTH only 1 3
//! TRUTH [fixed] flat 1 3
//! TRUTH [fixed] largest 3 size=2048 born=64 grows=5 ratio=2 at=assign via=open_window
//! TRUTH [*] exit code=0
include!("mark.rs");

struct Ids {
    free: Vec<u32>,
    next_index: u32,
}
struct Texture {
    id: u32,
    _texels: [u8; 36],
}
#[allow(dead_code)] // the epoch makes a slot 16 bytes
enum Slot {
    Vacant,
    Occupied(Box<Texture>, u32),
}
struct Registry {
    ids: Ids,
    slots: Vec<Slot>,
    fixed: bool,
}

impl Ids {
    fn prepare(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next_index += 1;
            self.next_index - 1
        })
    }
}

#[inline(never)]
fn new_texture(id: u32) -> Box<Texture> {
    Box::new(Texture { id, _texels: [7; 36] })
}

impl Registry {
    #[inline(never)]
    fn assign(&mut self, id: u32, texture: Box<Texture>, epoch: u32) {
        if self.slots.len() <= id as usize {
            self.slots.resize_with(id as usize + 1, || Slot::Vacant);
        }
        self.slots[id as usize] = Slot::Occupied(texture, epoch);
    }

    fn release(&mut self, id: u32) {
        if let Slot::Occupied(old, _) = std::mem::replace(&mut self.slots[id as usize], Slot::Vacant) {
            self.ids.free.push(old.id);
        }
    }

    #[inline(never)]
    fn open_window(&mut self) {
        for _ in 0..128 {
            let id = self.ids.prepare();
            self.assign(id, new_texture(id), 0);
        }
        (10..128).for_each(|id| self.release(id));
    }

    #[inline(never)]
    fn acquire_without_image(&mut self) {
        let id = self.ids.prepare(); // no image came: the id is dropped
        if self.fixed {
            self.ids.free.push(id);
        }
    }

    #[inline(never)]
    fn render(&mut self, live: &mut [u32; 10], epoch: u32) {
        for entry in live.iter_mut() {
            let id = self.ids.prepare();
            self.assign(id, new_texture(id), epoch);
            self.release(*entry);
            *entry = id;
        }
    }
}

fn main() {
    let fixed = std::env::args().nth(1).as_deref() == Some("fixed");
    let ids = Ids { free: Vec::with_capacity(256), next_index: 0 };
    let mut registry = Registry { ids, slots: Vec::new(), fixed };
    let mut live = std::array::from_fn(|i| i as u32);
    registry.open_window();
    marks::mark(1);
    for second in 1..=18000 {
        registry.render(&mut live, second);
        for _ in 0..60 {
            registry.acquire_without_image();
        }
        if second == 300 {
            marks::mark(2);
        }
    }
    marks::mark(3);
}
