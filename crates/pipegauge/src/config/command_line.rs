//! The command line as the run file keeps it.

const HIDDEN: &str = "(not recorded)";

/// The command line with every key taken out. `-` and `@FILE` only say where a key came from and stay.
pub fn without_keys(command: &[String]) -> Vec<String> {
    let mut kept = Vec::with_capacity(command.len());
    let mut key_follows = false;
    for word in command {
        kept.push(match word.split_once('=') {
            _ if key_follows => hide(word),
            Some(("--key", value)) => format!("--key={}", hide(value)),
            _ => word.clone(),
        });
        key_follows = !key_follows && word == "--key";
    }
    kept
}

fn hide(value: &str) -> String {
    if value == "-" || value.starts_with('@') { value.to_owned() } else { HIDDEN.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_key_is_never_recorded() {
        for line in ["pipegauge run tcp --key s3cret --check", "pipegauge run tcp --key=s3cret"] {
            let kept = without_keys(&words(line)).join(" ");
            assert!(!kept.contains("s3cret"), "{kept}");
            assert!(kept.contains("--key"), "{kept}");
        }
        assert!(without_keys(&words("x --key s --check")).contains(&"--check".to_owned()));
    }

    #[test]
    fn where_a_key_came_from_is_recorded() {
        for line in ["x --key - y", "x --key @file y", "x --key=@file"] {
            assert_eq!(without_keys(&words(line)).join(" "), line);
        }
    }
}
