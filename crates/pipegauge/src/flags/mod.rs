//! What a person can type. These are raw flags, as typed; `config` turns them into something checked. The man page and the
//! shell completions come from the same definitions.

mod ask;
mod common;
mod compare;
mod echo;
mod explain;
mod group;
mod hint;
mod hint_work;
mod history;
mod kind;
mod lab;
mod live;
mod module;
mod pattern;
mod replay;
mod run;
mod scale;
mod seat;
mod sweep;
pub mod value;
mod view;

pub use ask::AskFlags;
pub use common::CommonFlags;
pub use compare::{CompareFlags, LayersFlags, TablesFlags};
pub use echo::EchoFlags;
pub use explain::{ExplainFlags, JitterFlags, LoggpFlags};
pub use group::GroupFlags;
pub use hint::HintFlags;
pub use hint_work::HintWork;
pub use history::{HistoryFlags, HistoryWish};
pub use kind::of_a_kind;
pub use lab::LabFlags;
pub use live::LiveFlags;
pub use module::{ModuleFlags, ModuleTask};
pub use pattern::PatternFlag;
pub use replay::{LARGEST, MOST_CONNECTIONS};
pub use run::RunFlags;
pub use scale::{ScaleFlags, WireFlags};
pub use seat::{RankFlags, SeatFlags};
pub use sweep::SweepFlags;
pub use value::SendRate;
pub use view::{
    CompletionsFlags, ExportFlags, ExportFormat, FloorFlags, ImportFlags, ManFlags, PlotFlags, SchemaFlags, ServeFlags,
    ShowFlags,
};

use std::ffi::OsString;
use std::sync::LazyLock;

use clap::{Arg, ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

const AFTER_HELP: &str = "\
Start here:
  pipegauge run memcpy shm unix tcp      how do the paths of this host perform?
  pipegauge serve                        prints the line to type on the other host

Exit codes: 0 done; 1 measured, but something fell short (interrupted, a path broke); 2 could not, or a limit could not be
judged.";

/// What `--version` says below the version (`-V` says the version alone): which features were built in, and which run file is written.
static BUILT: LazyLock<String> = LazyLock::new(|| {
    let features = [
        ("http", cfg!(feature = "http")),
        ("live", cfg!(feature = "live")),
        ("parquet", cfg!(feature = "parquet")),
        ("quic", cfg!(feature = "quic")),
        ("strata", cfg!(feature = "strata")),
        ("websocket", cfg!(feature = "websocket")),
    ];
    let names = |wanted: bool| {
        let names: Vec<&str> = features.iter().filter(|f| f.1 == wanted).map(|f| f.0).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    };
    format!(
        "{}\nbuilt in: {}\nleft out: {}\nrun file: {}",
        env!("CARGO_PKG_VERSION"),
        names(true),
        names(false),
        measure::event::SCHEMA
    )
});

/// Measures how any communication path really performs.
///
/// One method for every path: messages of many sizes go back and forth between two real processes, and the result is a
/// curve with honest intervals, as pictures, tables and a run file.
#[derive(Debug, Parser)]
#[command(name = "pipegauge", version, long_version = BUILT.as_str(), after_help = AFTER_HELP, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    /// Print a JSON document instead of text (its schema: pipegauge schema COMMAND)
    #[arg(long, global = true, display_order = 900)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// The command line as typed. A switch that is there twice says once more what it said; of a flag with a value two are an error, as they
    /// may differ.
    pub fn typed(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let matches = switches_again(Self::command()).try_get_matches_from(words)?;
        Self::from_arg_matches(&matches).map_err(|e| e.format(&mut Self::command()))
    }

    /// A command line to which flags were added: where one comes twice, the later one counts.
    pub fn again(words: &[String]) -> Result<Self, clap::Error> {
        // Of a flag that takes a list clap would join the values of both.
        let last = |flag: Arg| match (flag.get_long(), flag.get_action()) {
            (Some(_), ArgAction::Append) if flag.get_value_delimiter().is_some() => flag.action(ArgAction::Set),
            _ => flag,
        };
        let command = Self::command().mut_subcommands(|command| command.mut_args(last));
        let matches = command.args_override_self(true).try_get_matches_from(words)?;
        Self::from_arg_matches(&matches)
    }
}

/// A command, and those below it, whose switches may be given more than once.
fn switches_again(command: clap::Command) -> clap::Command {
    let again = |flag: Arg| match flag.get_action() {
        ArgAction::SetTrue => {
            let own = flag.get_id().clone();
            flag.overrides_with(own)
        }
        _ => flag,
    };
    command.mut_args(again).mut_subcommands(switches_again)
}

impl Command {
    /// The flags of a measurement.
    pub fn into_run(self) -> Option<RunFlags> {
        match self {
            Command::Run(flags) => Some(flags),
            Command::Live(flags) => Some(flags.run),
            Command::Group(flags) => Some(flags.run()),
            _ => None,
        }
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "made once, from the command line")]
pub enum Command {
    /// Measure one or more paths
    Run(RunFlags),
    /// Measure as `run` does and watch the curve grow, on the whole terminal
    Live(LiveFlags),
    /// Every combination of settings, measured in turns: what each setting does, and which to take
    Sweep(SweepFlags),
    /// Hosts on this machine, joined by links with a rate, MTU and offloads of your choice, for one command
    Lab(LabFlags),
    /// Group communication: each member casts messages, then waits for those of all
    Group(GroupFlags),
    /// HINT over paths: how soon does a program that adds up two numbers come up to speed?
    Hint(HintFlags),
    /// List the transports and, if one can't be used here, why; of those that are named, what they can do and their options
    List {
        /// Only these, with all that they can do and their options
        #[arg(value_name = "TRANSPORT")]
        names: Vec<String>,
    },
    /// Transports of your own, in shared libraries: try one, begin one
    Module(ModuleFlags),
    /// Show a run file: graph, summary, every point
    Show(ShowFlags),
    /// Draw one or more run files as SVG, PNG or a one-file HTML report
    Plot(PlotFlags),
    /// Earlier runs on this host, which tell where a repeat falls: what is kept, how far they lie apart
    History(HistoryFlags),
    /// Compare runs: do they differ, where, and by how much?
    Compare(CompareFlags),
    /// What does each layer add to the one below it, over size?
    Layers(LayersFlags),
    /// Tables of start-up and per-byte cost, bandwidth curve and half-power point, as the papers have them
    Tables(TablesFlags),
    /// What a path would take over a wire of another rate, or with another CPU or memory, and how far off that is
    Scale(ScaleFlags),
    /// Ask runs a question, in words or as flags: when does a message arrive, which path, which size, how many frames?
    Ask(AskFlags),
    /// What is behind a run's dips and steps? Measures again with one knob moved at a time
    Explain(ExplainFlags),
    /// How unsteady is a path: percentiles over size, outliers, drift, disturbances that come back
    Jitter(JitterFlags),
    /// LogGP parameters (L, o, g, G) from runs of several patterns, and what they can't identify
    Loggp(LoggpFlags),
    /// Write a run file in another format
    Export(ExportFlags),
    /// Read a NetPIPE np.out (3.7 or 5.x) into a run file
    Import(ImportFlags),
    /// Wait for another host that wants to measure, and print the line to type there
    Serve(ServeFlags),
    /// Give back what comes: the far end of a path that is a program (run exec:COMMAND)
    Echo(EchoFlags),
    /// Is this machine fit to measure? Each finding comes with its remedy
    Doctor,
    /// Print the manual page (roff): pipegauge man | man -l -
    Man(ManFlags),
    /// Print completions for a shell
    Completions(CompletionsFlags),
    /// Print the JSON Schema of the run file or of a command's --json document
    Schema(SchemaFlags),
    /// The far side of a local or ssh measurement, told what to do over standard input
    #[command(hide = true)]
    Peer,
    /// A near process of a local measurement, told what to do over standard input
    #[command(hide = true)]
    Member,
    /// The process in which `serve` measures, told what to do over standard input
    #[command(hide = true)]
    Attend,
    /// Stands for a process that a launcher starts
    #[command(hide = true)]
    Seat(SeatFlags),
    /// A process that a launcher started, until it becomes what its seat says
    #[command(hide = true)]
    Rank(RankFlags),
    /// A rank of a person's own launcher, which finds the command that is rank 0
    #[command(hide = true)]
    Ranked,
    /// The first process within a laboratory
    #[command(hide = true)]
    LabInside,
    /// The process that leads a run on another host than the command's, told what to do over standard input
    #[command(hide = true)]
    Lead,
    /// The bare floor program
    #[command(hide = true, disable_help_flag = true)]
    Floor(FloorFlags),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_switch_that_is_given_twice_says_what_it_said_once() {
        let typed = |line: &str| Cli::typed(line.split(' ').map(OsString::from));
        // Every switch of every command, by its long name and its short one.
        fn all(command: &clap::Command, words: &[String], found: &mut Vec<Vec<String>>) {
            for flag in command.get_arguments().filter(|a| matches!(a.get_action(), ArgAction::SetTrue)) {
                let long = flag.get_long().map(|name| format!("--{name}"));
                for name in long.into_iter().chain(flag.get_short().map(|name| format!("-{name}"))) {
                    found.push([words, &[name.clone(), name]].concat());
                }
            }
            for below in command.get_subcommands().filter(|c| c.get_name() != "help") {
                all(below, &[words, &[below.get_name().to_owned()]].concat(), found);
            }
        }
        let mut found = Vec::new();
        let mut root = Cli::command();
        root.build();
        all(&root, &["pipegauge".to_owned()], &mut found);
        assert!(found.len() > 50, "{found:?}");
        for words in found {
            let said = Cli::typed(words.iter().map(OsString::from)).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(!said.contains("multiple times"), "{words:?}: {said}");
        }
        let Command::Run(flags) = typed("pipegauge run tcp --no-html -q --no-html -q --json --json").unwrap().command
        else {
            panic!("run")
        };
        assert!(flags.no_html && flags.common.quiet);
        assert!(typed("pipegauge --json run tcp --json").unwrap().json);
        // The later of two that say the opposite counts, as before.
        let Command::Run(flags) = typed("pipegauge run tcp --nodelay --nodelay --no-nodelay").unwrap().command else {
            panic!("run")
        };
        assert!(!flags.common.nodelay && flags.common.no_nodelay);
        // Two values may differ: which one is meant?
        let said = typed("pipegauge run tcp --budget 1s --budget 2s").unwrap_err().to_string();
        assert!(said.contains("cannot be used multiple times"), "{said}");
        let said = typed("pipegauge run tcp --html a --no-html --no-html").unwrap_err().to_string();
        assert!(said.contains("cannot be used with"), "{said}");
    }

    #[test]
    fn the_manual_explains_every_command_and_flag() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let pages = std::fs::read_dir(&docs).unwrap().map(|file| file.unwrap().path());
        let manual: String = pages
            .filter(|path| path.extension().is_some_and(|end| end == "md"))
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect();
        // A longer name that begins alike is another one.
        let named = |word: &str| {
            manual
                .match_indices(word)
                .any(|(at, _)| !manual[at + word.len()..].starts_with(|c: char| c == '-' || c.is_ascii_alphanumeric()))
        };
        let mut root = Cli::command();
        root.build();
        let mut missing = Vec::new();
        for command in root.get_subcommands().filter(|c| !c.is_hide_set()) {
            if command.get_name() == "help" {
                continue;
            }
            let name = format!("pipegauge {}", command.get_name());
            let long = command.get_arguments().filter_map(|a| Some(format!("--{}", a.get_long()?)));
            missing.extend(
                std::iter::once(name.clone()).chain(long).filter(|word| !named(word)).map(|w| format!("{name}: {w}")),
            );
        }
        assert!(missing.is_empty(), "docs/ does not name: {missing:#?}");
    }

    #[test]
    fn hidden_commands_stay_out_of_the_help() {
        let help = Cli::command().render_long_help().to_string();
        assert!(!help.contains("peer ") && !help.contains("  member"), "{help}");
        assert!(!help.contains("floor"), "{help}");
        assert!(help.contains("serve"), "{help}");
    }
}
