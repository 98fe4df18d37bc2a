//! Reading the modelled path's parameters as they are typed.

use std::str::FromStr;

use super::flags::{FlagError, Grammar};
use super::{Dip, Mover, OPTIONS, Theory};
use crate::SettingError;
use crate::Settings;

const GRAMMAR: Grammar = Grammar {
    what: "the theoretical link",
    once: &[
        "latency",
        "rate",
        "packet",
        "header",
        "eager-limit",
        "noise",
        "round-noise",
        "loss",
        "work",
        "members",
        "seed",
    ],
    many: &["dip"],
    example: "latency=10us,rate=10Gbit/s,packet=1448,header=66,dip=60KiB..70KiB*5,noise=2%,round-noise=3%,loss=1%,\
              work=20ns,seed=7",
};

/// The options that `latency=10us,rate=10Gbit/s,packet=1448,header=66,dip=60KiB..70KiB*5,noise=2%,round-noise=3%,loss=1%,work=20ns,
/// seed=7` sets. `dip` may stand more than once.
pub fn settings(text: &str) -> Result<Settings, FlagError> {
    let mut set = Settings::default();
    for (key, value) in GRAMMAR.pairs(text)? {
        set.read(&OPTIONS, key, value).map_err(|e| match e {
            SettingError::Bad { option, value, why } => FlagError::bad(&option, value, why),
            e => FlagError::bad(key, value, e),
        })?;
    }
    Ok(set)
}

/// The path that such a text describes. What is left out keeps its default.
impl FromStr for Theory {
    type Err = FlagError;
    fn from_str(text: &str) -> Result<Self, FlagError> {
        Ok(Theory::of(&settings(text)?))
    }
}

/// Whether a text is a number of members.
pub(super) fn members_fit(text: &str) -> bool {
    members(text).is_some()
}

/// Members of a group: with more, no path between processes could be compared with it.
pub(super) fn members(text: &str) -> Option<u32> {
    text.parse().ok().filter(|members| (2..=129).contains(members))
}

/// Whether a text is a dip; the error says what is.
pub(super) fn dip_fits(text: &str) -> Result<(), String> {
    dip(text).map(drop)
}

/// A dip as it is typed.
pub(super) fn dip(text: &str) -> Result<Dip, String> {
    let form = || {
        "a dip is FROM..TO*FACTOR, such as 60KiB..70KiB*5 (five times slower), with @sockbuf or @align after it \
         where --sockbuf moves it or messages at pages (--align, --offset) end it"
            .to_owned()
    };
    let (range, factor) = text.split_once('*').ok_or_else(form)?;
    let (factor, moved_by) = match factor.split_once('@') {
        None => (factor, None),
        Some((factor, "sockbuf")) => (factor, Some(Mover::Sockbuf)),
        Some((factor, "align")) => (factor, Some(Mover::Align)),
        Some(_) => return Err(form()),
    };
    let (from, to) = range.split_once("..").ok_or_else(form)?;
    let size = |text: &str| text.trim().parse::<units::Bytes>().map(|b| b.0).map_err(|e| e.to_string());
    let (from, to, factor) = (size(from)?, size(to)?, factor.trim().parse::<f64>().map_err(|_| form())?);
    if from >= to {
        return Err("the first size must be smaller than the second".to_owned());
    }
    if !(factor.is_finite() && factor > 0.0) {
        return Err("the factor must be above 0; 5 is five times slower".to_owned());
    }
    Ok(Dip { from, to, factor, moved_by })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OptionSpec;

    #[test]
    fn every_field_is_read() {
        let read: Theory = GRAMMAR.example.parse().unwrap();
        let dip = Dip { from: 60 * 1024, to: 70 * 1024, factor: 5.0, moved_by: None };
        assert!((read.latency - 10e-6).abs() < 1e-18 && read.rate == 10e9);
        assert_eq!((read.packet, read.header, read.dips.as_slice(), read.seed), (1448, 66, [dip].as_slice(), 7));
        assert_eq!((read.noise, read.block_noise, read.loss), (0.02, 0.03, 0.01));
        assert!((read.work - 20e-9).abs() < 1e-18);
    }

    #[test]
    fn an_option_is_read_by_the_name_that_it_had_before() {
        let now: Theory = "round-noise=3%".parse().unwrap();
        assert_eq!("block-noise=3%".parse::<Theory>().unwrap(), now, "as a flag");
        let filed: Settings = serde_json::from_str(r#"{"block-noise":0.03}"#).unwrap();
        let filed = filed.of_today("theory");
        assert_eq!((Theory::of(&filed), filed.check(&OPTIONS)), (now.clone(), Ok(())), "in a file");
        assert!(serde_json::to_string(&now.settings()).unwrap().contains("round-noise"));
        assert!("block-noise=3%,round-noise=2%".parse::<Theory>().is_err(), "it is one option");
    }

    #[test]
    fn an_option_of_another_transport_keeps_its_name() {
        let filed: Settings = serde_json::from_str(r#"{"block-noise":0.03}"#).unwrap();
        assert_eq!(filed.of_today("mesh").real("block-noise"), Some(0.03));
        let now = OPTIONS.iter().find(|option| option.name == "round-noise").unwrap();
        let own = [OptionSpec { name: "block-noise", ..*now }];
        let mut typed = Settings::default();
        typed.read(&own, "block-noise", "3%").unwrap();
        assert_eq!(typed.real("block-noise"), Some(0.03));
    }

    #[test]
    fn what_is_left_out_keeps_its_default() {
        let read: Theory = "seed=9, dip=1kB..2kB*2, dip=10..20*0.5@align".parse().unwrap();
        let dips = vec![
            Dip { from: 1000, to: 2000, factor: 2.0, moved_by: None },
            Dip { from: 10, to: 20, factor: 0.5, moved_by: Some(Mover::Align) },
        ];
        assert_eq!(read, Theory { seed: 9, dips, ..Theory::default() });
    }

    #[test]
    fn bad_values_are_named_with_the_form_that_fits() {
        for (text, says) in [
            ("latency=-1us", "latency=-1us: "),
            ("latency=soon", "latency=soon: "),
            ("rate=0bit/s", "a rate above 0 is wanted"),
            ("work=-1ns", "work=-1ns: "),
            ("work=2s", "a time of "),
            ("packet=0", "packet=0: it is a size of at least 1 bytes"),
            ("header=x", "header=x: "),
            ("dip=60KiB", "dip=60KiB: a dip is FROM..TO*FACTOR"),
            ("dip=60KiB-70KiB*5", "a dip is FROM..TO*FACTOR"),
            ("dip=60KiB..70KiB*fast", "a dip is FROM..TO*FACTOR"),
            ("dip=60KiB..70KiB*5@mood", "a dip is FROM..TO*FACTOR"),
            ("dip=70KiB..60KiB*5", "the first size must be smaller"),
            ("dip=60KiB..70KiB*0", "the factor must be above 0"),
            ("dip=60KiB..70KiB*inf", "the factor must be above 0"),
            ("noise=200%", "a share lies between 0% and 100%"),
            ("round-noise=-1%", "round-noise=-1%: "),
            ("loss=101%", "a share lies between 0% and 100%"),
            ("seed=many", "a whole number is wanted"),
            ("speed=1", "the theoretical link has no 'speed'; it takes: latency, rate,"),
            ("rate=1Gbit/s,rate=2Gbit/s", "'rate' is given twice"),
            ("", "the theoretical link needs at least one of"),
        ] {
            let said = text.parse::<Theory>().unwrap_err().to_string();
            assert!(said.contains(says), "{text:?}: {said}");
        }
    }
}
