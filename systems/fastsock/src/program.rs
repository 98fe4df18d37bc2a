//! Whether a program that is about to begin will have this library: it is dynamic, the system trusts it with no more than its caller has, and its environment
//! names a library that is there. What can't be told is taken for one that will not.
//!
//! Handlers of signals begin programs, also amid the C library's `malloc`: nothing here takes memory, and what lies on the stack is little.

use std::ffi::{CStr, c_char, c_int};

use crate::real;

/// Interpreters that scripts name, one for the other, at most (the kernel's own limit).
const DEEPEST: u32 = 5;
/// Bytes of a file that tell what it is: a script's first line as far as the kernel looks at it, or the headers of a program.
const HEAD: usize = 1024;
/// Bytes of a name that is put together here.
const LONGEST: usize = 1024;
/// `PT_INTERP` of elf.h.
const INTERPRETER: u32 = 3;

/// A text that was put together, with the 0 at its end.
struct Text {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Text {
    /// None if it does not fit, or has a 0 within.
    fn of(parts: &[&[u8]]) -> Option<Self> {
        let mut text = Self { bytes: [0; LONGEST], len: 0 };
        for part in parts {
            text.bytes.get_mut(text.len..text.len + part.len())?.copy_from_slice(part);
            text.len += part.len();
        }
        (text.len < LONGEST && !text.bytes[..text.len].contains(&0)).then_some(text)
    }

    fn as_ptr(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }
}

/// Of a path. `envp`: the environment, if not this process's own.
///
/// # Safety
/// `path` is null or a text; `envp` null or a list that ends with a null pointer.
pub unsafe fn of_path(path: *const c_char, envp: Option<*const *const c_char>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { preloaded(envp) && !path.is_null() && is_dynamic(libc::AT_FDCWD, path) }
}

/// Of a name that is looked for in `PATH`.
///
/// # Safety
/// As [`of_path`].
pub unsafe fn of_name(name: *const c_char, envp: Option<*const *const c_char>) -> bool {
    // SAFETY: the caller's promise, here and in what follows.
    unsafe {
        if name.is_null() || CStr::from_ptr(name).to_bytes().contains(&b'/') {
            return of_path(name, envp);
        }
        let folders = variable(own_environment(), b"PATH").unwrap_or(b"/bin:/usr/bin");
        let found = folders.split(|&byte| byte == b':').find_map(|folder| {
            let between: &[u8] = if folder.is_empty() { b"" } else { b"/" };
            let path = Text::of(&[folder, between, CStr::from_ptr(name).to_bytes()])?;
            (libc::access(path.as_ptr(), libc::X_OK) == 0).then_some(path)
        });
        found.is_some_and(|path| of_path(path.as_ptr(), envp))
    }
}

/// Of a path from an open folder on, or of an open file (`execveat`).
///
/// # Safety
/// As [`of_path`].
pub unsafe fn of_place(fd: c_int, path: *const c_char, envp: *const *const c_char, flags: c_int) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if !path.is_null() && *path == 0 && flags & libc::AT_EMPTY_PATH != 0 {
            return of_file(fd, envp);
        }
        preloaded(Some(envp)) && !path.is_null() && is_dynamic(fd, path)
    }
}

/// Of an open file.
///
/// # Safety
/// As [`of_path`].
pub unsafe fn of_file(fd: c_int, envp: *const *const c_char) -> bool {
    let mut digits = [0; 10];
    let (mut rest, mut at) = (fd.unsigned_abs(), digits.len());
    while rest > 0 || at == digits.len() {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let path = Text::of(&[b"/proc/self/fd/", &digits[at..]]);
    // SAFETY: the caller's promise.
    path.is_some_and(|path| fd >= 0 && unsafe { of_path(path.as_ptr(), Some(envp)) })
}

unsafe extern "C" {
    static environ: *const *const c_char;
}

fn own_environment() -> *const *const c_char {
    // SAFETY: the C library's, read as its own calls read it.
    unsafe { environ }
}

/// A variable's value.
///
/// # Safety
/// `list` is null or ends with a null pointer; its texts live as long as the answer is used.
unsafe fn variable<'a>(list: *const *const c_char, name: &[u8]) -> Option<&'a [u8]> {
    for i in 0.. {
        // SAFETY: the caller's promise: no entry before was null.
        let entry = if list.is_null() { std::ptr::null() } else { unsafe { *list.add(i) } };
        if entry.is_null() {
            break;
        }
        // SAFETY: a text of the caller's.
        let entry = unsafe { CStr::from_ptr(entry) }.to_bytes();
        if let Some(value) = entry.strip_prefix(name).and_then(|rest| rest.strip_prefix(b"=")) {
            return Some(value);
        }
    }
    None
}

/// Whether an environment has the library loaded: by a path, as nobody knows here where the loader will look for a name.
unsafe fn preloaded(envp: Option<*const *const c_char>) -> bool {
    // SAFETY: the caller's promise.
    let value = unsafe { variable(envp.unwrap_or_else(own_environment), b"LD_PRELOAD") };
    value.is_some_and(names_library)
}

fn names_library(value: &[u8]) -> bool {
    value.split(|&byte| matches!(byte, b':' | b' ')).any(|entry| {
        let (folder, name) = entry.split_at(entry.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1));
        // What the loader puts in for `$LIB` and its kin is not known here.
        let known = !folder.is_empty() && !entry.contains(&b'$') && name.starts_with(b"libfastsock");
        // SAFETY: a text.
        known && Text::of(&[entry]).is_some_and(|path| unsafe { libc::access(path.as_ptr(), libc::R_OK) } == 0)
    })
}

/// Whether a file is a program that the loader gives this library, or a script for one.
///
/// # Safety
/// `path` is a text.
unsafe fn is_dynamic(folder: c_int, path: *const c_char) -> bool {
    let mut head = [0; HEAD];
    // SAFETY: the caller's promise.
    let Some(mut len) = (unsafe { head_of(folder, path, &mut head) }) else { return false };
    for _ in 0..DEEPEST {
        match script(&head[..len]).and_then(|interpreter| Text::of(&[interpreter])) {
            // SAFETY: a text.
            Some(interpreter) => match unsafe { head_of(libc::AT_FDCWD, interpreter.as_ptr(), &mut head) } {
                Some(of) => len = of,
                None => return false,
            },
            None => break,
        }
    }
    names_interpreter(&head[..len]) == Some(true)
}

/// The first bytes of a file that the system would run with its caller's rights alone; how many there are.
///
/// # Safety
/// `path` is a text.
unsafe fn head_of(folder: c_int, path: *const c_char, head: &mut [u8]) -> Option<usize> {
    // A pipe with a name would wait for its other end.
    let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: the caller's promise; a new descriptor, which is closed; room for what is asked.
    unsafe {
        let file = libc::openat(folder, path, flags);
        if file < 0 {
            return None;
        }
        let got =
            if may_be_trusted_with_more(file) { -1 } else { real::read(file, head.as_mut_ptr().cast(), head.len()) };
        real::close(file);
        usize::try_from(got).ok()
    }
}

/// Whether what runs from this file may have more rights than its caller, as the loader then listens to no environment: setuid, with capabilities of its own, or
/// in a process whose user or group is not the one that it began as.
fn may_be_trusted_with_more(file: c_int) -> bool {
    let mut about = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: room for what is asked; zero is a value of each part; questions to the system.
    unsafe {
        let asked = libc::fstat(file, about.as_mut_ptr()) == 0;
        let mode = about.assume_init().st_mode;
        if !asked || mode & libc::S_IFMT != libc::S_IFREG || mode & (libc::S_ISUID | libc::S_ISGID) != 0 {
            return true;
        }
        let none = libc::fgetxattr(file, c"security.capability".as_ptr(), std::ptr::null_mut(), 0) < 0
            && matches!(real::errno(), libc::ENODATA | libc::ENOTSUP);
        !none || libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid()
    }
}

/// What a script's first line names.
fn script(head: &[u8]) -> Option<&[u8]> {
    let line = head.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?.trim_ascii_start();
    line.split(|byte| byte.is_ascii_whitespace()).next()
}

/// Whether a program of 64 bits asks for a loader. None: it is no such program.
fn names_interpreter(head: &[u8]) -> Option<bool> {
    let number = |at: usize, len: usize| {
        let bytes = head.get(at..at.checked_add(len)?)?;
        Some(bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    };
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (start, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let kind = |i: u64| number(usize::try_from(start.checked_add(i * size)?).ok()?, 4);
    Some((0..count).any(|i| kind(i) == Some(u64::from(INTERPRETER))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    fn text(path: &Path) -> CString {
        CString::new(path.as_os_str().as_bytes()).unwrap()
    }

    fn dynamic(path: &Path) -> bool {
        // SAFETY: a text.
        unsafe { is_dynamic(libc::AT_FDCWD, text(path).as_ptr()) }
    }

    #[test]
    fn a_pipe_with_a_name_is_no_program_and_is_not_waited_for() {
        let folder = Folder::new("pipe");
        let path = folder.join("pipe");
        // SAFETY: a text.
        assert_eq!(unsafe { libc::mkfifo(text(&path).as_ptr(), 0o700) }, 0);
        assert!(!dynamic(&path));
    }

    #[test]
    fn programs_and_scripts_are_told_apart_and_nonsense_is_neither() {
        let shell = std::fs::read("/proc/self/exe").unwrap();
        assert_eq!(names_interpreter(&shell[..HEAD]), Some(true));
        let mut none = shell[..HEAD].to_vec();
        none[56..58].copy_from_slice(&[0, 0]);
        assert_eq!(names_interpreter(&none), Some(false));
        assert_eq!(script(b"#! /bin/sh -e\nexit"), Some(&b"/bin/sh"[..]));
        assert_eq!((script(b"\x7fELF"), names_interpreter(b"#!")), (None, None));
        for len in 0..200 {
            names_interpreter(&shell[..len]);
            let mut wrong = shell[..len].to_vec();
            wrong.iter_mut().skip(32).take(8).for_each(|byte| *byte = 0xff);
            names_interpreter(&wrong);
        }
    }

    #[test]
    fn scripts_are_what_their_interpreters_are() {
        let folder = Folder::new("script");
        let (path, own) = (folder.join("script"), std::env::current_exe().unwrap());
        for (line, is) in [(format!("#!{}\n", own.display()), true), ("#!/nowhere\n".to_owned(), false)] {
            std::fs::write(&path, line).unwrap();
            assert_eq!(dynamic(&path), is);
        }
        // One that is its own interpreter, for ever.
        std::fs::write(&path, format!("#!{}\n", path.display())).unwrap();
        assert!(!dynamic(&path));
    }

    #[test]
    fn a_program_with_capabilities_of_its_own_gets_no_library() {
        let folder = Folder::new("capable");
        let path = folder.join("program");
        std::fs::copy("/proc/self/exe", &path).unwrap();
        assert!(dynamic(&path));
        // `CAP_NET_RAW`, as `struct vfs_cap_data` of linux/capability.h says it.
        let of_file: [u32; 5] = [0x0200_0000, 1 << 13, 0, 0, 0];
        // SAFETY: texts, and as many bytes.
        let set = unsafe {
            let (value, len) = (of_file.as_ptr().cast(), size_of_val(&of_file));
            libc::setxattr(text(&path).as_ptr(), c"security.capability".as_ptr(), value, len, 0)
        };
        if set == 0 {
            assert!(!dynamic(&path));
        } else {
            println!("skipped: no file here gets capabilities: {}", std::io::Error::last_os_error());
        }
    }

    #[test]
    fn a_library_that_is_not_there_is_not_loaded() {
        let folder = Folder::new("named");
        let path = folder.join("libfastsock.so");
        let name = path.to_str().unwrap();
        assert!(!names_library(name.as_bytes()));
        std::fs::write(&path, "").unwrap();
        assert!(names_library(name.as_bytes()) && names_library(format!("other.so {name}").as_bytes()));
        assert!(names_library(format!("/nowhere/other.so:{name}").as_bytes()));
        for doubtful in ["libfastsock.so", "/$LIB/libfastsock.so", "/nowhere/libfastsock.so", ""] {
            assert!(!names_library(doubtful.as_bytes()), "{doubtful}");
        }
        let entries = [format!("OTHER={name}"), format!("LD_PRELOAD={name}")].map(|entry| CString::new(entry).unwrap());
        let list = [entries[0].as_ptr(), entries[1].as_ptr(), std::ptr::null()];
        // SAFETY: a list that ends with a null pointer.
        assert!(unsafe { preloaded(Some(list.as_ptr())) && !preloaded(Some(list[2..].as_ptr())) });
    }

    #[test]
    fn an_open_file_is_found_by_its_number() {
        use std::os::fd::AsRawFd;
        let folder = Folder::new("open");
        let path = folder.join("libfastsock.so");
        std::fs::write(&path, "").unwrap();
        let entry = CString::new(format!("LD_PRELOAD={}", path.display())).unwrap();
        let (list, file) = ([entry.as_ptr(), std::ptr::null()], std::fs::File::open("/proc/self/exe").unwrap());
        // SAFETY: a list that ends with a null pointer, and texts.
        unsafe {
            assert!(of_file(file.as_raw_fd(), list.as_ptr()) && !of_file(-1, list.as_ptr()));
            let all = [(file.as_raw_fd(), c"", libc::AT_EMPTY_PATH, true), (-1, c"/proc/self/exe", 0, true)];
            for (fd, path, flags, is) in
                all.into_iter().chain([(-1, c"", libc::AT_EMPTY_PATH, false), (-1, c"exe", 0, false)])
            {
                assert_eq!(of_place(fd, path.as_ptr(), list.as_ptr(), flags), is, "{fd} {path:?}");
            }
        }
    }
}
