//! Flags of `pipegauge group`.

use std::path::PathBuf;

use clap::Args;
use measure::{Pattern, Topology};

use super::{CommonFlags, PatternFlag, RunFlags, value};

/// The stack whose layers `--stack` can name alone: that of the report of 1994.
const STACK: &str = "TOTAL:MBRSHIP:FRAG:NAK:COM:udp";

/// Rounds in which the members of a group cast to each other.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("repeats", |arg| arg.visible_alias("rounds").help("Rounds of each trial, instead of as many as fill its time")))]
pub struct GroupFlags {
    /// Transports with a group, as `run` takes them [default: strata, with each --stack]
    #[arg(value_name = "TRANSPORT[:OPTION=VALUE,...]", value_parser = value::PathText, hide_possible_values = true,
          help_heading = None)]
    pub transports: Vec<String>,

    /// Layers of each member of strata, the top first (TOTAL:MBRSHIP:FRAG:NAK:COM:udp), or one layer of that stack and how often it is there
    /// (FRAG*10); may come several times: each is a path of its own
    #[arg(long, value_name = "LAYERS", value_parser = stack, help_heading = "Group")]
    pub stack: Vec<String>,
    /// Members, each a process: of this host, or but the first of the hosts of --peer in turn; of several numbers (2,3,4) each is a path of its own [default: 3]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=i64::from(measure::flows::MOST + 1)),
          help_heading = "Group")]
    pub members: Vec<u32>,
    /// Sizes of a message: 1 for latency and throughput, larger ones for bandwidth
    #[arg(long, visible_alias = "size", value_name = "SIZE,...", value_parser = value::bytes, value_delimiter = ',', default_value = "1",
          help_heading = "Group")]
    pub sizes: Vec<u64>,
    /// Messages of each member in a round: 1 for latency, more for throughput
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Group")]
    pub messages: u64,
    /// One member casts, and the others tell when its messages were there; all cast without this
    #[arg(long, help_heading = "Group")]
    pub one_sender: bool,
    /// Verify the contents of every message at each member, too; their order and number always are
    #[arg(long, help_heading = "Group")]
    pub check: bool,

    /// The HTML report [default: beside the run file]
    #[arg(long, value_name = "FILE", conflicts_with = "no_html", help_heading = "Output")]
    pub html: Option<PathBuf>,
    /// Write no HTML report
    #[arg(long, help_heading = "Output")]
    pub no_html: bool,
    #[command(flatten)]
    pub common: CommonFlags,
}

/// A stack, or one layer of the usual one and how often it is there. Whether it holds, the transport says.
fn stack(text: &str) -> Result<String, String> {
    let name = text.split('*').next().unwrap_or_default();
    let alone = !text.contains(':') && STACK.split(':').any(|layer| layer == name);
    if text.contains(',') {
        return Err("layers are parted by colons; for several stacks --stack comes several times".to_owned());
    }
    if !alone {
        return Ok(text.to_owned());
    }
    let layers = STACK.split(':').map(|layer| if layer == name { text } else { layer });
    Ok(layers.collect::<Vec<_>>().join(":"))
}

impl GroupFlags {
    /// The same as flags of `run`, which measures it.
    pub fn run(&self) -> RunFlags {
        let mut transports = self.transports.clone();
        transports.extend(self.stack.iter().map(|stack| format!("strata:stack={stack}")));
        if transports.is_empty() {
            transports.push("strata".to_owned());
        }
        RunFlags {
            transports,
            pattern: PatternFlag::new(if self.one_sender { Pattern::OneSender } else { Pattern::Group }),
            topology: (!self.members.is_empty()).then_some(Topology::Group),
            members: self.members.clone(),
            sizes: Some(self.sizes.clone()),
            burst: Some(self.messages),
            check: self.check,
            html: self.html.clone(),
            no_html: self.no_html,
            common: self.common.clone(),
            ..RunFlags::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::flags::{Cli, Command};

    fn flags(words: &[&str]) -> RunFlags {
        let cli = Cli::try_parse_from([&["pipegauge", "group"], words].concat()).unwrap();
        let Command::Group(flags) = cli.command else { panic!("another command") };
        flags.run()
    }

    #[test]
    fn each_stack_is_a_path_beside_those_that_are_named() {
        assert_eq!(flags(&[]).transports, ["strata"]);
        let several = flags(&["multicast", "--stack", "MBRSHIP:NAK:COM:udp", "--stack", "FRAG*10"]);
        assert_eq!(
            several.transports,
            ["multicast", "strata:stack=MBRSHIP:NAK:COM:udp", "strata:stack=TOTAL:MBRSHIP:FRAG*10:NAK:COM:udp"]
        );
        assert_eq!(stack("FRAG").as_deref(), Ok(STACK));
        assert!(stack("MBRSHIP,NAK").is_err());
    }

    #[test]
    fn it_is_a_run_of_the_pattern_with_its_rounds() {
        let all = flags(&["--members", "2,3", "--size", "1,4KiB", "--messages", "25", "--rounds", "1000"]);
        assert_eq!(
            (all.pattern().into(), all.topology, &all.members[..]),
            (Pattern::Group, Some(Topology::Group), &[2, 3][..])
        );
        assert_eq!((all.sizes, all.burst, all.common.repeats), (Some(vec![1, 4096]), Some(25), Some(1000)));
        assert_eq!(Pattern::from(flags(&["--one-sender"]).pattern()), Pattern::OneSender);
    }
}
