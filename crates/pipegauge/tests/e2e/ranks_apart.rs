//! MPI between two hosts of a laboratory: ranks in network namespaces of their own.

use std::fs;

use super::laboratory::possible;
use super::mpi;
use super::support::{Scratch, binary, json};

#[test]
fn ranks_in_two_namespaces_speak_over_the_link_between_them() {
    let dir = Scratch::new();
    if !possible() {
        return;
    }
    let Some((modules, names)) = mpi::modules(&dir) else { return };
    let program = binary().display().to_string();
    for name in names {
        let file = format!("{name}.run.jsonl");
        let counted = "--sizes 64,64KiB --trials 2 --repeats 5 --no-html --no-history -q --check";
        let script = format!(
            "{program} run {name}:over=tcp,interface=eth0,wait=yield --peer-under 'ip netns exec h2' {counted} -o {file}; \
             code=$?; ip -j -s link show eth0 > {file}.json; exit $code"
        );
        let said = mpi::command(&dir, &modules, &["lab", "--", "sh", "-c", &script]).output().unwrap();
        let err = String::from_utf8_lossy(&said.stderr);
        assert!(matches!(said.status.code(), Some(0 | 1)), "{name}: {err}");
        let run: Vec<_> = fs::read_to_string(dir.path(&file)).unwrap().lines().map(json).collect();
        let opened = run.iter().find(|line| line["event"] == "path").unwrap_or_else(|| panic!("{name}: {err}"));
        for side in ["near_effective", "far_effective"] {
            assert_eq!(opened[side]["options"]["interface"], "eth0", "{opened}");
        }
        assert!(run.iter().any(|line| line["event"] == "point"), "{name}: {err}");
        let links = json(&fs::read_to_string(dir.path(&format!("{file}.json"))).unwrap());
        let carried = links[0]["stats64"]["tx"]["bytes"].as_u64().unwrap();
        assert!(carried > 10 * 64 * 1024, "{name}: {carried} bytes went over the link");
    }
}

#[test]
fn a_sweep_of_laboratories_measures_mpi_alone_over_their_links() {
    let dir = Scratch::new();
    if !possible() {
        return;
    }
    let Some((modules, names)) = mpi::modules(&dir) else { return };
    for name in names {
        let sweep = |path: &str, folder: &str| {
            let args = [
                "sweep",
                path,
                "--lab",
                "--over",
                "link-rate=20Mbit/s,50Mbit/s",
                "--rounds",
                "1",
                "--budget",
                "60s",
                "-q",
                "-o",
                folder,
                "--",
            ];
            let counted = ["--sizes", "64,256KiB", "--trials", "2", "--repeats", "3", "--check"];
            mpi::command(&dir, &modules, &[&args[..], &counted].concat()).output().unwrap()
        };
        let said = sweep(name, "none");
        let err = String::from_utf8_lossy(&said.stderr);
        let remedy = format!("write {name}:over=tcp,interface=eth0");
        assert!(said.status.code() == Some(2) && err.contains(&remedy), "{err}");
        let said = sweep(&format!("{name}:over=tcp,interface=eth0,wait=yield"), name);
        assert_eq!(said.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&said.stderr));
        let out = String::from_utf8_lossy(&said.stdout);
        assert!(out.contains("20Mbit/s") && out.contains("50Mbit/s"), "{out}");
        for (cell, rate) in [("0001", 20e6), ("0002", 50e6)] {
            let run = fs::read_to_string(dir.path(&format!("{name}/cell-{cell}-round-001.run.jsonl"))).unwrap();
            let lines: Vec<_> = run.lines().map(json).collect();
            let opened = lines.iter().find(|line| line["event"] == "path").unwrap();
            assert_eq!(opened["far_effective"]["options"]["interface"], "eth0", "{opened}");
            let points: Vec<_> = lines.iter().filter(|line| line["event"] == "point").collect();
            assert_eq!(points.len(), 2, "{run}");
            // Within one host the link's rate would hold nothing back.
            let large = points.iter().find(|point| point["size"] == 256 << 10).unwrap();
            // The link's bucket is full as a message begins, so that a part of it goes at once.
            let least = f64::from(256 << 10) * 8.0 / rate / 4.0;
            assert!(large["median"].as_f64().unwrap() > least, "{name}: {large} took less than {least} s");
        }
    }
}

#[test]
fn an_interface_is_of_messages_over_tcp() {
    let dir = Scratch::new();
    let Some((modules, names)) = mpi::modules(&dir) else { return };
    for name in names {
        let path = format!("{name}:interface=eth0");
        let said = mpi::command(&dir, &modules, &["run", &path, "--sizes", "64", "--no-html", "-q"]).output().unwrap();
        let err = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.code() == Some(2) && err.contains("set over=tcp, too"), "{err}");
    }
}
