//! Modules: transports in shared libraries, found at run time. The command itself loads none: [`describe`] has a process of its own do it.

pub mod apart;
mod cases;
mod check;
pub mod describe;
mod guarded;
mod new;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use transport::module;
use transport::{Transport, registry};

use crate::exit::{Exit, no_json};
use crate::flags::{ModuleFlags, ModuleTask};

/// Does what was asked of a module.
pub fn module(flags: &ModuleFlags, json: bool) -> Result<Exit> {
    match &flags.what {
        ModuleTask::Check { file, set, patience } => check::check(file, set, Duration::from_secs_f64(*patience), json),
        ModuleTask::New { name, rust, directory } => {
            no_json(json, "module new")?;
            new::new(name, *rust, directory)
        }
        ModuleTask::Try { file, case, address, patience, settings } => {
            apart::ends_with_its_watcher();
            // Twice what it gives a call: a case's own words, where it waits in vain, tell more.
            let given = patience.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            rendezvous::ends_where_a_call_hangs(given.unwrap_or(cases::LONG).saturating_mul(2));
            let settings = describe::settings(settings)?;
            cases::run(case, file, address.as_deref(), *patience, settings).map(|()| Exit::Ok)
        }
        ModuleTask::Describe { file, settings } => {
            apart::ends_with_its_watcher();
            rendezvous::ends_where_a_call_hangs(apart::LOADS / 2);
            describe::tell(file, settings)
        }
    }
}

/// Has this process find modules, and know them by what another process tells: for the command.
pub fn by_description() {
    registry::modules_by(
        |name| {
            let file = module::file_of(&module::places(), name)?;
            Some(describe::described(&file).map(|module| module as &'static dyn Transport))
        },
        names,
    );
}

/// Has this process find modules and load them: for processes that measure.
pub fn by_loading() {
    registry::modules_by(
        |name| {
            let file = module::file_of(&module::places(), name)?;
            Some(load(&file))
        },
        names,
    );
}

fn names() -> Vec<String> {
    module::found_in(&module::places()).into_iter().map(|found| found.name).collect()
}

fn load(file: &Path) -> Result<&'static dyn Transport, String> {
    module::Module::load(file).map(|module| module as &'static dyn Transport).map_err(|e| e.to_string())
}
