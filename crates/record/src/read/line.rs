//! One line of a run file.

use std::borrow::Cow;

use measure::Event;
use serde::Deserialize;

/// A whole line.
#[allow(clippy::large_enum_variant, reason = "one exists at a time; boxing each event would cost more than it saves")]
pub(super) enum Line {
    /// An event that this version knows.
    Event(Event),
    /// Another kind of event, by name.
    Unknown(String),
}

/// What is looked at where a line is no event that we know.
#[derive(Deserialize)]
pub(super) struct Head<'a> {
    #[serde(borrow, default)]
    pub(super) event: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) schema: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) version: Option<Cow<'a, str>>,
}

/// The kinds of event of this schema.
pub(super) const KNOWN: [&str; 10] =
    ["run", "path", "earlier", "block", "trial", "sustained", "taken", "point", "warning", "end"];
/// Most characters of a parser's message that are repeated: it quotes what it found, however long that is.
const LONGEST: usize = 160;

/// What a line is, or what is wrong with it.
pub(super) fn parse(text: &[u8]) -> Result<Line, String> {
    if let Some(trial) = super::trial::trial(text) {
        return Ok(Line::Event(Event::Trial(trial)));
    }
    let wrong = match units::received::json(text) {
        Ok(event) => return Ok(Line::Event(event)),
        Err(e) => e,
    };
    match serde_json::from_slice::<Head>(text) {
        Ok(Head { event: Some(kind), .. }) if !KNOWN.contains(&kind.as_ref()) => Ok(Line::Unknown(short(&kind))),
        Ok(Head { event: Some(kind), .. }) => {
            Err(format!("a '{}' event that can't be read: {}", short(&kind), cut(wrong.to_string())))
        }
        Ok(_) => Err("JSON without an 'event' field".into()),
        Err(e) => Err(format!("not a JSON object: {}", cut(e.to_string()))),
    }
}

/// Text from a file, fit for one line of a terminal.
pub(super) fn short(text: &str) -> String {
    let mut out: String = text.chars().take(40).flat_map(char::escape_default).collect();
    if text.chars().nth(40).is_some() {
        out.push_str("...");
    }
    out
}

/// A message, cut where it goes on for long.
fn cut(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(LONGEST) {
        message.truncate(end);
        message.push_str("...");
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without its name a kind of event of this version that can't be read would pass as one of a later version.
    #[test]
    fn every_kind_of_event_is_known_by_its_name_and_no_other_is() {
        let schema = crate::schema();
        let kinds = schema["oneOf"].as_array().unwrap();
        let mut named: Vec<&str> = kinds.iter().map(|k| k["properties"]["event"]["const"].as_str().unwrap()).collect();
        let mut known = KNOWN.to_vec();
        named.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, named);
    }
}
