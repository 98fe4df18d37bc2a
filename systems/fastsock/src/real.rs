//! The next definition of each call: usually the C library's.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A symbol, looked up when first used.
pub struct Symbol {
    name: &'static std::ffi::CStr,
    found: AtomicPtr<libc::c_void>,
}

impl Symbol {
    pub const fn new(name: &'static std::ffi::CStr) -> Self {
        Self { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Its address.
    #[inline(always)]
    pub fn address(&self) -> *mut libc::c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.look_up() } else { found }
    }

    #[cold]
    fn look_up(&self) -> *mut libc::c_void {
        let found = self.look();
        if found.is_null() {
            // Without the system's own call there is no way on, and no way to say so but this.
            // SAFETY: ends the process.
            unsafe { libc::abort() };
        }
        found
    }

    fn look(&self) -> *mut libc::c_void {
        // SAFETY: a name that ends with 0.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.found.store(found, Ordering::Relaxed);
        found
    }

    /// Its address, for a call that not every C library has under which this one runs.
    pub fn find(&self) -> Option<NonNull<libc::c_void>> {
        let found = self.found.load(Ordering::Relaxed);
        NonNull::new(if found.is_null() { self.look() } else { found })
    }
}

/// Declares functions that call the next definition of a symbol.
macro_rules! real {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(
            #[doc = concat!("The system's `", stringify!($name), "`.")]
            ///
            /// # Safety
            /// As the system's.
            #[inline(always)]
            #[allow(clippy::too_many_arguments, non_snake_case, reason = "the system's own")]
            pub unsafe fn $name($($argument: $type),*) -> $result {
                static SYMBOL: Symbol = {
                    // SAFETY: a literal that ends with 0 and has no other.
                    Symbol::new(unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) })
                };
                // SAFETY: the symbol of this name has this type: it is the system's interface.
                let call: unsafe extern "C-unwind" fn($($type),*) -> $result = unsafe { std::mem::transmute(SYMBOL.address()) };
                // SAFETY: the caller's promise.
                unsafe { call($($argument),*) }
            }
        )*
    };
}

use libc::{
    c_char, c_int, c_uint, c_ulong, c_void, iovec, mmsghdr, msghdr, nfds_t, pollfd, sigset_t, sockaddr, socklen_t,
    timespec,
};

real! {
    read(fd: c_int, into: *mut c_void, len: usize) -> isize;
    write(fd: c_int, from: *const c_void, len: usize) -> isize;
    readv(fd: c_int, iov: *const iovec, count: c_int) -> isize;
    writev(fd: c_int, iov: *const iovec, count: c_int) -> isize;
    recv(fd: c_int, into: *mut c_void, len: usize, flags: c_int) -> isize;
    send(fd: c_int, from: *const c_void, len: usize, flags: c_int) -> isize;
    recvfrom(fd: c_int, into: *mut c_void, len: usize, flags: c_int, address: *mut sockaddr, address_len: *mut socklen_t) -> isize;
    sendto(fd: c_int, from: *const c_void, len: usize, flags: c_int, address: *const sockaddr, address_len: socklen_t) -> isize;
    recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> isize;
    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> isize;
    recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, limit: *mut timespec) -> c_int;
    sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int;
    socket(family: c_int, kind: c_int, protocol: c_int) -> c_int;
    bind(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int;
    listen(fd: c_int, backlog: c_int) -> c_int;
    connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int;
    accept(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
    accept4(fd: c_int, address: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int;
    getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, len: *mut socklen_t) -> c_int;
    setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, len: socklen_t) -> c_int;
    close(fd: c_int) -> c_int;
    close_range(first: c_uint, last: c_uint, flags: c_uint) -> c_int;
    closefrom(first: c_int) -> ();
    shutdown(fd: c_int, how: c_int) -> c_int;
    dup(fd: c_int) -> c_int;
    dup2(from: c_int, to: c_int) -> c_int;
    dup3(from: c_int, to: c_int, flags: c_int) -> c_int;
    fcntl(fd: c_int, command: c_int, argument: usize) -> c_int;
    fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int;
    ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int;
    poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    ppoll(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int;
    select(count: c_int, read: *mut libc::fd_set, write: *mut libc::fd_set, except: *mut libc::fd_set, timeout: *mut libc::timeval) -> c_int;
    pselect(count: c_int, read: *mut libc::fd_set, write: *mut libc::fd_set, except: *mut libc::fd_set, timeout: *const timespec, mask: *const sigset_t) -> c_int;
    epoll_create(size: c_int) -> c_int;
    epoll_create1(flags: c_int) -> c_int;
    epoll_ctl(epoll: c_int, op: c_int, fd: c_int, event: *mut libc::epoll_event) -> c_int;
    epoll_wait(epoll: c_int, events: *mut libc::epoll_event, count: c_int, timeout: c_int) -> c_int;
    epoll_pwait(epoll: c_int, events: *mut libc::epoll_event, count: c_int, timeout: c_int, mask: *const sigset_t) -> c_int;
    epoll_pwait2(epoll: c_int, events: *mut libc::epoll_event, count: c_int, timeout: *const timespec, mask: *const sigset_t) -> c_int;
    sendfile(out: c_int, from: c_int, at: *mut libc::off_t, count: usize) -> isize;
    sendfile64(out: c_int, from: c_int, at: *mut libc::off64_t, count: usize) -> isize;
    splice(from: c_int, from_at: *mut libc::off64_t, to: c_int, to_at: *mut libc::off64_t, len: usize, flags: c_uint) -> isize;
    fclose(file: *mut libc::FILE) -> c_int;
    execv(path: *const c_char, argv: *const *const c_char) -> c_int;
    execvp(path: *const c_char, argv: *const *const c_char) -> c_int;
    execvpe(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int;
    fexecve(fd: c_int, argv: *const *const c_char, envp: *const *const c_char) -> c_int;
    fdopen(fd: c_int, mode: *const c_char) -> *mut libc::FILE;
    execve(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int;
    posix_spawn(pid: *mut libc::pid_t, path: *const c_char, actions: *const libc::posix_spawn_file_actions_t, attributes: *const libc::posix_spawnattr_t, argv: *const *mut c_char, envp: *const *mut c_char) -> c_int;
    posix_spawnp(pid: *mut libc::pid_t, path: *const c_char, actions: *const libc::posix_spawn_file_actions_t, attributes: *const libc::posix_spawnattr_t, argv: *const *mut c_char, envp: *const *mut c_char) -> c_int;
    posix_spawn_file_actions_init(actions: *mut libc::posix_spawn_file_actions_t) -> c_int;
    posix_spawn_file_actions_destroy(actions: *mut libc::posix_spawn_file_actions_t) -> c_int;
    posix_spawn_file_actions_adddup2(actions: *mut libc::posix_spawn_file_actions_t, from: c_int, to: c_int) -> c_int;
    system(command: *const c_char) -> c_int;
    popen(command: *const c_char, mode: *const c_char) -> *mut libc::FILE;
    vdprintf(fd: c_int, form: *const c_char, arguments: *mut c_void) -> c_int;
    __vdprintf_chk(fd: c_int, flag: c_int, form: *const c_char, arguments: *mut c_void) -> c_int;
    preadv2(fd: c_int, iov: *const iovec, count: c_int, at: libc::off_t, flags: c_int) -> isize;
    pwritev2(fd: c_int, iov: *const iovec, count: c_int, at: libc::off_t, flags: c_int) -> isize;
    sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
    setns(fd: c_int, kind: c_int) -> c_int;
    unshare(flags: c_int) -> c_int;
    fork() -> libc::pid_t;
    syscall(number: libc::c_long, first: usize, second: usize, third: usize, fourth: usize, fifth: usize, sixth: usize) -> libc::c_long;
    clone(begin: Option<extern "C-unwind" fn(*mut c_void) -> c_int>, stack: *mut c_void, flags: c_int, argument: *mut c_void, parents: *mut libc::pid_t, storage: *mut c_void, childs: *mut libc::pid_t) -> c_int;
    _Fork() -> libc::pid_t;
    longjmp(place: *mut c_void, value: c_int) -> !;
    _longjmp(place: *mut c_void, value: c_int) -> !;
    siglongjmp(place: *mut c_void, value: c_int) -> !;
    __longjmp_chk(place: *mut c_void, value: c_int) -> !;
    execveat(folder: c_int, path: *const c_char, argv: *const *const c_char, envp: *const *const c_char, flags: c_int) -> c_int;
}

/// The next `syscall`, for this library's own calls: what it takes back by their number is nothing of the program's, which its own `syscall` would take it for.
#[inline(always)]
pub fn by_number() -> unsafe extern "C" fn(libc::c_long, ...) -> libc::c_long {
    static SYMBOL: Symbol = Symbol::new(c"syscall");
    // SAFETY: the symbol of this name has this type: it is the system's interface.
    unsafe { std::mem::transmute(SYMBOL.address()) }
}

/// Calls that end as they should even if the thread was cancelled, for what is done under a lock. The system's own are points at which a
/// cancelled thread ends (pthreads(7)).
pub mod whole {
    use libc::{
        SYS_close, SYS_connect, SYS_poll, SYS_read, SYS_recvmsg, SYS_sendmsg, SYS_write, c_int, c_void, msghdr, pollfd,
        sockaddr, socklen_t,
    };

    /// Declares functions that are a system call each.
    macro_rules! whole {
        ($($name:ident $number:ident($($argument:ident: $type:ty),*);)*) => {
            $(
                /// The system's call of this name.
                ///
                /// # Safety
                /// As the system's.
                pub unsafe fn $name($($argument: $type),*) -> isize {
                    // SAFETY: the caller's promise.
                    unsafe { super::by_number()($number, $($argument),*) as isize }
                }
            )*
        };
    }

    whole! {
        read SYS_read(fd: c_int, into: *mut c_void, len: usize);
        write SYS_write(fd: c_int, from: *const c_void, len: usize);
        recvmsg SYS_recvmsg(fd: c_int, message: *mut msghdr, flags: c_int);
        sendmsg SYS_sendmsg(fd: c_int, message: *const msghdr, flags: c_int);
        poll SYS_poll(fds: *mut pollfd, count: usize, timeout: c_int);
        connect SYS_connect(fd: c_int, address: *const sockaddr, len: socklen_t);
        close SYS_close(fd: c_int);
    }
}

/// What the last call said.
#[inline(always)]
pub fn errno() -> c_int {
    // SAFETY: each thread has one.
    unsafe { *libc::__errno_location() }
}

/// Says why a call failed; returns -1.
#[inline(always)]
pub fn fail(errno: c_int) -> isize {
    // SAFETY: each thread has one.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// What `call` returns. One that works leaves what the last failure said as it was, as the system's calls do: programs look at it after
/// several calls.
#[inline(always)]
pub fn keeping_errno<R: PartialOrd + Default>(call: impl FnOnce() -> R) -> R {
    let before = errno();
    let result = call();
    if result >= R::default() {
        fail(before);
    }
    result
}
