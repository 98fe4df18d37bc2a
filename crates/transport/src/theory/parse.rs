//! Reading and checking a [`Theory`].

use std::str::FromStr;

use super::flags::{self, FlagError, Grammar};
use super::{Dip, Mover, Theory};

const GRAMMAR: Grammar = Grammar {
    what: "the theoretical link",
    once: &["latency", "rate", "packet", "header", "noise", "block-noise", "loss", "work", "seed"],
    many: &["dip"],
    example: "latency=10us,rate=10Gbit/s,packet=1448,header=66,dip=60KiB..70KiB*5,noise=2%,block-noise=3%,loss=1%,\
              work=20ns,seed=7",
};

/// `latency=10us,rate=10Gbit/s,packet=1448,header=66,dip=60KiB..70KiB*5,noise=2%,block-noise=3%,loss=1%,work=20ns,
/// seed=7`.
/// What is left out keeps its default; `dip` may stand more than once.
impl FromStr for Theory {
    type Err = FlagError;
    fn from_str(text: &str) -> Result<Self, FlagError> {
        let mut theory = Theory::default();
        for (key, value) in GRAMMAR.pairs(text)? {
            match key {
                "latency" => theory.latency = flags::seconds(key, value)?,
                "rate" => theory.rate = flags::read::<units::BitRate>(key, value)?.0,
                "packet" => theory.packet = flags::read::<units::Bytes>(key, value)?.0,
                "header" => theory.header = flags::read::<units::Bytes>(key, value)?.0,
                "noise" => theory.noise = flags::share(key, value)?,
                "block-noise" => theory.block_noise = flags::share(key, value)?,
                "loss" => theory.loss = flags::share(key, value)?,
                "work" => theory.work = flags::seconds(key, value)?,
                "seed" => theory.seed = flags::whole(key, value)?,
                _ => theory.dips.push(dip(key, value)?),
            }
        }
        theory.check()?;
        Ok(theory)
    }
}

fn dip(key: &str, value: &str) -> Result<Dip, FlagError> {
    let form = || {
        let says = "a dip is FROM..TO*FACTOR, such as 60KiB..70KiB*5 (five times slower), with @sockbuf or @align after it \
                    where --sockbuf moves it or blocks at pages (--align, --offset) end it";
        FlagError::bad(key, value, says)
    };
    let (range, factor) = value.split_once('*').ok_or_else(form)?;
    let (factor, moved_by) = match factor.split_once('@') {
        None => (factor, None),
        Some((factor, "sockbuf")) => (factor, Some(Mover::Sockbuf)),
        Some((factor, "align")) => (factor, Some(Mover::Align)),
        Some(_) => return Err(form()),
    };
    let (from, to) = range.split_once("..").ok_or_else(form)?;
    Ok(Dip {
        from: flags::read::<units::Bytes>(key, from.trim())?.0,
        to: flags::read::<units::Bytes>(key, to.trim())?.0,
        factor: factor.trim().parse().map_err(|_| form())?,
        moved_by,
    })
}

impl Theory {
    /// Whether the parameters describe a path at all. Texts are checked as they are read; call this for values that
    /// come from elsewhere.
    pub fn check(&self) -> Result<(), FlagError> {
        let share = |key: &str, value: f64| match value {
            0.0..=1.0 => Ok(()),
            _ => Err(FlagError::bad(key, value, "a share lies between 0% and 100%")),
        };
        if !(self.latency.is_finite() && self.latency >= 0.0) {
            return Err(FlagError::bad("latency", self.latency, "a time of 0 or more is wanted, such as 10us"));
        }
        if !(0.0..=1.0).contains(&self.work) {
            return Err(FlagError::bad("work", self.work, "a time of 0 to 1 s is wanted, such as 20ns"));
        }
        if !(self.rate.is_finite() && self.rate > 0.0) {
            return Err(FlagError::bad("rate", self.rate, "a rate above 0 is wanted, such as 10Gbit/s"));
        }
        if self.packet == 0 {
            return Err(FlagError::bad("packet", self.packet, "a packet carries at least one byte, such as 1448"));
        }
        for dip in &self.dips {
            let shown = format!("{}..{}*{}", dip.from, dip.to, dip.factor);
            if dip.from >= dip.to {
                return Err(FlagError::bad("dip", shown, "the first size must be smaller than the second"));
            }
            if !(dip.factor.is_finite() && dip.factor > 0.0) {
                return Err(FlagError::bad("dip", shown, "the factor must be above 0; 5 is five times slower"));
            }
        }
        share("noise", self.noise)?;
        share("block-noise", self.block_noise)?;
        share("loss", self.loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("work=2s", "a time of 0 to 1 s is wanted"),
            ("packet=0", "packet=0: a packet carries at least one byte"),
            ("header=x", "header=x: "),
            ("dip=60KiB", "dip=60KiB: a dip is FROM..TO*FACTOR"),
            ("dip=60KiB-70KiB*5", "a dip is FROM..TO*FACTOR"),
            ("dip=60KiB..70KiB*fast", "a dip is FROM..TO*FACTOR"),
            ("dip=60KiB..70KiB*5@mood", "a dip is FROM..TO*FACTOR"),
            ("dip=70KiB..60KiB*5", "the first size must be smaller"),
            ("dip=60KiB..70KiB*0", "the factor must be above 0"),
            ("dip=60KiB..70KiB*inf", "the factor must be above 0"),
            ("noise=200%", "a share lies between 0% and 100%"),
            ("block-noise=-1%", "block-noise=-1%: "),
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
