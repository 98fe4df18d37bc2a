//! Which settings this process would change: those of this start of the system, and of this network namespace.

use std::fs;

use anyhow::{Context, Result};

/// Where a process is, or was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Here {
    /// The start of the system.
    pub boot: String,
    /// The network namespace, by its file's number. Once it is gone another one may have that number.
    pub network: String,
    /// The same by a number that none has again; none where the kernel (before 5.14) does not tell it.
    pub cookie: Option<u64>,
}

/// Where the settings of a journal are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Where this process is.
    Here,
    /// In another network namespace, which there may still be.
    Elsewhere,
    /// Nowhere: the system began anew since, or their network namespace is gone.
    Gone,
}

impl Here {
    pub fn now() -> Result<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").context("reading when this system began")?;
        let network = fs::read_link("/proc/self/ns/net").context("looking which network namespace this is")?;
        let (boot, network) = (boot.trim().to_owned(), network.display().to_string());
        Ok(Self { boot, network, cookie: host::network_cookie() })
    }

    /// Where the settings are of a process that was there.
    pub fn place(&self, there: &Here) -> Place {
        let other = self.cookie.zip(there.cookie).is_some_and(|(own, of)| own != of);
        match (self.boot == there.boot, self.network == there.network) {
            (false, _) => Place::Gone,
            (true, false) => Place::Elsewhere,
            // Its number was free.
            (true, true) if other => Place::Gone,
            (true, true) => Place::Here,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_namespace_that_has_the_number_of_one_that_is_gone_is_another() {
        let at = |boot: &str, network: &str, cookie| Here { boot: boot.into(), network: network.into(), cookie };
        let place = |here: &Here, boot: &str, network: &str, cookie| here.place(&at(boot, network, cookie));
        let here = at("b", "net:[1]", Some(7));
        assert_eq!(place(&here, "b", "net:[1]", Some(7)), Place::Here);
        assert_eq!(place(&here, "b", "net:[1]", Some(6)), Place::Gone);
        assert_eq!(place(&here, "b", "net:[2]", Some(6)), Place::Elsewhere);
        assert_eq!(place(&here, "a", "net:[1]", Some(7)), Place::Gone);
        // A kernel that has none, and a journal from before there were any.
        let old = Here { cookie: None, ..here.clone() };
        assert_eq!(
            (place(&here, "b", "net:[1]", None), place(&old, "b", "net:[1]", Some(6))),
            (Place::Here, Place::Here)
        );
    }
}
