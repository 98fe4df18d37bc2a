//! `pipegauge hint`: HINT over paths, as `seeds/004` had it in its figures 6 and 12. It is measured as `run` measures.

use anyhow::Result;

use super::run;
use crate::exit::Exit;
use crate::flags::HintFlags;

/// Runs HINT over each path, or by one process alone.
pub fn hint(flags: &HintFlags, json: bool) -> Result<Exit> {
    run::run(&flags.run(), json)
}
