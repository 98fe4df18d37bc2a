//! How the connections of a path that carry messages at once share processes, and the processes that take part.

use host::Environment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use transport::Capabilities;

use crate::{Pattern, flows};

/// How the connections of a path share processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Topology {
    /// One process on each side, with a thread for each connection.
    #[default]
    #[cfg_attr(feature = "clap", value(skip))]
    Flows,
    /// Each connection between a near process and a far process of its own.
    Pairs,
    /// Near processes with a connection each to one far process: what they stream, it receives.
    FanIn,
    /// One far process that streams to near processes with a connection each.
    FanOut,
    /// One near process that casts to far processes, each a member of its group.
    Group,
}

impl Topology {
    /// Every topology.
    pub const ALL: [Self; 5] = [Self::Flows, Self::Pairs, Self::FanIn, Self::FanOut, Self::Group];

    /// Its name, which is also the option of a path that names the number: `tcp:pairs=2`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flows => "flows",
            Self::Pairs => "pairs",
            Self::FanIn => "fan-in",
            Self::FanOut => "fan-out",
            Self::Group => "group",
        }
    }

    /// The topology of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topology| topology.name() == name)
    }

    /// What each connection stands for, in words.
    pub fn one(self) -> &'static str {
        match self {
            Self::Flows => "flow",
            Self::Pairs => "pair",
            Self::FanIn | Self::FanOut => "member",
            Self::Group => "receiving member",
        }
    }

    /// Several of them.
    pub fn several(self) -> &'static str {
        match self {
            Self::Flows => "flows",
            Self::Pairs => "pairs",
            Self::FanIn | Self::FanOut => "members",
            Self::Group => "receiving members",
        }
    }

    /// So many of them: "1 pair", "3 members of a fan-in"; of a group all its members, the casting one too.
    pub fn counted(self, count: u32) -> String {
        let noun = if count == 1 { self.one() } else { self.several() };
        match self {
            Self::Flows | Self::Pairs => format!("{count} {noun}"),
            Self::FanIn | Self::FanOut => format!("{count} {noun} of a {}", self.name()),
            Self::Group => format!("a group of {} members", self.asked(count)),
        }
    }

    /// The flag that names how many.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Flows => "--flows",
            Self::Pairs => "--pairs",
            Self::FanIn | Self::FanOut | Self::Group => "--members",
        }
    }

    /// How it is asked for: by a flag, or in a path's own text.
    pub fn typed(self) -> &'static str {
        match self {
            Self::Flows => "--flows, or flows= of the path",
            Self::Pairs => "--pairs, or pairs= of the path",
            Self::FanIn => "--topology fan-in, or fan-in= of the path",
            Self::FanOut => "--topology fan-out, or fan-out= of the path",
            Self::Group => "--topology group, or group= of the path",
        }
    }

    /// Whether the near half of each connection is a process of its own.
    pub fn has_members(self) -> bool {
        self != Self::Flows
    }

    /// What its connections do where no pattern is asked for.
    pub fn pattern(self) -> Pattern {
        match self {
            Self::Flows | Self::Pairs => Pattern::PingPong,
            Self::FanIn | Self::FanOut => Pattern::Stream,
            Self::Group => Pattern::Cast,
        }
    }

    /// The number that a person names for so many connections: of a group it is one more, since one member casts.
    pub fn asked(self, connections: u32) -> u32 {
        if self == Self::Group { connections.saturating_add(1) } else { connections }
    }

    /// Connections of a path of which a person named this number.
    pub fn connections(self, asked: u32) -> u32 {
        if self == Self::Group { asked.saturating_sub(1) } else { asked }
    }

    /// The numbers that can be named.
    pub fn bounds(self) -> (u32, u32) {
        (self.asked(1), self.asked(flows::MOST))
    }

    /// Near processes of a path of so many connections, where they are processes of their own.
    pub fn near_processes(self, connections: u32) -> u32 {
        if self == Self::Group { 1 } else { connections }
    }

    /// Far processes of a path of so many connections.
    pub fn far_processes(self, connections: u32) -> u32 {
        if matches!(self, Self::Pairs | Self::Group) { connections } else { 1 }
    }

    /// Whether it is the default one, which is left out of files: older files have none.
    pub(crate) fn is_flows(&self) -> bool {
        *self == Self::Flows
    }
}

/// On which side a process takes part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// On the near side.
    #[default]
    Near,
    /// On the far side.
    Far,
}

/// A process of a path whose near halves are processes of their own, as it was first started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MemberOpened {
    /// Its side.
    pub role: Role,
    /// Its number on that side, from 1: it has the connection of this number, or all of them where it is the only one there.
    pub rank: u32,
    /// The name of its host; empty in older files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// CPUs that its threads keep to, one for each of its connections; empty where they keep to none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// What it sees of its host, where that differs from what its side does: the run's `near`, or the path's `far`. What it runs under may have
    /// a network, a name or CPUs of its own. How busy the host was just then and what the process is pinned to make no difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<Box<Environment>>,
    /// What its connection can do, where that differs from the path's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Box<Capabilities>>,
}

impl MemberOpened {
    /// Adds what this process sees of its host, `here`, where that differs from what its side sees.
    pub fn seeing(self, here: Option<&Environment>, side: Option<&Environment>) -> Self {
        let Some(here) = here else { return self };
        let environment = side.is_none_or(|side| still(side) != still(here)).then(|| Box::new(here.clone()));
        Self { host: here.hostname.clone(), environment, ..self }
    }

    /// "near 1": its side and its number there.
    pub fn name(&self) -> String {
        let side = match self.role {
            Role::Near => "near",
            Role::Far => "far",
        };
        format!("{side} {}", self.rank)
    }
}

/// An environment without what changes from one moment or process to the next.
fn still(environment: &Environment) -> Environment {
    Environment { load: None, pinned: None, ..environment.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_that_it_is_found_by() {
        for topology in Topology::ALL {
            assert_eq!(Topology::named(topology.name()), Some(topology));
            assert_eq!(serde_json::to_value(topology).unwrap(), topology.name());
        }
        assert_eq!(Topology::named("ring"), None);
        assert_eq!(Topology::Pairs.counted(1), "1 pair");
        assert_eq!(Topology::FanIn.counted(3), "3 members of a fan-in");
    }

    #[test]
    fn a_process_has_an_environment_of_its_own_where_it_sees_another_than_its_side() {
        let side = Environment {
            hostname: "a".into(),
            cpus: vec![0, 1],
            load: Some((1.0, 1.0, 1.0)),
            ..Environment::default()
        };
        let seen = |here: &Environment, side: Option<&Environment>| MemberOpened::default().seeing(Some(here), side);
        let pinned = Environment { load: None, pinned: Some(1), ..side.clone() };
        let same = seen(&pinned, Some(&side));
        assert_eq!((&*same.host, same.environment), ("a", None));
        let elsewhere = Environment { hostname: "b".into(), ..side.clone() };
        let other = seen(&elsewhere, Some(&side));
        assert_eq!((&*other.host, other.environment.as_deref()), ("b", Some(&elsewhere)));
        assert_eq!(seen(&side, None).environment.as_deref(), Some(&side));
        assert_eq!(MemberOpened::default().seeing(None, Some(&side)), MemberOpened::default());
        let far = MemberOpened { role: Role::Far, rank: 2, ..MemberOpened::default() };
        assert_eq!(far.name(), "far 2");
        // As older versions wrote it.
        let old: MemberOpened = serde_json::from_str(r#"{"role":"far","rank":2}"#).unwrap();
        assert_eq!(old, far);
    }

    #[test]
    fn pairs_and_groups_have_a_far_process_each_and_a_group_has_one_that_casts() {
        assert_eq!(Topology::ALL.map(|topology| topology.far_processes(3)), [1, 3, 1, 1, 3]);
        assert_eq!(Topology::ALL.map(|topology| topology.near_processes(3)), [3, 3, 3, 3, 1]);
        assert_eq!(Topology::ALL.map(Topology::has_members), [false, true, true, true, true]);
        for topology in Topology::ALL {
            assert_eq!(topology.connections(topology.asked(7)), 7);
        }
        assert_eq!(
            (Topology::Group.counted(2), Topology::Group.bounds()),
            ("a group of 3 members".to_owned(), (2, 129))
        );
    }
}
