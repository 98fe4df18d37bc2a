//! Commands that offer a rate.

use super::asked::Asked;

/// The run that offers rates.
pub fn command(p: &Asked<'_>, rates: &str, size: Option<u64>) -> String {
    let sizes = size.map_or(String::new(), |size| format!(" --sizes {size}"));
    format!("pipegauge run {} --pattern stream --rate {rates}{sizes}", p.typed_idle())
}

/// A rate as `--rate` takes it.
pub fn typed(rate: f64) -> String {
    let (unit, of) =
        [("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)].into_iter().find(|u| rate >= u.1).unwrap_or(("bit/s", 1.0));
    format!("{}{unit}", (rate / of * 1000.0).round() / 1000.0)
}

pub fn range(from: f64, to: f64) -> String {
    format!("{}..{}", typed(from), typed(to))
}

#[cfg(test)]
mod tests {
    use units::BitRate;

    use super::*;

    #[test]
    fn rates_are_typed_as_the_command_takes_them() {
        assert_eq!([1e9, 2.5e6, 64e3, 8.0].map(typed), ["1Gbit/s", "2.5Mbit/s", "64kbit/s", "8bit/s"]);
        assert!(typed(123_456_789.0).parse::<BitRate>().is_ok());
    }
}
