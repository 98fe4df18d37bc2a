//! How the connections of a path that carry messages at once share processes, and the processes that take part.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
}

impl Topology {
    /// Every topology.
    pub const ALL: [Self; 4] = [Self::Flows, Self::Pairs, Self::FanIn, Self::FanOut];

    /// Its name, which is also the option of a path that names the number: `tcp:pairs=2`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flows => "flows",
            Self::Pairs => "pairs",
            Self::FanIn => "fan-in",
            Self::FanOut => "fan-out",
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
        }
    }

    /// Several of them.
    pub fn several(self) -> &'static str {
        match self {
            Self::Flows => "flows",
            Self::Pairs => "pairs",
            Self::FanIn | Self::FanOut => "members",
        }
    }

    /// So many of them: "1 pair", "3 members of a fan-in".
    pub fn counted(self, count: u32) -> String {
        let noun = if count == 1 { self.one() } else { self.several() };
        match self {
            Self::Flows | Self::Pairs => format!("{count} {noun}"),
            Self::FanIn | Self::FanOut => format!("{count} {noun} of a {}", self.name()),
        }
    }

    /// The flag that names how many.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Flows => "--flows",
            Self::Pairs => "--pairs",
            Self::FanIn | Self::FanOut => "--members",
        }
    }

    /// How it is asked for: by a flag, or in a path's own text.
    pub fn typed(self) -> &'static str {
        match self {
            Self::Flows => "--flows, or flows= of the path",
            Self::Pairs => "--pairs, or pairs= of the path",
            Self::FanIn => "--topology fan-in, or fan-in= of the path",
            Self::FanOut => "--topology fan-out, or fan-out= of the path",
        }
    }

    /// Whether the near half of each connection is a process of its own.
    pub fn has_members(self) -> bool {
        self != Self::Flows
    }

    /// Whether its connections stream where no pattern is asked for: from many to one, or from one to many.
    pub fn streams(self) -> bool {
        matches!(self, Self::FanIn | Self::FanOut)
    }

    /// Far processes of a path of so many connections.
    pub fn far_processes(self, connections: u32) -> u32 {
        if self == Self::Pairs { connections } else { 1 }
    }

    /// Whether it is the usual one: files of before there were others have none.
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MemberOpened {
    /// Its side.
    pub role: Role,
    /// Its number on that side, from 1: it has the connection of this number, or all of them where it is the only one there.
    pub rank: u32,
    /// CPUs that its threads keep to, one for each of its connections; empty where they keep to none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
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
    fn only_pairs_have_a_far_process_each() {
        assert_eq!(Topology::ALL.map(|topology| topology.far_processes(3)), [1, 3, 1, 1]);
        assert_eq!(Topology::ALL.map(Topology::has_members), [false, true, true, true]);
    }
}
