//! A group whose messages stay in their host as it is told so far, and what to write so that they leave it.

use transport::{Ends, Settings, Transport};

/// Whether it is one: its members would not hear each other in two hosts.
pub fn stays(transport: &dyn Transport, settings: &Settings) -> bool {
    let can = transport.capabilities(settings);
    let told = transport.options().iter().any(|option| option.name == "interface");
    can.group && can.local_only && told && transport.ends() == Ends::Two
}

/// That it is one, and what to write: its `link` to the other host is an interface of this name.
pub fn remedy(transport: &dyn Transport, link: &str, interface: &str) -> String {
    let name = transport.name();
    format!(
        "the messages of {name} stay in their host unless it is told {link} and how far they go: write {name}:interface={interface},ttl=1 \
         (of IPv6 with address=ff02::5047, too)"
    )
}

/// The same where the command does not know the link.
pub fn remedy_here(transport: &dyn Transport) -> String {
    remedy(transport, "the interface (NAME) that leads to the other side", "NAME")
}

#[cfg(test)]
mod tests {
    use crate::config::typed::typed;

    fn said(line: &str) -> Option<String> {
        typed(line).err().map(|e| format!("{e:#}"))
    }

    #[test]
    fn a_group_that_stays_in_its_host_is_refused_where_the_far_side_is_elsewhere_whatever_else_is_measured() {
        for paths in [
            "multicast",
            "tcp multicast --pattern stream",
            "multicast:ttl=1",
            "tcp multicast:family=6,interface=lo --pattern stream",
        ] {
            for under in ["--peer-under env", "--near-under env"] {
                let e = said(&format!("{paths} {under} --peer-address 192.0.2.2")).unwrap();
                assert!(e.contains("write multicast:interface=NAME,ttl=1"), "{paths} {under}: {e}");
                assert_eq!(said(&format!("{paths} {under}")), None);
            }
        }
        assert_eq!(
            said("tcp multicast:interface=lo0,ttl=1 --pattern stream --peer-under env --peer-address 192.0.2.2"),
            None
        );
        // Another address of this host: members meet within it.
        assert_eq!(said("tcp multicast --pattern stream --peer-address 192.0.2.2"), None);
    }

    #[test]
    fn an_address_that_a_group_does_not_go_to_is_told_with_what_makes_it_go_there() {
        let e = said("multicast --peer-address 192.0.2.2").unwrap();
        assert!(e.contains("--peer-address changes nothing here") && e.contains("interface=NAME,ttl=1"), "{e}");
        let e = said("shm --peer-address 192.0.2.2").unwrap();
        assert!(e.contains("leave it out"), "{e}");
    }
}
