//! What to do where what a side is started under has a network of its own.

use measure::event::Plan;
use report::words;
use transport::registry;

use crate::config::stays;

/// An error, and what to do where a side was looked for on this host and may not be there.
pub fn advised(error: String, plan: &Plan) -> String {
    let (flag, under) = match (&plan.peer_under[..], &plan.near_under[..]) {
        ([], []) => return error,
        ([], near) => ("--near-under", near),
        (peer, _) => ("--peer-under", peer),
    };
    // A new network namespace has not even these addresses.
    let own = ["connecting to 127.0.0.1:", "connecting to [::1]:", "listening on 127.0.0.1:", "listening on [::1]:"];
    let here = own.iter().any(|to| error.contains(to));
    if !here || error.contains("no local port is free") {
        return error;
    }
    let own = format!("if {flag} '{}' puts a side into a network of its own", words::plain(&under.join(" ")));
    let advice = "--peer-address ADDRESS says where the far side is reached";
    // The error names its path.
    let failed = plan.paths.iter().filter(|path| error.contains(&format!("{}: ", path.name())));
    let group =
        failed.filter_map(|path| registry::find(path.transport).filter(|t| stays::stays(*t, &path.settings))).next();
    match group {
        Some(group) => format!("{error}; {own}, {advice}, and {}", stays::remedy_here(group)),
        None => format!("{error}; {own}, {advice}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::typed::typed;

    fn said(line: &str, error: &str) -> String {
        advised(error.to_owned(), &typed(line).unwrap().plan)
    }

    #[test]
    fn a_side_that_is_not_reached_on_this_host_may_have_a_network_of_its_own() {
        let refused = "tcp: connecting to 127.0.0.1:4711: Connection refused (os error 111)";
        assert_eq!(said("tcp", refused), refused);
        for flag in ["--peer-under", "--near-under"] {
            let told = said(&format!("tcp unix {flag} env"), refused);
            assert!(told.starts_with(refused) && told.contains(&format!("if {flag} 'env' puts")), "{told}");
            assert!(told.ends_with("--peer-address ADDRESS says where the far side is reached"), "{told}");
            let bare = "tcp: the far side: listening on 127.0.0.1:0: Cannot assign requested address (os error 99)";
            assert!(said(&format!("tcp {flag} env"), bare).contains("--peer-address ADDRESS"));
        }
        for other in [
            "tcp: connecting to 192.0.2.1:4711: Connection refused (os error 111)",
            "tcp: connecting to 127.0.0.1:4711 (no local port is free: ...): Cannot assign requested address",
            "tcp: receiving: the other side ended",
        ] {
            assert_eq!(said("tcp --peer-under env", other), other);
        }
    }

    #[test]
    fn a_group_is_told_its_interface_as_well() {
        let none = "multicast: connecting to 127.0.0.1:4711: no answer for 1.0 s";
        let told = said("tcp multicast --pattern stream --peer-under env", none);
        assert!(told.contains("--peer-address ADDRESS") && told.contains("multicast:interface=NAME,ttl=1"), "{told}");
        let told = said("tcp multicast --pattern stream --peer-under env", &none.replace("multicast:", "tcp:"));
        assert!(told.contains("--peer-address ADDRESS") && !told.contains("interface=NAME"), "{told}");
    }
}
