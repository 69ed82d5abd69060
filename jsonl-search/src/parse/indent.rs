//! A string's text as a person is shown it, made in one pass: each line behind two spaces.

use super::cursor::escaped;

/// What each line begins with.
const INDENT: &[u8] = b"  ";

/// Appends the lines of the texts that these strings' insides mean, the last with its end.
pub(super) fn indent<'a>(insides: impl Iterator<Item = &'a str>, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(INDENT);
    for (number, inside) in insides.enumerate() {
        if number > 0 {
            end_line(out);
        }
        #[cfg(target_arch = "x86_64")]
        if crate::scan::has_registers() {
            // SAFETY: the processor can, as the line above made sure.
            #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
            unsafe {
                append(inside.as_bytes(), out)
            };
            continue;
        }
        append_rest(inside.as_bytes(), 0, out);
    }
    // A last line's end begins no further line, and no text is no line.
    match out[start..].strip_suffix(INDENT) {
        Some([] | [.., b'\n']) => out.truncate(out.len() - INDENT.len()),
        _ => out.push(b'\n'),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1")]
#[expect(unsafe_code, reason = "loads and stores 32 bytes at once")]
fn append(inside: &[u8], out: &mut Vec<u8>) {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8,
        _mm256_storeu_si256,
    };
    const LANES: usize = 32;
    // Two bytes become three at most, and a store may write a register's bytes behind them.
    let most = inside.len() / 2 * 3 + 2 * LANES;
    out.reserve(most);
    let room = out.len() + most;
    let mut at = 0;
    while at + LANES <= inside.len() {
        debug_assert!(out.len() + LANES <= room && room <= out.capacity());
        // SAFETY: as many bytes are left in the string, and by the reservation in the vector.
        let backslashes = unsafe {
            let here: __m256i = _mm256_loadu_si256(inside.as_ptr().add(at).cast());
            _mm256_storeu_si256(out.as_mut_ptr().add(out.len()).cast(), here);
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(here, _mm256_set1_epi8(0x5c)))
        };
        let plain = (backslashes.trailing_zeros() as usize).min(LANES);
        // SAFETY: these bytes have just been stored.
        unsafe { out.set_len(out.len() + plain) };
        at += plain;
        if backslashes != 0 {
            at += append_escape(&inside[at..], out);
        }
    }
    append_rest(inside, at, out);
}

fn append_rest(inside: &[u8], mut at: usize, out: &mut Vec<u8>) {
    while let Some(&byte) = inside.get(at) {
        if byte == b'\\' {
            at += append_escape(&inside[at..], out);
        } else {
            out.push(byte);
            at += 1;
        }
    }
}

/// How many bytes the escape has.
#[inline]
fn append_escape(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    let (letter, length) = escaped(bytes);
    match letter {
        '\n' => end_line(out),
        _ if letter.is_ascii() => out.push(letter as u8),
        _ => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
    }
    length
}

/// Ends a line, also one that ends as Windows has it, and begins the next one.
fn end_line(out: &mut Vec<u8>) {
    if out.last() == Some(&b'\r') {
        out.pop();
    }
    out.extend_from_slice(b"\n");
    out.extend_from_slice(INDENT);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_are_those_of_the_text(
            texts in prop::collection::vec(r#"([\n\r"\\é]|\PC{0,3}|[a-z]{0,40}){0,12}"#, 1..4),
        ) {
            let json = texts.iter().map(|text| serde_json::to_string(text).unwrap());
            let json: Vec<String> = json.map(|text| text.replace('é', r"\u00e9")).collect();
            let mut out = b"before".to_vec();
            indent(json.iter().map(|text| &text[1..text.len() - 1]), &mut out);
            let text = texts.join("\n");
            let lines: String = text.lines().map(|line| format!("  {line}\n")).collect();
            prop_assert_eq!(String::from_utf8(out).unwrap(), format!("before{lines}"));
        }
    }
}
