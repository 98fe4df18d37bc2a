//! Every option of every transport takes effect where its transport says so, and is refused everywhere else.

mod pairs;

use pairs::{Settings, pair, patience};
use transport::{Ends, Link, OptionSpec, Transport, Value, registry};

/// A value that is not the default, and what an option says of it: what took effect must hold against it.
fn tried(option: &str) -> (Value, fn(&str) -> bool) {
    match option {
        // Linux doubles a socket's buffers; a pipe has what was asked for.
        "sockbuf" => ((128u64 << 10).into(), |said| ["131072", "262144"].contains(&said)),
        "nodelay" => (false.into(), |said| said == "false"),
        "mss" => (1000u64.into(), |said| said.parse::<u64>().is_ok_and(|mss| (500..=1000).contains(&mss))),
        "congestion" => ("reno".into(), |said| said == "reno"),
        "family" => ("6".into(), |_| true),
        "kind" => ("bulk".into(), |said| said == "bulk"),
        // Made a power of two.
        "ring" => (5000u64.into(), |said| said == "8192"),
        // Every process here has it.
        "preload" => ("libc.so.6".into(), |said| said.ends_with("/libc.so.6")),
        "wait" => ("spin".into(), |said| said == "spin"),
        "batch" => ("16".into(), |said| said == "16"),
        "offload" => (true.into(), |said| said == "on"),
        "chunk" => (4000u64.into(), |said| said == "4000"),
        // Any other machine is not here.
        "cid" => (1u64.into(), |said| said == "1"),
        "registered" => (true.into(), |said| said == "on"),
        "client" => ("far".into(), |said| said == "far"),
        "frame" => (4096u64.into(), |said| said == "4096"),
        "buffer" => (65_536u64.into(), |said| said == "65536"),
        "control" => ("bbr".into(), |said| said == "bbr"),
        "packet" => (4000u64.into(), |said| said == "4000"),
        "version" => ("2".into(), |said| said == "2"),
        "mode" => ("datagram".into(), |said| said == "datagram"),
        "window" => (65_536u64.into(), |said| said == "65536"),
        "suite" => ("aes128-gcm".into(), |said| said == "aes128-gcm"),
        "stack" => ("SEQ:MBRSHIP:FRAG*2:NAK:COM:multicast".into(), |said| said.ends_with("FRAG*2:NAK:COM:multicast")),
        "bind" => ("127.0.0.2".into(), |_| true),
        "datagram" => (4000u64.into(), |said| said == "4000"),
        "loss-timeout" => (0.05.into(), |_| true),
        "address" => ("239.192.80.72".into(), |_| true),
        "port" => ("40771".into(), |_| true),
        // Nothing leaves this host: what is sent by the loopback interface stays, whatever its time to live.
        "ttl" => ("1".into(), |_| true),
        "interface" => ("lo".into(), |_| true),
        other => panic!("{other}: say here how its effect is read back"),
    }
}

fn two_ended() -> impl Iterator<Item = &'static dyn Transport> {
    registry::all().filter(|t| t.ends() == Ends::Two && pairs::here(*t))
}

#[test]
fn each_option_takes_effect_on_both_ends() {
    for t in two_ended() {
        for option in t.options() {
            let what = format!("{} {}", t.name(), option.name);
            let groups_of_six = t.name() == transport::multicast::NAME && option.name == "family";
            if groups_of_six && !pairs::groups_over_v6() {
                continue;
            }
            let (value, holds) = tried(option.name);
            assert_eq!(option.form.check(&value), Ok(()), "{what}");
            let mut asked = Settings::default().with(option.name, value);
            if t.name() == transport::strata::NAME && option.name == "address" {
                asked = asked.with("stack", "MBRSHIP:FRAG:NAK:COM:multicast");
            }
            let (near, far) = pair(t.name(), &asked, &patience(20.0).0);
            for effective in [near.effective(), far.effective()] {
                for answer in option.answers {
                    let said = (answer.of)(&effective).unwrap_or_else(|| panic!("{what} says nothing: {effective:?}"));
                    assert!(holds(&said), "{what}{}: {said}", answer.part);
                }
                let shown = match option.name {
                    "address" => "239.192.80.72",
                    "bind" => "127.0.0.2:",
                    "port" => ":40771 ",
                    "ttl" => "ttl 1,",
                    "interface" => "by lo,",
                    _ => "",
                };
                assert!(effective.addresses.as_deref().unwrap_or_default().contains(shown), "{what}: {effective:?}");
                if option.name == "family" {
                    let six = if groups_of_six { "[ff11::5047" } else { "[::1]" };
                    assert!(effective.addresses.as_deref().is_some_and(|a| a.contains(six)), "{effective:?}");
                }
            }
            let now = option.moved.map(|moved| (moved.now)(&near.effective()));
            assert!(
                now.is_none_or(|now| now.is_some_and(|n| n <= 128 << 10)),
                "{what}: in the option's own unit: {now:?}"
            );
        }
    }
}

#[test]
fn an_option_is_refused_by_every_transport_that_does_not_have_it() {
    let all: Vec<&OptionSpec> = registry::all().flat_map(|t| t.options()).collect();
    for t in registry::all() {
        for option in &all {
            let value = match option.name {
                name if t.ends() == Ends::Two || ["sockbuf", "loss-timeout"].contains(&name) => {
                    if two_ended().any(|t| t.options().iter().any(|o| o.name == name)) {
                        tried(name).0
                    } else {
                        1u64.into()
                    }
                }
                _ => 1u64.into(),
            };
            let set = transport::Settings::default().with(option.name, value);
            let has = t.options().iter().any(|o| o.name == option.name);
            let checked = set.check(t.options()).map_err(|e| e.to_string());
            let unknown = checked.as_ref().is_err_and(|e| e.starts_with("no option is named"));
            assert_eq!(unknown, !has, "{} {}: {checked:?}", t.name(), option.name);
        }
    }
}

#[test]
fn bounds_are_held_for_every_option() {
    for t in registry::all() {
        for option in t.options() {
            let set = |value: Value| transport::Settings::default().with(option.name, value).check(t.options());
            let other = match option.form {
                transport::options::Form::Switch => Value::Whole(1),
                _ => Value::Switch(true),
            };
            assert!(set(other).is_err(), "{} {}: a value of another sort", t.name(), option.name);
            let outside: Vec<Value> = match option.form {
                transport::options::Form::Bytes(least, most) => {
                    [least.checked_sub(1), most.checked_add(1)].into_iter().flatten().map(Value::Whole).collect()
                }
                transport::options::Form::Seconds(least, most) => vec![(least - 1e-6).into(), (most * 1.01).into()],
                transport::options::Form::Share => vec![(-0.1).into(), 1.1.into()],
                transport::options::Form::Rate => vec![0.0.into(), f64::INFINITY.into()],
                transport::options::Form::Word(most) => {
                    vec!["".into(), "x".repeat(most + 1).as_str().into(), "a b".into()]
                }
                transport::options::Form::OneOf(_) => vec!["nosuch".into()],
                transport::options::Form::Text(..) => ["", "a b", "256", "10.0.0.1", &"x".repeat(16)]
                    .map(Value::from)
                    .into_iter()
                    .filter(|v| option.form.check(v).is_err())
                    .collect(),
                // Without the library nobody reads a stack.
                transport::options::Form::Read(..) if option.name == "stack" && !cfg!(feature = "strata") => Vec::new(),
                transport::options::Form::Read(..) => ["", "nonsense", &"x:".repeat(200)].map(Value::from).into(),
                transport::options::Form::Many(_) => vec![vec!["nonsense".to_owned()].into()],
                _ => Vec::new(),
            };
            for value in outside {
                let e = set(value.clone()).expect_err(&format!("{} {}={value}", t.name(), option.name)).to_string();
                assert!(e.contains(option.name), "{e}");
            }
        }
    }
}
