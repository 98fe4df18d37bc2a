//! Why questions are not read, below what can be asked: what is told last is what a reader sees.

/// How a reason leads over to the forms that can be asked.
const LEADS: &str = " It knows these";

/// The reasons of questions that are not read, a line each; where one of them lists what is `known`, that comes first, and once.
pub fn text(whys: &[String], known: &str) -> String {
    let known = known.trim_end();
    let mut listed = false;
    let reason = |why: &String| match why.trim_end().strip_suffix(known) {
        None => why.clone(),
        Some(reason) => {
            listed = true;
            let reason = reason.trim_end();
            reason.rsplit_once(LEADS).map_or(reason, |(reason, _)| reason).to_owned()
        }
    };
    let reasons = whys.iter().map(reason).collect::<Vec<_>>().join("\n");
    if listed { format!("ask knows these, in words or as flags:\n{known}\n{reasons}") } else { reasons }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_stands_below_what_can_be_asked_and_that_is_listed_once() {
        let known = "  when?   --when\n  how much?\n";
        let why = |what: &str| format!("'{what}' is no question. It knows these, in words or as flags:\n{known}");
        let both = text(&[why("a"), "'b': of what?".to_owned(), why("c")], known);
        assert_eq!(
            both,
            "ask knows these, in words or as flags:\n  when?   --when\n  how much?\n'a' is no question.\n'b': of what?\n'c' is no question."
        );
        assert_eq!(text(&["'b': of what?".to_owned()], known), "'b': of what?");
    }
}
