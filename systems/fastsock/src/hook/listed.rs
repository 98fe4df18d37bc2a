//! `execl` and its kin: new programs whose arguments are listed in the call. They are put into a list, and the call is the one that takes a list: so a program that
//! does not begin leaves everything as it was, by any of these calls (`process`).

use std::ffi::{c_char, c_int};

use super::process;
use crate::pages::Pages;
use crate::real;

/// Registers that carry arguments; behind them on the stack come the address to return to, and the other arguments.
const REGISTERS: usize = 6;

/// The arguments of a call, as its function of this file found them.
#[derive(Clone, Copy)]
struct Given(*const usize);

impl Given {
    /// # Safety
    /// The caller gave as many.
    unsafe fn at(self, number: usize) -> *const c_char {
        let behind = usize::from(number >= REGISTERS);
        // SAFETY: the caller's promise.
        std::ptr::with_exposed_provenance(unsafe { *self.0.add(number + behind) })
    }
}

/// Begins a program, as `which` of `execl`, `execlp` and `execle` says.
unsafe extern "C" fn begin(which: u32, given: *const usize) -> c_int {
    let given = Given(given);
    // SAFETY: the caller's promise: a name, and texts up to a null pointer, which a list of the environment follows where it is asked for.
    unsafe {
        let name = given.at(0);
        let count = (1..).take_while(|&number| !given.at(number).is_null()).count();
        let Some(mut list) = Pages::of::<*const c_char>(count + 1) else { return real::fail(libc::ENOMEM) as c_int };
        let to = list.start_mut::<*const c_char>();
        (0..count).for_each(|number| to.add(number).write(given.at(number + 1)));
        match which {
            0 => process::execv(name, list.start()),
            1 => process::execvp(name, list.start()),
            _ => process::execle(name, list.start(), given.at(count + 2).cast()),
        }
    }
}

/// A function of this name that calls `begin` with its number, and where its arguments are.
macro_rules! listed {
    ($($name:ident $number:literal)*) => {
        $(
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                std::arch::naked_asm!(
                    "push r9", "push r8", "push rcx", "push rdx", "push rsi", "push rdi",
                    "mov rsi, rsp",
                    "mov edi, {number}",
                    // With the return address 64 bytes.
                    "sub rsp, 8",
                    "call {begin}",
                    "add rsp, 56",
                    "ret",
                    number = const $number,
                    begin = sym begin,
                )
            }
        )*
    };
}

listed! { execl 0 execlp 1 execle 2 }
