//! What a committed record must not say of the machine: paths and variables of its environment,
//! which stand in the last words of a program that failed.

/// What separates the words of a reason.
const BETWEEN: &[char] = &[' ', '\t', '\n', '"', '\'', '`', '(', ')', '[', ']', '{', '}', ',', ';'];

/// The text with absolute paths cut down to their last part and values of variables left out.
pub(crate) fn redacted(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(BETWEEN).unwrap_or(rest.len());
        kept.push_str(&word(&rest[..end]));
        let mut after = rest[end..].chars();
        kept.extend(after.next());
        rest = after.as_str();
    }
    kept
}

fn word(word: &str) -> String {
    if let Some((name, _)) = word.split_once('=').filter(|(name, _)| is_variable(name)) {
        return format!("{name}=<value>");
    }
    // A line number or a colon may stand behind a path.
    let (path, behind) = word.split_at(word.find(':').unwrap_or(word.len()));
    match path.rsplit_once('/') {
        Some((folders, last)) if path.starts_with('/') && !folders.is_empty() => {
            format!("<path>/{last}{behind}")
        }
        _ => word.to_owned(),
    }
}

fn is_variable(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_uppercase() || letter == '_';
    name.len() > 1
        && name.starts_with(is_letter)
        && name.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_variables_go_and_the_rest_stays() {
        let cases = [
            ("cannot open /home/me/lab/x.so: no", "cannot open <path>/x.so: no"),
            ("at '/a/b/main.rs:9:1' `/c/d`", "at '<path>/main.rs:9:1' `<path>/d`"),
            ("HOME=/home/me TOKEN=abc x=1", "HOME=<value> TOKEN=<value> x=1"),
            (
                "call 0 on http://127.0.0.1:9/x: 5 / 3, /",
                "call 0 on http://127.0.0.1:9/x: 5 / 3, /",
            ),
            ("é\u{1F600}/a", "é\u{1F600}/a"),
        ];
        for (text, expected) in cases {
            assert_eq!(redacted(text), expected);
            assert_eq!(redacted(expected), expected, "twice is as once");
        }
    }
}
