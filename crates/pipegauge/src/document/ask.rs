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
    /// How the question was read: what is asked, over which paths, and in brackets how words were taken that could mean
    /// something else or were not read.
    pub read_as: String,
    /// The path it is about, or the paths it chooses from.
    pub path: String,
    /// The answer in words.
    pub text: String,
    /// The figure it comes down to, with its 95% interval, in `unit`: of `--size` and other questions about sizes bytes; so many a
    /// second are what the median time makes of them, or the sustained trials where these surely take another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<Estimate>,
    /// Where two paths are held against each other: how many times as long the second takes as the first (above 1 the first is
    /// faster), at the first size of `rests_on`, with a 95% interval from those of both times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<Estimate>,
    /// `s`, `bit/s`, `1/s`, `B`, `s/B`, or `1` for a number of messages, a share or a factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// The measured sizes it rests on, bytes.
    pub rests_on: Vec<u64>,
    /// The command that would sharpen it; empty of a question that was not read.
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
