//! What would be changed along with a setting, as it is now.

use std::iter::once;

use anyhow::{Result, anyhow, bail};

use super::setting::{self, Missing};
use crate::commands::programs;
use crate::config::system::{Along, Knob, Takes, links, stacked};

/// Most interfaces that may stand on one whose MTU is changed: each is looked at in every cell.
const MOST: usize = 200;

/// What is changed along with a setting by the kernel or a driver, each behind what it rests on. `axes` are all settings that the sweep varies.
///
/// # Errors
/// It can't be told, or there is something that could not be put back.
pub fn along(knob: &Knob, axes: &[Knob]) -> Result<Vec<Along>> {
    match knob.takes() {
        Takes::Mtus(interface) => mtus(interface),
        Takes::Features => {
            let features = knob.features(&setting::text(knob)?, axes)?;
            let index = setting::link(knob)?.map(|link| link.index);
            Ok(features.map(|(knob, was)| Along { knob, was, index }).into_iter().collect())
        }
        Takes::Nothing => Ok(Vec::new()),
    }
}

/// The MTUs of what stands on an interface, and those for IPv6 that are not simply the interface's own.
fn mtus(interface: &str) -> Result<Vec<Along>> {
    let step = ["ip", "-o", "link", "show"].map(str::to_owned);
    let text = programs::ran(&step).map_err(|e| anyhow!("looking what stands on {interface}: {e}"))?;
    let all = links(&text);
    let above = stacked(&all, interface);
    if above.len() > MOST {
        bail!(
            "{} interfaces stand on {interface}, and a change of its MTU may change theirs: a sweep puts back up to {MOST}",
            above.len()
        );
    }
    let mut found = Vec::new();
    for name in once(interface).chain(above.iter().map(String::as_str)) {
        let Some(link) = all.iter().find(|link| link.name == name) else { continue };
        let index = Some(link.index);
        let of = |e| {
            anyhow!(
                "the MTU of {interface} may change that of {}, which could not be put back: {e}",
                report::words::plain(name)
            )
        };
        let (mtu, was) = (Knob::mtu(name).map_err(of)?, link.mtu.to_string());
        let six = Knob::mtu6(name).map_err(of)?;
        let six_was = match setting::read(&six) {
            Ok(six) => Some(six).filter(|six| *six != was),
            // It has no IPv6.
            Err(e) if e.is::<Missing>() => None,
            Err(e) => return Err(e),
        };
        if name != interface {
            found.push(Along { knob: mtu, was, index });
        }
        found.extend(six_was.map(|was| Along { knob: six, was, index }));
    }
    Ok(found)
}
