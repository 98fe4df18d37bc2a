//! The name of a transport: of one that this program has, or of one that a file or a peer speaks of.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// A transport's name: lower-case letters, digits, `-` and `_`, at most [`Name::LONGEST`] of them, a letter or digit first.
/// Whether this program has such a transport, [`registry::find`](crate::registry::find) says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(&'static str);

/// Why a text is not taken for a transport's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// It is not written as one.
    #[error("a transport's name is of a to z, 0 to 9, - and _, at most {most} of them, and '{0}' is not", most = Name::LONGEST)]
    Form(String),
    /// More names than any host has transports.
    #[error("{most} unknown transports were named already; '{0}' is one too many", most = Name::MOST_UNKNOWN)]
    Many(String),
}

impl Name {
    /// No transport: what one process does by itself, for comparison (HINT). Nobody can ask for it, and no transport has it.
    pub const ALONE: Name = Name::literal("alone");
    /// Most characters.
    pub const LONGEST: usize = 32;
    /// Most different names that no transport here has: they stay in memory until the process ends.
    pub const MOST_UNKNOWN: usize = 256;

    /// The name of a transport in its own file. Checked when it is compiled.
    pub const fn literal(text: &'static str) -> Self {
        assert!(well_formed(text.as_bytes()), "not a transport's name");
        Self(text)
    }

    /// The name that `text` is, of a transport that is not here: kept for as long as the process lives.
    pub(crate) fn unknown(text: &str) -> Result<Self, BadName> {
        static UNKNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        if !well_formed(text.as_bytes()) {
            return Err(BadName::Form(units::received::clean(text, 40)));
        }
        let mut unknown = UNKNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = unknown.get(text) {
            return Ok(Self(name));
        }
        if unknown.len() >= Self::MOST_UNKNOWN {
            return Err(BadName::Many(text.to_owned()));
        }
        let kept: &'static str = Box::leak(text.into());
        unknown.insert(kept);
        Ok(Self(kept))
    }

    /// The name as text.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

pub(crate) const fn well_formed(text: &[u8]) -> bool {
    if text.is_empty() || text.len() > Name::LONGEST {
        return false;
    }
    let mut i = 0;
    while i < text.len() {
        let c = text[i];
        let inner = i > 0 && (c == b'-' || c == b'_');
        if !(c.is_ascii_lowercase() || c.is_ascii_digit() || inner) {
            return false;
        }
        i += 1;
    }
    true
}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.0)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl JsonSchema for Name {
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A transport's name.",
            "type": "string",
            "pattern": "^[a-z0-9][a-z0-9_-]{0,31}$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_checked_where_it_enters() {
        for good in ["tcp", "alone", "ucx", "my_path-2", "0", &"x".repeat(32)] {
            assert_eq!(Name::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "TCP", "-x", "_x", "a b", "a/b", "../x", "t\u{202e}cp", "tcp\n", &"x".repeat(33)] {
            assert!(matches!(Name::new(bad), Err(BadName::Form(_))), "{bad:?}");
            assert!(serde_json::from_value::<Name>(serde_json::json!(bad)).is_err(), "{bad:?}");
        }
        let said = Name::new(&"\u{1b}[31m".repeat(1000)).unwrap_err().to_string();
        assert!(said.len() < 300 && !said.contains('\u{1b}'), "{said}");
        // Only now: names are kept for the whole process, and these leave no room for those above.
        unknown_names_are_bounded_and_each_is_kept_once();
    }

    fn unknown_names_are_bounded_and_each_is_kept_once() {
        let mut kept = Vec::new();
        for i in 0..2 * Name::MOST_UNKNOWN {
            match Name::new(&format!("unknown{i}")) {
                Ok(name) => kept.push(name),
                Err(e) => assert!(matches!(e, BadName::Many(_)), "{e}"),
            }
        }
        assert!(kept.len() <= Name::MOST_UNKNOWN && kept.len() > Name::MOST_UNKNOWN / 2, "{}", kept.len());
        for name in kept {
            assert_eq!(Name::new(name.as_str()), Ok(name), "a name that is known stays so");
        }
        assert_eq!(Name::new("tcp").unwrap(), crate::tcp::NAME, "and a transport's own is not touched");
    }
}
