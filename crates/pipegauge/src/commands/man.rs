//! `pipegauge man`.

use anyhow::{Result, anyhow};
use clap::CommandFactory;

use crate::document::ManDocument;
use crate::exit::Exit;
use crate::flags::{Cli, ManFlags};
use crate::out;

/// Prints a manual page, made from the flag definitions.
pub fn man(flags: &ManFlags, json: bool) -> Result<Exit> {
    let mut root = Cli::command();
    root.build();
    let command = match flags.command.as_deref() {
        None => root,
        Some(name) => {
            let names: Vec<String> =
                root.get_subcommands().filter(|c| !c.is_hide_set()).map(|c| c.get_name().to_owned()).collect();
            let found = root.get_subcommands().find(|c| c.get_name() == name && !c.is_hide_set());
            found.cloned().ok_or_else(|| anyhow!("no command is named '{name}'; there are: {}", names.join(", ")))?
        }
    };
    let title = command.get_display_name().unwrap_or("pipegauge").to_owned();
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    if json {
        out::json(&ManDocument::new(title, String::from_utf8_lossy(&page).into_owned()))?;
    } else {
        out::bytes(&page)?;
    }
    Ok(Exit::Ok)
}
