//! How the two sides of a cell are apart in a laboratory: the far one runs in the second host, and messages go over the link between both.

use anyhow::{Result, bail};
use measure::event::PathPlan;
use transport::Transport;

use crate::config::lab::{LINK, Lab};
use crate::config::stays;
use crate::config::unused::goes_to_an_address;

/// The flags of the run of this path; an error says why nothing of it would go over the link. `at` is where the second host is reached.
pub fn flags(path: &PathPlan, transport: &dyn Transport, at: String) -> Result<Vec<String>> {
    let mut flags = vec!["--peer-under".to_owned(), format!("ip netns exec {}", Lab::host(2))];
    let name = path.transport;
    if goes_to_an_address(transport, &path.settings) {
        flags.extend(["--peer-address".to_owned(), at]);
        return Ok(flags);
    }
    let has = |option: &str| transport.options().iter().any(|o| o.name == option);
    if !transport.launch().is_empty() && has("interface") {
        // Its processes are told of each other by their launcher, and of the link here; only what goes over TCP has an interface.
        let over_tcp = !has("over") || path.settings.text("over") == Some("tcp");
        if over_tcp && path.settings.text("interface").is_some_and(|interface| interface != "lo") {
            return Ok(flags);
        }
        let over = if has("over") { "over=tcp," } else { "" };
        bail!(
            "the messages of {name} go within the host unless it is told the laboratory's link: write {name}:{over}interface={LINK}"
        );
    }
    if stays::stays(transport, &path.settings) {
        bail!("{}", stays::remedy(transport, "the laboratory's link", LINK));
    }
    bail!(
        "{name} has no far side in a second host, and a laboratory's link would carry nothing of it: leave out --lab, or name a transport that has one, \
         such as tcp"
    )
}

#[cfg(test)]
mod tests {
    use transport::{Capabilities, OptionSpec, Settings, multicast, options, tcp, unix};

    use super::*;

    /// A transport whose processes a launcher starts.
    struct Launched;

    static OPTIONS: [OptionSpec; 2] =
        [OptionSpec { name: "over", ..options::SOCKBUF }, OptionSpec { name: "interface", ..options::SOCKBUF }];

    impl Transport for Launched {
        fn name(&self) -> transport::Name {
            tcp::NAME
        }
        fn summary(&self) -> &'static str {
            "ranks"
        }
        fn spoken(&self) -> &'static [&'static str] {
            &["ranks"]
        }
        fn capabilities(&self, _: &Settings) -> Capabilities {
            Capabilities { local_only: true, ..Capabilities::plain() }
        }
        fn options(&self) -> &'static [OptionSpec] {
            &OPTIONS
        }
        fn launch(&self) -> &'static [String] {
            vec!["mpirun".to_owned()].leak()
        }
    }

    /// A transport of which messages take hops, and which is no group.
    struct Hops;

    static TTL: [OptionSpec; 1] = [OptionSpec { name: "ttl", ..options::SOCKBUF }];

    impl Transport for Hops {
        fn name(&self) -> transport::Name {
            tcp::NAME
        }
        fn summary(&self) -> &'static str {
            "hops"
        }
        fn spoken(&self) -> &'static [&'static str] {
            &["hops"]
        }
        fn capabilities(&self, _: &Settings) -> Capabilities {
            Capabilities::plain()
        }
        fn options(&self) -> &'static [OptionSpec] {
            &TTL
        }
    }

    fn said(transport: &dyn Transport, set: &[(&str, &str)]) -> Result<String, String> {
        let settings = set.iter().fold(Settings::default(), |all, (option, value)| all.with(option, *value));
        let path = PathPlan { settings, ..PathPlan::from(transport.name()) };
        flags(&path, transport, "10.77.0.2".to_owned()).map(|flags| flags.join(" ")).map_err(|e| e.to_string())
    }

    #[test]
    fn what_goes_over_the_link_gets_there_and_what_does_not_is_refused_with_what_to_write() {
        let built_in = |name: transport::Name| name.transport().unwrap();
        let (tcp, unix, group) = (built_in(tcp::NAME), built_in(unix::NAME), built_in(multicast::NAME));
        let (under, far) = ("--peer-under ip netns exec h2", "--peer-under ip netns exec h2 --peer-address 10.77.0.2");
        assert_eq!(said(tcp, &[]).as_deref(), Ok(far));
        assert_eq!(said(group, &[("interface", "eth0"), ("ttl", "1")]).as_deref(), Ok(far));
        assert_eq!(said(&Launched, &[("over", "tcp"), ("interface", "eth0")]).as_deref(), Ok(under));
        for (transport, set, says) in [
            (&Launched as &dyn Transport, &[][..], "write tcp:over=tcp,interface=eth0"),
            (&Launched, &[("interface", "lo")], "write tcp:over=tcp,interface=eth0"),
            (&Launched, &[("interface", "eth0")], "write tcp:over=tcp,interface=eth0"),
            (&Launched, &[("over", "shm"), ("interface", "eth0")], "write tcp:over=tcp,interface=eth0"),
            (&Hops, &[], "leave out --lab"),
            (group, &[], "write multicast:interface=eth0,ttl=1"),
            (unix, &[], "leave out --lab"),
        ] {
            let e = said(transport, set).unwrap_err();
            assert!(e.contains(says), "{set:?}: {e}");
        }
    }
}
