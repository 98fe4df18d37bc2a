//! Questions that ask for a yes or a no.

/// Whether a text asks for a yes or a no.
pub fn yes_or_no(text: &str) -> bool {
    #[rustfmt::skip]
    const BEGIN: [&str; 16] = [
        "is", "are", "can", "could", "does", "do", "did", "will", "would", "whether", "was", "were", "has", "have", "may", "should",
    ];
    let first = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    first.is_some_and(|word| BEGIN.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::yes_or_no;

    #[test]
    fn a_verdict_is_asked_for_by_the_first_word() {
        for text in ["is tcp faster", "Can it do 1 Gbit/s?", " does 1 KB arrive"] {
            assert!(yes_or_no(text), "{text}");
        }
        for text in ["how long does 1 KB take", "tcp: is it fast", "", "?"] {
            assert!(!yes_or_no(text), "{text}");
        }
    }
}
