//! Flags of `pipegauge hint`.

use clap::Args;

use super::{CommonFlags, HintWork, RunFlags, value};

/// Run HINT over paths.
#[derive(Debug, Clone, Args)]
pub struct HintFlags {
    /// Transports between the two processes that share the work; none: one process by itself
    #[arg(value_name = "TRANSPORT[:OPTION=VALUE,...]", value_parser = value::PathText, hide_possible_values = true,
          help_heading = None)]
    pub transports: Vec<String>,
    /// Also by one process, without a path, for comparison
    #[arg(long, help_heading = "Work")]
    pub alone: bool,
    /// Most subintervals of a process [default: as many as memory, time and precision allow]
    #[arg(long, value_name = "N", help_heading = "Work")]
    pub to: Option<u64>,
    /// Most memory that a process may take for its subintervals, 96 bytes each
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, default_value = "256MiB", help_heading = "Work")]
    pub memory: u64,
    #[command(flatten)]
    pub common: CommonFlags,
}

impl HintFlags {
    /// The same as flags of `run`, which measures it.
    pub fn run(&self) -> RunFlags {
        let alone = self.alone || self.transports.is_empty();
        RunFlags {
            hint: Some(HintWork { alone, to: self.to, memory: self.memory }),
            transports: self.transports.clone(),
            from: None,
            no_html: true,
            common: self.common.clone(),
            ..RunFlags::default()
        }
    }
}
