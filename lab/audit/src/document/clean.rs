//! Text without its decoration: mis-decoded bytes, footnote marks, struck-out values, emoji.

/// What bytes 0x80 to 0xFF mean in Mac OS Roman.
const MAC_ROMAN: &str = "\
    ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø\
    ¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

/// What bytes 0x80 to 0x9F mean in Windows-1252, with Latin-1 where it leaves one open; the rest
/// is Latin-1.
const WINDOWS_1252: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// Undoes UTF-8 that was read as Mac OS Roman or Windows-1252 (`‚Üí` is →, `Â±` is ±). Only
/// sequences of two and more characters that give valid UTF-8 are touched, so that text that was
/// read rightly stays as it is. The number of lines does not change.
pub(crate) fn repair(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mac = decode(text, mac_byte);
    decode(&mac, windows_byte)
}

/// A cell's or sentence's text without emoji, footnote marks and struck-out parts.
pub(crate) fn plain(text: &str) -> String {
    // Most cells of a long listing have nothing to take away.
    let bare = |byte: u8| matches!(byte, b' '..=b'Z' | b'a'..=b'z' | b'_' | b']');
    if text.bytes().all(bare) && !text.contains("  ") {
        return text.trim().to_owned();
    }
    let text = without_struck(&without_footnotes(text));
    let kept: String = text.chars().map(|c| if decoration(c) { ' ' } else { c }).collect();
    let words: Vec<&str> = kept.split_whitespace().collect();
    words.join(" ")
}

/// A cell's text as [`plain`] gives it, also without the marks that point to a note below.
pub(crate) fn cell(text: &str) -> String {
    let plain = plain(text);
    let marks =
        |c: char| matches!(c, '*' | '†' | '‡' | '§' | '↑' | '↓' | '¹' | '²' | '³' | '⁴'..='⁹');
    let mut bare = plain.trim_end_matches(marks).trim_end();
    // m² and 10⁶ are no footnotes.
    if bare.ends_with("10") || bare.ends_with(" m") || bare == "m" || bare.ends_with('⁻') {
        bare = plain.trim_end_matches(['*', '†', '‡']).trim_end();
    }
    bare.trim_start_matches(['*', '†', '‡', '↑', '↓']).trim().to_owned()
}

fn decode(text: &str, byte: fn(char) -> Option<u8>) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        match sequence(&chars[at..], byte) {
            Some((decoded, taken)) => {
                out.push(decoded);
                at += taken;
            }
            None => {
                out.push(chars[at]);
                at += 1;
            }
        }
    }
    out
}

/// One character that was written as two to four.
fn sequence(chars: &[char], byte: fn(char) -> Option<u8>) -> Option<(char, usize)> {
    let first = chars.first().filter(|c| !c.is_ascii()).and_then(|c| byte(*c))?;
    let length = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return None,
    };
    let bytes: Option<Vec<u8>> = chars.get(..length)?.iter().map(|c| byte(*c)).collect();
    let bytes = bytes?;
    let decoded = std::str::from_utf8(&bytes).ok()?.chars().next()?;
    Some((decoded, length))
}

fn mac_byte(c: char) -> Option<u8> {
    let index = MAC_ROMAN.chars().position(|known| known == c)?;
    u8::try_from(index + 0x80).ok()
}

fn windows_byte(c: char) -> Option<u8> {
    if ('\u{a0}'..='\u{ff}').contains(&c) {
        return u8::try_from(u32::from(c)).ok();
    }
    let index = WINDOWS_1252.chars().position(|known| known == c)?;
    u8::try_from(index + 0x80).ok()
}

fn without_footnotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("[^") {
        let Some(end) = rest[start..].find(']') else { break };
        out.push_str(&rest[..start]);
        rest = &rest[start + end + 1..];
    }
    out + rest
}

fn without_struck(text: &str) -> String {
    let parts: Vec<&str> = text.split("~~").collect();
    if parts.len() < 3 || parts.len().is_multiple_of(2) {
        return text.to_owned();
    }
    parts.iter().step_by(2).copied().collect()
}

fn decoration(c: char) -> bool {
    matches!(c,
        '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}'
        | '\u{fe0e}' | '\u{fe0f}' | '\u{200b}'..='\u{200d}' | '\u{feff}' | '\u{20e3}'
        | '\u{fffd}' | '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{25ff}')
        || (c.is_control() && c != '\n')
}
