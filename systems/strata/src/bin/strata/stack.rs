//! `strata stack`.

use std::io::{self, Write};

use anyhow::{Context, bail};
use strata::property::{Properties, Property};
use strata::stack::{Carrier, Spec, check, smallest};

/// Flags of `strata stack`.
#[derive(clap::Args)]
pub struct Flags {
    /// A stack to check, such as TOTAL:MBRSHIP:FRAG:NAK:COM:udp
    stack: Option<String>,
    /// Properties to find the smallest stack for, such as total,safe or P6
    #[arg(long, value_delimiter = ',', conflicts_with = "stack")]
    want: Vec<String>,
}

pub fn run(flags: Flags) -> anyhow::Result<()> {
    let spec: Spec = match flags.stack {
        Some(stack) => stack.parse()?,
        None if flags.want.is_empty() => bail!("name a stack, or wanted properties: strata stack --want total,safe"),
        None => found(&flags.want)?,
    };
    let have = check(&spec)?;
    let mut text = format!("{spec}\n");
    for property in have.iter() {
        text += &format!("  {property}\n");
    }
    text += &format!("in a minority: {}\n", have.in_a_minority());
    let mut out = io::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("writing to the standard output")
}

fn found(words: &[String]) -> anyhow::Result<Spec> {
    let all = strata::property::ALL.map(Property::word).join(", ");
    let want: Vec<_> = words
        .iter()
        .map(|w| Property::named(w).with_context(|| format!("{w:?} is no property: there are {all}")))
        .collect::<Result<_, _>>()?;
    smallest(Properties::of(&want), Carrier::Udp)
        .with_context(|| format!("no stack here provides {}", words.join(", ")))
}
