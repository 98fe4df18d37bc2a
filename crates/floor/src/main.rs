//! The command `pipegauge-floor`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    floor::main(&args)
}
