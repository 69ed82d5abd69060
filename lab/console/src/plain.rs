//! Text of strangers (names, commands, what programs say) made harmless where it is shown: no
//! letter moves a terminal's cursor, hides or turns what stands beside it, begins a line, or is a
//! command of a CI system.

use std::fmt::Write as _;

/// How a workflow command of GitHub begins, which may follow spaces.
const COMMAND: &str = "::";
/// How its older form begins, anywhere in a line.
const OLDER_COMMAND: &str = "##[";

/// Whether a letter does something else than to be seen.
fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            // Marks and changes of direction, separators of lines, what has no width, tags.
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// One line, in which what acts is shown as Rust writes it: `\u{1b}`.
pub fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\t' => shown.push(' '),
            '\n' => shown.push_str("\\n"),
            _ if acts(letter) => shown.extend(letter.escape_unicode()),
            _ => shown.push(letter),
        }
    }
    let shown = shown.replace(OLDER_COMMAND, "##\\[");
    match shown.trim_start().starts_with(COMMAND) {
        true => shown.replacen(COMMAND, "\\::", 1),
        false => shown,
    }
}

/// The same of each line of a text.
pub fn lines(text: &str) -> String {
    let of_cells = |text: &str| text.split('\t').map(line).collect::<Vec<_>>().join("\t");
    text.split('\n').map(of_cells).collect::<Vec<_>>().join("\n")
}

/// JSON with the same content, in which what acts is escaped.
pub fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter != '\n' && acts(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(letter);
        }
    }
    shown.replace(OLDER_COMMAND, "##\\u005b")
}

/// A name as code in Markdown, however many marks of code are in it.
pub fn code(name: &str) -> String {
    let name = line(name);
    let longest = name.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let marks = "`".repeat(longest + 1);
    let space = if name.starts_with('`') || name.ends_with('`') { " " } else { "" };
    format!("{marks}{space}{name}{space}{marks}")
}

/// A sentence in Markdown that is nothing but text.
pub fn markdown(sentence: &str) -> String {
    let mut shown = String::new();
    for letter in line(sentence).chars() {
        if "\\`*_[]<>#|!~&$".contains(letter) {
            shown.push('\\');
        }
        shown.push(letter);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_shown() {
        for (text, shown) in [
            ("cargo test a::b -- 'é' 漢字 🙂", "cargo test a::b -- 'é' 漢字 🙂"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("a\nb\r\tc", "a\\nb\\u{d} c"),
            ("\u{9b}1m\u{7f}\0", "\\u{9b}1m\\u{7f}\\u{0}"),
            ("\u{202e}txt.exe\u{2066}", "\\u{202e}txt.exe\\u{2066}"),
            ("  ::error::x", "  \\::error::x"),
            ("a ##[error]x", "a ##\\[error]x"),
            ("\u{e0041}\u{feff}", "\\u{e0041}\\u{feff}"),
        ] {
            assert_eq!(line(text), shown);
            assert_eq!(line(&line(text)), shown, "twice is as good as once");
        }
        assert_eq!(lines("a\n::b\n\u{1b}"), "a\n\\::b\n\\u{1b}");
    }

    #[test]
    fn json_keeps_its_content() {
        let hostile = "\u{9b}\u{202e}##[error]\u{e0041}\u{1b}\n";
        let text = json(&serde_json::to_string(hostile).unwrap());
        assert!(text.is_ascii(), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
    }

    #[test]
    fn code_and_sentences_of_markdown_stay_what_they_are() {
        assert_eq!(code("a b"), "`a b`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(markdown("echo a <b> [c](d)"), "echo a \\<b\\> \\[c\\](d)");
    }
}
