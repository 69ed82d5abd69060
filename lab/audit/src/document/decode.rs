//! Bytes of a report as text.

/// Why bytes are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Bytes that no text holds.
    #[error("is binary, not text")]
    Binary,
    /// An odd number of bytes, or halves of characters.
    #[error("starts like UTF-16 and is not valid UTF-16")]
    Utf16,
}

/// Zero bytes among the first so many show what a file is.
const LOOKED_AT: usize = 4_096;

/// Reads UTF-8 and UTF-16, with or without a byte order mark. Bytes that are no UTF-8 become
/// replacement characters: a report with one broken letter can still be audited.
///
/// # Errors
/// The bytes are those of no text.
pub fn decode(bytes: &[u8]) -> Result<String, DecodeError> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => return utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return utf16(rest, u16::from_be_bytes),
        _ => {}
    }
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    let zeros = |parity: usize| head.iter().skip(parity).step_by(2).filter(|b| **b == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    if even + odd == 0 {
        return Ok(String::from_utf8_lossy(bytes).into_owned());
    }
    // Latin letters in UTF-16 have a zero in every other byte.
    match (even * 8 < odd, odd * 8 < even, (even + odd) * 4 > head.len()) {
        (true, _, true) => utf16(bytes, u16::from_le_bytes),
        (_, true, true) => utf16(bytes, u16::from_be_bytes),
        _ => Err(DecodeError::Binary),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, DecodeError> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    if !rest.is_empty() {
        return Err(DecodeError::Utf16);
    }
    String::from_utf16(&units).map_err(|_| DecodeError::Utf16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_in_three_encodings() {
        let text = "| a | 5 µs |";
        assert_eq!(decode(text.as_bytes()).as_deref(), Ok(text));
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&little).as_deref(), Ok(text));
        assert_eq!(decode(&big).as_deref(), Ok(text));
        let marked = [&[0xff, 0xfe][..], &little].concat();
        assert_eq!(decode(&marked).as_deref(), Ok(text));
        assert_eq!(decode(&marked[..7]), Err(DecodeError::Utf16));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert_eq!(decode(&[0; 64]), Err(DecodeError::Binary));
        assert_eq!(decode(b"\x7fELF\x02\x01\x01\0\0\0\x03\x3e"), Err(DecodeError::Binary));
    }
}
