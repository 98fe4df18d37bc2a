//! Calls with any number of arguments. They are not looked at: what is to be done first is done with every register as it was,
//! and the system's call goes on with the caller's own arguments, on the caller's own stack.

use std::ffi::{c_int, c_long};
use std::os::raw::c_void;

use super::{clone, numbered};
use crate::real::Symbol;
use crate::retire;

static DPRINTF: Symbol = Symbol::new(c"dprintf");
static DPRINTF_CHK: Symbol = Symbol::new(c"__dprintf_chk");
static PRCTL: Symbol = Symbol::new(c"prctl");
static SYSCALL: Symbol = Symbol::new(c"syscall");

const DPRINTF_NUMBER: u32 = 0;
const DPRINTF_CHK_NUMBER: u32 = 1;
const PRCTL_NUMBER: u32 = 2;
const SYSCALL_NUMBER: u32 = 3;

extern "C" fn before(which: u32, first: usize, second: usize, third: usize, fourth: usize) -> *mut c_void {
    let symbol = match which {
        DPRINTF_NUMBER => &DPRINTF,
        DPRINTF_CHK_NUMBER => &DPRINTF_CHK,
        PRCTL_NUMBER => &PRCTL,
        _ => &SYSCALL,
    };
    // SAFETY: what the program gave the call.
    if which == SYSCALL_NUMBER && unsafe { clone::before_syscall(first as c_long, second, third) } {
        return clone::by_copy as *mut c_void;
    }
    // SAFETY: as above.
    if which == SYSCALL_NUMBER && unsafe { numbered::before(first as c_long, second, third) } {
        return numbered::served as *mut c_void;
    }
    if which >= PRCTL_NUMBER {
        // A filter of system calls, by either call. (libseccomp makes the second.) With none it is refused, and so is the second in strict mode with anything
        // more: a program asks so whether there are any.
        let (mode, filter, more) = match which {
            PRCTL_NUMBER if first == libc::PR_SET_SECCOMP as usize => (second, third, false),
            SYSCALL_NUMBER if first == libc::SYS_seccomp as usize => {
                ((second as u32).wrapping_add(1) as usize, fourth, third as u32 != 0 || fourth != 0)
            }
            SYSCALL_NUMBER if first == libc::SYS_prctl as usize && second == libc::PR_SET_SECCOMP as usize => {
                (third, fourth, false)
            }
            _ => (libc::SECCOMP_MODE_DISABLED as usize, 0, false),
        };
        let strict = mode == libc::SECCOMP_MODE_STRICT as usize && !more;
        if strict || (mode == libc::SECCOMP_MODE_FILTER as usize && filter != 0) {
            retire::for_sandbox();
        }
    } else {
        // Writes by a call of its own that nobody sees.
        retire::retire_fd(first as c_int);
    }
    symbol.address()
}

/// A function of this name that calls `before` with its number and its first four arguments, then goes on to what that returns.
macro_rules! variadic {
    ($($name:ident $number:literal)*) => {
        $(
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                std::arch::naked_asm!(
                    // Six registers for integers and the count of those for fractions; with the return address 64 bytes.
                    "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
                    "sub rsp, 128",
                    "movups [rsp], xmm0", "movups [rsp + 16], xmm1", "movups [rsp + 32], xmm2", "movups [rsp + 48], xmm3",
                    "movups [rsp + 64], xmm4", "movups [rsp + 80], xmm5", "movups [rsp + 96], xmm6", "movups [rsp + 112], xmm7",
                    "mov r8, rcx",
                    "mov rcx, rdx",
                    "mov rdx, rsi",
                    "mov rsi, rdi",
                    "mov edi, {number}",
                    "call {before}",
                    "mov r11, rax",
                    "movups xmm0, [rsp]", "movups xmm1, [rsp + 16]", "movups xmm2, [rsp + 32]", "movups xmm3, [rsp + 48]",
                    "movups xmm4, [rsp + 64]", "movups xmm5, [rsp + 80]", "movups xmm6, [rsp + 96]", "movups xmm7, [rsp + 112]",
                    "add rsp, 128",
                    "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                    "jmp r11",
                    number = const $number,
                    before = sym before,
                )
            }
        )*
    };
}

variadic! { dprintf 0 __dprintf_chk 1 prctl 2 syscall 3 }
