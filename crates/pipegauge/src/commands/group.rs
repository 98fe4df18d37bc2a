//! `pipegauge group`: the performance test of group communication, as `seeds/002` had it. It is measured as `run` measures.

use anyhow::Result;

use super::run;
use crate::exit::Exit;
use crate::flags::GroupFlags;

/// Measures rounds of a group over each path.
pub fn group(flags: &GroupFlags, json: bool) -> Result<Exit> {
    run::run(&flags.run(), json)
}
