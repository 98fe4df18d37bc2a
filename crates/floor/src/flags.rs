//! The command line, taken apart by hand: a handful of flags.

use crate::{FloorError, Path, Pattern, Plan};

pub(crate) const HELP: &str = "\
The floor: a bare ping-pong or stream between two processes, as one JSON line.

Usage: pipegauge-floor {tcp|unix|shm} [--pattern {pingpong|stream}] [--size BYTES] [--repeats N]
                       [--warmup N] [--wait {block|spin} | --spin] [--pin A,B|none] [--congestion NAME]

  --pattern   pingpong (default): seconds of a round trip; stream: bits per second one way
  --size      message size in bytes (default 64)
  --repeats   timed iterations (default: by size, some tenths of a second)
  --warmup    iterations before the clock starts (default: a tenth of the repeats); a ping-pong has one at least, a
              stream has them in pieces of at most as many messages as are timed, each answered; the rest comes first
  --wait      block (default): sleep in the kernel; spin: ask again and again. shm always spins
  --spin      the same as --wait spin
  --pin       CPUs of the two processes (default: the first two allowed; none: the scheduler's choice)
  --congestion  TCP's congestion control (default: the system's)

Over shm a message of 1 byte is copied as such, and longer ones by the C library's copy: the step from 1 byte to 2 has that call in it.
";

/// What the arguments ask for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Help,
    Near(Plan),
    Far(Plan),
}

pub(crate) fn parse(args: &[String], allowed: &[u32]) -> Result<Asked, FloorError> {
    let mut args = args.iter().map(String::as_str);
    let mut first = args.next().ok_or_else(|| usage("which path? tcp, unix or shm (--help says more)"))?;
    let far = first == "far";
    if far {
        first = args.next().ok_or_else(|| usage("far: which path?"))?;
    }
    if matches!(first, "--help" | "-h" | "help") {
        return Ok(Asked::Help);
    }
    let path = Path::ALL
        .into_iter()
        .find(|p| p.name() == first)
        .ok_or_else(|| usage(format!("no path is named '{first}'; there are: tcp, unix, shm")))?;
    let (mut pattern, mut size) = (Pattern::PingPong, 64u64);
    let (mut repeats, mut warmup, mut spin, mut congestion) = (None, None, None, None);
    let mut pin = match allowed {
        [near, far, ..] => Some((*near, *far)),
        _ => None,
    };
    while let Some(arg) = args.next() {
        let (flag, inline) = match arg.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (arg, None),
        };
        if matches!(flag, "--help" | "-h") {
            return Ok(Asked::Help);
        }
        if flag == "--spin" && inline.is_none() {
            spin = Some(true);
            continue;
        }
        if !["--pattern", "--size", "--repeats", "--warmup", "--wait", "--pin", "--congestion"].contains(&flag) {
            return Err(usage(format!("no flag is named '{arg}' (--help lists them)")));
        }
        let value = inline.or_else(|| args.next()).ok_or_else(|| usage(format!("{flag} needs a value")))?;
        match flag {
            "--pattern" => {
                pattern = Pattern::ALL
                    .into_iter()
                    .find(|p| p.name() == value)
                    .ok_or_else(|| usage(format!("no pattern is named '{value}'; there are: pingpong, stream")))?;
            }
            "--size" => size = number(flag, value)?,
            "--repeats" => repeats = Some(number(flag, value)?),
            "--warmup" => warmup = Some(number(flag, value)?),
            "--wait" => {
                spin = Some(match value {
                    "spin" => true,
                    "block" => false,
                    _ => return Err(usage(format!("--wait {value}: there are: block, spin"))),
                });
            }
            "--congestion" => congestion = Some(value.to_owned()),
            _ => pin = pair(value)?,
        }
    }
    if !(1..=Plan::MOST as u64).contains(&size) {
        return Err(usage(format!("--size {size}: a message has 1 to {} bytes", Plan::MOST)));
    }
    if repeats == Some(0) {
        return Err(usage("--repeats 0: there is nothing to time"));
    }
    if congestion.is_some() && path != Path::Tcp {
        return Err(usage(format!("--congestion: {} has none, tcp has", path.name())));
    }
    if path == Path::Shm && spin == Some(false) {
        return Err(usage("--wait block: the shared-memory floor only spins"));
    }
    let mut plan = Plan::new(path, pattern, size as usize);
    plan.repeats = repeats.unwrap_or(plan.repeats);
    plan.warmup = warmup.unwrap_or(plan.repeats / 10);
    plan.spin = spin.unwrap_or(plan.spin);
    plan.pin = pin;
    plan.congestion = congestion;
    Ok(if far { Asked::Far(plan) } else { Asked::Near(plan) })
}

/// The arguments that make the far process do its part of `plan`.
pub(crate) fn far(plan: &Plan) -> Vec<String> {
    // Its end of the connection is handed to it, with its congestion control.
    let Plan { path, pattern, size, repeats, warmup, spin, pin, congestion: _ } = plan;
    let wait = if *spin { "spin" } else { "block" };
    let pin = pin.map_or("none".to_owned(), |(near, far)| format!("{near},{far}"));
    vec![
        "far".into(),
        path.name().into(),
        format!("--pattern={}", pattern.name()),
        format!("--size={size}"),
        format!("--repeats={repeats}"),
        format!("--warmup={warmup}"),
        format!("--wait={wait}"),
        format!("--pin={pin}"),
    ]
}

fn usage(why: impl Into<String>) -> FloorError {
    FloorError::Usage(why.into())
}

fn number(flag: &str, value: &str) -> Result<u64, FloorError> {
    value.parse().map_err(|_| usage(format!("{flag} {value}: a whole number is needed")))
}

fn pair(value: &str) -> Result<Option<(u32, u32)>, FloorError> {
    if value == "none" {
        return Ok(None);
    }
    let pair = value.split_once(',').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    pair.map(Some).ok_or_else(|| usage(format!("--pin {value}: two CPU numbers as in 0,1 are needed, or none")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Asked, FloorError> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&args, &[2, 5, 7])
    }

    #[test]
    fn what_the_near_side_says_the_far_side_understands() {
        for line in
            ["tcp", "unix --pattern stream --size=1000 --spin --pin none", "shm --repeats 7 --warmup 0 --pin 3,4"]
        {
            let Asked::Near(plan) = parsed(line).unwrap() else { panic!("not near") };
            assert_eq!(parse(&far(&plan), &[]).unwrap(), Asked::Far(plan));
        }
    }

    #[test]
    fn the_first_two_allowed_cpus_are_the_default() {
        let Asked::Near(plan) = parsed("tcp").unwrap() else { panic!("not near") };
        assert_eq!((plan.pin, plan.size, plan.spin), (Some((2, 5)), 64, false));
    }

    #[test]
    fn a_congestion_control_is_of_the_near_side_alone() {
        for line in ["tcp --congestion reno", "tcp --congestion=reno --spin"] {
            let Asked::Near(plan) = parsed(line).unwrap() else { panic!("not near") };
            assert_eq!(plan.congestion.as_deref(), Some("reno"), "{line}");
            // It makes both sockets.
            assert_eq!(parse(&far(&plan), &[]).unwrap(), Asked::Far(Plan { congestion: None, ..plan }));
        }
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (line, word) in [
            ("", "which path"),
            ("sctp", "'sctp'"),
            ("tcp --pattern round", "'round'"),
            ("tcp --size", "needs a value"),
            ("tcp --size 0", "1 to"),
            ("tcp --size 8KiB", "whole number"),
            ("tcp --repeats 0", "nothing"),
            ("tcp --pin 1", "two CPU"),
            ("tcp --fast", "--fast"),
            ("shm --wait block", "only spins"),
            ("tcp --wait doze", "block, spin"),
            ("shm --congestion reno", "shm has none"),
            ("unix --congestion=reno", "unix has none"),
            ("tcp --congestion", "needs a value"),
        ] {
            let message = parsed(line).unwrap_err().to_string();
            assert!(message.contains(word), "{line}: {message}");
        }
    }
}
