//! For tests: a command line of `run` as it is resolved.

use anyhow::Result;
use clap::Parser;

use super::RunConfig;
use crate::flags::RunFlags;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    run: RunFlags,
}

/// What `run` and these words come to; nothing is opened.
pub fn typed(line: &str) -> Result<RunConfig> {
    let words: Vec<String> = std::iter::once("run").chain(line.split(' ')).map(str::to_owned).collect();
    let flags = Line::try_parse_from(&words)?.run;
    RunConfig::resolve(&flags, &words, std::time::SystemTime::now())
}
