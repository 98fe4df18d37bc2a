//! Settings of a member. Defaults suit one network; times scale to the round trip where they should.

use std::time::Duration;

/// Settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The group's name: members of other groups are not heard.
    pub group: String,
    /// The largest datagram sent for casts, in bytes with all of strata's headers: Ethernet's 1500 less IPv4's and UDP's headers.
    pub datagram: usize,
    /// How long NAK waits at a gap for datagrams that overtook each other before it asks.
    pub nak_delay: Duration,
    /// How long NAK waits for what it asked for before it asks again; doubles up to [`Config::status`].
    pub nak_retry: Duration,
    /// How soon after the last cast NAK says how many there were, so that a lost last one is missed; doubles up to [`Config::status`].
    pub tail: Duration,
    /// The longest time between two statuses of a member: what silence is measured by.
    pub status: Duration,
    /// Silence after which a member is suspected.
    pub suspect: Duration,
    /// How long something may wait for what should come at once (a cast to be sent again, a token, a place in the order) and come no further, before this member tells of it and asks for a new view, which begins without it.
    pub stall: Duration,
    /// How long an attempt at a view waits for answers before it goes on without who gave none.
    pub flush: Duration,
    /// How often unanswered control messages are repeated; sooner at first, after an eighth of it.
    pub retry: Duration,
    /// How long a member that leaves waits until the others have what it cast. Then it leaves, and says how much they may not have.
    pub drain: Duration,
    /// How often MERGE looks for other views.
    pub probe: Duration,
    /// Casts of one sender that a receiver holds at most beyond a gap.
    pub window: u64,
    /// Bytes of own casts that may be unstable or waiting before `try_cast` says that it would block.
    pub backlog: usize,
    /// The largest message of the application, in bytes.
    pub message: usize,
    /// Bytes that FC packs into one cast at most.
    pub pack: usize,
    /// Own casts that FC lets be under way at once before it packs: those not yet delivered here.
    pub credit: usize,
    /// As `credit`, in datagrams that not all members have.
    pub flight: u64,
    /// Whether the application acknowledges by itself ([`crate::Input::Ack`]) what STABLE counts.
    pub app_acks: bool,
    /// Addresses that MERGE probes, members of the group or not.
    pub contacts: Vec<crate::Addr>,
    /// The view, for stacks without MBRSHIP: all members, each born 0.
    pub fixed: Vec<crate::Addr>,
    /// Where casts go over a carrier that multicasts, so that COM can tell members of another address apart. [`crate::net::Group::join`] sets it.
    pub multicast: Option<std::net::SocketAddrV4>,
    /// The key of SIGN and CRYPT.
    pub key: Option<crate::Key>,
    /// Layers behind pointers also where the stack is one whose types are known: for comparing.
    #[doc(hidden)]
    pub boxed: bool,
    #[doc(hidden)]
    pub mutant: Option<crate::mutant::Mutant>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            group: "strata".to_owned(),
            datagram: 1472,
            nak_delay: Duration::from_micros(500),
            nak_retry: Duration::from_millis(2),
            tail: Duration::from_millis(1),
            status: Duration::from_millis(100),
            suspect: Duration::from_millis(1000),
            stall: Duration::from_secs(4),
            flush: Duration::from_millis(500),
            retry: Duration::from_millis(20),
            drain: Duration::from_secs(5),
            probe: Duration::from_millis(500),
            window: 4096,
            backlog: 4 << 20,
            message: 16 << 20,
            pack: 60_000,
            credit: 2,
            flight: 64,
            app_acks: false,
            contacts: Vec::new(),
            fixed: Vec::new(),
            multicast: None,
            key: None,
            boxed: false,
            mutant: None,
        }
    }
}
