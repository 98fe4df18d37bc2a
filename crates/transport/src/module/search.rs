//! Where modules are looked for.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The environment's own directories or files, apart by colons, which come first.
pub const VARIABLE: &str = "PIPEGAUGE_MODULES";

/// A file that may be a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The name that its file gives it.
    pub name: String,
    /// The file.
    pub file: PathBuf,
}

/// What is no module though it stands where modules are looked for, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedBy {
    /// The file, or the place.
    pub file: PathBuf,
    /// Why.
    pub why: String,
}

/// The environment's own places.
pub fn own() -> Vec<PathBuf> {
    env::var_os(VARIABLE).iter().flat_map(split).collect()
}

fn split(all: &OsString) -> Vec<PathBuf> {
    env::split_paths(all).filter(|place| !place.as_os_str().is_empty()).collect()
}

/// What looks like a module in these places and is none, and places that a person named and that are not there.
pub fn passed_by(own: &[PathBuf], places: &[PathBuf]) -> Vec<PassedBy> {
    let mut all = Vec::new();
    let mut add = |file: &Path, why: String| all.push(PassedBy { file: file.to_owned(), why });
    for place in places {
        let named = own.contains(place);
        match std::fs::metadata(place) {
            Ok(is) if is.is_dir() => match std::fs::read_dir(place) {
                Ok(entries) => {
                    let mut files: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
                    files.sort();
                    let so = |file: &&PathBuf| file.extension().is_some_and(|end| end == "so");
                    files
                        .iter()
                        .filter(so)
                        .filter_map(|file| Some((file, no_module(file)?)))
                        .for_each(|(f, why)| add(f, why));
                }
                Err(e) => add(place, format!("the folder can't be read: {e}")),
            },
            Ok(_) => no_module(place).into_iter().for_each(|why| add(place, why)),
            Err(_) if place.is_symlink() => add(place, DANGLING.to_owned()),
            Err(e) if named || e.kind() != std::io::ErrorKind::NotFound => {
                add(place, format!("it can't be looked at: {e} ({VARIABLE} names folders and files, apart by colons)"));
            }
            Err(_) => {}
        }
    }
    all
}

const DANGLING: &str = "the link leads nowhere";

/// Why a file is no module by its name and kind alone; none where it may be one.
fn no_module(file: &Path) -> Option<String> {
    match std::fs::metadata(file) {
        Err(_) if file.is_symlink() => Some(DANGLING.to_owned()),
        Err(e) => Some(format!("it can't be looked at: {e}")),
        Ok(is) if is.is_dir() => Some("it is a folder, and a module is a file".to_owned()),
        Ok(is) if !is.is_file() => Some("it is neither a file nor a link to one".to_owned()),
        Ok(_) => name(file).is_none().then(|| {
            "its name is no module's: NAME.so, with a NAME of a to z, 0 to 9, - and _, a letter or digit first, at most 32".to_owned()
        }),
    }
}

/// Directories and files in the order in which they are looked through: the environment's, the user's, the system's.
pub fn places() -> Vec<PathBuf> {
    places_of(env::var_os(VARIABLE), env::var_os("XDG_DATA_HOME"), env::var_os("HOME"))
}

fn places_of(own: Option<OsString>, data: Option<OsString>, home: Option<OsString>) -> Vec<PathBuf> {
    let own = own.iter().flat_map(split).collect::<Vec<_>>().into_iter();
    let absolute = |place: OsString| Some(PathBuf::from(place)).filter(|place| place.is_absolute());
    let user = data.and_then(absolute).or_else(|| home.and_then(absolute).map(|home| home.join(".local/share")));
    let user = user.map(|data| data.join("pipegauge/modules"));
    let system = ["/usr/local/lib/pipegauge/modules", "/usr/lib/pipegauge/modules"].map(PathBuf::from);
    own.chain(user).chain(system).collect()
}

/// Every file that may be a module, the first of each name, by name.
pub fn all(places: &[PathBuf]) -> Vec<Found> {
    let mut names = BTreeSet::new();
    let mut found: Vec<Found> = places
        .iter()
        .flat_map(|place| files(place))
        .filter_map(|file| Some(Found { name: name(&file)?, file }))
        .filter(|one| names.insert(one.name.clone()))
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The first file of this name.
pub fn named(places: &[PathBuf], wanted: &str) -> Option<PathBuf> {
    all(places).into_iter().find(|found| found.name == wanted).map(|found| found.file)
}

/// The files of a place, in the order of their names; a place that can't be read has none.
fn files(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let entries = std::fs::read_dir(place).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// The name of a transport that a file gives it.
fn name(file: &Path) -> Option<String> {
    let stem = file.file_stem()?.to_str()?;
    (file.extension()? == "so" && crate::name::well_formed(stem.as_bytes())).then(|| stem.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_comes_before_the_user_and_the_user_before_the_system() {
        let places = places_of(Some("/a:/b/x.so::".into()), None, Some("/home/me".into()));
        let shown: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
        assert_eq!(
            shown,
            [
                "/a",
                "/b/x.so",
                "/home/me/.local/share/pipegauge/modules",
                "/usr/local/lib/pipegauge/modules",
                "/usr/lib/pipegauge/modules"
            ]
        );
        let places = places_of(None, Some("/data".into()), Some("/home/me".into()));
        assert_eq!(places[0], Path::new("/data/pipegauge/modules"));
        assert_eq!(
            places_of(None, Some("data".into()), None).len(),
            2,
            "a path that depends on where one stands is none"
        );
    }

    #[test]
    fn the_first_of_a_name_is_taken_and_what_is_none_is_passed_by() {
        let dir = std::env::temp_dir().join(format!("pipegauge-search-{}", std::process::id()));
        let (first, second) = (dir.join("first"), dir.join("second"));
        for (place, files) in [(&first, &["b.so", "a.so.bak", "Bad.so", "README"][..]), (&second, &["a.so", "b.so"])] {
            std::fs::create_dir_all(place).unwrap();
            files.iter().for_each(|file| std::fs::write(place.join(file), "").unwrap());
        }
        std::fs::create_dir_all(first.join("c.so")).unwrap();
        let found = all(&[first.clone(), dir.join("nothing"), second.clone()]);
        let found: Vec<_> = found.iter().map(|found| (found.name.as_str(), found.file.clone())).collect();
        assert_eq!(found, [("a", second.join("a.so")), ("b", first.join("b.so"))]);
        assert_eq!(named(&[second.join("b.so")], "b"), Some(second.join("b.so")), "a place may be a file");
        assert_eq!(named(&[second], "c"), None);
        // What looks like a module is told, with the reason.
        std::os::unix::fs::symlink(dir.join("gone"), first.join("d.so")).unwrap();
        let gone = dir.join("nothing");
        let odd = passed_by(&[first.clone(), gone.clone()], &[first.clone(), gone.clone(), dir.join("system")]);
        let odd: Vec<_> = odd.iter().map(|odd| (odd.file.clone(), odd.why.as_str())).collect();
        let files: Vec<_> = odd.iter().map(|(file, _)| file.clone()).collect();
        assert_eq!(files, [first.join("Bad.so"), first.join("c.so"), first.join("d.so"), gone]);
        for ((_, why), says) in odd.iter().zip(["no module's", "a folder", "leads nowhere", "can't be looked at"]) {
            assert!(why.contains(says), "{why}");
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
