//! Whether what was asked for took effect alike on both sides.

use transport::settings::Effective;
use transport::{OptionSpec, Settings};

/// A setting that took effect differently on the two sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The flag or option that sets it.
    pub setting: String,
    /// What was asked for.
    pub asked: String,
    /// The near side's value.
    pub near: String,
    /// The far side's value.
    pub far: String,
}

/// Differences in words.
pub(crate) fn list(differences: &[Difference]) -> String {
    let one = |d: &Difference| {
        format!("{} (asked for {}) is {} on the near side and {} on the far side", d.setting, d.asked, d.near, d.far)
    };
    differences.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The settings that were asked for and took effect differently: one host may cap a buffer or lack a congestion control
/// that the other has. A default that differs between two hosts is no fault; the run file shows both sides' values.
/// A side that can't say (none) is not compared, nor is a setting that both sides capped alike.
pub(crate) fn differences(
    options: &[OptionSpec],
    asked: &Settings,
    near: &Effective,
    far: &Effective,
) -> Vec<Difference> {
    let mut found = Vec::new();
    for option in options {
        let Some(value) = asked.get(option.name) else { continue };
        for answer in option.answers {
            if let (Some(near), Some(far)) = ((answer.of)(near), (answer.of)(far))
                && near != far
            {
                let flag = option.flag.and_then(|flags| flags.split(", ").next()).unwrap_or(option.name);
                let setting = format!("{flag}{}", answer.part);
                found.push(Difference { setting, asked: value.to_string(), near, far });
            }
        }
        if let (Some(here), Some(there)) = (near.options.get(option.name), far.options.get(option.name))
            && here != there
        {
            let (near, far) = (here.clone(), there.clone());
            found.push(Difference { setting: option.name.to_owned(), asked: value.to_string(), near, far });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use transport::Wait;

    use super::*;
    use crate::MeetError;

    fn differences(asked: &Settings, near: &Effective, far: &Effective) -> Vec<Difference> {
        super::differences(transport::tcp::NAME.transport().unwrap().options(), asked, near, far)
    }

    #[test]
    fn a_difference_is_named_with_both_values() {
        let asked = Settings::default().with("sockbuf", 1u64 << 20).with("congestion", "bbr");
        let near = Effective {
            send_buffer: Some(2 << 20),
            receive_buffer: Some(2 << 20),
            congestion: Some("bbr".into()),
            ..Effective::default()
        };
        let far = Effective { send_buffer: Some(425_984), congestion: Some("cubic".into()), ..near.clone() };
        let found = differences(&asked, &near, &far);
        assert_eq!(found.len(), 2);
        let text = MeetError::Unequal(found).to_string();
        for part in ["--sockbuf (send)", "1048576", "2097152", "425984", "--congestion", "bbr", "cubic"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn defaults_that_differ_are_no_fault() {
        let near = Effective { send_buffer: Some(1), congestion: Some("bbr".into()), ..Effective::default() };
        let far = Effective { send_buffer: Some(2), congestion: Some("cubic".into()), ..Effective::default() };
        assert_eq!(differences(&Settings::default(), &near, &far), []);
    }

    #[test]
    fn a_wait_mode_has_the_name_that_its_flag_takes() {
        let waits = |wait| Effective { wait: Some(wait), ..Effective::default() };
        let asked = Settings::default().with("wait", Wait::BusyPoll);
        let found = differences(&asked, &waits(Wait::BusyPoll), &waits(Wait::Spin));
        assert_eq!((found[0].asked.as_str(), found[0].far.as_str()), ("busy-poll", "spin"));
    }

    #[test]
    fn a_side_that_cannot_say_is_not_compared() {
        let asked = Settings::default().with("mss", 1000u64);
        let near = Effective { mss: Some(988), ..Effective::default() };
        assert_eq!(differences(&asked, &near, &Effective::default()), []);
    }
}
