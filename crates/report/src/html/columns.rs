//! Columns of numbers as short text: little-endian binary in base64. Less than half the size of the same numbers in JSON, and the
//! script reads them without parsing. `web/src/columns.ts` is the other half.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Bytes as base64.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Numbers to 24 bits (seven digits), a missing one as NaN; an empty text where all are missing.
pub fn floats(values: impl Iterator<Item = Option<f64>>) -> String {
    let mut any = false;
    let mut bytes = Vec::new();
    for value in values {
        // A value beyond the range of 32 bits would become infinite: it counts as missing.
        let short = value.map_or(f32::NAN, |v| v as f32);
        any |= short.is_finite();
        bytes.extend(if short.is_finite() { short } else { f32::NAN }.to_le_bytes());
    }
    if any { base64(&bytes) } else { String::new() }
}

/// Whole numbers, exact to 2^53.
pub fn sizes(values: impl Iterator<Item = u64>) -> String {
    base64(&values.flat_map(|v| (v as f64).to_le_bytes()).collect::<Vec<u8>>())
}

/// Whole numbers of 32 bits; larger ones count as the largest.
pub fn counts(values: impl Iterator<Item = u64>) -> String {
    base64(&values.flat_map(|v| u32::try_from(v).unwrap_or(u32::MAX).to_le_bytes()).collect::<Vec<u8>>())
}

/// Yes and no, a byte each; an empty text where all are no.
pub fn flags(values: impl Iterator<Item = bool>) -> String {
    let bytes: Vec<u8> = values.map(u8::from).collect();
    if bytes.contains(&1) { base64(&bytes) } else { String::new() }
}

/// A number in as few bytes as it needs, seven bits each, the lowest first (LEB128).
pub fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_no_number_and_nothing_at_all_is_no_text() {
        let bytes =
            STANDARD.decode(floats([Some(1.5), None, Some(f64::INFINITY), Some(1e300)].into_iter())).expect("base64");
        let back: Vec<f32> = bytes.chunks(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        assert!(back[0] == 1.5 && back[1..].iter().all(|v| v.is_nan()), "{back:?}");
        assert_eq!(floats([None, Some(f64::NAN)].into_iter()), "");
        assert_eq!(flags([false, false].into_iter()), "");
    }

    #[test]
    fn small_numbers_take_one_byte() {
        for (value, bytes) in [(0u64, vec![0u8]), (127, vec![127]), (128, vec![0x80, 1]), (300, vec![0xac, 2])] {
            let mut out = Vec::new();
            varint(value, &mut out);
            assert_eq!(out, bytes, "{value}");
        }
        let mut out = Vec::new();
        varint(u64::MAX, &mut out);
        assert_eq!(out.len(), 10);
    }
}
