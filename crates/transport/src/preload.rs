//! A shared library that the loader puts before all others in the processes of a path (`LD_PRELOAD`), so that a layer below
//! unmodified programs can be measured beside the kernel: which file is meant, and whether this process has it.

use std::io;
use std::path::{Path, PathBuf};

use crate::options::{Answer, Form, OptionSpec};
use crate::{LinkError, Settings, sys};

/// The option's name.
pub const OPTION: &str = "preload";

/// The loader's variable.
const VARIABLE: &str = "LD_PRELOAD";

/// The option, of transports whose calls go through the C library.
pub(crate) const PRELOAD: OptionSpec = OptionSpec {
    name: OPTION,
    flag: None,
    form: Form::Text("a library's name (fastsock) or path (/path/lib.so), without spaces and colons", fits),
    default: "none",
    help: "library that is loaded into both processes by LD_PRELOAD",
    answers: &[Answer { part: "", of: |e| e.options.get(OPTION).cloned() }],
    steers: true,
    moved: None,
};

/// What the loader's variable can hold as one library.
fn fits(text: &str) -> bool {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && c != ':';
    let named = Path::new(text).file_name().is_some() && !text.ends_with('/');
    named && text.len() <= 4000 && text.chars().all(plain) && (text.starts_with('/') || !text.contains('/'))
}

/// The library that these settings ask for.
pub fn asked(settings: &Settings) -> Option<&str> {
    settings.text(OPTION)
}

/// What the loader does in a program with other rights than its user's.
const SECURE: &str = "this program runs with other rights than its user's (setuid, setgid or file capabilities), and the loader ignores \
                      LD_PRELOAD then: use a copy of the program without them";

/// The words in front of a program that have the library loaded into it; none where none is asked for.
///
/// # Errors
/// There is no such library, or the loader would not heed the words.
pub fn words(settings: &Settings) -> Result<Vec<String>, LinkError> {
    let Some(text) = asked(settings) else { return Ok(Vec::new()) };
    if sys::secure() {
        return Err(LinkError::io(
            format!("loading the library {text} into a path's processes"),
            io::Error::other(SECURE),
        ));
    }
    let file = find(text)?;
    // What is loaded into this process already stays, behind it.
    let others = std::env::var(VARIABLE).ok().filter(|others| !others.is_empty());
    let others = others.map_or(String::new(), |others| format!(":{others}"));
    Ok(vec!["env".to_owned(), format!("{VARIABLE}={}{others}", file.display())])
}

/// The file that `text` means: a path, or the library of that name beside this program or in the `lib` folder of its prefix.
///
/// # Errors
/// There is none, or it is no shared library.
pub fn find(text: &str) -> Result<PathBuf, LinkError> {
    if text.contains('/') {
        return library(Path::new(text)).map_err(|e| LinkError::io(format!("looking for the library {text}"), e));
    }
    let program = std::env::current_exe().map_err(|e| LinkError::io("finding out where this program lies", e))?;
    let places = places(&program, text);
    if let Some(found) = places.iter().find(|place| place.exists()) {
        return library(found).map_err(|e| LinkError::io(format!("looking at the library {}", found.display()), e));
    }
    let tried: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    let source = io::Error::new(
        io::ErrorKind::NotFound,
        format!(
            "there is none at {}: build or install it there, or give a path (preload=/path/lib.so)",
            tried.join(" nor at ")
        ),
    );
    Err(LinkError::io(format!("looking for the library {text}"), source))
}

/// Where a library of this name may lie.
fn places(program: &Path, name: &str) -> [PathBuf; 2] {
    let folder = program.parent().unwrap_or(Path::new("/"));
    let file = file_name(name);
    // The prefix's own path, as a process that has loaded it tells.
    let lib = folder.parent().map_or_else(|| folder.join("../lib"), |prefix| prefix.join("lib"));
    [folder.join(&file), lib.join(file)]
}

/// `fastsock` is short for `libfastsock.so`.
fn file_name(name: &str) -> String {
    if name.contains(".so") { name.to_owned() } else { format!("lib{name}.so") }
}

/// The file without links, if it begins as a shared library does. Whether it can be loaded the loader says.
fn library(path: &Path) -> io::Result<PathBuf> {
    let path = path.canonicalize()?;
    let mut begin = [0; 4];
    io::Read::read_exact(&mut std::fs::File::open(&path)?, &mut begin)
        .ok()
        .filter(|()| begin == *b"\x7fELF")
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it is no shared library (an ELF file)"))?;
    Ok(path)
}

/// The file of the library that these settings ask for, as it is mapped in this process; none where none is asked for.
///
/// # Errors
/// It is not loaded here: why, as far as this process can tell.
pub(crate) fn mapped(settings: &Settings) -> Result<Option<String>, LinkError> {
    let Some(text) = asked(settings) else { return Ok(None) };
    let maps = std::fs::read_to_string("/proc/self/maps")
        .map_err(|e| LinkError::io("reading which libraries this process has loaded", e))?;
    if let Some(found) = among(&maps, text) {
        return Ok(Some(units::received::clean(found, 190)));
    }
    let variable = std::env::var(VARIABLE).unwrap_or_default();
    let source = io::Error::other(why_not(text, &variable, sys::secure()));
    Err(LinkError::io(format!("looking for the library {} in this process", units::received::clean(text, 190)), source))
}

/// The path of a mapped file that `text` means.
fn among<'a>(maps: &'a str, text: &str) -> Option<&'a str> {
    let whole = Path::new(text).canonicalize().ok().filter(|_| text.contains('/'));
    let file = file_name(text);
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mut mapped = paths.filter(|path| match &whole {
        Some(whole) => Path::new(path) == whole,
        None if text.contains('/') => false,
        None => Path::new(path).file_name().is_some_and(|name| *name == *file),
    });
    mapped.next()
}

/// Why a library is not loaded.
fn why_not(text: &str, variable: &str, secure: bool) -> String {
    if secure {
        return format!("it is not loaded: {SECURE}");
    }
    let name = Path::new(text).file_name().map_or(text.into(), |name| name.to_string_lossy());
    if variable.contains(&*name) {
        format!(
            "it is not loaded though LD_PRELOAD names it ({}): the loader could not use it, of another machine or with something missing \
             (ldd shows what), or this program is linked statically",
            units::received::clean(variable, 200)
        )
    } else {
        "it is not loaded: this process was not started by a command that loads it; for a far side that serves or that ssh starts, start \
         'pipegauge serve' there with LD_PRELOAD, for a path without the option leave it out"
            .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_loader_would_take_apart_is_no_library() {
        for good in ["fastsock", "libx.so.1", "/opt/x y/lib.so".replace(' ', "_").as_str()] {
            assert!(fits(good), "{good}");
        }
        for bad in ["", "a b", "/a:/b", "a:b", "lib/x.so", "./x.so", "/", "/lib/", "a\nb", "x".repeat(5000).as_str()] {
            assert!(!fits(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_name_means_a_library_beside_the_program_or_in_its_prefix() {
        let [beside, installed] = places(Path::new("/opt/p/bin/pipegauge"), "fastsock");
        assert_eq!((beside, installed), ("/opt/p/bin/libfastsock.so".into(), "/opt/p/lib/libfastsock.so".into()));
        assert_eq!(file_name("libvma.so.9"), "libvma.so.9");
    }

    #[test]
    fn what_is_not_there_or_no_library_is_named_with_where_it_was_looked_for() {
        let missing = find("nosuchlayer").unwrap_err().to_string();
        assert!(missing.contains("libnosuchlayer.so") && missing.contains("preload=/path/lib.so"), "{missing}");
        let missing = find("/no/such/lib.so").unwrap_err().to_string();
        assert!(missing.contains("/no/such/lib.so") && missing.contains("No such file"), "{missing}");
        let text = find("/proc/self/maps").unwrap_err().to_string();
        assert!(text.contains("no shared library"), "{text}");
        assert!(words(&Settings::new()).unwrap().is_empty());
    }

    #[test]
    fn a_library_is_loaded_where_it_is_mapped_and_nowhere_else() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let libc = among(&maps, "libc.so.6").expect("this program has the C library");
        for text in ["libc.so.6", libc] {
            let settings = Settings::new().with(OPTION, text);
            assert_eq!(mapped(&settings).unwrap().as_deref(), Some(libc));
            let words = words(&settings);
            assert!(text == "libc.so.6" || words.unwrap()[1].starts_with(&format!("LD_PRELOAD={libc}")));
        }
        let e = mapped(&Settings::new().with(OPTION, "fastsock")).unwrap_err().to_string();
        assert!(e.contains("not loaded") && e.contains("fastsock"), "{e}");
        // A file of that name elsewhere is another library.
        assert_eq!(among(&maps, "/tmp/libc.so.6"), None);
        assert_eq!(among("7f0-7f1 r--p 0 08:01 5  /a/b/libx.so\n", "x"), Some("/a/b/libx.so"));
        assert_eq!(among("7f0-7f1 r--p 0 08:01 5  /a/b/liby.so\n", "x"), None);
        assert_eq!(mapped(&Settings::new()).unwrap(), None);
    }

    #[test]
    fn why_it_is_not_loaded_is_told_by_what_this_process_sees() {
        assert!(why_not("fastsock", "", true).contains("setuid"));
        assert!(why_not("fastsock", "/x/libfastsock.so", false).contains("LD_PRELOAD names it"));
        assert!(why_not("fastsock", "", false).contains("was not started by"));
    }
}
