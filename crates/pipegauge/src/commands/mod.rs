//! One module for each subcommand.

mod alike;
mod ask;
mod compare;
mod completions;
mod doctor;
mod echo;
mod explain;
mod export;
mod files;
mod group;
mod hint;
mod history;
mod import;
mod jitter;
mod lab;
mod layers;
mod lead;
mod limits;
mod list;
mod live;
mod loggp;
mod man;
mod module;
mod peer;
mod plot;
mod programs;
mod run;
mod scale;
mod schema;
mod serve;
mod show;
mod sweep;
mod system;
mod tables;
mod wires;

use anyhow::Result;

use crate::config::ranks;
use crate::exit::Exit;
use crate::flags::{Cli, Command};

/// Does what was asked.
pub fn dispatch(cli: Cli) -> Result<Exit> {
    let json = cli.json;
    match cli.command {
        Command::Peer | Command::Member | Command::Attend | Command::Ranked => module::by_loading(),
        _ => module::by_description(),
    }
    match &cli.command {
        Command::Run(_) | Command::Live(_) | Command::Group(_) | Command::Hint(_) | Command::Serve(_) => system::warn(),
        Command::Explain(flags) if !flags.dry_run => system::warn(),
        _ => {}
    }
    match cli.command {
        Command::Run(flags) => match ranks::of_run(&flags) {
            Some(ranked) => Err(ranked),
            None => run::run(&flags, json),
        },
        Command::Live(flags) => live::live(&flags, json),
        Command::Sweep(flags) => sweep::sweep(&flags, json),
        Command::Lab(flags) => lab::lab(&flags, json),
        Command::LabInside => lab::inside(),
        Command::Group(flags) => group::group(&flags, json),
        Command::Hint(flags) => hint::hint(&flags, json),
        Command::List { names } => list::list(&names, json),
        Command::Module(flags) => module::module(&flags, json),
        Command::Show(flags) => show::show(&flags, json),
        Command::Plot(flags) => plot::plot(&flags, json),
        Command::History(flags) => history::history(&flags, json),
        Command::Compare(flags) => compare::compare(&flags, json),
        Command::Layers(flags) => layers::layers(&flags, json),
        Command::Tables(flags) => tables::tables(&flags, json),
        Command::Scale(flags) => scale::scale(&flags, json),
        Command::Ask(flags) => ask::ask(&flags, json),
        Command::Explain(flags) => explain::explain(&flags, json),
        Command::Jitter(flags) => jitter::jitter(&flags, json),
        Command::Loggp(flags) => loggp::loggp(&flags, json),
        Command::Export(flags) => export::export(&flags, json),
        Command::Import(flags) => import::import(&flags, json),
        Command::Serve(flags) => serve::serve(&flags, json),
        Command::Echo(flags) => echo::echo(&flags, json),
        Command::Doctor => doctor::doctor(json),
        Command::Man(flags) => man::man(&flags, json),
        Command::Completions(flags) => completions::completions(&flags, json),
        Command::Schema(flags) => schema::schema(&flags, json),
        Command::Peer => peer::peer(),
        Command::Member => peer::member(),
        Command::Attend => serve::attend(json),
        Command::Lead => lead::lead(),
        Command::Seat(flags) => peer::seat(&flags),
        Command::Rank(flags) => Err(rendezvous::rank(&flags.folder).into()),
        Command::Ranked => peer::ranked(),
        Command::Floor(flags) => peer::floor(&flags.args),
    }
}
