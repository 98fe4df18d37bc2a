//! The command line of a process of this program on this host, under a wrapper's words where there are some: `numactl -N0`, `env X=1`,
//! `ip netns exec NAME`.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::launch::OWN;

/// `program` with one of its hidden commands, under these words.
pub(super) fn command(under: &[String], program: &Path, hidden: &str) -> Command {
    let Some((wrapper, words)) = under.split_first() else {
        let mut line = Command::new(program);
        line.arg0("pipegauge").arg(hidden);
        return line;
    };
    let mut line = Command::new(wrapper);
    line.args(words);
    // This process's own link would lead the wrapper to itself.
    if program == Path::new(OWN) {
        line.arg(format!("/proc/{}/exe", std::process::id()));
    } else {
        line.arg(program);
    }
    line.arg(hidden);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapper_comes_before_the_program_and_never_runs_itself() {
        let words = |line: &Command| {
            let all = std::iter::once(line.get_program()).chain(line.get_args());
            all.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        let under: Vec<String> = ["ip", "netns", "exec", "a b"].map(str::to_owned).to_vec();
        assert_eq!(words(&command(&under, Path::new("/bin/x"), "peer")), "ip netns exec a b /bin/x peer");
        let own = words(&command(&under, Path::new(OWN), "member"));
        assert_eq!(own, format!("ip netns exec a b /proc/{}/exe member", std::process::id()));
        assert_eq!(words(&command(&[], Path::new(OWN), "member")), "/proc/self/exe member");
    }
}
