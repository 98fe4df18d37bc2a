//! Reading [`Fault`] and [`Shape`] from `key=value,...`.

use std::str::FromStr;

use super::{Fault, Shape};
use crate::theory::FlagError;
use crate::theory::flags::{self, Grammar};

const FAULT: Grammar = Grammar {
    what: "a fault",
    once: &["drop", "corrupt", "delay", "cut", "stall", "seed", "flow"],
    many: &[],
    example: "drop=1%,corrupt=0.1%,delay=1ms@5%,cut=100,stall=2s@50,seed=3",
};

const SHAPE: Grammar =
    Grammar { what: "a shape", once: &["rate", "latency"], many: &[], example: "rate=155Mbit/s,latency=1ms" };

/// `drop=1%,corrupt=0.1%,delay=1ms@5%,cut=100,stall=2s@50,seed=3`. A delay without a share delays every message.
impl FromStr for Fault {
    type Err = FlagError;
    fn from_str(text: &str) -> Result<Self, FlagError> {
        let mut fault = Fault::default();
        for (key, value) in FAULT.pairs(text)? {
            match key {
                "drop" => fault.drop = flags::share(key, value)?,
                "corrupt" => fault.corrupt = flags::share(key, value)?,
                "delay" => {
                    let (time, share) = value.split_once('@').unwrap_or((value, "100%"));
                    fault.delay = flags::seconds(key, time)?;
                    fault.delay_share = flags::share(key, share)?;
                }
                "cut" => fault.cut = Some(flags::whole(key, value)?),
                "stall" => {
                    let form = "a stall is TIME@MESSAGE, such as 2s@50 (two seconds before message 50)";
                    let (time, message) = value.split_once('@').ok_or_else(|| FlagError::bad(key, value, form))?;
                    fault.stall = flags::seconds(key, time)?;
                    fault.stall_at = Some(flags::whole(key, message)?);
                }
                "flow" => fault.flow = Some(flags::whole(key, value)?),
                _ => fault.seed = flags::whole(key, value)?,
            }
        }
        fault.check()?;
        Ok(fault)
    }
}

/// Longest time that a fault or a shape holds a message, seconds: beyond an hour it is a slip of the pen.
const HOUR: f64 = 3600.0;

fn held(key: &str, seconds: f64) -> Result<(), FlagError> {
    match seconds {
        0.0..=HOUR => Ok(()),
        _ => Err(FlagError::bad(key, seconds, "a time of 0 to 3600 s is wanted, such as 10us")),
    }
}

impl Fault {
    /// Whether these are faults at all. Texts are checked as they are read; call this for values that come from elsewhere.
    pub fn check(&self) -> Result<(), FlagError> {
        for (key, share) in [("drop", self.drop), ("corrupt", self.corrupt), ("delay", self.delay_share)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(FlagError::bad(key, share, "a share lies between 0% and 100%"));
            }
        }
        held("delay", self.delay)?;
        held("stall", self.stall)
    }
}

impl Shape {
    /// Whether this is a shape at all, likewise.
    pub fn check(&self) -> Result<(), FlagError> {
        if !(self.rate.is_finite() && self.rate >= 0.0) {
            return Err(FlagError::bad("rate", self.rate, "a rate above 0 is wanted, such as 155Mbit/s"));
        }
        held("latency", self.latency)
    }
}

/// `rate=155Mbit/s,latency=1ms`; what is left out is left alone.
impl FromStr for Shape {
    type Err = FlagError;
    fn from_str(text: &str) -> Result<Self, FlagError> {
        let mut shape = Shape::default();
        for (key, value) in SHAPE.pairs(text)? {
            if key == "latency" {
                shape.latency = flags::seconds(key, value)?;
                continue;
            }
            shape.rate = flags::read::<units::BitRate>(key, value)?.0;
            if !(shape.rate.is_finite() && shape.rate > 0.0) {
                return Err(FlagError::bad(key, value, "a rate above 0 is wanted, such as 155Mbit/s"));
            }
        }
        shape.check()?;
        Ok(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_fault_is_read() {
        let want = Fault {
            drop: 0.01,
            corrupt: 0.001,
            delay: 0.001,
            delay_share: 0.05,
            cut: Some(100),
            stall_at: Some(50),
            stall: 2.0,
            seed: 3,
            flow: None,
        };
        assert_eq!("drop=1%,flow=2".parse(), Ok(Fault { drop: 0.01, flow: Some(2), ..Fault::default() }));
        assert_eq!(FAULT.example.parse(), Ok(want));
        assert_eq!("delay=2ms".parse(), Ok(Fault { delay: 0.002, delay_share: 1.0, ..Fault::default() }));
    }

    #[test]
    fn every_field_of_a_shape_is_read() {
        assert_eq!(SHAPE.example.parse(), Ok(Shape { rate: 155e6, latency: 0.001 }));
        assert_eq!("latency=2s".parse(), Ok(Shape { rate: 0.0, latency: 2.0 }));
    }

    #[test]
    fn bad_values_are_named_with_the_form_that_fits() {
        for (text, says) in [
            ("drop=2", "drop=2: "),
            ("corrupt=x", "corrupt=x: "),
            ("delay=1ms@5", "delay=5: "),
            ("delay=x@5%", "delay=x: "),
            ("cut=-1", "cut=-1: a whole number is wanted"),
            ("stall=2s", "stall=2s: a stall is TIME@MESSAGE"),
            ("stall=2s@x", "a whole number is wanted"),
            ("seed=1.5", "a whole number is wanted"),
            ("drip=1%", "a fault has no 'drip'; it takes: drop, corrupt, delay, cut, stall, seed"),
            ("", "a fault needs at least one of"),
        ] {
            let said = text.parse::<Fault>().unwrap_err().to_string();
            assert!(said.contains(says), "{text:?}: {said}");
        }
        for (text, says) in [
            ("rate=0bit/s", "a rate above 0 is wanted"),
            ("latency=-1s", "latency=-1s: "),
            ("speed=1", "a shape has no 'speed'; it takes: rate, latency"),
        ] {
            let said = text.parse::<Shape>().unwrap_err().to_string();
            assert!(said.contains(says), "{text:?}: {said}");
        }
    }
}
