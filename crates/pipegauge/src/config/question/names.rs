//! Names of paths: transports as people call them, and the run files.

use anyhow::{Error, anyhow};
use measure::Topology;
use transport::{Ends, registry};

use super::spoken::spoken;
use super::suggest::{nearest, shown};

/// The paths that can be asked about.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// Run files: (name, what they are called beside it).
    pub files: Vec<(String, Option<String>)>,
    /// Paths: (what it is called, transport, place of its file).
    pub paths: Vec<(String, &'static str, usize)>,
    /// Paths of several connections, or of processes of their own: (what it is called, place of its file, how many, how they share processes).
    pub at_once: Vec<(String, usize, u32, Topology)>,
    /// Files whose messages went both ways at once.
    pub(super) both: Vec<usize>,
    /// Paths that something loaded while they were measured.
    pub(super) loaded: Vec<Named>,
    /// The smallest size that all paths have, bytes.
    pub smallest: Option<u64>,
    /// Paths to which a rate was offered.
    pub(super) offered: Vec<OfferedTo>,
    /// Patterns of the runs.
    pub(super) patterns: Vec<&'static str>,
    /// Two of the files are the sides of one run (`--vs`).
    pub(super) sides: bool,
    /// Paths as `run` takes them: (what each is called, its transport with its options).
    pub(super) typed: Vec<(String, String)>,
}

/// A path to which a rate was offered.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTo {
    /// The path.
    pub path: Named,
    /// Messages a second.
    pub messages: Option<f64>,
    /// Bits a second.
    pub bits: Option<f64>,
}

/// A path that a question names: by what it is called or its transport, by its file or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// What the path is called, or its transport.
    pub transport: Option<String>,
    /// Run file.
    pub file: Option<String>,
}

impl Named {
    /// Whether it means a path that is called so, of this transport and file.
    pub fn is(&self, label: &str, transport: &str, file: &str) -> bool {
        self.transport.as_ref().is_none_or(|t| t == label || t == transport)
            && self.file.as_ref().is_none_or(|f| f == file)
    }
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.transport, &self.file) {
            (Some(transport), None) => f.write_str(transport),
            (Some(transport), Some(file)) => write!(f, "{transport} ({})", shown(stem(file))),
            (None, file) => f.write_str(&shown(stem(file.as_deref().unwrap_or("")))),
        }
    }
}

/// A file's name without its folders.
fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// A run file's name without what all of them end in.
pub fn stem(file: &str) -> &str {
    file.strip_suffix(".run.jsonl").unwrap_or(file)
}

/// Paths that people ask about and that are no transports built in.
#[rustfmt::skip]
const ELSEWHERE: [&str; 37] = [
    "mpi", "infiniband", "rdma", "http3", "https", "grpc",
    "bluetooth", "wifi", "wlan", "usb", "zmq", "zeromq", "ucx", "libfabric", "nfs", "ssh", "kafka",
    "rabbitmq", "redis", "nvlink", "pcie", "dbus", "netlink", "ethernet", "fifo", "fifos",
    "dccp", "roce", "nanomsg", "thunderbolt", "lte", "5g", "satellite", "vpn", "wireguard", "mmap", "smb",
];

/// Modules of this repository, by the words that people use for them.
const MODULES: [(&[&str], &str); 6] = [
    (&["mpi", "openmpi"], "openmpi"),
    (&["mpich"], "mpich"),
    (&["zmq", "zeromq"], "zeromq"),
    (&["nng", "nanomsg"], "nng"),
    (&["ucx"], "ucx"),
    (&["libfabric", "ofi"], "libfabric"),
];

impl Measured {
    /// Takes a run file and its paths: what each is called, and its transport. Its name without what all of them end in stands for it, too, unless
    /// that is a word of questions.
    pub fn add<'a>(&mut self, file: &str, paths: impl Iterator<Item = (&'a str, &'static str)>) {
        let base = base(file);
        let stem =
            [".run.jsonl", ".jsonl"].iter().find_map(|end| base.strip_suffix(end)).unwrap_or(base).to_lowercase();
        let word = stem.len() < 2
            || stem.starts_with(|c: char| c.is_ascii_digit())
            || !super::lexicon::topics(&stem).is_empty()
            || units::words::unit(&stem).is_some()
            || elsewhere(&stem)
            || spoken().any(|(_, names)| names.iter().any(|n| n.split(' ').any(|w| w == stem)));
        let at = self.files.len();
        self.files.push((file.to_owned(), (!word).then_some(stem)));
        self.paths.extend(paths.map(|(label, transport)| (label.to_owned(), transport, at)));
    }

    /// Takes how many connections a path of the file that was taken last has, and how they share processes.
    pub fn flows(&mut self, label: &str, flows: u32, topology: Topology) {
        if flows > 1 || topology.has_members() {
            self.at_once.push((label.to_owned(), self.files.len().saturating_sub(1), flows, topology));
        }
    }

    /// The run file at a place.
    pub fn file(&self, at: usize) -> &str {
        self.files.get(at).map_or("", |(name, _)| name.as_str())
    }

    /// Takes that messages of the file that was taken last went both ways at once.
    pub fn both_ways(&mut self) {
        self.both.push(self.files.len().saturating_sub(1));
    }

    /// Takes a path of the file that was taken last that something loaded.
    pub fn loaded(&mut self, label: &str) {
        let file = self.files.last().map(|(file, _)| file.clone());
        self.loaded.push(Named { transport: Some(label.to_owned()), file });
    }

    /// Takes that a rate was offered to a path of the file that was taken last: messages a second, or bits a second.
    pub fn offered(&mut self, label: &str, messages: Option<f64>, bits: Option<f64>) {
        let file = self.files.last().map(|(file, _)| file.clone());
        let path = Named { transport: Some(label.to_owned()), file };
        self.offered.push(OfferedTo { path, messages, bits });
    }

    /// A path without its file, where there is no other.
    pub fn shortly(&self, path: Named) -> Named {
        if self.files.len() > 1 { path } else { Named { file: None, ..path } }
    }

    /// Paths that join no two processes, as the copy within one.
    pub fn within_one_process(&self) -> Vec<Named> {
        let one = |kind: &str| registry::named(kind).is_ok_and(|transport| transport.ends() == Ends::Copied);
        let paths = self.paths.iter().filter(|(_, transport, _)| one(transport));
        paths
            .map(|(label, _, file)| {
                let file = Some(self.file(*file).to_owned());
                self.shortly(Named { transport: Some(label.clone()), file })
            })
            .collect()
    }

    /// Takes a pattern that one of the runs measured.
    pub fn pattern(&mut self, name: &'static str) {
        self.patterns.push(name);
    }

    /// Takes how `run` takes a path.
    pub fn typed(&mut self, label: &str, typed: String) {
        self.typed.push((label.to_owned(), typed));
    }

    /// A path as `run` takes it: of a label that is the transport with its options, and of what was not measured the name.
    pub fn run_as(&self, name: &str) -> String {
        let of = self.typed.iter().find(|(label, _)| label == name);
        let transport = || self.paths.iter().find(|(label, ..)| label == name).map(|(_, of, _)| (*of).to_owned());
        of.map(|(_, typed)| typed.clone()).or_else(transport).unwrap_or_else(|| name.to_owned())
    }

    /// Takes that two of the files are the sides of one run.
    pub fn sides(&mut self) {
        self.sides = true;
    }

    /// The error for a run file that a question names and that was not given.
    pub fn no_file(&self, question: &str, name: &str) -> Error {
        let files: Vec<String> = self.files.iter().map(|(file, _)| shown(file)).collect();
        if let Some((whole, _)) = self.files.iter().find(|(file, short)| short.is_none() && stem(base(file)) == name) {
            return anyhow!(
                "'{}': '{}' alone is read as a word; write {} for that run",
                shown(question),
                shown(name),
                shown(whole)
            );
        }
        anyhow!(
            "'{}': '{}' is none of the run files that were given ({}); name it before the question: pipegauge ask RUN... 'QUESTION'",
            shown(question),
            shown(name),
            files.join(", ")
        )
    }

    /// The error for a path with settings that no run holds.
    pub fn no_label(&self, question: &str, name: &str) -> Error {
        anyhow!("'{}': no path is called '{}'; the runs have: {}", shown(question), shown(name), self.words())
    }

    /// The paths in words, for errors.
    pub fn words(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for (label, _, file) in &self.paths {
            let name = match self.files.get(*file) {
                Some((file, _)) if self.files.len() > 1 => format!("{label} ({})", shown(stem(file))),
                _ => label.clone(),
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.is_empty() { "no path".to_owned() } else { names.join(", ") }
    }

    /// Whether any path is meant.
    pub fn has(&self, named: &Named) -> bool {
        self.paths
            .iter()
            .any(|(label, of, file)| named.is(label, of, self.files.get(*file).map_or("", |(name, _)| name.as_str())))
    }

    /// Whether any path is left of those that are named (of all where none is) without others.
    pub fn leaves(&self, over: &[Named], but: &[Named]) -> bool {
        self.paths.iter().any(|(label, of, file)| {
            let file = self.files.get(*file).map_or("", |(name, _)| name.as_str());
            let meant = |n: &Named| n.is(label, of, file);
            (over.is_empty() || over.iter().any(meant)) && !but.iter().any(meant)
        })
    }

    /// The path of a name as flags take it: a transport, a run file, or both as "tcp (a)".
    pub fn named(&self, name: &str) -> Option<Named> {
        let (first, file) =
            name.strip_suffix(')').and_then(|n| n.split_once(" (")).map_or((name, None), |(n, f)| (n, Some(f)));
        let of = |name: &str| {
            let known = |(file, short): &&(String, Option<String>)| file == name || short.as_deref() == Some(name);
            let files = &self.files;
            files.iter().find(known).or_else(|| files.iter().find(|(f, _)| stem(f) == name)).map(|(f, _)| f.clone())
        };
        let called = self.paths.iter().any(|(label, ..)| label == first);
        let transport = (called || spoken().any(|(kind, _)| kind == first)).then(|| first.to_owned());
        match (&transport, file) {
            (Some(_), None) => Some(Named { transport, file: None }),
            (Some(_), Some(file)) => Some(Named { transport, file: Some(of(file)?) }),
            (None, _) => Some(Named { transport: None, file: Some(of(first)?) }),
        }
    }

    /// The error for a path that no run holds.
    pub fn lacks(&self, question: &str, named: &Named) -> Error {
        let how = named.transport.as_ref().map_or(String::new(), |t| format!("; pipegauge run {t} would measure it"));
        anyhow!("'{}': {named} was not measured; the runs have: {}{how}", shown(question), self.words())
    }

    /// The error for a path that does not exist.
    pub fn unknown(&self, question: &str, name: &str) -> Error {
        let lower = name.to_lowercase();
        let near = match MODULES.iter().find(|(names, _)| names.contains(&&*lower)) {
            Some((_, module)) => format!(
                "; pipegauge run {module} measures that, with a module: make modules builds it, PIPEGAUGE_MODULES names its folder"
            ),
            None => near(name).map_or(String::new(), |n| format!("; the nearest name is '{n}'")),
        };
        let kinds: Vec<&str> = registry::all().map(|t| t.name().as_str()).collect();
        anyhow!(
            "'{}': '{}' is no path that this knows{near}; the runs have: {} (can be measured: {})",
            shown(question),
            shown(name),
            self.words(),
            kinds.join(", ")
        )
    }
}

/// The transport whose name is near enough to be meant.
fn near(name: &str) -> Option<&'static str> {
    let known = spoken().flat_map(|(_, names)| names.iter().copied());
    let limit = if name.chars().count() <= 3 { 1 } else { 2 };
    nearest(name, known).filter(|(_, d)| *d <= limit).map(|(n, _)| n)
}

/// Whether the word is a path that no run can hold.
pub fn elsewhere(lower: &str) -> bool {
    ELSEWHERE.contains(&lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_in_is_not_called_elsewhere() {
        let spoken: Vec<&str> =
            registry::all().filter(|t| t.source().is_none()).flat_map(|t| t.spoken()).copied().collect();
        let both: Vec<&&str> = ELSEWHERE.iter().filter(|word| spoken.contains(word)).collect();
        assert!(both.is_empty() && spoken.contains(&"sctp"), "{both:?}");
    }

    #[test]
    fn a_path_that_was_not_measured_is_told_with_those_that_were() {
        let measured = Measured {
            files: vec![("a".into(), None)],
            paths: vec![("tcp".into(), "tcp", 0), ("unix".into(), "unix", 0)],
            at_once: Vec::new(),
            ..Measured::default()
        };
        let error = measured.unknown("over tpc?", "tpc").to_string();
        assert!(error.contains("'tcp'") && error.contains("tcp, unix"), "{error}");
        let udp = Named { transport: Some("udp".into()), file: None };
        assert!(!measured.has(&udp));
        assert!(measured.lacks("x", &udp).to_string().contains("pipegauge run udp"));
        assert!(measured.has(&Named { transport: None, file: Some("a".into()) }));
    }
}
