//! What took effect differently on the two sides of a cell's path, of what a sweep varies. A value that was asked for ends the cell where one side
//! lacks it; `default` is each side's own, and so is what only this host was set to.

use record::RunFile;
use report::sweep::{Apart, Axis};
use transport::registry;

/// An axis that is a sysctl of this host.
const SYSCTL: &str = "system.sysctl:";

/// The differences of a cell's run. A side that can't say is not compared.
pub fn of(run: &RunFile, axes: &[Axis]) -> Vec<Apart> {
    let Some(opened) = run.paths.first().map(|path| &path.opened) else { return Vec::new() };
    let Some(far) = &opened.far else { return Vec::new() };
    let (here, there) = (&opened.near_effective, &opened.far_effective);
    let options = registry::find(opened.transport).map_or(&[][..], |transport| transport.options());
    let mut found = Vec::new();
    let mut told = |setting: String, near: Option<String>, far: Option<String>| {
        if let (Some(near), Some(far)) = (near, far)
            && near != far
        {
            found.push(Apart { setting, near, far });
        }
    };
    for Axis { name, .. } in axes {
        let value = |set: &std::collections::BTreeMap<String, String>, name: &str| set.get(name).cloned();
        // Elsewhere interfaces have other names, so that of these nothing is known.
        if let Some(sysctl) = name.strip_prefix(SYSCTL) {
            told(name.clone(), value(&run.run.near.settings, name), value(&far.sysctls, sysctl));
        }
        for answer in options.iter().filter(|option| option.name == name).flat_map(|option| option.answers) {
            told(format!("{name}{}", answer.part), (answer.of)(here), (answer.of)(there));
        }
        told(name.clone(), value(&here.options, name), value(&there.options, name));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run over tcp with a far side.
    fn sample() -> RunFile {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/version-1/tcp-unix.run.jsonl");
        record::read(file).unwrap()
    }

    #[test]
    fn of_what_is_swept_what_the_far_side_has_otherwise_is_found() {
        let axes = ["congestion", "sockbuf", "system.sysctl:net.core.rmem_max", "odd"];
        let axes = axes.map(|name| Axis { name: name.into(), levels: Vec::new() });
        let mut run = sample();
        let near = &mut run.run.near;
        near.settings.insert("system.sysctl:net.core.rmem_max".into(), "1000".into());
        let opened = &mut run.paths[0].opened;
        opened.transport = transport::tcp::NAME;
        (opened.near_effective.congestion, opened.far_effective.congestion) =
            (Some("bbr".into()), Some("cubic".into()));
        (opened.near_effective.send_buffer, opened.far_effective.send_buffer) = (Some(1), Some(1));
        (opened.near_effective.mss, opened.far_effective.mss) = (Some(1), Some(2));
        (opened.near_effective.receive_buffer, opened.far_effective.receive_buffer) = (Some(7), None);
        opened.near_effective.options.insert("odd".into(), "1".into());
        opened.far_effective.options.insert("odd".into(), "2".into());
        opened.far.as_mut().unwrap().sysctls.insert("net.core.rmem_max".into(), "2000".into());
        let of = |setting: &str, near: &str, far: &str| Apart {
            setting: setting.into(),
            near: near.into(),
            far: far.into(),
        };
        let sysctl = of("system.sysctl:net.core.rmem_max", "1000", "2000");
        assert_eq!(super::of(&run, &axes), [of("congestion", "bbr", "cubic"), sysctl, of("odd", "1", "2")]);
        run.paths[0].opened.far = None;
        assert_eq!(super::of(&run, &axes), [], "one process plays both ends");
    }
}
