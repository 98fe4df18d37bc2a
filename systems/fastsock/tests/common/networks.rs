//! Two networks of a test's own, as two containers have them: network namespaces that a cable joins. They go with their last process, however the test ends.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Two namespaces, each with a process that holds it.
pub struct Networks([Child; 2]);

/// Addresses of both ends of the cable.
pub const ADDRESSES: [&str; 2] = ["10.77.0.1", "10.77.0.2"];
pub const ADDRESSES_OF_6: [&str; 2] = ["fd77::1", "fd77::2"];

fn ran(command: &mut Command) -> Result<(), String> {
    let out = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let why = String::from_utf8_lossy(&out.stderr);
    if out.status.success() { Ok(()) } else { Err(format!("{command:?}: {}", why.trim())) }
}

impl Networks {
    /// Two, or none, having said why.
    pub fn make() -> Option<Self> {
        // SAFETY: asks for a number.
        let why = if unsafe { libc::geteuid() } != 0 {
            Err("only root joins two network namespaces by a cable".to_owned())
        } else {
            Self::joined()
        };
        why.inspect_err(|why| println!("skipped: {why}")).ok()
    }

    fn joined() -> Result<Self, String> {
        let holder = || {
            let mut holder = Command::new("unshare");
            holder.args(["--net", "--", "sh", "-c", "ip link set lo up && echo up && exec cat"]);
            holder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            holder.spawn().map_err(|error| format!("unshare: {error}"))
        };
        let first = holder()?;
        let mut made = Self([first, holder()?]);
        for holder in &mut made.0 {
            let mut line = String::new();
            // What did not start says nothing.
            let _ = BufReader::new(holder.stdout.as_mut().unwrap()).read_line(&mut line);
            if line != "up\n" {
                return Err("no network namespace can be made here (unshare --net, ip)".to_owned());
            }
        }
        let [first, second] = [0, 1].map(|at| made.0[at].id().to_string());
        let mut cable = Command::new("ip");
        cable.args([
            "link", "add", "name", "cable", "netns", &first, "type", "veth", "peer", "name", "cable", "netns", &second,
        ]);
        ran(&mut cable)?;
        for (at, (address, of_6)) in ADDRESSES.into_iter().zip(ADDRESSES_OF_6).enumerate() {
            ran(made.command(at, "ip").args(["address", "add", &format!("{address}/24"), "dev", "cable"]))?;
            // Where there is no IPv6, none is used.
            let _ =
                ran(made.command(at, "ip").args(["address", "add", &format!("{of_6}/64"), "dev", "cable", "nodad"]));
            ran(made.command(at, "ip").args(["link", "set", "cable", "up"]))?;
        }
        Ok(made)
    }

    /// A command in one of them.
    pub fn command(&self, at: usize, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.0[at].id())).args(["--", program]);
        command
    }
}

impl Drop for Networks {
    fn drop(&mut self) {
        for holder in &mut self.0 {
            let _ = holder.kill();
            let _ = holder.wait();
        }
    }
}
