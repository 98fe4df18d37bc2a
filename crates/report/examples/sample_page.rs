//! Writes sample pictures of made-up runs: `sample_page [FOLDER]` (the current one without an argument). The browser test
//! in `web/test` opens the pages.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::path::PathBuf;
use std::{env, fs, io};

use report::{Graph, html, png, svg, table, terminal};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    fs::create_dir_all(&folder)?;
    let (first, second) = (sample::run(7), sample::run(8));
    for graph in Graph::ALL {
        println!("{}", terminal::graph(&first, graph, 100, 24, false));
        let picture = svg::draw(&[&first], graph);
        fs::write(folder.join(format!("{}.svg", graph.name())), &picture)?;
        for scale in [1u8, 2] {
            let pixels = png::render(&picture, f32::from(scale)).map_err(io::Error::other)?;
            fs::write(folder.join(format!("{}@{scale}x.png", graph.name())), pixels)?;
        }
    }
    let two = svg::draw(&[&first, &second], Graph::Signature);
    fs::write(folder.join("two-runs.png"), png::render(&two, 1.0).map_err(io::Error::other)?)?;
    println!("{}\n{}\n{}", table::summary(&first), table::paths(&first), table::warnings(&first));
    fs::write(folder.join("points.txt"), table::points(&first, 3))?;
    fs::write(folder.join("one.html"), html::page(&[&first]))?;
    fs::write(folder.join("two.html"), html::page(&[&first, &second]))?;

    // 100,000 points in one page, to feel whether it stays fluid.
    let sizes: Vec<u64> = (1..=25_000).map(|i| i * 335).collect();
    let large = sample::run_of(&sample::MODELS, &sizes, 1, 9);
    fs::write(folder.join("large.html"), html::page(&[&large]))?;
    let empty = sample::run_of(&sample::MODELS, &[], 0, 9);
    fs::write(folder.join("empty.html"), html::page(&[&empty]))?;
    let point = sample::run_of(&sample::MODELS[3..], &[64], 5, 9);
    fs::write(folder.join("one-point.html"), html::page(&[&point]))?;
    let picture = svg::draw(&[&point], Graph::Signature);
    fs::write(folder.join("one-point.png"), png::render(&picture, 1.0).map_err(io::Error::other)?)?;
    Ok(())
}
