//! The command line that starts a far side over ssh. The secret is not on it: it goes through ssh's standard input.

use std::path::Path;
use std::process::Command;

use crate::MeetError;

/// `ssh -T -o BatchMode=yes ... [-p port] user@host program peer`, the program under a wrapper's words where there are some.
pub(crate) fn command(
    ssh: &Path,
    target: &str,
    under: &[String],
    program: &str,
    hidden: &str,
) -> Result<Command, MeetError> {
    let (host, port) = parse(target)?;
    let mut command = Command::new(ssh);
    // No terminal, no questions (nobody could answer them), no forwarding that a configuration may ask for.
    command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ClearAllForwardings=yes"]);
    if let Some(port) = port {
        command.args(["-p", &port.to_string()]);
    }
    command.arg(host.as_str()).args(under.iter().map(|word| quoted(word))).args([&quoted(program), hidden]);
    Ok(command)
}

/// `user@host`, `host`, `user@host:port`, `user@[address]:port`, with or without `ssh://` in front.
pub(crate) fn parse(target: &str) -> Result<(String, Option<u16>), MeetError> {
    let wrong = || MeetError::SshTarget(target.to_owned());
    let rest = target.strip_prefix("ssh://").unwrap_or(target);
    let (user, host) = match rest.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, rest),
    };
    let (host, port) = if let Some(inside) = host.strip_prefix('[') {
        match inside.split_once(']').ok_or_else(wrong)? {
            (address, "") => (address, None),
            (address, rest) => (address, Some(rest.strip_prefix(':').ok_or_else(wrong)?)),
        }
    } else if host.matches(':').count() == 1 {
        host.split_once(':').map(|(host, port)| (host, Some(port))).ok_or_else(wrong)?
    } else {
        (host, None)
    };
    let port = port.map(|p| p.parse::<u16>().ok().filter(|p| *p != 0).ok_or_else(wrong)).transpose()?;
    // A word that begins with '-' would be an option of ssh.
    let plain = |word: &str| {
        !word.is_empty()
            && !word.starts_with('-')
            && !word.contains(|c: char| c.is_whitespace() || c.is_control() || "[]".contains(c))
    };
    if !plain(host) || user.is_some_and(|u| !plain(u)) {
        return Err(wrong());
    }
    Ok((user.map_or(host.to_owned(), |user| format!("{user}@{host}")), port))
}

/// The program as the shell of the other host must see it: one word that it takes as it is, but for a home directory in front
/// (`~/bin/pipegauge`), which only that shell can find.
fn quoted(program: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./@%+:,-".contains(c);
    let home = program.split_once('/').filter(|(home, _)| {
        home.strip_prefix('~').is_some_and(|user| user.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)))
    });
    let (home, rest) = home.map_or((String::new(), program), |(home, rest)| (format!("{home}/"), rest));
    if !program.is_empty() && rest.chars().all(plain) {
        return program.to_owned();
    }
    format!("{home}'{}'", rest.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_as_people_write_them() {
        let read = |target| parse(target).unwrap();
        assert_eq!(read("u@h"), ("u@h".into(), None));
        assert_eq!(read("h"), ("h".into(), None));
        assert_eq!(read("ssh://u@h:2222"), ("u@h".into(), Some(2222)));
        assert_eq!(read("u@[2001:db8::1]:22"), ("u@2001:db8::1".into(), Some(22)));
        assert_eq!(read("2001:db8::1"), ("2001:db8::1".into(), None));
        for bad in [
            "",
            "u@",
            "-oProxyCommand=x",
            "u@-x",
            "-u@h",
            "u@h:0",
            "u@h:port",
            "u@h h",
            "u@[::1",
            "[::1]junk:22",
            "[::1]22",
            "[::1]:",
            "u@[]:22",
            "h]:22",
        ] {
            assert!(parse(bad).unwrap_err().to_string().contains("user@host"), "{bad}");
        }
    }

    #[test]
    fn the_command_line_has_no_secret_and_asks_nothing() {
        let command = command(Path::new("ssh"), "u@h:22", &[], "/opt/my tools/pipegauge", "peer").unwrap();
        let args: Vec<_> = command.get_args().map(|a| a.to_string_lossy().into_owned()).collect();
        assert!(args.join(" ").starts_with("-T -o BatchMode=yes"));
        assert_eq!(args[args.len() - 5..], ["-p", "22", "u@h", "'/opt/my tools/pipegauge'", "peer"]);
        let under = ["env".to_owned(), "X=a b".to_owned()];
        let wrapped = super::command(Path::new("ssh"), "h", &under, "p", "lead").unwrap();
        let args: Vec<_> = wrapped.get_args().map(|a| a.to_string_lossy().into_owned()).collect();
        assert_eq!(args[args.len() - 5..], ["h", "env", "'X=a b'", "p", "lead"]);
        assert_eq!(quoted("~/bin/pipegauge"), "~/bin/pipegauge");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    #[test]
    fn a_shell_takes_the_program_as_one_word_and_nothing_else() {
        let strange =
            ["A=b", "/opt/a=b/p", "x;y", "$(x)", "a b", "it's", "*", "!x", "~", "~x", "a~b", "\\", "#", "", "~a b/x"];
        for program in strange {
            let line = format!("printf %s {}", quoted(program));
            let out = Command::new("sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&out.stdout), program, "{line}");
        }
        // As a command it is looked for by its whole name.
        let run = format!("{} peer", quoted("A=b"));
        let out = Command::new("sh").args(["-c", &run]).output().unwrap();
        assert!(String::from_utf8_lossy(&out.stderr).contains("A=b"), "{out:?}");
        assert_eq!(quoted("~/my tools/p"), "~/'my tools/p'");
        assert_eq!(quoted("~user/p"), "~user/p");
    }
}
