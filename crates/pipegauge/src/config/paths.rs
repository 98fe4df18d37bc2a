//! The paths of a run: `NAME[:option=value,...]` each, and the flags that set options of all.

use anyhow::{Result, anyhow, bail};
use measure::event::PathPlan;
use measure::{Load, LoadDirection, Pattern, Topology};
use transport::settings::todays;
use transport::{Name, OptionSpec, Settings, Transport, Value, registry};
use units::Bytes;

use super::{load, rates};
use crate::flags::{RunFlags, of_a_kind};

/// Members of a group where nobody says how many.
const MEMBERS: u32 = 3;

/// Most characters of a label.
const LONGEST_LABEL: usize = 60;

/// A flag that sets an option of every path that has it.
#[derive(Debug)]
pub struct Flagged {
    /// As it was typed.
    pub flag: &'static str,
    /// The option's name.
    pub option: String,
    /// What it is set to.
    pub value: Value,
}

impl Flagged {
    /// Whether the flag is this transport's: it has the option, and names the flag for it.
    pub fn is_of(&self, transport: &dyn Transport) -> bool {
        let flags = |of: &'static str| of.split(", ").any(|flag| flag == self.flag);
        transport.options().iter().any(|o| o.name == self.option && o.flag.is_some_and(flags))
    }
}

/// The options that flags set.
pub fn flagged(flags: &RunFlags) -> Vec<Flagged> {
    let mut all = Vec::new();
    let mut add = |flag, option: &str, value: Option<Value>| {
        all.extend(value.map(|value| Flagged { flag, option: option.to_owned(), value }));
    };
    add("--mss", "mss", flags.mss.map(Value::from));
    add("--congestion", "congestion", flags.common.congestion.as_deref().map(Value::from));
    add("--nodelay", "nodelay", flags.common.nodelay.then(|| true.into()));
    add("--no-nodelay", "nodelay", flags.common.no_nodelay.then(|| false.into()));
    add("--sockbuf", "sockbuf", flags.common.sockbuf.map(Value::from));
    add("-4", "family", flags.common.ipv4.then(|| "4".into()));
    add("-6", "family", flags.common.ipv6.then(|| "6".into()));
    add("--wait", "wait", flags.common.wait.map(Value::from));
    add("--loss-timeout", "loss-timeout", flags.loss_timeout.map(Value::from));
    for (option, value) in flags.common.theory.iter().flat_map(Settings::iter) {
        add("--theory", option, Some(value.clone()));
    }
    all
}

/// The paths that the flags name, each with a name of its own.
pub fn resolve(flags: &RunFlags) -> Result<Vec<PathPlan>> {
    let mut paths = Vec::new();
    let shared = flagged(flags);
    let (topology, counts) = flags.connections();
    let flag = if topology == Topology::Flows { "--flows" } else { "--members" };
    each_once(if flags.pairs.is_empty() { flag } else { "--pairs" }, counts)?;
    each_once("--load", &flags.load)?;
    for text in &flags.transports {
        let (path, said) = path(text, &shared, flags)?;
        let mut counted = match flags.connections() {
            _ if said && (path.flows > 1 || path.topology.has_members()) => vec![path],
            (_, []) => vec![path],
            (topology, counts) => {
                let of = |count: &u32| {
                    let flows = connections(topology, &count.to_string())?;
                    Ok(PathPlan { flows, topology, ..path.clone() })
                };
                counts.iter().map(of).collect::<Result<_>>()?
            }
        };
        for path in counted.drain(..) {
            paths.extend(under_loads(path, flags).into_iter().flat_map(|path| rates::under_rates(path, flags)));
        }
    }
    idle_beside(&mut paths);
    paths.extend(flags.replayed.clone());
    apart(&mut paths)?;
    if flags.hint.is_some_and(|hint| hint.alone) {
        paths.insert(0, Name::ALONE.into());
    }
    Ok(paths)
}

/// Refuses a flag that holds a number twice.
fn each_once(flag: &str, counts: &[u32]) -> Result<()> {
    match counts.iter().enumerate().find(|(at, count)| counts[..*at].contains(count)) {
        Some((_, count)) => bail!("{flag} holds {count} twice; name each number once"),
        None => Ok(()),
    }
}

/// The path under each load that `--load` names, where the path's own text names none; 0 is the idle path.
fn under_loads(path: PathPlan, flags: &RunFlags) -> Vec<PathPlan> {
    if path.load.is_some() || flags.load.is_empty() {
        return vec![path];
    }
    let counts = flags.load.iter().copied().filter(|flows| *flows > 0);
    let loaded = |flows: u32| {
        let label = path.label.as_ref().map(|label| format!("{label}:load={flows}"));
        let size = load::size(&path, flags.load_size);
        PathPlan { label, load: Some(Load { flows, direction: direction(flags), size }), ..path.clone() }
    };
    let loaded: Vec<PathPlan> = counts.map(loaded).collect();
    std::iter::once(path).chain(loaded).collect()
}

/// Puts the idle path before each that is loaded, where it is not named: nothing else tells what a load adds.
fn idle_beside(paths: &mut Vec<PathPlan>) {
    let mut at = 0;
    while let Some(path) = paths.get(at) {
        let idle = PathPlan { label: None, load: None, ..path.clone() };
        let named = |other: &PathPlan| PathPlan { label: None, ..other.clone() } == idle;
        if path.load.is_some() && !paths.iter().any(named) {
            paths.insert(at, idle);
        }
        at += 1;
    }
}

fn direction(flags: &RunFlags) -> LoadDirection {
    flags.load_direction.unwrap_or_default()
}

/// One path: what its text sets, and beside it what flags set; and whether its text says how many connections it has.
fn path(text: &str, shared: &[Flagged], flags: &RunFlags) -> Result<(PathPlan, bool)> {
    let text = &*of_a_kind(text);
    let (name, options) = text.split_once(':').map_or((text, None), |(name, options)| (name, Some(options)));
    let transport = registry::named(name).map_err(|e| match (name, options.and_then(|o| o.split(',').next())) {
        ("mpi", Some(other)) if registry::named(other).is_ok() => anyhow!(
            "{text}: {other} is no MPI; name an implementation (mpi:openmpi), and what its messages go over as its option (openmpi:over=tcp)"
        ),
        _ => e.into(),
    })?;
    let (mut settings, mut label, mut joined) = (Settings::default(), None, None);
    let (mut loads, mut way, mut size) = (None, None, None);
    let items = options.map_or(Vec::new(), |options| items(transport, options));
    for item in &items {
        let (option, value) = item.split_once('=').ok_or_else(|| {
            anyhow!("{text}: '{item}' is not of the form option=value; write for example {}", example(transport))
        })?;
        match (option, value) {
            ("label", value) if label.is_some() => bail!("{text}: 'label' is given twice; give it once ({value})"),
            ("label", value) => label = Some(checked_label(value, name)?),
            ("load", value) => loads = Some(checked_load(value)?),
            ("load-direction", value) => way = Some(checked_direction(value)?),
            ("load-size", value) => {
                size = Some(value.parse::<Bytes>().map_err(|e| anyhow!("load-size={value}: {e}"))?.0);
            }
            (option, value) if let Some(topology) = Topology::named(option) => {
                if joined.is_some() {
                    bail!(
                        "{text}: how many connections there are is said twice; give one of flows, pairs, fan-in, fan-out and group"
                    );
                }
                joined = Some((topology, connections(topology, value)?));
            }
            _ => settings
                .read(transport.options(), todays(transport.name().as_str(), option), value)
                .map_err(|e| anyhow!("{text}: {name}: {e}"))?,
        }
    }
    for set in shared.iter().filter(|set| set.is_of(transport) && settings.get(&set.option).is_none()) {
        let Some(form) = transport.options().iter().find(|o| o.name == set.option).map(|o| o.form) else { continue };
        if let Err(why) = form.check(&set.value) {
            bail!("{} {}: {why} ({name})", set.flag, form.text(&set.value));
        }
    }
    // Only now, so that a flag that may stand for several values has them all.
    for set in shared.iter().filter(|set| set.is_of(transport)) {
        if settings.get(&set.option).is_none() {
            settings.set(&set.option, set.value.clone());
        }
    }
    let (topology, flows) = joined.unwrap_or_else(|| usual(transport, &settings, flags));
    let path = PathPlan { transport: transport.name(), label, settings, flows, topology, load: None, offered: None };
    if let (None, Some(option)) = (loads, way.map(|_| "load-direction").or(size.map(|_| "load-size"))) {
        bail!("{text}: {option} is of a path that is loaded; add load=N");
    }
    let load = loads.filter(|flows| *flows > 0).map(|flows| {
        let size = load::size(&path, size.or(flags.load_size));
        Load { flows, direction: way.unwrap_or(direction(flags)), size }
    });
    Ok((PathPlan { load, ..path }, joined.is_some()))
}

/// The options of a path, each as it was typed. Where the transport has one that takes the rest, that is what follows the last option
/// that is named: `exec:label=a,ssh host echo a,b`.
fn items(transport: &dyn Transport, text: &str) -> Vec<String> {
    let Some(rest) = transport.takes_the_rest() else { return text.split(',').map(str::to_owned).collect() };
    let known = |name: &str| name == "label" || transport.options().iter().any(|option| option.name == name);
    let (mut left, mut all) = (text, Vec::new());
    while !left.is_empty() {
        let named = left.split_once('=').filter(|(name, _)| known(name));
        match (named, left.split_once(',')) {
            (None, _) => {
                all.push(format!("{rest}={left}"));
                break;
            }
            (Some((name, _)), Some((item, more))) if name != rest => {
                all.push(item.to_owned());
                left = more;
            }
            _ => {
                all.push(left.to_owned());
                break;
            }
        }
    }
    all
}

/// How the connections of a path share processes where nobody says: a transport that is a group has a few members, and so has what all members do together.
fn usual(transport: &dyn Transport, settings: &Settings, flags: &RunFlags) -> (Topology, u32) {
    let can = transport.capabilities(settings);
    let together = can.collective && Pattern::from(flags.pattern()).facts().collective;
    if (can.group || together) && can.two_ended {
        (Topology::Group, Topology::Group.connections(MEMBERS))
    } else {
        (Topology::Flows, 1)
    }
}

/// A path with an option, as it is typed.
fn example(transport: &dyn Transport) -> String {
    match transport.options().first() {
        Some(option) => format!("{}:{}=...", transport.name(), option.name),
        None => format!("{}:label=...", transport.name()),
    }
}

/// Connections of a path of which a person names this number.
fn connections(topology: Topology, text: &str) -> Result<u32> {
    let (least, most) = topology.bounds();
    let count = text.parse().ok().filter(|count| (least..=most).contains(count));
    count.map(|count| topology.connections(count)).ok_or_else(|| {
        let (option, several) =
            (topology.name(), if topology == Topology::Group { "members" } else { topology.several() });
        anyhow!("{option}={text}: a path has {least} to {most} {several}")
    })
}

fn checked_load(text: &str) -> Result<u32> {
    let flows = text.parse().ok().filter(|flows| (0..=measure::load::MOST).contains(flows));
    flows.ok_or_else(|| anyhow!("load={text}: a path is idle (0) or has 1 to {} loading flows", measure::load::MOST))
}

fn checked_direction(text: &str) -> Result<LoadDirection> {
    let found = LoadDirection::ALL.into_iter().find(|way| way.name() == text);
    found.ok_or_else(|| anyhow!("load-direction={text}: it is one of same, opposite, both"))
}

fn checked_label(text: &str, transport: &str) -> Result<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.=+:%".contains(c);
    if text.is_empty() || text.len() > LONGEST_LABEL || !text.chars().all(plain) {
        bail!("label={text}: a label is of letters, digits and -_.=+:%, at most {LONGEST_LABEL} of them");
    }
    if text.chars().all(|c| c.is_ascii_digit()) {
        bail!("label={text}: --path takes a number for the path of that number; give the label a letter");
    }
    if text != transport && (registry::named(text).is_ok() || text == Name::ALONE.as_str()) {
        bail!("label={text}: that is what another path is called; choose a word that is no transport's name");
    }
    Ok(text.to_owned())
}

/// What is set on a path other than its transport would have it; all of it where the transport is a module that is not here.
pub fn beyond_defaults(path: &PathPlan) -> Settings {
    registry::find(path.transport).map_or_else(|| path.settings.clone(), |t| path.settings.beyond_defaults(t.options()))
}

/// A transport with options as they are typed: those of `settings` that are wanted. A value that a file made up is left out: the text
/// may end up on somebody's command line. The options of a module that is not here are not known: of those, words and numbers are taken as they are.
pub fn typed(transport: Name, settings: &Settings, wanted: impl Fn(&str) -> bool) -> String {
    let text = |o: &OptionSpec| {
        let value = settings.get(o.name).filter(|value| o.form.check(value).is_ok())?;
        Some(format!("{}={}", o.name, o.form.text(value)))
    };
    let parts: Vec<String> = match registry::find(transport) {
        Some(found) => found.options().iter().filter(|o| wanted(o.name)).filter_map(text).collect(),
        None => {
            settings.iter().filter(|(name, _)| wanted(name)).filter_map(|(name, value)| plain(name, value)).collect()
        }
    };
    if parts.is_empty() { transport.to_string() } else { format!("{transport}:{}", parts.join(",")) }
}

/// An option of which nothing is known, where a shell takes its name and value as they are.
fn plain(name: &str, value: &Value) -> Option<String> {
    let text = value.to_string();
    let all = |text: &str, more: &str| {
        (1..=200).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    (all(name, "-_") && all(&text, "-_.:/%+")).then(|| format!("{name}={text}"))
}

/// A size as it is typed: exactly, and without what has a meaning of its own there.
pub fn size_typed(bytes: u64) -> String {
    let short = Bytes(bytes).to_string().replace(' ', "");
    if short.contains([',', '.']) { bytes.to_string() } else { short }
}

/// Adds an option to a path as it is typed.
pub fn added(typed: &mut String, option: &str, value: impl std::fmt::Display) {
    typed.push_str(&format!("{}{option}={value}", if typed.contains(':') { "," } else { ":" }));
}

/// Gives paths of one transport labels that tell them apart: by the options in which they differ.
fn apart(paths: &mut [PathPlan]) -> Result<()> {
    type Set = (Name, Settings, (Topology, u32), Option<Load>);
    let connections = |path: &PathPlan| (path.topology, path.flows);
    let set: Vec<Set> =
        paths.iter().map(|path| (path.transport, beyond_defaults(path), connections(path), path.load)).collect();
    for (path, (_, mine, connections, load)) in paths.iter_mut().zip(&set).filter(|(path, _)| path.label.is_none()) {
        let differs = |option: &str| {
            set.iter().any(|(t, other, ..)| *t == path.transport && other.get(option) != mine.get(option))
        };
        let mut label = typed(path.transport, mine, differs);
        let usual = *connections == (Topology::Flows, 1);
        if !usual && set.iter().any(|(t, _, others, _)| *t == path.transport && others != connections) {
            added(&mut label, connections.0.name(), connections.0.asked(connections.1));
        }
        if let Some(load) = load {
            let others = || set.iter().filter(|(t, ..)| *t == path.transport).filter_map(|(.., other)| other.as_ref());
            // The idle path is always beside it.
            added(&mut label, "load", load.flows);
            if others().any(|other| other.direction != load.direction) {
                added(&mut label, "load-direction", load.direction.name());
            }
            if others().any(|other| other.size != load.size) {
                added(&mut label, "load-size", size_typed(load.size));
            }
        }
        if let Some(bits) = path.offered {
            added(&mut label, "offered", rates::typed(bits));
        }
        path.label = (label != path.transport.as_str()).then_some(label);
    }
    for (i, path) in paths.iter().enumerate() {
        let name = path.name();
        if let Some(twin) = paths[..i].iter().find(|other| other.name() == name) {
            let alike = |twin: &PathPlan| (beyond_defaults(twin), connections(twin), twin.load);
            let (transport, same) = (path.transport, alike(twin) == alike(path));
            let why = if same { "with the same options" } else { "with options that read alike" };
            bail!(
                "{name} is named twice {why}; name each path once, give one of them another option, or each a label of its own \
                 ({transport}:label=again)"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use transport::options::Form;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        run: RunFlags,
    }

    fn of(line: &str) -> Result<Vec<PathPlan>> {
        resolve(&Line::try_parse_from(std::iter::once("run").chain(line.split(' '))).unwrap().run)
    }

    fn said(line: &str) -> String {
        of(line).unwrap_err().to_string()
    }

    fn names(line: &str) -> Vec<String> {
        of(line).unwrap().iter().map(|p| p.name().to_owned()).collect()
    }

    #[test]
    fn a_path_has_the_shortest_name_that_tells_it_apart() {
        assert_eq!(names("tcp unix"), ["tcp", "unix"]);
        assert_eq!(names("tcp:sockbuf=64KiB unix"), ["tcp", "unix"]);
        assert_eq!(names("tcp:sockbuf=64KiB tcp:sockbuf=4MiB"), ["tcp:sockbuf=64KiB", "tcp:sockbuf=4MiB"]);
        assert_eq!(names("tcp tcp:sockbuf=4MiB,nodelay=off"), ["tcp", "tcp:sockbuf=4MiB,nodelay=off"]);
        assert_eq!(
            names("tcp:sockbuf=64KiB,nodelay=off tcp:sockbuf=4MiB,nodelay=off --mss 1000"),
            ["tcp:sockbuf=64KiB", "tcp:sockbuf=4MiB"]
        );
        assert_eq!(names("tcp tcp:label=again"), ["tcp", "again"]);
        assert_eq!(names("tcp:sockbuf=64KiB,label=small tcp:sockbuf=4MiB,label=big"), ["small", "big"]);
        let twice = names("theory:latency=1us,dip=1KiB..2KiB*5,dip=8KiB..9KiB*3 theory:latency=5us");
        assert_eq!(twice, ["theory:latency=1us,dip=1KiB..2KiB*5+8KiB..9KiB*3", "theory:latency=5us"]);
    }

    #[test]
    fn numbers_of_flows_are_paths_with_names_of_their_own() {
        let flows = |line: &str| of(line).unwrap().iter().map(|p| p.flows).collect::<Vec<_>>();
        assert_eq!((names("tcp --flows 4"), flows("tcp --flows 4")), (vec!["tcp".to_owned()], vec![4]));
        assert_eq!(names("tcp unix --flows 1,2"), ["tcp", "tcp:flows=2", "unix", "unix:flows=2"]);
        assert_eq!(names("tcp:mss=1000 tcp:mss=2000,flows=2"), ["tcp:mss=1000", "tcp:mss=2000,flows=2"]);
        assert_eq!((names("tcp tcp:flows=8"), flows("tcp tcp:flows=8")), (names("tcp --flows 1,8"), vec![1, 8]));
        assert_eq!(flows("tcp:flows=8 unix --flows 2"), [8, 2], "what a path says of itself comes first");
        assert!(said("tcp --flows 2,1,2").contains("--flows holds 2 twice"));
        for wrong in ["tcp:flows=0", "tcp:flows=129", "tcp:flows=x"] {
            assert!(said(wrong).contains("1 to 128 flows"), "{wrong}");
        }
        assert!(Line::try_parse_from(["run", "tcp", "--flows", "0"]).is_err());
    }

    #[test]
    fn numbers_of_pairs_and_members_are_paths_with_names_of_their_own() {
        let of = |line: &str| of(line).unwrap().iter().map(|p| (p.topology, p.flows)).collect::<Vec<_>>();
        assert_eq!((names("tcp --pairs 4"), of("tcp --pairs 4")), (vec!["tcp".to_owned()], vec![(Topology::Pairs, 4)]));
        assert_eq!(names("tcp unix --pairs 1,2"), ["tcp:pairs=1", "tcp:pairs=2", "unix:pairs=1", "unix:pairs=2"]);
        assert_eq!(of("tcp --topology pairs --members 1,2"), of("tcp --pairs 1,2"));
        assert_eq!(names("tcp --topology fan-in --members 2,3"), ["tcp:fan-in=2", "tcp:fan-in=3"]);
        assert_eq!(
            names("tcp tcp:flows=2 tcp:pairs=2 tcp:fan-in=2"),
            ["tcp", "tcp:flows=2", "tcp:pairs=2", "tcp:fan-in=2"]
        );
        assert_eq!(of("tcp:pairs=8 unix --flows 2"), [(Topology::Pairs, 8), (Topology::Flows, 2)]);
        assert_eq!(of("tcp:pairs=1 --flows 2"), [(Topology::Pairs, 1)], "what a path says of itself comes first");
        assert!(said("tcp:pairs=0").contains("a path has 1 to 128 pairs"));
        assert!(said("tcp:fan-in=129").contains("a path has 1 to 128 members"));
        assert_eq!(of("multicast"), [(Topology::Group, 2)], "it is a group by itself, of three members");
        assert_eq!(of("multicast --topology group --members 2,9"), [(Topology::Group, 1), (Topology::Group, 8)]);
        assert_eq!(names("multicast:group=5 multicast"), ["multicast:group=5", "multicast:group=3"]);
        assert_eq!(of("multicast:group=5 --topology group --members 2"), [(Topology::Group, 4)]);
        assert_eq!(of("theory:members=5"), [(Topology::Flows, 1)], "one process plays all members");
        assert!(said("multicast:group=1").contains("a path has 2 to 129 members"));
        assert!(said("multicast:address=10.0.0.1").contains("224.0.0.0 to 239.255.255.255"));
        assert!(said("theory:members=1").contains("2 to 129"));
        assert!(said("tcp:flows=2,pairs=2").contains("said twice"));
        assert!(said("tcp --pairs 2,2").contains("--pairs holds 2 twice"));
        assert!(said("tcp --topology fan-in --members 3,3").contains("--members holds 3 twice"));
        for wrong in [
            "tcp --pairs 0",
            "tcp --pairs 2 --flows 2",
            "tcp --topology fan-in",
            "tcp --members 2",
            "tcp --topology flows --members 2",
        ] {
            assert!(Line::try_parse_from(std::iter::once("run").chain(wrong.split(' '))).is_err(), "{wrong}");
        }
    }

    #[test]
    fn loads_are_paths_with_names_of_their_own_beside_the_idle_one() {
        let loads = |line: &str| of(line).unwrap().iter().map(|p| p.load.map_or(0, |l| l.flows)).collect::<Vec<_>>();
        let both = |line: &str| (names(line), loads(line));
        let tcp = (vec!["tcp".to_owned(), "tcp:load=4".to_owned()], vec![0, 4]);
        for line in ["tcp --load 4", "tcp --load 0,4", "tcp tcp:load=4", "tcp:load=4", "tcp:load=0 tcp:load=4"] {
            assert_eq!(both(line), tcp, "{line}");
        }
        assert_eq!(
            names("tcp unix --load 1,2"),
            ["tcp", "tcp:load=1", "tcp:load=2", "unix", "unix:load=1", "unix:load=2"]
        );
        assert_eq!(names("tcp:label=x --load 2"), ["x", "x:load=2"]);
        assert_eq!(
            names("tcp:load=2,load-direction=both tcp:load=2"),
            ["tcp", "tcp:load=2,load-direction=both", "tcp:load=2,load-direction=same"]
        );
        assert_eq!(
            names("tcp:load=2,load-size=1MiB tcp:load=2"),
            ["tcp", "tcp:load=2,load-size=1MiB", "tcp:load=2,load-size=128KiB"]
        );
        assert_eq!(names("tcp:mss=1000 tcp:mss=2000 --load 1")[1..3], ["tcp:mss=1000,load=1", "tcp:mss=2000"]);
        assert_eq!(of("udp --load 1").unwrap()[1].load.unwrap().size, 1448, "what a packet holds");
        let set = of("tcp --load 1 --load-direction opposite --load-size 4KiB").unwrap()[1].load.unwrap();
        assert_eq!((set.direction, set.size), (LoadDirection::Opposite, 4096));
        for (line, says) in [
            ("tcp:load=x", "1 to 127 loading flows"),
            ("tcp:load=128", "1 to 127 loading flows"),
            ("tcp:load=1,load-direction=up", "same, opposite, both"),
            ("tcp:load=1,load-size=x", "load-size=x"),
            ("tcp:load-direction=both", "add load=N"),
            ("tcp:load=2 tcp:load=2", "named twice with the same options"),
            ("tcp --load 2,2", "--load holds 2 twice"),
        ] {
            let e = said(line);
            assert!(e.contains(says), "{line}: {e}");
        }
    }

    #[test]
    fn a_flag_sets_the_option_of_every_path_that_has_it_and_names_none_of_its_own() {
        let paths = of("tcp:sockbuf=64KiB unix shm memcpy --sockbuf 1MiB --wait spin").unwrap();
        let at = |i: usize, option| paths[i].settings.get(option).map(ToString::to_string);
        assert_eq!([0, 1, 2, 3].map(|i| at(i, "sockbuf")), [Some("65536".into()), Some("1048576".into()), None, None]);
        assert_eq!([0, 1, 2, 3].map(|i| at(i, "wait").is_some()), [true, true, true, false]);
        let both = of("theory:latency=1us tcp --theory rate=1Gbit/s,loss=1% -6").unwrap();
        let model = transport::theory::Theory::of(&both[0].settings);
        assert_eq!((model.latency, model.rate, model.loss), (1e-6, 1e9, 0.01));
        assert_eq!(both[1].settings, Settings::default().with("family", "6"));
    }

    /// Values at the bounds of a form, as they are typed, and some beyond.
    fn at_bounds(form: &Form) -> (Vec<String>, Vec<String>) {
        let texts = |all: &[&str]| all.iter().map(ToString::to_string).collect();
        match form {
            Form::Bytes(least, most) | Form::Whole { least, most, .. } => {
                let beyond = [least.checked_sub(1), most.checked_add(1)];
                let beyond = beyond.iter().flatten().map(u64::to_string).chain(["-1".to_owned()]);
                (vec![least.to_string(), most.to_string()], beyond.collect())
            }
            Form::Seconds(low, high) => {
                let seconds = |x: f64| format!("{x}s");
                let below = if *low > 0.0 { low / 2.0 } else { -1.0 };
                (vec![seconds(*low), seconds(*high)], vec![seconds(below), seconds(high * 2.0)])
            }
            Form::Share => (texts(&["0%", "100%"]), texts(&["101%", "-1%"])),
            Form::Rate => (texts(&["1bit/s", "100Gbit/s"]), texts(&["0bit/s", "fast"])),
            Form::OneOf(words) => (texts(words), texts(&["nosuch"])),
            Form::Word(most) => (vec!["w".repeat(*most)], vec!["w".repeat(most + 1), "a b".to_owned()]),
            Form::Switch => (texts(&["on", "off"]), texts(&["maybe"])),
            Form::Text(..) | Form::Read(..) | Form::Many(_) => Default::default(),
        }
    }

    /// A flag of an option and that value, as words of a command line; none where the flag stands for another value.
    fn words(flag: &str, option: &str, value: &str) -> Option<Vec<String>> {
        let words = |words: &[&str]| Some(words.iter().map(ToString::to_string).collect());
        match (flag, value) {
            ("--nodelay", "on") | ("--no-nodelay", "off") | ("-4", "4") | ("-6", "6") => words(&[flag]),
            ("--nodelay" | "--no-nodelay" | "-4" | "-6", _) => None,
            ("--theory", _) => words(&[flag, &format!("{option}={value}")]),
            _ => words(&[flag, value]),
        }
    }

    /// A flag of an option stands in three places: among clap's, among [`flagged`], and in the data of each transport that has the option. Each value at
    /// the option's bounds is set by its flag as by the path's own text, and each beyond is refused by both.
    #[test]
    fn flags_and_the_data_of_options_agree() {
        let set = |words: &[String]| -> Option<Settings> {
            let words = ["run".to_owned()].into_iter().chain(words.iter().cloned());
            Some(resolve(&Line::try_parse_from(words).ok()?.run).ok()?[0].settings.clone())
        };
        let (mut options, mut held) = (0, 0);
        for t in registry::all() {
            let name = t.name().to_string();
            // What a path of this transport needs beside has no flag.
            let Some(plain) = set(std::slice::from_ref(&name)) else { continue };
            for option in t.options() {
                let typed = |value: &str| set(&[format!("{name}:{}={value}", option.name)]);
                let (allowed, refused) = at_bounds(&option.form);
                options += 1;
                for value in &refused {
                    assert_eq!(
                        typed(value),
                        None,
                        "{name}:{}={value} lies beyond {}",
                        option.name,
                        option.form.words()
                    );
                }
                for flag in option.flag.iter().flat_map(|flags| flags.split(", ")) {
                    let by_flag = |value: &str| {
                        let words = words(flag, option.name, value)?;
                        Some(set(&[std::slice::from_ref(&name), &words].concat()))
                    };
                    let mut taken = 0;
                    for value in &allowed {
                        let Some(by_flag) = by_flag(value) else { continue };
                        assert_eq!(by_flag, typed(value), "{name} {flag} {value}");
                        let differs = by_flag.as_ref().is_some_and(|set| set.get(option.name).is_some());
                        assert!(differs && plain.get(option.name).is_none(), "{name} {flag} {value} sets nothing");
                        taken += 1;
                    }
                    assert!(taken > 0 || allowed.is_empty(), "{name}: no value of {} is set by {flag}", option.name);
                    for value in &refused {
                        assert_eq!(by_flag(value).flatten(), None, "{name} {flag} {value}");
                    }
                    held += taken;
                }
            }
        }
        assert!(options > 50 && held > 50, "{options} options, {held} values of flags");
    }

    #[test]
    fn nothing_that_a_file_makes_up_is_typed() {
        let evil = Settings::default().with("congestion", "x; rm -rf ~").with("colour", "$(id)").with("mss", 1000u64);
        assert_eq!(typed(transport::tcp::NAME, &evil, |_| true), "tcp:mss=1000");
        assert_eq!(typed(Name::new("a-module").unwrap(), &evil, |_| true), "a-module:mss=1000");
        let evil = Settings::default().with("$(id)", 1u64).with("a b", true).with("c", "").with("d", "x,label=y");
        assert_eq!(typed(Name::new("a-module").unwrap(), &evil, |_| true), "a-module");
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_there_is() {
        for (line, says) in [
            ("tcp:colour=red", "there are: sockbuf, nodelay, mss, congestion, family, wait"),
            ("memcpy:sockbuf=1KiB", "no option is named 'sockbuf'; it has none"),
            ("unix:mss=1000", "no option is named 'mss'"),
            ("tcp:mss=87", "88 to 32767"),
            ("tcp:mss=1000,mss=1001", "'mss' is given twice"),
            ("tcp:sockbuf", "not of the form option=value"),
            ("tcp:", "not of the form option=value"),
            ("tcp:wait=nap", "block, spin, busy-poll"),
            ("udp:loss-timeout=0s", "loss-timeout=0s"),
            ("unix:wait=busy-poll", "it is one of block, spin"),
            ("unix --wait busy-poll", "it is one of block, spin"),
            ("tcp --mss 87", "88 to 32767"),
            ("tcp --mss 4GiB", "88 to 32767"),
            ("nosuch:a=b", "no transport is named 'nosuch'"),
            ("mpi:nosuch", "no transport is named 'nosuch'"),
            ("mpi:mode=synchronous", "no transport is named 'mpi'"),
            ("mpi:tcp", "tcp is no MPI"),
            ("mpi:shm,wait=spin", "shm is no MPI"),
            ("tcp:label=a/b", "a label is of"),
            ("tcp:label=7", "give the label a letter"),
            ("tcp:label=udp", "what another path is called"),
            ("tcp:label=a,label=b", "'label' is given twice"),
            ("tcp tcp", "named twice with the same options"),
            ("tcp tcp:nodelay=on", "named twice with the same options"),
            ("tcp:sockbuf=64KiB tcp:sockbuf=65536", "named twice with the same options"),
            ("tcp:label=a unix:label=a", "named twice"),
            ("tcp tcp --sockbuf 1MiB", "named twice"),
        ] {
            let e = said(line);
            assert!(e.contains(says), "{line}: {e}");
        }
    }
}
