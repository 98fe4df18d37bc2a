//! What people say around a question to whoever answers it: "hi, could you please tell me", "thanks!".

/// Words of thanks and greeting, which ask for nothing.
#[rustfmt::skip]
const AROUND: [&str; 40] = [
    "thanks", "thank", "you", "thx", "thankyou", "ty", "cheers", "please", "pls", "plz", "in", "advance", "a", "lot", "so", "very", "much", "many", "for", "your",
    "help", "time", "best", "kind", "regards", "greetings", "hi", "hello", "hey", "there", "all", "everyone", "team", "sorry", "good", "morning", "day", "bye", "the", "any",
];

/// One of these says that the others around it are thanks or a greeting.
#[rustfmt::skip]
const MARKS: [&str; 18] = [
    "thanks", "thank", "thx", "thankyou", "ty", "cheers", "please", "pls", "plz", "regards", "greetings", "hi", "hello", "hey", "sorry", "morning", "bye", "day",
];

/// What a question that is asked politely begins with: the question comes next.
#[rustfmt::skip]
const BEFORE: [&str; 14] = [
    "could you please tell me", "can you please tell me", "would you please tell me", "could you tell me", "can you tell me", "would you tell me", "please tell me", "could you please say",
    "can you please say", "i would like to know", "i'd like to know", "i want to know", "may i ask", "could you please",
];

/// The question without the thanks behind it and the greeting before it.
pub fn without(text: &str) -> &str {
    let mut rest = text.trim();
    // "hello! how long ...", "hi, could you ..."
    while let Some((greeting, question)) = rest.split_once(['!', ',', '.'])
        && around(greeting)
        && question.chars().any(char::is_alphanumeric)
    {
        rest = question.trim_start();
    }
    while let Some((at, mark)) =
        rest.trim_end_matches(ENDS).char_indices().rev().find(|(_, c)| ENDS.contains(c) || *c == ',')
        && around(&rest[at + mark.len_utf8()..])
        && rest[..at].chars().any(char::is_alphanumeric)
    {
        rest = &rest[..at + mark.len_utf8()];
    }
    let lower = rest.to_lowercase();
    if let Some(said) = BEFORE.iter().find(|said| lower.starts_with(**said) && lower.len() == rest.len()) {
        let question = rest[said.len()..].trim_start_matches([' ', ',', ':']);
        // "tell me if" asks what "is" asks.
        let asks = !["if ", "whether "].iter().any(|word| question.to_lowercase().starts_with(word));
        if asks && rest[said.len()..].starts_with([' ', ',', ':']) && question.chars().any(char::is_alphanumeric) {
            rest = question;
        }
    }
    rest
}

/// Marks that a sentence ends with.
const ENDS: [char; 3] = ['?', '!', '.'];

/// Whether a piece of text is thanks or a greeting, and nothing else.
fn around(piece: &str) -> bool {
    let lower = piece.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    !words.is_empty()
        && words.len() <= 6
        && words.iter().all(|word| AROUND.contains(word))
        && words.iter().any(|word| MARKS.contains(word))
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn thanks_and_greetings_are_no_part_of_a_question() {
        let asked = "how long does 1 MB take over tcp";
        for (text, end) in [
            ("how long does 1 MB take over tcp? thanks!", "?"),
            ("how long does 1 MB take over tcp? Thank you in advance.", "?"),
            ("how long does 1 MB take over tcp? cheers", "?"),
            ("hello! how long does 1 MB take over tcp? thanks", "?"),
            ("hi, could you please tell me how long does 1 MB take over tcp? thank you!", "?"),
            ("how long does 1 MB take over tcp. Many thanks", "."),
            ("how long does 1 MB take over tcp, thanks", ","),
            ("Hi there, how long does 1 MB take over tcp?", "?"),
        ] {
            assert_eq!(without(text), format!("{asked}{end}"), "{text}");
        }
        for text in [
            "how long for 1.5 MB? and the p99?",
            "thanks",
            "could you please",
            "",
            "?",
            "for 1 MB? I need it in ms",
            "could you tell me if it is fast",
        ] {
            assert_eq!(without(text), text, "{text}");
        }
    }
}
