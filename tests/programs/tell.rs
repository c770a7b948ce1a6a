// SPDX-License-Identifier: MIT
// tell.rs - programs that tell the class of each block: tell() notes one by an address in it, finish()
// prints "BLOCK address class" for each and stops at MARK 1. Goes with mark.rs.
static TOLD: std::sync::Mutex<Vec<(usize, String)>> = std::sync::Mutex::new(Vec::new());
fn tell<T: ?Sized>(address: *const T, what: &str) {
    let line = (address as *const u8 as usize, what.to_string());
    TOLD.lock().unwrap().push(line);
}
// Too long for any object to hold it itself.
fn txt(i: usize) -> String {
    format!("a text of some length, number {}", i)
}
// What lives as long as the program.
fn keep<T>(t: T) -> &'static mut T {
    Box::leak(Box::new(t))
}
fn finish() {
    for (address, what) in TOLD.lock().unwrap().iter() {
        println!("BLOCK {:#x} {}", address, what);
    }
    marks::mark(1);
}
