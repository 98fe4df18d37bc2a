//! Frames on the control connection: a length of four bytes, big-endian, then that many bytes of JSON. Pure.

use crate::MeetError;

/// Largest frame before the other side has proved the secret, bytes.
pub(crate) const STRANGER: usize = 4 << 10;
/// Largest frame after that, bytes.
pub(crate) const KNOWN: usize = 1 << 20;

/// `body` with its length in front.
pub(crate) fn encode(body: &[u8], most: usize) -> Result<Vec<u8>, MeetError> {
    if body.is_empty() || body.len() > most {
        return Err(MeetError::Protocol(format!("a message of {} bytes does not fit ({most} at most)", body.len())));
    }
    let mut frame = Vec::with_capacity(4 + body.len());
    frame.extend_from_slice(&(body.len() as u32).to_be_bytes());
    frame.extend_from_slice(body);
    Ok(frame)
}

/// Takes the first whole frame out of what has arrived; none if it has not arrived whole. A length beyond `most` is an
/// error as soon as the four bytes are there: nothing is reserved for it.
pub(crate) fn take(inbox: &mut Vec<u8>, most: usize) -> Result<Option<Vec<u8>>, MeetError> {
    let Some(length) = announced(inbox, most)? else { return Ok(None) };
    if inbox.len() < 4 + length {
        return Ok(None);
    }
    let body = inbox[4..4 + length].to_vec();
    inbox.drain(..4 + length);
    Ok(Some(body))
}

/// Whether a whole frame has arrived.
pub(crate) fn is_whole(inbox: &[u8], most: usize) -> Result<bool, MeetError> {
    Ok(announced(inbox, most)?.is_some_and(|length| inbox.len() >= 4 + length))
}

fn announced(inbox: &[u8], most: usize) -> Result<Option<usize>, MeetError> {
    let Some(length) = inbox.first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_be_bytes(*length) as usize;
    if length == 0 || length > most {
        return Err(MeetError::Protocol(format!("a message claims {length} bytes; 1 to {most} are allowed here")));
    }
    Ok(Some(length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn huge_and_empty_lengths_are_refused_at_once() {
        for length in [0, STRANGER as u32 + 1, u32::MAX] {
            let mut inbox = length.to_be_bytes().to_vec();
            assert!(take(&mut inbox, STRANGER).is_err(), "{length}");
        }
        assert!(encode(&[], KNOWN).is_err());
        assert!(encode(&vec![0; STRANGER + 1], STRANGER).is_err());
    }

    proptest! {
        #[test]
        fn frames_survive_any_cutting(bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..300), 1..6), cut in 1usize..50) {
            let wire: Vec<u8> = bodies.iter().flat_map(|b| encode(b, KNOWN).unwrap()).collect();
            let (mut inbox, mut seen) = (Vec::new(), Vec::new());
            for piece in wire.chunks(cut) {
                inbox.extend_from_slice(piece);
                while let Some(body) = take(&mut inbox, KNOWN).unwrap() {
                    seen.push(body);
                }
            }
            prop_assert_eq!(seen, bodies);
            prop_assert!(inbox.is_empty());
        }

        #[test]
        fn arbitrary_bytes_never_panic_and_never_grow(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let mut inbox = bytes.clone();
            while let Ok(Some(body)) = take(&mut inbox, 64) {
                prop_assert!(body.len() <= 64);
                let _ = serde_json::from_slice::<crate::message::Ask>(&body);
            }
            prop_assert!(inbox.len() <= bytes.len());
        }

        #[test]
        fn arbitrary_json_is_no_message_or_one_but_never_a_panic(text in "\\PC{0,200}") {
            let _ = serde_json::from_str::<crate::message::Ask>(&text);
            let _ = serde_json::from_str::<crate::message::Greeting>(&text);
            let _ = serde_json::from_str::<crate::message::Answer>(&text);
        }
    }
}
