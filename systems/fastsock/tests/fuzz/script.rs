//! A script: what each side does, step by step, and its text form, a step a line:
//! `C0@1 send #0 1 100 2 64` is the client's process 0, in its lane 1, on connection 0, with the numbers of `contract/actor.c`.

use std::fmt;
use std::str::FromStr;

/// The server's side and the client's.
pub const SIDES: [char; 2] = ['S', 'C'];

/// One call, or what stands for several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub side: usize,
    /// Which of the side's processes: a fork has a number of its own.
    pub process: usize,
    /// 0: done at once. Others are begun, and joined later.
    pub lane: usize,
    pub name: String,
    /// The connection whose stream it moves along.
    pub conn: Option<usize>,
    pub args: Vec<i64>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", SIDES[self.side], self.process)?;
        if self.lane > 0 {
            write!(f, "@{}", self.lane)?;
        }
        write!(f, " {}", self.name)?;
        if let Some(conn) = self.conn {
            write!(f, " #{conn}")?;
        }
        self.args.iter().try_for_each(|arg| write!(f, " {arg}"))
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let wrong = || format!("no step: {line:?}");
        let mut words = line.split_whitespace().peekable();
        let who = words.next().ok_or_else(wrong)?;
        let (who, lane) = who.split_once('@').unwrap_or((who, "0"));
        let side = SIDES.iter().position(|&side| who.starts_with(side)).ok_or_else(wrong)?;
        let name = words.next().ok_or_else(wrong)?.to_owned();
        let conn = words.next_if(|word| word.starts_with('#')).map(|word| word[1..].parse().map_err(|_| wrong()));
        Ok(Self {
            side,
            process: who[1..].parse().map_err(|_| wrong())?,
            lane: lane.parse().map_err(|_| wrong())?,
            name,
            conn: conn.transpose()?,
            args: words.map(|word| word.parse().map_err(|_| wrong())).collect::<Result<_, _>>()?,
        })
    }
}

/// A script's text.
pub fn text(script: &[Step]) -> String {
    script.iter().map(|step| format!("{step}\n")).collect()
}

/// And back. Lines that begin with `//` say something to people.
pub fn parse(text: &str) -> Result<Vec<Step>, String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).map(str::parse).collect()
}
