//! `pipegauge module new`: a folder with a module that compiles, passes the check and measures.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use transport::{Name, registry};

use crate::exit::Exit;
use crate::out;

/// The files of a module in C: name, text. `NAME` stands for its name.
const C: [(&str, &str); 3] = [
    ("NAME.c", include_str!("../../../../../modules/new/c/module.c")),
    ("Makefile", include_str!("../../../../../modules/new/c/Makefile")),
    ("pipegauge.h", HEADER),
];

/// The files of one in Rust.
const RUST: [(&str, &str); 5] = [
    ("src/lib.rs", include_str!("../../../../../modules/new/rust/lib.rs")),
    // Its tests are this program's own.
    ("src/pipegauge.rs", include_str!("../../../../transport/src/module/abi.rs")),
    ("Cargo.toml", include_str!("../../../../../modules/new/rust/Cargo.toml")),
    ("Makefile", include_str!("../../../../../modules/new/rust/Makefile")),
    ("pipegauge.h", HEADER),
];

const HEADER: &str = include_str!("../../../../../include/pipegauge.h");

/// Writes these files of a module into its folder.
fn filled(folder: &Path, name: Name, files: &[(&str, &str)]) -> Result<()> {
    for (file, text) in files {
        let path = folder.join(file.replace("NAME", name.as_str()));
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
        // A name may have a '-', which no word of Rust or C has: the text holds it in quotes only.
        let text = if path.ends_with("pipegauge.h") { (*text).to_owned() } else { text.replace("NAME", name.as_str()) };
        let text = text.split_once("\n#[cfg(test)]").map_or(text.as_str(), |(before, _)| before);
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

/// Writes a module of this name into a folder of its name within `at`.
pub fn new(name: &str, rust: bool, at: &Path) -> Result<Exit> {
    let name = Name::new(name)?;
    if registry::all().any(|t| t.name() == name) || name == Name::ALONE {
        bail!("'{name}' is the name of a transport that is built in: give the module another");
    }
    let folder = at.join(name.as_str());
    if folder.exists() {
        bail!("{} is there already: give the module another name, or another --directory", folder.display());
    }
    fs::create_dir_all(at).with_context(|| format!("making {}", at.display()))?;
    fs::create_dir(&folder).with_context(|| format!("making {}", folder.display()))?;
    if let Err(e) = filled(&folder, name, if rust { &RUST } else { &C }) {
        // Half a module would stand in the way of the next try.
        let _ = fs::remove_dir_all(&folder);
        return Err(e);
    }
    let folder = folder.display();
    out::text(&format!(
        "{folder}: a module over TCP, to be turned into your own\n\
         next:\n\
         \x20 make -C {folder}            builds {name}.so\n\
         \x20 pipegauge module check {folder}/{name}.so\n\
         \x20 PIPEGAUGE_MODULES={folder} pipegauge run {name} tcp\n"
    ))?;
    Ok(Exit::Ok)
}
