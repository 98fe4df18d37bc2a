//! Loading flows: connections that fill a path while another one on it is measured.
//!
//! A loading flow has a connection of its own, with the settings of the path, and a thread on each side. Its messages go one way, one after
//! another, as fast as the path takes them. All of them run before the first trial of a round begins and until its last one is over, and
//! what they carried while a trial ran is recorded with the trial ([`Carried`]).

mod running;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::flows;

pub use running::Loading;

/// Most connections of a load: with the one that is measured as many as a path of flows has.
pub const MOST: u32 = flows::MOST - 1;
/// Default size of a loading flow's messages, bytes.
pub const SIZE: u64 = 128 << 10;
/// No path that exists moves bytes faster, bytes a second.
const FASTEST: f64 = 1e12;

/// Which way the messages of loading flows go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum LoadDirection {
    /// To the far side, as what is measured does.
    #[default]
    Same,
    /// From the far side.
    Opposite,
    /// As many flows each way.
    Both,
}

impl LoadDirection {
    /// Every direction.
    pub const ALL: [Self; 3] = [Self::Same, Self::Opposite, Self::Both];

    /// The name that a person types.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Opposite => "opposite",
            Self::Both => "both",
        }
    }
}

/// What fills a path while it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Loading flows; each way, where both ways are loaded.
    pub flows: u32,
    /// Which way their messages go.
    pub direction: LoadDirection,
    /// Size of their messages, bytes.
    pub size: u64,
}

impl Load {
    /// Flows whose messages go to the far side, and flows whose messages come from there.
    pub fn ways(&self) -> (u32, u32) {
        match self.direction {
            LoadDirection::Same => (self.flows, 0),
            LoadDirection::Opposite => (0, self.flows),
            LoadDirection::Both => (self.flows, self.flows),
        }
    }

    /// Connections that it takes.
    pub fn connections(&self) -> u32 {
        let (there, back) = self.ways();
        there.saturating_add(back)
    }

    /// Whether messages on the connection of this number, from 0, go to the far side.
    pub fn goes_there(&self, number: u32) -> bool {
        number < self.ways().0
    }

    /// Whether such a load is possible; the error says what is not.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self { flows: 0, .. } => Err("a load has at least 1 loading flow".to_owned()),
            _ if self.connections() > MOST => {
                let connections = self.connections();
                Err(format!("a load has at most {MOST} connections, and {connections} are asked for"))
            }
            Self { size: 0, .. } => Err("a message has at least 1 byte".to_owned()),
            _ => Ok(()),
        }
    }

    /// Which way its messages go, in words.
    pub fn way(&self) -> &'static str {
        match self.direction {
            LoadDirection::Same => "to the far side",
            LoadDirection::Opposite => "from the far side",
            LoadDirection::Both => "each way",
        }
    }

    /// What it is, in words.
    pub fn words(&self) -> String {
        let flows = units::counted(self.flows.into(), "loading flow");
        format!("{flows} {} in messages of {}", self.way(), Bytes(self.size))
    }
}

/// What the loading flows carried while a trial ran, its warm-up included: bytes a second, as their receivers counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Carried {
    /// To the far side; none where no loading flow goes there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub there: Option<f64>,
    /// From the far side; none likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<f64>,
}

impl Carried {
    /// What `load` carried: the far side received `there` bytes a second and the near side `back`.
    pub fn of(load: &Load, there: f64, back: f64) -> Self {
        let (flows_there, flows_back) = load.ways();
        Self { there: (flows_there > 0).then_some(there), back: (flows_back > 0).then_some(back) }
    }

    /// Whether something was carried in each direction that was loaded. A trial during which nothing was, was not made under load.
    pub fn any(&self) -> bool {
        let mut ways = self.there.iter().chain(&self.back).peekable();
        ways.peek().is_some() && ways.all(|rate| *rate > 0.0)
    }

    /// Whether a trial can have these numbers: a file or a far side may hold any.
    pub fn sound(&self) -> bool {
        self.there.iter().chain(&self.back).all(|rate| (0.0..=FASTEST).contains(rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(flows: u32, direction: LoadDirection) -> Load {
        Load { flows, direction, size: SIZE }
    }

    #[test]
    fn connections_go_the_ways_that_are_loaded() {
        use LoadDirection::{Both, Opposite, Same};
        for (direction, ways, there) in [
            (Same, (2, 0), &[true, true][..]),
            (Opposite, (0, 2), &[false, false]),
            (Both, (2, 2), &[true, true, false, false]),
        ] {
            let load = load(2, direction);
            assert_eq!((load.ways(), load.connections()), (ways, there.len() as u32));
            assert_eq!((0..load.connections()).map(|n| load.goes_there(n)).collect::<Vec<_>>(), there);
        }
        assert_eq!(load(4, Both).words(), "4 loading flows each way in messages of 128 KiB");
        assert_eq!(load(1, Same).words(), "1 loading flow to the far side in messages of 128 KiB");
    }

    #[test]
    fn a_load_that_can_not_be_is_refused() {
        use LoadDirection::{Both, Same};
        assert_eq!(load(MOST, Same).check(), Ok(()));
        for wrong in [
            load(0, Same),
            load(MOST + 1, Same),
            load(64, Both),
            load(u32::MAX, Both),
            Load { size: 0, ..load(1, Same) },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn nothing_carried_one_way_is_no_load() {
        let both = load(2, LoadDirection::Both);
        assert!(Carried::of(&both, 1.0, 2.0).any());
        assert!(!Carried::of(&both, 1.0, 0.0).any() && !Carried::of(&both, 0.0, 1.0).any());
        let there = Carried::of(&load(2, LoadDirection::Same), 1.0, 0.0);
        assert!(there.any() && there.back.is_none());
        assert!(!Carried::default().any());
        for wrong in [-1.0, f64::NAN, f64::INFINITY, 1e13] {
            assert!(!Carried { there: Some(wrong), back: None }.sound(), "{wrong}");
        }
    }
}
