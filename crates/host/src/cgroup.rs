//! The control groups around this process, and how often their CPU quota stopped it.

use crate::Root;
use crate::taken::Throttling;

/// Directories of this process's control group and of those around it, the innermost first, for a controller of version 1
/// and for version 2.
pub(crate) fn groups(root: &Root, controller: &str) -> Vec<String> {
    let text = root.text("proc/self/cgroup").unwrap_or_default();
    let mut found = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let mount = match controllers {
            "" => "sys/fs/cgroup".to_owned(),
            some if some.split(',').any(|c| c == controller) => format!("sys/fs/cgroup/{controller}"),
            _ => continue,
        };
        // A container may see its own group as the root, or under the name that it has outside: what isn't there is
        // passed over. Nothing outside the mount is looked at.
        let mut path = if path.split('/').any(|name| name == "..") { "" } else { path.trim_matches('/') };
        loop {
            found.push(format!("{mount}/{path}"));
            if path.is_empty() {
                break;
            }
            path = path.rsplit_once('/').map_or("", |(outer, _)| outer);
        }
    }
    found
}

/// What the CPU quotas of `groups` stopped so far, of each; none where none of them says.
pub(crate) fn throttlings(root: &Root, groups: &[String]) -> Option<Vec<Throttling>> {
    let read = |group: &String| Throttling::parse(&root.text(format!("{group}/cpu.stat"))?);
    let found: Vec<Throttling> = groups.iter().filter_map(read).collect();
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn quotas_of_all_groups_around_are_read_in_both_versions() {
        let at = "sys/fs/cgroup";
        let f = Fixture::empty()
            .file("proc/self/cgroup", "0::/a/b\n")
            .file(&format!("{at}/a/cpu.stat"), "usage_usec 9\nnr_periods 4\nnr_throttled 3\nthrottled_usec 70000\n")
            .file(&format!("{at}/a/b/cpu.stat"), "usage_usec 9\nuser_usec 5\n");
        let of = |f: &Fixture| throttlings(&f.root(), &groups(&f.root(), "cpu"));
        assert_eq!(of(&f), Some(vec![Throttling { times: 3, seconds: 0.07 }]), "a group without a quota says nothing");
        let f = Fixture::empty()
            .file("proc/self/cgroup", "5:cpu,cpuacct:/c\n")
            .file(&format!("{at}/cpu/c/cpu.stat"), "nr_periods 4\nnr_throttled 2\nthrottled_time 50000000\n");
        assert_eq!(of(&f), Some(vec![Throttling { times: 2, seconds: 0.05 }]));
        assert_eq!(of(&Fixture::empty()), None);
    }
}
