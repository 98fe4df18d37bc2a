//! What the environment says: whether the library does anything at all, and for which ports.
//!
//! `FASTSOCK=off` switches it off; `FASTSOCK_OFF_PROGRAMS`, `FASTSOCK_OFF_PORTS` and `FASTSOCK_OFF_USERS` are lists, separated by commas, of
//! program names, of ports of either end, and of user numbers for which it is off. `FASTSOCK_AFTER` is how many calls move data before
//! a connection may become fast (1024: what that costs is then less than a twentieth of what the connection has cost already). `FASTSOCK_WAIT`
//! is how a call waits: `sleep`, `blind`, `guarded`, `yielding`, `handing` or `polite`, the default. The others are there to be measured.

use std::sync::OnceLock;

/// How a call waits before it sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// It does not.
    Sleep,
    /// It always spins for the whole budget.
    Blind,
    /// It spins where that has paid of late and the peer is on another CPU.
    Guarded,
    /// The same, but it yields as it spins, and sleeps once that has given the CPU to somebody else.
    Yielding,
    /// As guarded, but it yields to a peer on its own CPU before it sleeps, where that has let the peer run and nobody else.
    Handing,
    /// Both.
    Polite,
}

/// What was said.
#[derive(Debug)]
pub struct Settings {
    /// Nothing becomes fast.
    pub off: bool,
    /// Connections that end at one of these stay with the kernel.
    pub off_ports: Vec<u16>,
    /// Calls before a connection may become fast.
    pub after: u32,
    /// How calls wait.
    pub wait: Policy,
}

/// The settings of this process, read when first asked for.
pub fn get() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(read)
}

fn read() -> Settings {
    let list = |name: &str| -> Vec<String> {
        let text = std::env::var(name).unwrap_or_default();
        text.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
    };
    let program = std::env::current_exe().ok();
    let program = program.as_deref().and_then(|path| path.file_name()?.to_str().map(str::to_owned)).unwrap_or_default();
    // SAFETY: plain questions to the system.
    let (secure, user) = unsafe { (libc::getauxval(libc::AT_SECURE) != 0, libc::geteuid()) };
    let off = secure
        || matches!(std::env::var("FASTSOCK").as_deref(), Ok("off" | "0"))
        || list("FASTSOCK_OFF_PROGRAMS").contains(&program)
        || list("FASTSOCK_OFF_USERS").contains(&user.to_string());
    let wait = match std::env::var("FASTSOCK_WAIT").as_deref() {
        Ok("sleep") => Policy::Sleep,
        Ok("blind") => Policy::Blind,
        Ok("guarded") => Policy::Guarded,
        Ok("yielding") => Policy::Yielding,
        Ok("handing") => Policy::Handing,
        _ => Policy::Polite,
    };
    Settings {
        off,
        wait,
        off_ports: list("FASTSOCK_OFF_PORTS").iter().filter_map(|port| port.parse().ok()).collect(),
        after: std::env::var("FASTSOCK_AFTER").ok().and_then(|n| n.parse().ok()).unwrap_or(1024).max(1),
    }
}
