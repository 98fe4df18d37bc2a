//! A network of a test's own: one network namespace, in which each member has an address of 127.0.0.0/8 and nftables drops what it is told to. It ends with the test.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

pub struct Namespace {
    holder: Child,
}

impl Namespace {
    /// A namespace with nftables, or why there can be none.
    pub fn new() -> Result<Self, String> {
        let mut holder = Command::new("unshare")
            .args(["--map-root-user", "--net", "--", "sh", "-c", "ip link set lo up && echo up && exec cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("unshare: {e}"))?;
        let mut line = String::new();
        // What can't be read says nothing, as what did not start does.
        let _ = BufReader::new(holder.stdout.as_mut().unwrap()).read_line(&mut line);
        let made = Self { holder };
        if line != "up\n" {
            return Err("no network namespace can be made here (unshare --map-root-user --net, ip)".to_owned());
        }
        made.nft("add table ip strata\nadd chain ip strata input { type filter hook input priority 0; }\n")?;
        // Whether the kernel can drop a share.
        made.nft("add rule ip strata input numgen random mod 100 < 0 drop\n")?;
        Ok(made)
    }

    /// A command within.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        let pid = self.holder.id().to_string();
        command.args(["--preserve-credentials", "--user", "--net", "--target", &pid, "--", program]);
        command
    }

    fn nft(&self, script: &str) -> Result<(), String> {
        let child = self.command("nft").args(["-f", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|e| format!("nsenter: {e}"))?;
        child.stdin.take().unwrap().write_all(script.as_bytes()).map_err(|e| format!("nft: {e}"))?;
        let out = child.wait_with_output().map_err(|e| format!("nft: {e}"))?;
        let why = String::from_utf8_lossy(&out.stderr);
        if out.status.success() { Ok(()) } else { Err(format!("nftables is not there: {}", why.trim())) }
    }

    fn rules(&self, rules: &str) {
        self.nft(&format!("flush chain ip strata input\n{rules}")).unwrap();
    }

    /// From now on this share of all datagrams is lost, and nothing else.
    pub fn lose(&self, percent: u32) {
        self.rules(&format!("add rule ip strata input meta l4proto udp numgen random mod 100 < {percent} drop\n"));
    }

    /// From now on nothing passes between these addresses and all others.
    pub fn part(&self, side: &[&str]) {
        let side = side.join(", ");
        self.rules(&format!(
            "add rule ip strata input ip saddr {{ {side} }} ip daddr != {{ {side} }} drop\n\
             add rule ip strata input ip saddr != {{ {side} }} ip daddr {{ {side} }} drop\n"
        ));
    }

    /// From now on nothing comes to these addresses.
    pub fn drop_to(&self, addresses: &str) {
        self.rules(&format!("add rule ip strata input ip daddr {addresses} drop\n"));
    }

    /// From now on all passes.
    pub fn heal(&self) {
        self.rules("");
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // The namespace goes with the last process in it; nothing can be done about a failure.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
