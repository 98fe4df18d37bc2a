//! The module that a page of the manual makes step by step: its blocks, put into the skeleton as the page says, are a module that is whole.

use std::fs;

use super::modules::{changed, made, pass_the_check, with};
use super::support::{Scratch, json};

const PAGE: &str = include_str!("../../../../docs/module-example.md");

/// The page's blocks of C.
fn blocks() -> Vec<&'static str> {
    let fenced = PAGE.split("\n```c\n").skip(1);
    fenced.map(|rest| rest.split_once("\n```\n").expect("a block ends").0).collect()
}

/// The definitions of a block, each up to the line that closes it; what stands before one goes with it.
fn definitions(block: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for line in block.lines() {
        let last = all.last_mut().expect("one is begun");
        last.push_str(line);
        last.push('\n');
        if line == "}" || line == "};" {
            all.push(String::new());
        }
    }
    assert!(all.pop().is_some_and(|rest| rest.trim().is_empty()), "a block of whole definitions: {block}");
    all
}

/// How a definition begins: its line up to what follows the name.
fn beginning(definition: &str) -> &str {
    let of_it = |line: &&str| line.starts_with("static ") || line.starts_with("struct ");
    let line = definition.lines().find(of_it).expect("a definition");
    &line[..=line.find(['(', '[', '{']).expect("a definition goes on behind its name")]
}

/// The skeleton with the definition in the place of its own of that name.
fn placed(source: &str, definition: &str) -> String {
    let begins = format!("\n{}", beginning(definition));
    let at = source.find(&begins).unwrap_or_else(|| panic!("the skeleton has {begins}")) + 1;
    let close = ["\n}\n", "\n};\n"].iter().filter_map(|close| Some(source[at..].find(close)? + close.len())).min();
    format!("{}{}{}", &source[..at], definition.trim_start(), &source[at + close.expect("it ends")..])
}

#[test]
fn the_module_of_the_page_is_whole_and_each_of_its_settings_passes_the_check() {
    let dir = Scratch::new();
    let definitions: Vec<String> = blocks().into_iter().flat_map(definitions).collect();
    assert!(definitions.len() >= 8, "{definitions:?}");
    let folder = made(&dir, "framed", |skeleton| {
        let mut source = skeleton.to_owned();
        for definition in &definitions {
            source = placed(&source, definition);
        }
        // What the page says in its text.
        for said in ["`#include <sys/uio.h>`", "behind `link->terms = terms;`, goes `link->gather = wanted.gather;`"] {
            assert!(PAGE.contains(said), "{said}");
        }
        let source = changed(&source, "#include <time.h>\n", "#include <sys/uio.h>\n#include <time.h>\n");
        changed(&source, "    link->terms = terms;\n", "    link->terms = terms;\n    link->gather = wanted.gather;\n")
    });
    let variants = [("", 20), ("gather=off", 20), ("gather=off,nodelay=off", 20)];
    pass_the_check(&dir, &folder, &folder.join("framed.so"), &variants);
    let line = ["run", "framed", "framed:gather=off,label=apart", "--check", "--sizes", "1,4097,1MiB", "--trials", "2"];
    let more = ["--repeats", "5", "--pin", "none", "--no-html", "-q", "--budget", "60s", "-o", "x.run.jsonl"];
    let said = with(&dir, &folder, &[&line[..], &more].concat());
    assert!(said.measured(), "{said}");
    let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    let opened: Vec<_> = run.lines().filter(|line| line.contains(r#""event":"path""#)).map(json).collect();
    assert_eq!(opened[0]["capabilities"]["semantics"], "message", "{}", opened[0]);
    let took: Vec<_> = opened.iter().map(|path| path["far_effective"]["options"]["gather"].clone()).collect();
    assert_eq!(took, ["on", "off"]);
}
