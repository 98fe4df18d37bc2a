//! What a sweep would change of the system, in words, and what becomes of a value that it changed.

use super::{Along, Knob};

/// A setting that a sweep would change.
#[derive(Debug, Clone)]
pub struct Change {
    /// Which one.
    pub knob: Knob,
    /// Its value now.
    pub was: String,
    /// Other values that the sweep sets it to.
    pub to: Vec<String>,
    /// The number of its interface, where it is one's.
    pub index: Option<u32>,
    /// What goes over that interface: a warning each.
    pub carries: Vec<String>,
    /// What is changed along with it, each behind what it rests on.
    pub along: Vec<Along>,
}

impl Change {
    /// From what to what.
    fn told(&self) -> String {
        let what = self.knob.what();
        let was = shown(&self.was);
        match &self.to[..] {
            [] => format!("{what} stays {was}"),
            to => {
                let all = to.iter().map(|value| shown(value)).collect::<Vec<_>>().join(", ");
                let lowered = self.lowered();
                let with =
                    if lowered.is_empty() { String::new() } else { format!(", and with it {}", lowered.join(", ")) };
                format!("{what} from {was} to {all}{with}")
            }
        }
    }
}

impl Change {
    /// The settings of other interfaces that are lowered with it.
    fn lowered(&self) -> Vec<String> {
        let number = |value: &String| value.parse::<u32>().ok();
        let least = self.to.iter().filter_map(number).min();
        let others = self.along.iter().filter(|along| along.knob.interface() != self.knob.interface());
        others
            .filter(|along| number(&along.was).zip(least).is_some_and(|(was, least)| was > least))
            .map(|along| along.knob.what())
            .collect()
    }
}

/// A value; an empty one is not seen.
fn shown(value: &str) -> &str {
    if value.is_empty() { "nothing" } else { value }
}

/// What would be changed, a line each, with what goes over it.
pub fn would(changes: &[Change]) -> Vec<String> {
    let mut carried: Vec<&String> = Vec::new();
    for text in changes.iter().flat_map(|change| &change.carries) {
        if !carried.contains(&text) {
            carried.push(text);
        }
    }
    let warned = carried.into_iter().map(|text| format!("WARNING: {text}"));
    changes.iter().map(Change::told).chain(warned).collect()
}

/// What is to be done with a setting that was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is as it was.
    AsItWas,
    /// It is as this program set it: it is put back.
    PutBack,
    /// It is neither: somebody else set it, and it stays so.
    Others,
}

/// By what it was, what it was set to (two values while a change is under way), and what it is. While a change is under way it may be anything: a
/// driver may have adjusted the value, or set a part of several, and nobody lived to read it.
pub fn fate(was: &str, set: &[String], found: &str) -> Fate {
    match found {
        found if found == was => Fate::AsItWas,
        _ if set.len() > 1 => Fate::PutBack,
        found if set.iter().any(|value| value == found) => Fate::PutBack,
        _ => Fate::Others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_somebody_else_set_is_left_alone() {
        let set = ["2000".to_owned()];
        assert_eq!((fate("1500", &set, "1500"), fate("1500", &set, "2000")), (Fate::AsItWas, Fate::PutBack));
        assert_eq!((fate("1500", &set, "1600"), fate("1500", &[], "9000")), (Fate::Others, Fate::Others));
    }

    #[test]
    fn a_value_that_a_driver_adjusted_while_it_was_set_is_put_back() {
        let set = ["2000".to_owned(), "9000".to_owned()];
        for found in ["2000", "9000", "8996"] {
            assert_eq!(fate("1500", &set, found), Fate::PutBack, "{found}");
        }
        assert_eq!(fate("1500", &set, "1500"), Fate::AsItWas);
        let offloads = ["tso on gso on".to_owned(), "tso off gso off".to_owned()];
        assert_eq!(fate("tso on gso on", &offloads, "tso off gso on"), Fate::PutBack);
    }

    #[test]
    fn a_refusal_says_from_what_to_what_and_what_goes_over_it() {
        let change = |name: &str, was: &str, to: &[&str], carries: &[&str]| Change {
            knob: Knob::of(name).unwrap().unwrap(),
            was: was.to_owned(),
            to: to.iter().map(|value| (*value).to_owned()).collect(),
            index: None,
            carries: carries.iter().map(|text| (*text).to_owned()).collect(),
            along: Vec::new(),
        };
        let ssh = "eth1 carries this ssh session";
        let told = would(&[
            change("system.mtu:eth1", "1500", &["2000", "9000"], &[ssh]),
            change("system.offload.gro:eth1", "gro on", &["gro off"], &[ssh]),
            change("system.sysctl:net.x", "", &["1"], &[]),
            change("system.sysctl:net.y", "1", &[], &[]),
        ]);
        assert_eq!(
            told,
            [
                "the MTU of eth1 from 1500 to 2000, 9000",
                "the offload gro of eth1 from gro on to gro off",
                "net.x from nothing to 1",
                "net.y stays 1",
                "WARNING: eth1 carries this ssh session",
            ]
        );
        let mut jumbo = change("system.mtu:eth1", "9000", &["4000", "1500"], &[]);
        let mut along = |name: &str, was: &str| {
            jumbo.along.push(Along { knob: Knob::kept(name).unwrap().unwrap(), was: was.to_owned(), index: None });
        };
        along("system.mtu6:eth1", "1600");
        along("system.mtu:eth1.7", "9000");
        along("system.mtu:eth1.8", "1500");
        assert_eq!(would(&[jumbo]), ["the MTU of eth1 from 9000 to 4000, 1500, and with it the MTU of eth1.7"]);
    }
}
