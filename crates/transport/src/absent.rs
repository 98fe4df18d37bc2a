//! Paths that people of the field ask for and that this program does not have: they are listed with what this machine says of them.

/// What is known of such a path.
#[derive(Debug)]
pub struct Absent {
    /// What it would be called.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// What this machine lacks for it; none where it has all.
    lacks: fn() -> Option<String>,
}

/// TLS whose records the kernel makes.
const KTLS: Absent = Absent {
    name: "ktls",
    summary: "TLS over TCP whose records the kernel makes",
    lacks: || {
        const KNOWN: &str = "/proc/sys/net/ipv4/tcp_available_ulp";
        let known = std::fs::read_to_string(KNOWN).unwrap_or_default();
        let has = known.split_whitespace().any(|one| one == "tls");
        (!has).then(|| {
            format!(
                "this kernel has no TLS for TCP ({KNOWN} names: {})",
                if known.trim().is_empty() { "none" } else { known.trim() }
            )
        })
    },
};

/// Remote direct memory access by the verbs of RDMA devices.
const VERBS: Absent = Absent {
    name: "verbs",
    summary: "RDMA devices by their verbs",
    lacks: || {
        const DEVICES: &str = "/sys/class/infiniband";
        let any = std::fs::read_dir(DEVICES).is_ok_and(|mut found| found.next().is_some());
        (!any).then(|| format!("this machine has no RDMA device (nothing in {DEVICES})"))
    },
};

impl Absent {
    /// Why there is no such path here.
    pub fn why(&self) -> String {
        (self.lacks)().unwrap_or_else(|| {
            "this machine has it, but this version of pipegauge has no such path; a module can add one (pipegauge module new)".to_owned()
        })
    }
}

/// All of them.
pub static ALL: [Absent; 2] = [KTLS, VERBS];

/// That of this name, if it is one of them.
pub fn named(name: &str) -> Option<&'static Absent> {
    ALL.iter().find(|absent| absent.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_is_named() {
        for absent in &ALL {
            let said = absent.why();
            assert!(said.starts_with("this kernel ") || said.starts_with("this machine "), "{said}");
            assert!(named(absent.name).is_some() && crate::registry::all().all(|t| t.name().as_str() != absent.name));
        }
    }
}
