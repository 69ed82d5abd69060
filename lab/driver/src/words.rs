//! What others say, as it is stored and shown: nothing in it moves a terminal's cursor, hides a
//! word or turns the order of letters around.

/// A sentence is shorter.
const CHARS_MAX: usize = 2_000;

/// The text with its control characters written out, and its end cut off where it has none.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(CHARS_MAX));
    for (place, letter) in text.chars().enumerate() {
        if place == CHARS_MAX {
            shown.push('…');
            break;
        }
        match letter.is_control() || is_hidden(letter) {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    shown
}

/// Letters that nobody sees, and that change how those around them are shown.
fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use proof_kit::Attack;

    use super::*;

    #[test]
    fn nothing_in_a_text_moves_a_cursor_or_hides_a_word() {
        for (name, text, shown) in [
            ("a colour", "\u{1b}[31mred", "\\u{1b}[31mred"),
            ("a title", "\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("a line that is written over", "bad\rgood", "bad\\rgood"),
            ("a second line", "bad\nlab: all is well", "bad\\nlab: all is well"),
            ("a backspace", "bad\u{8}\u{8}\u{8}", "bad\\u{8}\\u{8}\\u{8}"),
            ("a NUL", "a\0b", "a\\u{0}b"),
            ("a control of eight bits", "\u{9b}2J", "\\u{9b}2J"),
            ("letters turned around", "\u{202e}dab", "\\u{202e}dab"),
            ("an isolate", "\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("a letter of no width", "o\u{200b}k", "o\\u{200b}k"),
            ("a tag", "ok\u{e0041}", "ok\\u{e0041}"),
            ("a separator of lines", "a\u{2028}b", "a\\u{2028}b"),
        ] {
            let _attack = Attack::on("answers", name);
            assert_eq!(harmless(text), shown, "{name}");
        }
        let plain = "wrong answer: größer als 5 µs, “7” statt \\n";
        assert_eq!(harmless(plain), plain);
        let _attack = Attack::on("answers", "a reason without an end");
        assert_eq!(harmless(&"x".repeat(1 << 20)), "x".repeat(CHARS_MAX) + "…");
    }
}
