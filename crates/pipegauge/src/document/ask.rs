//! What `ask --json` prints.

use model::Estimate;
use schemars::JsonSchema;
use serde::Serialize;

/// Printed by `ask`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AskDocument {
    /// `pipegauge-ask/1`.
    schema: &'static str,
    /// The answers, question by question, path by path.
    answers: Vec<Answered>,
}

/// One answer, or why there is none.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answered {
    /// The path it is about, or the paths it chooses from.
    pub path: String,
    /// The answer in words.
    pub text: String,
    /// The figure it comes down to, with its 95% interval: seconds, bits a second or frames a second, as `unit` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<Estimate>,
    /// `s`, `bit/s` or `1/s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// The measured sizes it rests on, bytes.
    pub rests_on: Vec<u64>,
    /// The command that would sharpen it.
    pub sharpen: String,
    /// Whether there is an answer.
    pub answered: bool,
}

impl AskDocument {
    /// The answers.
    pub fn new(answers: Vec<Answered>) -> Self {
        Self { schema: "pipegauge-ask/1", answers }
    }
}
