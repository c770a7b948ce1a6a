// SPDX-License-Identifier: MIT
// mark.rs - marks of the Rust programs: mark(n) prints "MARK n" and waits for one line of
// input (the end of the input counts as a line). Nothing here allocates.
#[allow(dead_code)]
mod marks {
    extern "C" {
        fn write(fd: i32, buf: *const u8, n: usize) -> isize;
        fn read(fd: i32, buf: *mut u8, n: usize) -> isize;
    }

    pub fn say(word: &str, n: u64) {
        let mut line = [0u8; 64];
        let mut len = word.len();
        line[..len].copy_from_slice(word.as_bytes());
        line[len] = b' ';
        len += 1;
        let (mut digits, mut left, mut at) = ([0u8; 20], n, 20);
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        line[len..len + 20 - at].copy_from_slice(&digits[at..]);
        len += 20 - at;
        line[len] = b'\n';
        unsafe { write(1, line.as_ptr(), len + 1) };
    }

    /// The same value, of which the compiler knows nothing (std::hint's is not in each rustc).
    #[inline(never)]
    pub fn opaque<T>(value: T) -> T {
        unsafe { std::ptr::read_volatile(&std::mem::ManuallyDrop::new(value) as *const _ as *const T) }
    }

    pub fn mark(n: u64) {
        say("MARK", n);
        let mut c = [0u8; 1];
        while unsafe { read(0, c.as_mut_ptr(), 1) } == 1 && c[0] != b'\n' {}
    }
}
