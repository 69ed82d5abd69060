//! Numbers that JSON does not have. Tools of C++, C# and Python write `NaN` and `Infinity` bare,
//! mostly for something that nobody asked for.

/// The text with `null` for each of them outside strings; `None` where there is none.
pub fn without_nan(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut kept, mut from, mut at, mut quoted) = (String::new(), 0, 0, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            b'-' | b'+' | b'a'..=b'z' | b'A'..=b'Z' if !quoted => {
                let length = word(&bytes[at..]);
                if is_no_number(&bytes[at..at + length]) {
                    kept.push_str(&text[from..at]);
                    kept.push_str("null");
                    from = at + length;
                }
                at += length - 1;
            }
            _ => {}
        }
        at += 1;
    }
    (from > 0).then(|| kept + &text[from..])
}

/// How long the word is that begins here, or the number, with its sign.
fn word(bytes: &[u8]) -> usize {
    let ends = |byte: &u8| !(byte.is_ascii_alphanumeric() || b"()._".contains(byte));
    1 + bytes[1..].iter().position(ends).unwrap_or(bytes.len() - 1)
}

fn is_no_number(word: &[u8]) -> bool {
    let bare = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
    // `nan(ind)` is what C's printf writes on Windows.
    let names: [&[u8]; 5] = [b"nan", b"inf", b"infinity", b"nan(ind)", b"nan(snan)"];
    names.iter().any(|name| bare.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_does_not_have_is_null_outside_strings() {
        for (text, expected) in [
            (r#"{"a": NaN, "b": [-Infinity,inf]}"#, r#"{"a": null, "b": [null,null]}"#),
            (r#"["NaN", "é\"NaN", -nan(ind)]"#, r#"["NaN", "é\"NaN", null]"#),
            ("[+Inf]", "[null]"),
        ] {
            assert_eq!(without_nan(text).as_deref(), Some(expected));
        }
        for text in [r#"{"NaN": "inf", "a": -1e-5, "b": true}"#, "[nano]", "", "-", "\"\\"] {
            assert_eq!(without_nan(text), None);
        }
    }
}
