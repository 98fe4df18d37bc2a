//! The settings of this process, from the files and the environment (`config`).

use std::io::Read;
use std::sync::OnceLock;

use crate::config::{self, Config, Source, Who};

/// Longer files are not read.
const MOST: u64 = 1 << 20;

/// What was said, with a word for what is asked often.
#[derive(Debug)]
pub struct Settings {
    /// Nothing becomes fast.
    pub off: bool,
    config: Config,
}

impl std::ops::Deref for Settings {
    type Target = Config;
    fn deref(&self) -> &Config {
        &self.config
    }
}

/// The settings of this process, read when first asked for.
pub fn get() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        // SAFETY: each thread has one. A call that works leaves it as it was, also the first, which reads files.
        let errno = unsafe { *libc::__errno_location() };
        let config = read();
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = errno };
        Settings { off: config.off.is_some(), config }
    })
}

/// Whether the program may do more than whoever started it, who has no say in it then.
pub fn secure() -> bool {
    // SAFETY: a plain question to the system.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

fn read() -> Config {
    let program = std::env::current_exe().map(|path| config::file_name(&path)).unwrap_or_default();
    let started = std::env::args_os().next().map(|name| config::file_name(name.as_ref())).unwrap_or_default();
    // SAFETY: asks for a number.
    let (secure, user) = (secure(), unsafe { libc::geteuid() });
    let who = Who { program: [program, started], user, secure };
    let variable = |name: &str| if secure { None } else { std::env::var(name).ok() };
    let mut sources = if secure { Vec::new() } else { texts(&config::files(variable)) };
    sources.extend(config::of_environment(variable));
    config::read(&sources, &who, &account)
}

/// The number of a user of this system's own list. (Those that a network knows are not asked for: this is no place for questions that somebody else answers.)
pub fn account(name: &str) -> Option<u32> {
    config::account(&text("/etc/passwd").ok()??, name)
}

/// Whether the process's effective user, which may have changed since it began, is switched off.
pub fn user_is_off() -> bool {
    let users = &get().off_users;
    // SAFETY: asks for a number.
    !users.is_empty() && users.contains(&unsafe { libc::geteuid() })
}

/// The files that there are. One that can't be read says so.
pub fn texts(files: &[String]) -> Vec<Source> {
    let source = |name: &String| match text(name) {
        Ok(text) => Some(Source { name: name.clone(), text: text?, missing: None }),
        Err(error) => Some(Source {
            name: name.clone(),
            missing: Some(format!("it can't be read: {error}")),
            ..Source::default()
        }),
    };
    files.iter().filter_map(source).collect()
}

/// None where there is no such file.
fn text(name: &str) -> std::io::Result<Option<String>> {
    let mut text = Vec::new();
    let read = std::fs::metadata(name).and_then(|about| {
        // Nothing that a read could wait for.
        if !about.is_file() {
            return Err(std::io::Error::other("it is no regular file"));
        }
        std::fs::File::open(name)?.take(MOST).read_to_end(&mut text)
    });
    match read {
        Ok(_) => Ok(Some(String::from_utf8_lossy(&text).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
