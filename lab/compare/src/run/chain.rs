//! Lines that each carry the hash of what stands before them, so that one that was changed, added
//! or removed is seen.
//!
//! The last key of a line is `chain`: the SHA-256 of the chain of the line before, a line's end and
//! the line without that key. It is about bytes: a number need not be read as it was written.

use lab_record::sha256_hex;

/// Before the value.
const KEY: &str = ",\"chain\":\"";
/// After it.
const END: &str = "\"}";
const HASH_LETTERS: usize = 64;

/// What a line's key holds.
pub(super) fn link(before: &str, content: &str) -> String {
    sha256_hex(format!("{before}\n{content}").as_bytes())
}

/// An object in one line, with the key.
pub(super) fn with_key(content: &str, chain: &str) -> String {
    let open = content.strip_suffix('}').unwrap_or(content);
    format!("{open}{KEY}{chain}{END}")
}

/// A line without the key, and the key's value; `None` where it has none.
pub(super) fn split(line: &str) -> Option<(String, &str)> {
    let rest = line.strip_suffix(END)?;
    let (open, chain) = rest.split_at_checked(rest.len().checked_sub(HASH_LETTERS)?)?;
    let is_hash = chain.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let open = open.strip_suffix(KEY).filter(|_| is_hash)?;
    Some((format!("{open}}}"), chain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_it_was_made() {
        let content = "{\"a\":0.1}";
        let chain = link("", content);
        assert_eq!(split(&with_key(content, &chain)), Some((content.to_owned(), chain.as_str())));
        let no_hash = "x".repeat(HASH_LETTERS);
        for line in ["", "{}", content, "{\"chain\":\"ab\"}", "é\"}", &with_key(content, &no_hash)]
        {
            assert_eq!(split(line), None, "{line}");
        }
    }
}
