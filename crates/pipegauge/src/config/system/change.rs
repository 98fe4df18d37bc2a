//! What a sweep would change of the system, in words, and what becomes of a value that it changed.

use super::Knob;

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
}

impl Change {
    /// From what to what.
    fn told(&self) -> String {
        let what = self.knob.what();
        let was = shown(&self.was);
        match &self.to[..] {
            [] => format!("{what} stays {was}"),
            to => {
                format!("{what} from {was} to {}", to.iter().map(|value| shown(value)).collect::<Vec<_>>().join(", "))
            }
        }
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

/// By what it was, what it was set to (two values while a change is under way), and what it is.
pub fn fate(was: &str, set: &[String], found: &str) -> Fate {
    match found {
        found if found == was => Fate::AsItWas,
        found if set.iter().any(|value| value == found) => Fate::PutBack,
        _ => Fate::Others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_somebody_else_set_is_left_alone() {
        let set = ["2000".to_owned(), "9000".to_owned()];
        assert_eq!(fate("1500", &set, "1500"), Fate::AsItWas);
        assert_eq!((fate("1500", &set, "2000"), fate("1500", &set, "9000")), (Fate::PutBack, Fate::PutBack));
        assert_eq!((fate("1500", &set, "1600"), fate("1500", &[], "9000")), (Fate::Others, Fate::Others));
    }

    #[test]
    fn a_refusal_says_from_what_to_what_and_what_goes_over_it() {
        let change = |name: &str, was: &str, to: &[&str], carries: &[&str]| Change {
            knob: Knob::of(name).unwrap().unwrap(),
            was: was.to_owned(),
            to: to.iter().map(|value| (*value).to_owned()).collect(),
            index: None,
            carries: carries.iter().map(|text| (*text).to_owned()).collect(),
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
    }
}
